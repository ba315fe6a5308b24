"""Keep what was derived from a tuple of frozen data for as long as it is asked for.

The key is the tuple's identity: hashing a spec's checks would cost more than judging them, and
their data holds dicts. The tuple is kept beside the result, so its identity cannot be used again.
"""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

R = TypeVar("R")
LARGEST: Final = 64


class Memo(Generic[R]):
    """Results of one function of a tuple, at most `LARGEST` of them."""

    __slots__ = ("_kept", "_make")

    def __init__(self, make: Callable[[tuple[Any, ...]], R]):
        self._make = make
        self._kept: dict[int, tuple[tuple[Any, ...], R]] = {}

    def of(self, key: tuple[Any, ...]) -> R:
        """Return the result for a tuple."""
        known = self._kept.get(id(key))
        if known is not None and known[0] is key:
            return known[1]
        made = self._make(key)
        if len(self._kept) >= LARGEST:
            self._kept.clear()
        self._kept[id(key)] = (key, made)
        return made
