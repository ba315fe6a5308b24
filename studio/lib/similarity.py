"""MinHash over word shingles: how alike two requests are, and finding the near ones quickly.

A text is lower-cased and cut into words; its shingles are all runs of three words (the whole
text where it has fewer). ``signature(text)`` keeps the least hash of the shingles under each of
128 permutations; the share of equal places estimates the Jaccard similarity.

Invariants: the permutations come from a fixed seed and the shingle hashes from BLAKE2b, so a
signature may be stored and compared for ever, on any machine.
"""

import hashlib
import math
import operator
import random
import re
import struct
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

Signature: TypeAlias = tuple[int, ...]
Key = TypeVar("Key", bound=Hashable)

PERMUTATIONS = 128
SHINGLE_WORDS = 3
NEAR_DUPLICATE = 0.8

# 32 bands of 4 rows: a pair at 0.8 shares a band with probability 1 - (1 - 0.8^4)^32 > 0.9999999.
_BANDS = 32
_ROWS = PERMUTATIONS // _BANDS
_PRIME = (1 << 61) - 1
_WORD = re.compile(r"\w+")


def _coefficients() -> tuple[tuple[int, int], ...]:
    source = random.Random("coworkenv minhash permutations 1")
    return tuple(
        (source.randrange(1, _PRIME), source.randrange(0, _PRIME)) for _ in range(PERMUTATIONS)
    )


_PERMUTATIONS = _coefficients()


def words(text: str) -> list[str]:
    """The lower-cased words of a text, in order."""
    return _WORD.findall(text.lower())


def shingles(text: str, size: int = SHINGLE_WORDS) -> list[str]:
    """The distinct runs of ``size`` words in order of appearance."""
    found = words(text)
    if not found:
        return []
    if len(found) < size:
        return [" ".join(found)]
    runs = (" ".join(found[start : start + size]) for start in range(len(found) - size + 1))
    return list(dict.fromkeys(runs))


def signature(text: str) -> Signature:
    """128 least hashes; the empty tuple for a text without a word."""
    hashes = [
        int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest(), "big") % _PRIME
        for run in shingles(text)
    ]
    if not hashes:
        return ()
    return tuple(
        min((factor * value + offset) % _PRIME for value in hashes)
        for factor, offset in _PERMUTATIONS
    )


def similarity(first: Signature, second: Signature) -> float:
    """Estimated Jaccard similarity, 0 to 1; two texts without words are not alike."""
    if not first or not second:
        return 0.0
    equal: int = sum(map(operator.eq, first, second))
    return equal / PERMUTATIONS


class Match(NamedTuple):
    """The nearest earlier text and how alike it is."""

    key: object
    similarity: float


def shared_bands(threshold: float) -> int:
    """How many bands two signatures share at least if they are that much alike.

    Each place in which they differ breaks one band at most, so nothing is missed: at 0.8 they
    differ in 25 places and share 7 bands of 32.
    """
    differing = PERMUTATIONS - math.ceil(threshold * PERMUTATIONS - 1e-9)
    return max(1, _BANDS - differing)


def band_keys(entry: Signature) -> tuple[int, ...]:
    """The bands of a signature as whole numbers of 32 bits with sign: what a database indexes."""
    return tuple(
        int.from_bytes(
            hashlib.blake2b(_BAND.pack(number, *rows), digest_size=4).digest(), "big", signed=True
        )
        for number, rows in _bands(entry)
    )


_BAND: Final = struct.Struct(f"<{1 + _ROWS}Q")
MOST_COMPARED: Final = 64
"""Candidates that are compared in full where few bands are shared; those that share most come
first. Nothing at or above NEAR_DUPLICATE is left out by this unless that many are as near."""


class Index(Generic[Key]):
    """Signatures by key; asks only those that share bands, so a library of 100,000 stays quick."""

    def __init__(self) -> None:
        self._signatures: dict[Key, Signature] = {}
        self._order: dict[Key, int] = {}
        self._bands: dict[int, list[Key]] = {}

    def __len__(self) -> int:
        return len(self._signatures)

    def add(self, key: Key, entry: Signature) -> None:
        """Remember a signature under ``key``; a key can be added once."""
        if key in self._signatures:
            raise ValueError(f"{key!r} is already in the index")
        self._order[key] = len(self._order)
        self._signatures[key] = entry
        for band in band_keys(entry):
            self._bands.setdefault(band, []).append(key)

    def nearest(self, entry: Signature, threshold: float = NEAR_DUPLICATE) -> Match | None:
        """The most alike at or above ``threshold``; of equals the one added first."""
        shared: Counter[Key] = Counter()
        for band in band_keys(entry):
            shared.update(self._bands.get(band, ()))
        needed = shared_bands(threshold)
        near = [(-count, self._order[key], key) for key, count in shared.items() if count >= needed]
        near.sort(key=lambda found: found[:2])
        return best_of(
            entry,
            ((key, self._signatures[key]) for _, _, key in near[:MOST_COMPARED]),
            threshold,
            self._order,
        )


def best_of(
    entry: Signature,
    others: Iterable[tuple[Key, Signature]],
    threshold: float,
    order: Mapping[Key, int],
) -> Match | None:
    """The most alike of some at or above ``threshold``; of equals the first in ``order``."""
    found = [(similarity(entry, other), key) for key, other in others]
    near = [(-alike, order[key], key) for alike, key in found if alike >= threshold]
    if not near:
        return None
    alike, _, key = min(near, key=lambda one: one[:2])
    return Match(key, -alike)


def _bands(entry: Signature) -> list[tuple[int, Signature]]:
    return [
        (number, entry[number * _ROWS : (number + 1) * _ROWS])
        for number in range(_BANDS if entry else 0)
    ]
