"""Two replays laid beside each other, turn by turn.

Turns are matched by what they do: the tools that they call with their arguments, or what they say
where they call none.

Invariants:
- Every turn of both stands in exactly one row, each side in its order.
- Among all ways to lay them side by side one with the most turns that do the same is taken, then
  one with the most that call the same tools; the same two replays give the same rows.
- What is said beside a call is no part of what a turn does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, Literal

import orjson

from rollouts_app.core.frames import CallFrame, Frame, RecordChange, Replay
from rollouts_app.core.replay import record_change
from tasks_app.core.records import diff

EXACT_CELLS: Final = 250_000
"""Up to so many pairs of turns each is weighed; beyond, what lies between the common beginning and
the common end is laid side by side by its number."""

_SAME: Final = 3
"""What a pair that does the same weighs, beside 1 for a pair that calls the same tools."""

Kind = Literal["same", "alike", "other", "alone"]
"""Does the same; calls the same tools with other arguments, or says something else; does something
else; has nothing beside it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A turn of one episode beside a turn of the other."""

    first: Frame | None
    second: Frame | None
    kind: Kind
    answers: bool
    """Whether the same calls were answered otherwise."""
    records: bool
    """Whether they left other changes behind."""

    @property
    def parts(self) -> bool:
        """Whether the two are not the same here."""
        return self.kind != "same" or self.answers or self.records


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two replays side by side."""

    rows: tuple[Row, ...]
    by_number: bool
    """Whether the middle was too long to be matched by what the turns do."""
    ends: tuple[RecordChange, ...]
    """Records that the two leave behind differently: `before` is the first's, `after` the
    second's."""

    @property
    def parting(self) -> int | None:
        """Index of the first row where they are not the same; None: they are throughout."""
        return next((index for index, row in enumerate(self.rows) if row.parts), None)


def align(first: Replay, second: Replay, *, exact_cells: int = EXACT_CELLS) -> Alignment:
    """Lay two replays side by side.

    Args:
        first: One replay.
        second: The other one.
        exact_cells: See EXACT_CELLS.
    """
    one, two = first.frames, second.frames
    deeds = [deed(frame) for frame in one], [deed(frame) for frame in two]
    start = _common(deeds[0], deeds[1])
    end = _common(deeds[0][start:][::-1], deeds[1][start:][::-1])
    middle = one[start : len(one) - end], two[start : len(two) - end]
    by_number = len(middle[0]) * len(middle[1]) > exact_cells
    matched = [] if by_number else _matched(*middle)
    rows = [
        *map(_row, one[:start], two[:start]),
        *_rows(*middle, matched),
        *map(_row, one[len(one) - end :], two[len(two) - end :]),
    ]
    return Alignment(tuple(rows), by_number, tuple(_ends(first, second)))


def deed(frame: Frame) -> tuple[Any, ...]:
    """What a turn does, as a value that another turn's can be compared with."""
    if frame.damaged:
        return ("damaged", frame.damaged)
    if not frame.calls:
        return ("says", frame.ends_stage, " ".join(frame.text.split()))
    return tuple((call.name, arguments(call)) for call in frame.calls)


def arguments(call: CallFrame) -> bytes:
    """A call's arguments, whatever the order in which they were written."""
    if call.raw:
        return call.raw.encode()
    values = {argument.name: argument.value for argument in call.arguments}
    return orjson.dumps(values, option=orjson.OPT_SORT_KEYS)


def _tools(frame: Frame) -> tuple[str, ...]:
    if frame.damaged:
        return ("damaged",)
    return tuple(call.name for call in frame.calls) or ("ends" if frame.ends_stage else "says",)


def _common(one: Sequence[Any], two: Sequence[Any]) -> int:
    """How many items both begin with."""
    count = 0
    for first, second in zip(one, two, strict=False):
        if first != second:
            break
        count += 1
    return count


def _matched(one: Sequence[Frame], two: Sequence[Frame]) -> list[tuple[int, int]]:
    """The pairs of the heaviest common order, by the usual table read from its end."""
    weights = _weights(one, two)
    best = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        row, below, weight = best[i], best[i + 1], weights[i]
        for j in range(len(two) - 1, -1, -1):
            row[j] = max(below[j + 1] + weight[j], below[j], row[j + 1])
    found = []
    i = j = 0
    while i < len(one) and j < len(two):
        here = weights[i][j]
        if here and best[i][j] == best[i + 1][j + 1] + here:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _weights(one: Sequence[Frame], two: Sequence[Frame]) -> list[list[int]]:
    others = [(deed(frame), _tools(frame)) for frame in two]
    return [
        [_SAME if does == deeds else int(calls == tools) for deeds, tools in others]
        for does, calls in ((deed(frame), _tools(frame)) for frame in one)
    ]


def _rows(
    one: Sequence[Frame], two: Sequence[Frame], matched: Sequence[tuple[int, int]]
) -> Iterator[Row]:
    i = j = 0
    for first, second in (*matched, (len(one), len(two))):
        for left, right in zip_longest(one[i:first], two[j:second]):
            yield _row(left, right)
        if first < len(one):
            yield _row(one[first], two[second])
        i, j = first + 1, second + 1


def _row(first: Frame | None, second: Frame | None) -> Row:
    if first is None or second is None:
        return Row(first, second, "alone", answers=False, records=False)
    kind: Kind = "other"
    if deed(first) == deed(second):
        kind = "same"
    elif _tools(first) == _tools(second):
        kind = "alike"
    return Row(
        first,
        second,
        kind,
        answers=kind == "same" and _answers(first) != _answers(second),
        records=_left(first) != _left(second),
    )


def _answers(frame: Frame) -> tuple[Any, ...]:
    return (frame.heard, *(_value(call.observation) for call in frame.calls))


def _value(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _left(frame: Frame) -> list[tuple[Any, ...]]:
    """What a turn left behind, and what happened before the next sitting."""
    return [
        (change.address, change.kind, [(f.name, f.has, f.after) for f in change.fields])
        for change in (*frame.changes, *frame.timeline)
    ]


def _ends(first: Replay, second: Replay) -> Iterator[RecordChange]:
    ends = [shown.frames[-1].tables if shown.frames else shown.start for shown in (first, second)]
    for change in diff(*ends):
        yield record_change(change, frozenset())
