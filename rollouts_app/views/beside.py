"""What the page that compares two episodes shows: turns, checks, rules and records beside each
other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rollouts_app.core.align import Alignment, Row
from rollouts_app.core.frames import Frame, RecordChange, Replay
from rollouts_app.views.pane import price_words, score_words
from rollouts_app.views.turns import CallCard, DiffCard, Turn, diff_cards, service_icon
from rollouts_app.views.values import Shown, shown
from tasks_app.core.spec import TaskSpec

SAID: Final = 2000
"""Characters of what a turn says that stand on this page; the replay has all of them."""


@dataclass(frozen=True, slots=True)
class CallBeside:
    """A call, and which of its arguments the other one has otherwise."""

    card: CallCard
    differing: frozenset[str]


@dataclass(frozen=True, slots=True)
class TurnBeside:
    """A turn of one of the two."""

    turn: Turn
    calls: tuple[CallBeside, ...]
    diffs: tuple[DiffCard, ...]
    said: str
    left_out: int
    """Characters of what it says that are not shown."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of the page: a turn of either side, or of one."""

    number: int
    """From 1, counted through the page."""
    row: Row
    cells: tuple[TurnBeside | None, TurnBeside | None]
    words: str
    """How two turns are not the same; empty: they are, or there is but one."""
    first: bool
    """Whether they part here."""

    @property
    def turn(self) -> Turn:
        """The turn of a row where both do the same."""
        cell = self.cells[0] or self.cells[1]
        if cell is None:
            raise ValueError("a row has at least one side")
        return cell.turn


@dataclass(frozen=True, slots=True)
class Stand:
    """How a check or a rule ended on one side."""

    words: str
    mark: str
    turn: int | None = None
    """Where it turned: its last flip, or the call that broke the rule."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A check or a rule on both sides."""

    id: str
    explain: str
    note: str
    stands: tuple[Stand, Stand]

    @property
    def differs(self) -> bool:
        """Whether it ended otherwise."""
        first, second = self.stands
        return (first.words, first.mark) != (second.words, second.mark)


@dataclass(frozen=True, slots=True)
class End:
    """A record that the two leave behind differently."""

    address: str
    icon: str
    missing: str
    """`first` or `second` where that one has no such record; empty: both have it."""
    rows: tuple[tuple[str, Shown | None, Shown | None], ...]
    """Field, what the first has there, what the second has; None: nothing."""


def pairs_of(found: Alignment, turns: tuple[Sequence[Turn], Sequence[Turn]]) -> tuple[Pair, ...]:
    """The rows of an alignment, ready for the template."""
    return tuple(
        Pair(
            number=number,
            row=row,
            cells=(
                _cell(row.first, row.second, turns[0], "a"),
                _cell(row.second, row.first, turns[1], "b"),
            ),
            words=", ".join(_why(row)),
            first=found.parting == number - 1,
        )
        for number, row in enumerate(found.rows, start=1)
    )


def _cell(
    frame: Frame | None, other: Frame | None, turns: Sequence[Turn], side: str
) -> TurnBeside | None:
    if frame is None:
        return None
    turn = turns[frame.index]
    return TurnBeside(
        turn=turn,
        calls=tuple(
            CallBeside(card, _differing(frame, other, place))
            for place, card in enumerate(turn.calls)
        ),
        diffs=diff_cards(frame.changes, f"{side}{turn.number}"),
        said=frame.text[:SAID],
        left_out=max(0, len(frame.text) - SAID),
    )


def _differing(frame: Frame, other: Frame | None, place: int) -> frozenset[str]:
    """Names of a call's arguments that its counterpart has otherwise or not at all."""
    if (
        other is None
        or place >= len(other.calls)
        or other.calls[place].name != (frame.calls[place].name)
    ):
        return frozenset()
    theirs = {argument.name: argument.value for argument in other.calls[place].arguments}
    return frozenset(
        argument.name
        for argument in frame.calls[place].arguments
        if argument.name not in theirs or theirs[argument.name] != argument.value
    )


