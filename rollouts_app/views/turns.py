"""What the replay page shows of each turn: the strip, the rail, the cards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from rollouts_app.core.frames import (
    CallFrame,
    Divergence,
    Flip,
    Frame,
    RecordChange,
    Replay,
    Verdict,
)
from rollouts_app.views.values import (
    CLIP,
    Shown,
    compact,
    moment,
    result_words,
    short_key,
    shown,
    verb,
)
from tasks_app.core.spec import TaskSpec

_OPEN_RESULT: Final = 200
"""Characters up to which the result of a write is shown unasked."""
_KIND_WORDS: Final = {
    "read": "reads",
    "write": "writes",
    "channel": "asks",
    "unknown": "no such tool",
}
_KIND_ICONS: Final = {"read": "read", "write": "write", "channel": "chat", "unknown": "hand"}
_ICONS: Final = {
    "mail": "mail",
    "contacts": "user",
    "helpdesk": "comment",
    "crm": "user",
    "finance": "coin",
    "kb": "book",
    "files": "file",
    "calendar": "clock",
    "chat": "chat",
}


def service_icon(address: str) -> str:
    """The icon of a record's service."""
    return _ICONS.get(address.partition("/")[0], "data")


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """One argument of a call."""

    name: str
    value: Shown
    origin: str
    call: int | None
    """Number of the call it comes from, for the link."""


@dataclass(frozen=True, slots=True)
class CallCard:
    """One call as a card."""

    number: int
    name: str
    kind: str
    kind_words: str
    icon: str
    arguments: tuple[ArgumentRow, ...]
    raw: str
    error: str | None
    message: str
    retry_after: int | None
    words: str
    text: str
    """The result as text, clipped."""
    spoken: str
    """What a colleague answered, for a channel tool."""
    left_out: int
    open: bool
    changed: int
    verdicts: tuple[Verdict, ...]
    divergence: Divergence | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn on the page."""

    number: int
    frame: Frame
    title: str
    """What it does, for the rail."""
    tools: str
    stage_head: str
    """Words before the first turn of a stage; empty otherwise."""
    shape: str
    """Of its bar: read, write, ask, error, none."""
    state: str
    state_after: str
    moved: bool
    calls: tuple[CallCard, ...]
    timeline: "tuple[DiffCard, ...]"
    heard_from: str
    colleague: str
    """Who answers the channel tool."""
    words: str
    """What happened, for the live region and for who cannot see the strip."""

    @property
    def flips(self) -> tuple[Flip, ...]:
        """The checks that flip here."""
        return self.frame.flips

    @property
    def notable(self) -> bool:
        """Whether `n` and `p` stop here: a flip, an error, a broken rule, a divergence, damage."""
        frame = self.frame
        return bool(
            frame.flips
            or frame.errors
            or frame.broken
            or frame.damaged
            or any(call.divergence for call in frame.calls)
        )


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One line of a diff."""

    sign: str
    """`add` or `rem`."""
    name: str
    value: Shown
    stray: bool


@dataclass(frozen=True, slots=True)
class DiffCard:
    """One changed record."""

    anchor: str
    address: str
    icon: str
    what: str
    rows: tuple[FieldRow, ...]
    stray: bool

    @property
    def whole_stray(self) -> bool:
        """Whether nothing of it may change."""
        return self.stray and all(row.stray for row in self.rows)


def turns_of(replay: Replay, spec: TaskSpec) -> tuple[Turn, ...]:
    """All turns of a replay, ready for the templates."""
    return tuple(_turns(replay, spec))


def _turns(replay: Replay, spec: TaskSpec) -> Iterator[Turn]:
    stages = [stage.id for stage in spec.stages]
    last_stage = ""
    for frame in replay.frames:
        head = ""
        if frame.stage != last_stage:
            number = stages.index(frame.stage) + 1 if frame.stage in stages else 1
            head = moment(frame.at)
            if len(stages) > 1:
                head = f"Sitting {number} of {len(stages)}, {head}"
            last_stage = frame.stage
        yield Turn(
            number=frame.index + 1,
            frame=frame,
            title=_title(frame, spec),
            tools=", ".join(dict.fromkeys(call.name for call in frame.calls)) or "no call",
            stage_head=head,
            shape=_shape(frame),
            state=short_key(frame.state_before),
            state_after=short_key(frame.state_after),
            moved=frame.state_before != frame.state_after,
            calls=tuple(_card(call) for call in frame.calls),
            timeline=diff_cards(frame.timeline, f"t{frame.index + 1}"),
            heard_from=_heard_from(frame, spec),
            colleague=spec.user.name if spec.user is not None else "Answer",
            words=_words(frame),
        )


