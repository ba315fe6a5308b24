"""The pane beside the turns: what turn k changed, or all records after it; checks and rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from rollouts_app.core.frames import Flip, Frame, Replay, Rule, Standing
from rollouts_app.views.turns import DiffCard, diff_cards, service_icon
from rollouts_app.views.values import Shown, shown
from tasks_app.core.values import escape_id

RECORDS_SHOWN: Final = 50
"""Records of one collection that the state shows; the number of all is said."""


@dataclass(frozen=True, slots=True)
class Cite:
    """A place that decided a check."""

    words: str
    url: str


@dataclass(frozen=True, slots=True)
class FlipRow:
    """A check that flips at this turn."""

    flip: Flip
    was: str
    now: str
    was_mark: str
    now_mark: str
    cites: tuple[Cite, ...]
    effect: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check after this turn, with the turn where it turns."""

    standing: Standing
    mark: str
    state: str
    when: str
    turn: int | None
    note: str
    flips: bool


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A constraint after this turn."""

    rule: Rule
    here: bool
    price: str


@dataclass(frozen=True, slots=True)
class RecordCard:
    """A record in the state."""

    id: str
    anchor: str
    """Of its element: a cite leads there."""
    peek: str
    """A few words of it, for the closed record."""
    changed: bool
    new: bool
    fields: tuple[tuple[str, Shown, bool], ...]
    """Name, value, whether this turn changed it."""


@dataclass(frozen=True, slots=True)
class CollectionCard:
    """A collection in the state after turn k."""

    address: str
    icon: str
    count: int
    records: tuple[RecordCard, ...]
    touched: int
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pane:
    """Everything the pane shows for one turn."""

    number: int
    show: str
    frame: Frame
    diffs: tuple[DiffCard, ...]
    inside: int
    """How many of the changed records lie inside the write set."""
    flips: tuple[FlipRow, ...]
    checks: tuple[CheckRow, ...]
    held: int
    rules: tuple[RuleRow, ...]
    unbroken: int
    collections: tuple[CollectionCard, ...]

    @property
    def filled(self) -> list[CollectionCard]:
        """The collections that hold records, or held some."""
        return [card for card in self.collections if card.count or card.removed]

    @property
    def bare(self) -> list[str]:
        """Addresses of the empty collections."""
        return [card.address for card in self.collections if not card.count and not card.removed]

    @property
    def only_asked(self) -> bool:
        """Whether all the turn did was to ask the colleague."""
        return bool(self.frame.calls) and all(c.kind == "channel" for c in self.frame.calls)


def pane_of(replay: Replay, number: int, show: str) -> Pane:
    """The pane of turn `number`, from 1; `show` is `diff` or `state`."""
    frame = replay.frames[number - 1]
    diffs = diff_cards(frame.changes, "now")
    anchors = {card.address: card.anchor for card in diffs}
    flipping = {flip.check for flip in frame.flips}
    return Pane(
        number=number,
        show=show,
        frame=frame,
        diffs=diffs,
        inside=sum(not card.stray for card in diffs),
        flips=tuple(_flip(flip, frame, anchors) for flip in frame.flips),
        checks=tuple(
            _check(replay, number, standing, flips=standing.check in flipping)
            for standing in frame.checks
        ),
        held=sum(_holds(standing.score) for standing in frame.checks),
        rules=tuple(
            RuleRow(
                rule, _broken_here(rule, frame), price_words(gate=rule.gate, deduct=rule.deduct)
            )
            for rule in frame.rules
        ),
        unbroken=sum(not rule.broken for rule in frame.rules),
        collections=tuple(_collections(replay, number)) if show == "state" else (),
    )


def _holds(score: float | None) -> bool:
    return score is not None and score >= 1


def score_words(score: float | None) -> tuple[str, str]:
    """Words and mark of a score."""
    if score is None:
        return "not scored", "void"
    if score >= 1:
        return "holds", "ok"
    return (f"{score:.2f} of 1", "half") if score > 0 else ("not met", "none")


def _flip(flip: Flip, frame: Frame, anchors: Mapping[str, str]) -> FlipRow:
    was, was_mark = score_words(flip.before)
    now, now_mark = score_words(flip.after)
    gained = flip.weight * ((flip.after or 0.0) - (flip.before or 0.0))
    verb = "Adds" if gained > 0 else "Takes"
    return FlipRow(
        flip=flip,
        was=was.capitalize(),
        now=now,
        was_mark=was_mark,
        now_mark="bad" if not flip.rises and now_mark == "none" else now_mark,
        cites=tuple(_cite(cite, frame, anchors) for cite in flip.cites[:6]),
        effect=f"{verb} {abs(gained):.2f} {'to' if gained > 0 else 'from'} {flip.component}",
    )


def _cite(cite: str, frame: Frame, anchors: Mapping[str, str]) -> Cite:
    kind, _, rest = cite.partition(":")
    if kind == "call" and rest.isdigit():
        number = int(rest) + 1
        return Cite(f"call {number}", f"#call-{number}")
    if kind == "reply":
        return Cite("the reply", f"#turn-{frame.index + 1}")
    record = cite.partition("#")[0]
    anchor = anchors.get(record)
    if anchor is not None:
        return Cite(cite, f"#{anchor}")
    # The element's id holds per cent signs, which an address writes as %25.
    place = quote(quote(f"rec-{record}", safe=""))
    return Cite(cite, f"?turn={frame.index + 1}&show=state#{place}")


def _check(replay: Replay, number: int, standing: Standing, *, flips: bool) -> CheckRow:
    state, mark = score_words(standing.score)
    if standing.failure is not None:
        state, mark = "check broke", "bad"
    when, turn = _when(replay, number, standing)
    note = f"{standing.component} {standing.weight:.2f}"
    if standing.failure is not None:
        note = f"{note}, {standing.failure}"
    elif standing.unmet is not None and not _holds(standing.score):
        note = f"{note}, waits for {standing.unmet}"
    return CheckRow(standing, mark, state, when, turn, note, flips)


def _when(replay: Replay, number: int, standing: Standing) -> tuple[str, int | None]:
    """Since when it holds, or at which turn it will."""
    turns = [
        (frame.index + 1, flip.rises)
        for frame in replay.frames
        for flip in frame.flips
        if flip.check == standing.check
    ]
    if _holds(standing.score):
        since = max((turn for turn, rises in turns if rises and turn <= number), default=None)
        return ("since turn", since) if since is not None else ("from the start", None)
    coming = min((turn for turn, rises in turns if rises and turn > number), default=None)
    return ("at turn", coming) if coming is not None else ("never", None)


def _broken_here(rule: Rule, frame: Frame) -> bool:
    return rule.broken and any(call.number == rule.call for call in frame.calls)


def price_words(*, gate: bool, deduct: float) -> str:
    """What breaking a rule costs."""
    return "gate" if gate else f"−{deduct:.2f}"


def _collections(replay: Replay, number: int) -> Iterator[CollectionCard]:
    frame = replay.frames[number - 1]
    now = {
        (change.collection, change.id): frozenset(field.name for field in change.fields)
        for change in frame.changes
    }
    cards = []
    for address, rows in frame.tables.items():
        start = replay.start.get(address, {})
        # Records are values: an unchanged one is still the same object.
        touched = {row_id: row for row_id, row in rows.items() if start.get(row_id) is not row}
        others = (row_id for row_id in rows if row_id not in touched)
        first = [*touched, *others][:RECORDS_SHOWN]
        cards.append(
            CollectionCard(
                address=address,
                icon=service_icon(address),
                count=len(rows),
                records=tuple(
                    RecordCard(
                        id=row_id,
                        anchor=quote(f"rec-{address}/{escape_id(row_id)}", safe=""),
                        peek=_peek(rows[row_id], row_id),
                        changed=row_id in touched,
                        new=row_id not in start,
                        fields=_fields(rows[row_id], now.get((address, row_id), frozenset())),
                    )
                    for row_id in first
                ),
                touched=len(touched),
                removed=tuple(row_id for row_id in start if row_id not in rows),
            )
        )
    yield from sorted(cards, key=lambda card: (not card.touched and not card.removed, card.address))


def _peek(row: Mapping[str, Any], row_id: str) -> str:
    words = [
        value
        for name, value in row.items()
        if isinstance(value, str) and value != row_id and not name.endswith(("_at", "_id", "date"))
    ]
    return " · ".join(words[:2])[:80]


def _fields(row: Mapping[str, Any], now: frozenset[str]) -> tuple[tuple[str, Shown, bool], ...]:
    return tuple((name, shown(value), name in now) for name, value in row.items())
