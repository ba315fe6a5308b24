"""Replay: the recorded calls of a trajectory run again on a fresh world, as frames.

A frame is one turn: the records it changed field by field, the checks that flipped and the places
that decided them, the verdict of every constraint on every call, the reward so far.

Invariants:
- Nothing of a frame is stored; everything is made again from the spec and the recorded arguments.
- What was observed then is shown; where the world of today answers otherwise, or stood in another
  state before a call, the call says so, and the first such place is the divergence.
- A check flips where its score changes; a turn's changes never include what the timeline did.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import orjson

from rollouts_app.core.errors import TaskFailure
from rollouts_app.core.frames import (
    Argument,
    CallFrame,
    Divergence,
    FieldChange,
    Flip,
    Frame,
    RecordChange,
    Replay,
    Rule,
    Standing,
    Verdict,
)
from rollouts_app.core.origins import Origins
from rollouts_app.core.trajectory import (
    DamagedTurn,
    RecordedCall,
    RecordedTurn,
    Trajectory,
    key_text,
)
from tasks_app.core.calls import Call
from tasks_app.core.grading.grade import grade
from tasks_app.core.records import diff
from tasks_app.core.results import Grade
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import MISSING, Change, InvalidValueError
from tasks_app.core.world.world import Seed, World
from tasks_app.core.writes import Stray

EXACT_CALLS: Final = 400
"""Up to so many calls each is graded; beyond, the turns that can change a score and every 25th."""
_SPARSE: Final = 25


def replay(spec: TaskSpec, trajectory: Trajectory, *, exact_calls: int = EXACT_CALLS) -> Replay:
    """Run the recorded calls again. Raises TaskFailure if no world can be made of the spec.

    Args:
        spec: The task version as it stands.
        trajectory: What was recorded.
        exact_calls: Up to so many calls each call is graded, see EXACT_CALLS.
    """
    try:
        seed = Seed.of(spec)
    except InvalidValueError as problem:
        raise TaskFailure(str(problem)) from problem
    return _Player(spec, seed, trajectory, exact=trajectory.calls <= exact_calls).play()


class _Player:
    """One replay under way."""

    def __init__(self, spec: TaskSpec, seed: Seed, trajectory: Trajectory, *, exact: bool):
        self.spec = spec
        self.seed = seed
        self.trajectory = trajectory
        self.world = World(seed)
        self.exact = exact
        self.grade = self._grade()
        self.divergence: Divergence | None = None
        self.origins = Origins(spec)
        self.explains = {check.id: check.explain for check in spec.checks}
        self.strays: frozenset[tuple[str, str, tuple[str, ...]]] = frozenset()

    def play(self) -> Replay:
        opening = self._standings()
        frames = tuple(self._frame(i, turn) for i, turn in enumerate(self.trajectory.turns))
        self._compare_end(len(frames))
        before = self.grade
        self.world.finish()
        self.grade = self._grade()
        return Replay(
            frames=frames,
            start=self.seed.ground.start,
            opening=opening,
            grade=self.grade,
            closing=tuple(self._flips(before, self.grade, None)),
            divergence=self.divergence,
            other_spec=self.trajectory.spec_hash != self.spec.hash,
            exact=self.exact,
            damage=self.trajectory.damage,
        )

    def _grade(self) -> Grade:
        return grade(self.spec.checks, self.spec.constraints, self.world.evidence())

    # --- a turn ----------------------------------------------------------------------------------

    def _frame(self, index: int, turn: RecordedTurn | DamagedTurn) -> Frame:
        world = self.world
        state_before, tables_before = key_text(world.store.state_key()), world.store.tables
        stage, at = world.stage, world.now
        flips: list[Flip] = []
        calls: list[CallFrame] = []
        timeline: tuple[RecordChange, ...] = ()
        closed = tables_before
        if isinstance(turn, RecordedTurn):
            made: list[Call] = []
            for recorded in turn.calls:
                frame, call = self._call(index, recorded, flips)
                calls.append(frame)
                made.append(call)
            self.origins.learn(made, self.seed.ground.tools)
            closed = world.store.tables
            if not turn.calls:
                timeline = self._hear(turn)
            if not turn.calls or (not self.exact and self._may_flip(index, turn, made)):
                flips.extend(self._regrade(None))
        return Frame(
            index=index,
            stage=stage,
            at=at,
            text=turn.text if isinstance(turn, RecordedTurn) else "",
            calls=tuple(calls),
            ends_stage=isinstance(turn, RecordedTurn) and turn.ends_stage,
            heard=turn.heard if isinstance(turn, RecordedTurn) else "",
            changes=self._changes(stage, diff(tables_before, closed)),
            timeline=timeline,
            flips=tuple(_merged(flips)),
            checks=self._standings(),
            rules=self._rules(),
            reward=self.grade.total,
            passed=self.grade.passed,
            state_before=state_before,
            state_after=key_text(world.store.state_key()),
            tokens=turn.tokens if isinstance(turn, RecordedTurn) else None,
            seconds=turn.seconds if isinstance(turn, RecordedTurn) else None,
            damaged=(
                turn.raw.decode("utf-8", errors="replace") if isinstance(turn, DamagedTurn) else ""
            ),
            problem=turn.problem if isinstance(turn, DamagedTurn) else "",
            tables=world.store.tables,
        )

    def _may_flip(self, index: int, turn: RecordedTurn, made: Sequence[Call]) -> bool:
        last = index + 1 == len(self.trajectory.turns)
        return (
            last
            or not turn.calls
            or index % _SPARSE == 0
            or any(call.changes or call.error is not None for call in made)
        )

    def _hear(self, turn: RecordedTurn) -> tuple[RecordChange, ...]:
        world = self.world
        if not turn.ends_stage:
            world.say(turn.text)
            return ()
        before = world.store.tables
        world.reply(turn.text)
        happened = diff(before, world.store.tables)
        return tuple(record_change(change, frozenset()) for change in happened)

    def _call(self, turn: int, recorded: RecordedCall, flips: list[Flip]) -> tuple[CallFrame, Call]:
        call = self.world.call(recorded.name, recorded.arguments)
        divergence = self._compare(turn, recorded, call)
        if divergence is not None and self.divergence is None:
            self.divergence = divergence
        verdicts: tuple[Verdict, ...] = ()
        if self.exact:
            flips.extend(self._regrade(call.index))
            verdicts = self._verdicts(call)
        facts = self.seed.ground.tools.get(call.tool)
        arguments, raw = self._arguments(recorded, call)
        outcome = _value(recorded.observation)
        message = ""
        if recorded.error is not None and isinstance(outcome, Mapping):
            message = str(outcome.get("message", ""))
        frame = CallFrame(
            number=call.index + 1,
            name=recorded.name,
            tool=call.tool,
            kind=facts.kind if facts is not None else "unknown",
            arguments=arguments,
            raw=raw,
            observation=recorded.observation,
            error=recorded.error,
            message=message,
            changed=len({(change.collection, change.id) for change in call.changes}),
            state_before=recorded.state_key,
            verdicts=verdicts,
            divergence=divergence,
        )
        return frame, call

    def _compare(self, turn: int, recorded: RecordedCall, call: Call) -> Divergence | None:
        found = key_text(call.state_key)
        # After the first one every state differs; only another answer is news then.
        if recorded.state_key != found and self.divergence is None:
            return Divergence(turn, call.index + 1, "state", recorded.state_key, found)
        if _value(recorded.observation) != _value(call.observation):
            return Divergence(
                turn,
                call.index + 1,
                "observation",
                recorded.observation.decode("utf-8", errors="replace"),
                call.observation.decode("utf-8", errors="replace"),
            )
        return None

    def _compare_end(self, turns: int) -> None:
        recorded = self.trajectory.end_key
        found = key_text(self.world.store.state_key())
        if recorded and recorded != found and self.divergence is None and turns:
            self.divergence = Divergence(turns - 1, None, "end", recorded, found)

    def _arguments(self, recorded: RecordedCall, call: Call) -> tuple[tuple[Argument, ...], str]:
        value = _value(recorded.arguments)
        if not isinstance(value, dict):
            return (), recorded.arguments.decode("utf-8", errors="replace")
        facts = self.seed.ground.tools.get(call.tool)
        schema = (facts.parameters or {}) if facts is not None else {}
        return tuple(
            Argument(name, item, self.origins.of(item, schema, name))
            for name, item in value.items()
        ), ""

    # --- grading ---------------------------------------------------------------------------------

    def _regrade(self, call: int | None) -> list[Flip]:
        before, self.grade = self.grade, self._grade()
        return self._flips(before, self.grade, call)

    def _flips(self, before: Grade, after: Grade, call: int | None) -> list[Flip]:
        earlier = {result.id: result for result in before.checks}
        flips = []
        for result in after.checks:
            old = earlier[result.id]
            if old.score == result.score:
                continue
            flips.append(
                Flip(
                    check=result.id,
                    component=result.component,
                    weight=result.weight,
                    explain=self.explains.get(result.id, ""),
                    before=old.score,
                    after=result.score,
                    call=None if call is None else call + 1,
                    detail=result.detail,
                    cites=result.cites,
                    unmet=result.unmet or old.unmet,
                )
            )
        return flips

    def _standings(self) -> tuple[Standing, ...]:
        return tuple(
            Standing(
                check=result.id,
                component=result.component,
                weight=result.weight,
                explain=self.explains.get(result.id, ""),
                score=result.score,
                detail=result.detail,
                cites=result.cites,
                unmet=result.unmet,
                failure=result.failure,
            )
            for result in self.grade.checks
        )

    def _rules(self) -> tuple[Rule, ...]:
        declared = {constraint.id: constraint for constraint in self.spec.constraints}
        return tuple(
            Rule(
                constraint=result.id,
                kind=declared[result.id].kind,
                sentence=declared[result.id].sentence,
                gate=result.gate,
                deduct=result.deduct,
                broken=result.broken,
                call=None if result.call is None else result.call + 1,
                detail=result.detail,
            )
            for result in self.grade.constraints
        )

    def _verdicts(self, call: Call) -> tuple[Verdict, ...]:
        declared = {constraint.id: constraint for constraint in self.spec.constraints}
        verdicts: list[Verdict] = []
        for result in self.grade.constraints:
            constraint = declared[result.id]
            here = result.broken and result.call == call.index
            if not here and not constraint.concerns(call):
                continue
            state: Literal["kept", "broken", "broken_before"] = (
                "broken" if here else "broken_before" if result.broken else "kept"
            )
            verdicts.append(
                Verdict(
                    constraint=result.id,
                    kind=constraint.kind,
                    sentence=constraint.sentence,
                    gate=result.gate,
                    deduct=result.deduct,
                    state=state,
                    detail=result.detail if result.broken else "",
                )
            )
        return tuple(verdicts)

    def _changes(self, stage: str, changes: Sequence[Change]) -> tuple[RecordChange, ...]:
        if not changes:
            return ()
        outside: dict[tuple[str, str], Stray] = {
            (stray.change.collection, stray.change.id): stray
            for stray in self.world.evidence().strays()
            if stray.stage == stage
        }
        made = []
        for change in changes:
            stray = outside.get((change.collection, change.id))
            if stray is None:
                made.append(record_change(change, frozenset()))
            else:
                made.append(record_change(change, frozenset(stray.fields), whole=not stray.fields))
        return tuple(made)


def record_change(
    change: Change, stray_fields: frozenset[str], *, whole: bool = False
) -> RecordChange:
    """Return a change as it is shown, its fields in the order of the record.

    Args:
        change: One record before and after.
        stray_fields: Fields outside the write set.
        whole: Whether nothing of the record may change.
    """
    before: Mapping[str, Any] = change.before or {}
    after: Mapping[str, Any] = change.after or {}
    order = list(dict.fromkeys([*before, *after]))
    differing = frozenset(change.fields())
    fields = tuple(
        FieldChange(
            name=name,
            before=before.get(name),
            after=after.get(name),
            had=name in before,
            has=name in after,
            stray=whole or name in stray_fields,
        )
        for name in order
        if name in differing
    )
    return RecordChange(
        address=change.address,
        collection=change.collection,
        id=change.id,
        kind=change.kind,
        fields=fields,
        size=len(order),
        stray=any(f.stray for f in fields),
    )


def _merged(flips: Iterable[Flip]) -> list[Flip]:
    """One flip a check and turn: from its first score to its last; none if it came back."""
    first: dict[str, Flip] = {}
    last: dict[str, Flip] = {}
    for flip in flips:
        first.setdefault(flip.check, flip)
        last[flip.check] = flip
    return [
        Flip(
            flip.check,
            flip.component,
            flip.weight,
            flip.explain,
            first[check].before,
            flip.after,
            flip.call,
            flip.detail,
            flip.cites,
            flip.unmet,
        )
        for check, flip in last.items()
        if first[check].before != flip.after
    ]


def _value(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return MISSING