def _title(frame: Frame, spec: TaskSpec) -> str:
    if frame.damaged:
        return "Damaged"
    if not frame.calls:
        said = " ".join(frame.text.split())
        if not said:
            return "Ends without a word"
        return f"{'Replies' if frame.ends_stage else 'Asks'}: {said[:60]}"
    first = frame.calls[0]
    failed = next((call for call in frame.calls if call.error), None)
    what = verb(first.name).capitalize()
    subject = next(
        (a.value for a in first.arguments if a.name.endswith("_id") and isinstance(a.value, str)),
        None,
    )
    if first.kind == "channel" and spec.user is not None:
        what, subject = "Asks", spec.user.name
    if failed is not None:
        return f"{verb(failed.name).capitalize()}: {str(failed.error).replace('_', ' ')}"
    if len(frame.calls) > 1:
        return f"{what}, {len(frame.calls)} calls"
    return f"{what} {subject}" if subject else what


def _shape(frame: Frame) -> str:
    if frame.errors or frame.damaged:
        return "error"
    if frame.writes:
        return "write"
    if frame.calls and all(call.kind == "channel" for call in frame.calls):
        return "ask"
    return "read" if frame.calls else "none"


def _words(frame: Frame) -> str:
    parts = []
    if frame.damaged:
        parts.append("cannot be read")
    if frame.errors:
        parts.append(_plural(frame.errors, "tool error"))
    if frame.changes:
        parts.append(f"{_plural(len(frame.changes), 'record')} changed")
    elif frame.calls and not frame.errors:
        parts.append("asks" if _shape(frame) == "ask" else "reads")
    elif not frame.calls and not frame.damaged:
        parts.append("no call")
    if frame.flips:
        parts.append(f"{_plural(len(frame.flips), 'check')} flipped")
    if frame.broken:
        parts.append(f"{_plural(frame.broken, 'rule')} broken")
    return ", ".join(parts)


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _heard_from(frame: Frame, spec: TaskSpec) -> str:
    if not frame.heard:
        return ""
    if frame.ends_stage:
        return "Next sitting"
    return spec.user.name if spec.user is not None else "Answer"


def _card(call: CallFrame) -> CallCard:
    value: Any = None
    try:
        value = orjson.loads(call.observation)
        text = compact(value)
    except orjson.JSONDecodeError:
        text = call.observation.decode("utf-8", errors="replace")
    spoken = ""
    if call.kind == "channel" and isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        spoken = only if isinstance(only, str) else ""
    retry = value.get("retry_after") if isinstance(value, dict) else None
    return CallCard(
        number=call.number,
        name=call.name,
        kind=call.kind,
        kind_words=_KIND_WORDS[call.kind],
        icon=_KIND_ICONS[call.kind],
        arguments=tuple(_argument(a.name, a.value, a.origin) for a in call.arguments),
        raw=call.raw[:CLIP],
        error=call.error,
        message=call.message,
        retry_after=retry if call.error and isinstance(retry, int) else None,
        words=result_words(call.observation),
        text=text[:CLIP],
        spoken=spoken,
        left_out=max(0, len(text) - CLIP),
        open=call.kind == "write" and len(text) <= _OPEN_RESULT,
        changed=call.changed,
        verdicts=call.verdicts,
        divergence=call.divergence,
    )


def _argument(name: str, value: Any, origin: str) -> ArgumentRow:
    number = int(origin.removeprefix("call ")) if origin.startswith("call ") else None
    words = {"request": "from the request", "rules": "from the rules", "option": "of the options"}
    return ArgumentRow(name, shown(value), words.get(origin, ""), number)


def diff_cards(changes: Sequence[RecordChange], prefix: str) -> tuple[DiffCard, ...]:
    """Changed records, old above new."""
    return tuple(
        DiffCard(
            anchor=f"{prefix}-rec-{number}",
            address=change.address,
            icon=service_icon(change.address),
            what=_what(change),
            rows=tuple(_rows(change)),
            stray=change.stray,
        )
        for number, change in enumerate(changes, start=1)
    )


def _what(change: RecordChange) -> str:
    if change.kind == "add":
        return "new record"
    if change.kind == "delete":
        return "deleted"
    return f"{len(change.fields)} of {_plural(change.size, 'field')}"


def _rows(change: RecordChange) -> Iterator[FieldRow]:
    for field in change.fields:
        if field.had:
            yield FieldRow("rem", field.name, shown(field.before), field.stray)
        if field.has:
            yield FieldRow("add", field.name, shown(field.after), field.stray)
