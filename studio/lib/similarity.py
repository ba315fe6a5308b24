"""MinHash over word shingles: how alike two requests are, and finding the near ones quickly.

A text is lower-cased and cut into words; its shingles are all runs of three words (the whole
text where it has fewer). ``signature(text)`` keeps the least hash of the shingles under each of
128 permutations; the share of equal places estimates the Jaccard similarity.

Invariants: the permutations come from a fixed seed and the shingle hashes from BLAKE2b, so a
signature may be stored and compared for ever, on any machine.
"""

import hashlib
import random
import re
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeAlias, TypeVar

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
    equal = sum(1 for left, right in zip(first, second, strict=True) if left == right)
    return equal / PERMUTATIONS


class Match(NamedTuple):
    """The nearest earlier text and how alike it is."""

    key: object
    similarity: float


class Index(Generic[Key]):
    """Signatures by key; asks only those that share a band, so a library of 10,000 stays quick."""

    def __init__(self) -> None:
        self._signatures: dict[Key, Signature] = {}
        self._order: dict[Key, int] = {}
        self._bands: dict[tuple[int, Signature], list[Key]] = {}

    def __len__(self) -> int:
        return len(self._signatures)

    def add(self, key: Key, entry: Signature) -> None:
        """Remember a signature under ``key``; a key can be added once."""
        if key in self._signatures:
            raise ValueError(f"{key!r} is already in the index")
        self._order[key] = len(self._order)
        self._signatures[key] = entry
        for band in _bands(entry):
            self._bands.setdefault(band, []).append(key)

    def nearest(self, entry: Signature, threshold: float = NEAR_DUPLICATE) -> Match | None:
        """The most alike at or above ``threshold``; of equals the one added first."""
        candidates: dict[Key, None] = {}
        for band in _bands(entry):
            candidates.update(dict.fromkeys(self._bands.get(band, ())))
        best: Match | None = None
        # Bands list their keys out of order; of equals the first one added is to win.
        for key in sorted(candidates, key=self._order.__getitem__):
            alike = similarity(entry, self._signatures[key])
            if alike >= threshold and (best is None or alike > best.similarity):
                best = Match(key, alike)
        return best


def _bands(entry: Signature) -> list[tuple[int, Signature]]:
    return [
        (number, entry[number * _ROWS : (number + 1) * _ROWS])
        for number in range(_BANDS if entry else 0)
    ]
