"""Several processes that do the same kind of work, for whoever has more of it than one core takes.

A process that dies ends the work with an error; it is not waited for.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def several(
    count: int, prepare: Callable[..., None] | None = None, *arguments: Any
) -> Iterator[ProcessPoolExecutor]:
    """Start so many processes, each prepared once, and end them with what they have left.

    Fresh ones: a copy of this process would hold its connections and locks. What they are given to
    do has to be importable without the framework.
    """
    pool = ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(prepare, arguments),
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(prepare: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    # Ctrl-C reaches every process of a terminal; the first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if prepare is not None:
        prepare(*arguments)
