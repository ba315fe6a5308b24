"""Doing the chores of an audit in several processes: what each process holds, and what it does."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tasks_app.core.audit.audit import Bench, Chore, Done
from tasks_app.core.audit.catalog import OWN
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.processes import several

_OURS: Final = frozenset((planter.gate, planter.name) for planter in OWN)
_benches: list[Bench] = []


def prepare(checked: Sequence[Subject]) -> None:
    """Make this process's bench."""
    _benches[:] = [Bench(checked)]


def do(chore: Chore) -> Done:
    """Do one chore on this process's bench."""
    return _benches[0].do(chore)


@contextmanager
def mapper(
    processes: int, checked: Sequence[Subject]
) -> Iterator[Callable[[Sequence[Chore]], Iterable[Done]]]:
    """Give what does chores, in their order: here, or in so many processes.

    What another package brought is known in this process alone, so it is done here, afterwards.
    """
    prepare(checked)
    if processes < 2:
        yield lambda planned: map(do, planned)
        return
    with several(processes, prepare, tuple(checked)) as pool:

        def spread(planned: Sequence[Chore]) -> Iterator[Done]:
            ours = [c for c in planned if not c.gate or (c.gate, c.name) in _OURS]
            yield from pool.map(do, ours)
            rest = set(planned) - set(ours)
            yield from map(do, [c for c in planned if c in rest])

        yield spread