def _why(row: Row) -> Iterator[str]:
    if row.kind == "alike":
        calls = row.first is not None and bool(row.first.calls)
        yield "other arguments" if calls else "other words"
    elif row.kind == "other":
        yield "something else"
    if row.answers:
        yield "answered otherwise"
    if row.records and row.kind == "same":
        yield "other records changed"


def checks_of(replays: tuple[Replay, Replay], specs: tuple[TaskSpec, TaskSpec]) -> tuple[Line, ...]:
    """Every check of either version, those that ended otherwise first."""
    declared = {check.id: check for spec in reversed(specs) for check in spec.checks}
    order = dict.fromkeys(check.id for spec in specs for check in spec.checks)
    stands = [_check_stands(shown) for shown in replays]
    lines = [
        Line(
            id=name,
            explain=declared[name].explain,
            note=f"{declared[name].component} {declared[name].weight:.2f}",
            stands=(_stand(stands[0], name), _stand(stands[1], name)),
        )
        for name in order
    ]
    return tuple(sorted(lines, key=lambda line: not line.differs))


def _check_stands(replay: Replay) -> Mapping[str, Stand]:
    turned = {flip.check: frame.index + 1 for frame in replay.frames for flip in frame.flips}
    found = {}
    for result in replay.grade.checks:
        words, mark = score_words(result.score)
        if result.failure is not None:
            words, mark = "check broke", "bad"
        full = result.score is not None and result.score >= 1
        detail = result.failure or ("" if full or result.unmet is not None else result.detail)
        if result.unmet is not None and not full:
            detail = f"waits for {result.unmet}"
        found[result.id] = Stand(words, mark, turned.get(result.id), detail)
    return found


def rules_of(replays: tuple[Replay, Replay], specs: tuple[TaskSpec, TaskSpec]) -> tuple[Line, ...]:
    """Every rule of either version, those that one of them broke first."""
    declared = {rule.id: rule for spec in reversed(specs) for rule in spec.constraints}
    order = dict.fromkeys(rule.id for spec in specs for rule in spec.constraints)
    stands = [_rule_stands(shown) for shown in replays]
    prices = {
        result.id: price_words(gate=result.gate, deduct=result.deduct)
        for shown in replays
        for result in shown.grade.constraints
    }
    lines = [
        Line(
            id=name,
            explain=declared[name].sentence,
            note=prices.get(name, ""),
            stands=(_stand(stands[0], name), _stand(stands[1], name)),
        )
        for name in order
    ]
    return tuple(sorted(lines, key=lambda line: not line.differs))


def _rule_stands(replay: Replay) -> Mapping[str, Stand]:
    turns = {call.number: frame.index + 1 for frame in replay.frames for call in frame.calls}
    return {
        result.id: Stand(
            "broken",
            "bad",
            None if result.call is None else turns.get(result.call + 1),
            result.detail,
        )
        if result.broken
        else Stand("unbroken", "ok")
        for result in replay.grade.constraints
    }


def _stand(stands: Mapping[str, Stand], name: str) -> Stand:
    return stands.get(name, Stand("not in this version", "void"))


def ends_of(changes: Sequence[RecordChange]) -> tuple[End, ...]:
    """Records that end differently, ready for the template."""
    missing: dict[str, str] = {"add": "first", "delete": "second", "update": ""}
    return tuple(
        End(
            address=change.address,
            icon=service_icon(change.address),
            missing=missing[change.kind],
            rows=tuple(
                (
                    field.name,
                    _shown_if(field.before, there=field.had),
                    _shown_if(field.after, there=field.has),
                )
                for field in change.fields
            ),
        )
        for change in changes
    )


def _shown_if(value: Any, *, there: bool) -> Shown | None:
    return shown(value) if there else None
