"""Several processes that do the same kind of work, for whoever has more of it than one core takes.

Each has a pipe of its own. One that dies, even in the middle of an answer, ends the work with an
error: pools of the standard library share a pipe, and wait for ever for the rest of such an answer.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, TypeVar, cast

Item = TypeVar("Item")
Answer = TypeVar("Answer")

AHEAD: Final = 2
"""Items that a process holds, so that it has something to do while answers are looked at."""


class ProcessDied(RuntimeError):
    """A process ended before its work did."""


class Processes:
    """What `several` gives."""

    def __init__(self, started: Sequence[tuple[BaseProcess, Connection]]):
        self._started = started

    def map(self, work: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        """Yield the answer for each item, in their order, and raise what the work raises.

        Whoever stops reading before the end ends the processes. Raises ProcessDied.
        """
        coming = enumerate(items)
        held = {pipe: deque[int]() for _, pipe in self._started}
        known: dict[int, tuple[bool, Any]] = {}

        def give(pipe: Connection) -> None:
            number, item = next(coming, (None, None))
            if number is not None:
                _at_the_pipe(pipe.send, (work, item))
                held[pipe].append(number)

        try:
            for pipe in [*held] * AHEAD:
                give(pipe)
            place = 0
            while known or any(held.values()):
                while place not in known:
                    for ready in wait([pipe for pipe, numbers in held.items() if numbers]):
                        pipe = cast(Connection, ready)  # nothing else was given to wait for
                        known[held[pipe].popleft()] = _at_the_pipe(pipe.recv)
                        give(pipe)
                done, answer = known.pop(place)
                if not done:
                    raise answer
                yield answer
                place += 1
        finally:
            if any(held.values()):
                self.end()

    def end(self) -> None:
        """End them, whatever they are at."""
        for process, pipe in self._started:
            pipe.close()
            process.kill()
        for process, _ in self._started:
            process.join()


@contextmanager
def several(
    count: int, prepare: Callable[..., None] | None = None, *arguments: Any
) -> Iterator[Processes]:
    """Start so many processes, each prepared once, and end them.

    Fresh ones: a copy of this process would hold its connections and locks. What they are given to
    do has to be importable without the framework.
    """
    context = multiprocessing.get_context("spawn")
    started: list[tuple[BaseProcess, Connection]] = []
    processes = Processes(started)
    try:
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, prepare, arguments), daemon=True)
            process.start()
            theirs.close()  # theirs alone: its end is told by the end of the pipe
            started.append((process, ours))
        yield processes
    finally:
        processes.end()


def _at_the_pipe(act: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return act(*arguments)
    except (EOFError, OSError) as problem:
        raise ProcessDied("A process that shared the work has died.") from problem


def _serve(
    pipe: Connection, prepare: Callable[..., None] | None, arguments: tuple[Any, ...]
) -> None:
    """Answer until the other side closes the pipe or dies."""
    # Ctrl-C reaches every process of a terminal; the first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if prepare is not None:
        prepare(*arguments)
    while True:
        try:
            work, item = pipe.recv()
        except EOFError:
            return
        try:
            answer = (True, work(item))
        except Exception as problem:  # noqa: BLE001 (it is raised where the answer is read)
            answer = (False, problem)
        pipe.send(answer)
