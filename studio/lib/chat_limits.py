"""How much, and how long, a client reads of one answer: a server may send without an end.

A read's own time-out begins anew with each byte, so an answer that comes drop by drop would hold
its thread for ever, and one of gigabytes would take all memory.
"""

from collections.abc import Callable, Iterator
from typing import Final, cast

import httpx2

MOST_BYTES: Final = 32 * 2**20
"""Of an answer: far more than any model writes at once."""


class OversizedAnswer(httpx2.RequestError):
    """An answer that is not read to its end; the message says why."""


class Bounded(httpx2.SyncByteStream):
    """The bytes of an answer, up to a number of them and a moment."""

    def __init__(
        self, inner: httpx2.SyncByteStream, *, most: int, until: float, clock: Callable[[], float]
    ) -> None:
        self._inner = inner
        self._most = most
        self._until = until
        self._clock = clock

    def __iter__(self) -> Iterator[bytes]:
        """Yield what comes. Raises OversizedAnswer, or httpx2's ReadTimeout."""
        size = 0
        for piece in self._inner:
            size += len(piece)
            if size > self._most:
                raise OversizedAnswer(f"the answer has more than {self._most:,} bytes")
            if self._clock() > self._until:
                raise httpx2.ReadTimeout("the answer did not come to its end in time")
            yield piece

    def close(self) -> None:
        """Let the connection go."""
        self._inner.close()


def bound(
    response: httpx2.Response, *, most: int, until: float, clock: Callable[[], float]
) -> None:
    """Limit what is read of a response. Raises OversizedAnswer for a packed one, which says
    nothing of its true size and was not asked for.
    """
    encoding = response.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise OversizedAnswer(f"the answer is packed ({encoding[:40]}), which was not asked for")
    stream = cast(httpx2.SyncByteStream, response.stream)  # the client is a synchronous one
    response.stream = Bounded(stream, most=most, until=until, clock=clock)
