"""Gates that need more than a task: their ids are known here, they live where episodes are.

Whoever has episodes registers once; pages and the approval ask through this module alone.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol

from tasks_app.models import Task

OUTSIDE: Final = {
    "P1": "neither too easy nor too hard",
    "P2": "no episode earns by a trick",
}
"""Gate → title of those that look at episodes."""


class OutsideResult(NamedTuple):
    """What such a gate says of the current version of a task."""

    id: str
    state: Literal["held", "warned", "failed", "not_run"]
    reason: str
    lines: tuple[str, ...] = ()
    """Figures, one a line."""
    filter: str = ""
    """Of the episodes it speaks of; empty: none."""

    @property
    def title(self) -> str:
        """What the gate holds, in words."""
        return OUTSIDE[self.id]


class OutsideGates(Protocol):
    """What the owner of episodes answers."""

    def results(self, task: Task) -> Sequence[OutsideResult]:
        """Return what each gate says of the current version."""
        ...

    def blind_pass(self, task: Task) -> str | None:
        """Return an episode in which a policy that had not seen the reference did all of the
        current version right; None if there is none.
        """
        ...


_registered: list[OutsideGates] = []


def register(gates: OutsideGates) -> None:
    """Let pages and the approval ask these gates; once a process."""
    if gates not in _registered:
        _registered.append(gates)


def outside_results(task: Task) -> tuple[OutsideResult, ...]:
    """Return what all of them say of a task, by id."""
    found = [result for gates in _registered for result in gates.results(task)]
    return tuple(sorted(found, key=lambda result: result.id))


def blind_pass(task: Task) -> str | None:
    """Return the code of an episode that shows that the task can be done without the reference."""
    found = (gates.blind_pass(task) for gates in _registered)
    return next((code for code in found if code is not None), None)
