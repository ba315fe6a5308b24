"""Gate groups as strips and cards draw them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tasks_app.core.validation.card import GROUPS, Finding, GateResult, ProofCard
from tasks_app.models import Task

_STATES: Final = {"held": "ok", "warned": "warn", "failed": "bad", "not_run": "none"}
NAMES: Final = {
    "S": "form",
    "R": "references",
    "T": "tools",
    "O": "solvable",
    "N": "no shortcut",
    "K": "constraints bite",
    "M": "wrong work loses",
    "X": "collateral costs",
    "D": "the same again",
    "V": "no duplicate",
    "I": "pictures decide",
    "G": "pure grading",
}
"""Gate group → what it holds, in two words at most that a newcomer reads."""


@dataclass(frozen=True)
class GateCell:
    """One group of gates: a cell of the strip, or a column of the card."""

    letter: str
    name: str
    state: str
    url: str = ""


@dataclass(frozen=True)
class GateLine:
    """One gate on the card."""

    id: str
    title: str
    mark: str
    words: str
    reason: str
    findings: int


@dataclass(frozen=True)
class GateGroup:
    """A group with its gates."""

    letter: str
    name: str
    state: str
    gates: tuple[GateLine, ...]


def strip_of(task: Task) -> tuple[GateCell, ...]:
    """The groups of a task in a list row."""
    return tuple(GateCell(letter, NAMES[letter], _STATES[state]) for letter, state in task.strip)


def cells_of(card: ProofCard) -> tuple[GateCell, ...]:
    """The groups on the card, each a link to its gates below."""
    return tuple(
        GateCell(letter, NAMES[letter], _STATES[card.group_state(letter)], "#gates")
        for letter in GROUPS
    )


def groups_of(card: ProofCard) -> tuple[GateGroup, ...]:
    """Every gate under its group, in the order of a card; empty groups stay away."""
    groups = []
    for letter in GROUPS:
        gates = tuple(_line(gate, card.findings) for gate in card.gates if gate.id[0] == letter)
        if gates:
            state = _STATES[card.group_state(letter)]
            groups.append(GateGroup(letter, NAMES[letter], state, gates))
    return tuple(groups)


def _line(gate: GateResult, findings: Iterable[Finding]) -> GateLine:
    words = {"held": "holds", "warned": "warns", "failed": "broken", "not_run": "not run"}
    return GateLine(
        id=gate.id,
        title=gate.title,
        mark=_STATES[gate.state],
        words=words[gate.state],
        reason=gate.reason,
        findings=sum(found.gate == gate.id for found in findings),
    )
