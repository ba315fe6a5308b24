"""Skill batches: sequences without meaning that need copying and looking up.

Names of training tasks are few; a model that sees nothing else learns them by heart and never
copies a new one. So values are drawn from all value tokens, in two shapes: a run of values that
comes again, and a listing of records in which a key given before is found and its neighbours are
read off, as a dialogue does. What stands between the values is drawn anew for every sequence.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

VERSION: Final = 1
SHARE_COPIES: Final = 0.25
IGNORED: Final = -100
"""Label of a token that nobody can know."""


@dataclass(frozen=True, slots=True)
class Sequences:
    """Equally long sequences with their labels."""

    ids: list[list[int]]
    labels: list[list[int]]


class Skills:
    """Draws skill batches from the value and phrase tokens of a tokenizer."""

    def __init__(self, values: Sequence[int], phrases: Sequence[int], seed: str):
        self._values = list(values)
        self._phrases = list(phrases)
        self._rng = random.Random(seed)

    def batch(self, size: int) -> Sequences:
        """Draw sequences of one shape, so that none needs padding."""
        rng = self._rng
        if rng.random() < SHARE_COPIES:
            length, times = rng.randrange(4, 14), rng.randrange(2, 4)
            pairs = [self._copy(length, times) for _ in range(size)]
        else:
            shape = Shape.draw(rng)
            pairs = [self._listing(shape) for _ in range(size)]
        return Sequences([ids for ids, _ in pairs], [labels for _, labels in pairs])

    def _copy(self, length: int, times: int) -> tuple[list[int], list[int]]:
        rng = self._rng
        run = rng.sample(self._values, length)
        around = rng.sample(self._phrases, 2)
        ids, labels = [around[0], *run], [IGNORED] * (length + 1)
        for _ in range(times - 1):
            ids += [around[1], *run]
            labels += [IGNORED, IGNORED, *run[1:]]
        return ids, labels

    def _listing(self, shape: "Shape") -> tuple[list[int], list[int]]:
        """Say whom it is about, list records, then find that one and read its fields off."""
        rng = self._rng
        glue = rng.sample(self._phrases, shape.before + shape.after + 8)
        fields = shape.before + shape.after
        drawn = rng.sample(self._values, shape.records * (2 + fields * shape.run))
        records = []
        for _ in range(shape.records):
            key, number = drawn.pop(), drawn.pop()
            others = [[drawn.pop() for _ in range(shape.run)] for _ in range(fields)]
            records.append((key, number, others))
        prefix = rng.choice(self._values)
        sought = rng.randrange(shape.records)
        key, number, others = records[sought]
        ids = [glue[0], key, glue[1]]
        for record_key, record_number, record_others in records:
            ids += [glue[2], prefix, record_number]
            for i in range(shape.before):
                ids += [glue[8 + i], *record_others[i]]
            ids += [glue[3], record_key]
            for i in range(shape.before, fields):
                ids += [glue[8 + i], *record_others[i]]
        labels = [IGNORED] * len(ids)
        ids += [glue[4], key, glue[5], prefix, number]
        labels += [IGNORED, key, IGNORED, prefix, number]
        for i in range(fields):
            if shape.read[i]:
                ids += [glue[8 + i], *others[i]]
                labels += [IGNORED, *others[i]]
        ids += [glue[6], prefix, number, glue[7], key]
        labels += [IGNORED, prefix, number, IGNORED, key]
        return ids, labels


@dataclass(frozen=True, slots=True)
class Shape:
    """How a listing is built."""

    records: int
    before: int
    """Fields between a record's number and its key."""
    after: int
    run: int
    """Tokens of a field."""
    read: tuple[bool, ...]
    """Which fields are asked for."""

    @classmethod
    def draw(cls, rng: random.Random) -> "Shape":
        """Draw a shape."""
        before, after = rng.choice((0, 0, 1, 1, 2)), rng.randrange(3)
        read = tuple(rng.random() < 0.6 for _ in range(before + after))
        return cls(rng.randrange(2, 6), before, after, rng.choice((1, 1, 2, 4)), read)
