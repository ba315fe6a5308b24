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

VERSION: Final = 2
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
        """Say whom it is about, list records, then find some and read their fields off."""
        rng = self._rng
        fields = shape.before + shape.after
        glue = rng.sample(self._phrases, 10 + fields)
        drawn = rng.sample(self._values, shape.records * (2 + fields * shape.run) + 1)
        prefix = drawn.pop()
        records = []
        for _ in range(shape.records):
            key, number = drawn.pop(), drawn.pop()
            others = [[drawn.pop() for _ in range(shape.run)] for _ in range(fields)]
            records.append((key, number, others))
        asked = rng.sample(records, shape.asked)
        first = asked[0][0]
        ids = [glue[0], first, glue[1]]
        labels = [IGNORED] * 3
        if shape.said_again:
            ids += [glue[8], first, glue[9]]
            labels += [IGNORED, first, IGNORED]
        for key, number, others in records:
            ids += [glue[2], prefix, number]
            for place in range(shape.before):
                ids += [glue[10 + place], *others[place]]
            ids += [glue[3], key]
            for place in range(shape.before, fields):
                ids += [glue[10 + place], *others[place]]
        labels += [IGNORED] * (len(ids) - len(labels))
        for key, number, others in asked:
            ids += [glue[4], key, glue[5], prefix, number]
            labels += [IGNORED, key if key == first else IGNORED, IGNORED, prefix, number]
            for place in range(fields):
                if shape.read[place]:
                    ids += [glue[10 + place], *others[place]]
                    labels += [IGNORED, *others[place]]
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
    asked: int
    """Records that are asked for."""
    said_again: bool
    """Whether the first key asked for is said twice before the listing."""

    @classmethod
    def draw(cls, rng: random.Random) -> "Shape":
        """Draw a shape."""
        records = rng.randrange(2, 6)
        before, after = rng.choice((0, 0, 1, 1, 2)), rng.randrange(3)
        return cls(
            records=records,
            before=before,
            after=after,
            run=rng.choice((1, 1, 2, 4)),
            read=tuple(rng.random() < 0.6 for _ in range(before + after)),
            asked=rng.randint(1, min(3, records)),
            said_again=rng.random() < 0.5,
        )
