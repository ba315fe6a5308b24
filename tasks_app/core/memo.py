"""Keep what was derived from frozen data (a tuple, a record) for as long as it is asked for.

The key is the data's identity: hashing a spec's checks would cost more than judging them, and
their data holds dicts. The data is kept beside the result, so its identity cannot be used again.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

K = TypeVar("K")
R = TypeVar("R")
LARGEST: Final = 256


class Memo(Generic[K, R]):
    """Results of one function of frozen data, at most so many of them."""

    __slots__ = ("_kept", "_make", "_most")

    def __init__(self, make: Callable[[K], R], most: int = LARGEST):
        self._make = make
        self._most = most
        self._kept: dict[int, tuple[K, R]] = {}

    def of(self, key: K) -> R:
        """Return the result for some data."""
        known = self._kept.get(id(key))
        if known is not None and known[0] is key:
            return known[1]
        made = self._make(key)
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[id(key)] = (key, made)
        return made
