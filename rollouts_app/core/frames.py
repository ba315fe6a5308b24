"""Frames: what a replay shows, as frozen data. Nothing of it is stored."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

import orjson

from tasks_app.core.calls import Tables
from tasks_app.core.results import Grade
from tasks_app.core.values import ChangeKind


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One top-level field of a record before and after; `had` and `has` tell absent from null."""

    name: str
    before: Any
    after: Any
    had: bool
    has: bool
    stray: bool
    """Whether the write set does not allow it."""


@dataclass(frozen=True, slots=True)
class RecordChange:
    """One record that a turn (or the timeline) changed."""

    address: str
    collection: str
    id: str
    kind: ChangeKind
    fields: tuple[FieldChange, ...]
    size: int
    """How many fields the record has."""
    stray: bool
    """Whether any of it lies outside the write set."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A check whose score changed."""

    check: str
    component: str
    weight: float
    explain: str
    before: float | None
    after: float | None
    call: int | None
    """Number of the call that did it, from 1; None: the reply."""
    detail: str
    cites: tuple[str, ...]
    unmet: str | None
    """Id of the required check it waited for before, or lost now."""

    @property
    def rises(self) -> bool:
        """Whether the score went up."""
        return (self.after or 0.0) > (self.before or 0.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a constraint says about one call."""

    constraint: str
    kind: str
    sentence: str
    gate: bool
    deduct: float
    state: Literal["kept", "broken", "broken_before"]
    detail: str


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call and where its value was first seen."""

    name: str
    value: Any
    origin: str
    """`request`, `rules`, `option` (of the schema's enum), `call 3`; empty: the policy made it."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where the replay leaves the recording."""

    turn: int
    call: int | None
    """Number of the call, from 1; None: the end of the turn."""
    kind: Literal["state", "observation", "end"]
    recorded: str
    found: str


@dataclass(frozen=True, slots=True)
class CallFrame:
    """One call of a turn."""

    number: int
    """From 1, counted through the episode."""
    name: str
    tool: str
    kind: Literal["read", "write", "channel", "unknown"]
    arguments: tuple[Argument, ...]
    raw: str
    """The argument text where it is no JSON object; empty otherwise."""
    observation: bytes
    """As it was recorded."""
    error: str | None
    message: str
    """The words of an error."""
    changed: int
    """How many records it changed."""
    state_before: str
    verdicts: tuple[Verdict, ...]
    divergence: Divergence | None


@dataclass(frozen=True, slots=True)
class Standing:
    """One check after a turn."""

    check: str
    component: str
    weight: float
    explain: str
    score: float | None
    detail: str
    cites: tuple[str, ...]
    unmet: str | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One constraint after a turn."""

    constraint: str
    kind: str
    sentence: str
    gate: bool
    deduct: float
    broken: bool
    call: int | None
    """Number of the call that broke it, from 1."""
    detail: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One turn as it is shown."""

    index: int
    """From 0."""
    stage: str
    at: str
    text: str
    calls: tuple[CallFrame, ...]
    ends_stage: bool
    heard: str
    changes: tuple[RecordChange, ...]
    timeline: tuple[RecordChange, ...]
    """What happened between this stage and the next: nobody's doing."""
    flips: tuple[Flip, ...]
    checks: tuple[Standing, ...]
    rules: tuple[Rule, ...]
    reward: float
    passed: bool
    state_before: str
    state_after: str
    tokens: int | None
    seconds: float | None
    damaged: str
    """The raw line of a turn that cannot be read; empty otherwise."""
    problem: str
    tables: Tables = field(repr=False)
    """The records after the turn, the timeline included: references, not copies."""

    @property
    def errors(self) -> int:
        """How many calls were answered with an error."""
        return sum(call.error is not None for call in self.calls)

    @property
    def writes(self) -> bool:
        """Whether it changed records."""
        return bool(self.changes)

    @property
    def broken(self) -> int:
        """How many constraints were broken here."""
        return sum(verdict.state == "broken" for call in self.calls for verdict in call.verdicts)


@dataclass(frozen=True, slots=True)
class Replay:
    """All frames of an episode."""

    frames: tuple[Frame, ...]
    start: Tables = field(repr=False)
    opening: tuple[Standing, ...]
    """The checks before the first turn."""
    grade: Grade
    """Of today's world, after the stages that were not reached."""
    closing: tuple[Flip, ...]
    """What flipped because unreached stages happened."""
    divergence: Divergence | None
    other_spec: bool
    """Whether the trajectory was recorded on another content hash."""
    exact: bool
    """Whether every call was graded (see EXACT_CALLS)."""
    damage: tuple[str, ...]


def frame_body(frame: Frame) -> dict[str, Any]:
    """Return a frame as JSON data, without the tables."""
    body = {f.name: getattr(frame, f.name) for f in fields(frame) if f.name != "tables"}
    decoded: dict[str, Any] = orjson.loads(orjson.dumps(body, default=_plain))
    return decoded


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return orjson.Fragment(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
