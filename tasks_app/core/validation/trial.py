"""The shared state of one proof: one world, the reference with a mark before every act, shared
prefixes.

A mutant knows its first differing act; it is run from the mark before that act, so the common
prefix is never run again. The log is part of a snapshot, so the prefix brings its calls along.
"""

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from tasks_app.core.calls import Call, encode_arguments
from tasks_app.core.evidence import Evidence
from tasks_app.core.program import (
    REPETITIONS,
    Act,
    Bound,
    ProgramRun,
    run_program,
    run_steps,
)
from tasks_app.core.records import Snapshot, Store, diff
from tasks_app.core.results import Grade
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.validation import text_pieces
from tasks_app.core.validation.card import Run
from tasks_app.core.validation.grader import Grader
from tasks_app.core.world.world import Seed, World


class Play(NamedTuple):
    """One run of a proof and its grade."""

    acts: Sequence[Act]
    """What was done after the mark."""
    evidence: Evidence
    grade: Grade

    @property
    def reward(self) -> float:
        """The total."""
        return self.grade.total

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, the prefix included."""
        return self.evidence.calls

    def run(self, name: str) -> Run:
        """Return it as the card writes it."""
        return Run(
            name=name,
            reward=self.grade.total,
            passed=self.grade.passed,
            calls=len(self.calls),
            errors=sum(call.error is not None for call in self.calls),
            violations=self.grade.violations,
        )


OWN: Final = "trial"
"""Under this name stand the runs that belong to no gate: the reference's and the one of silence."""
_DIGEST: Final = 16
"""Bytes of the hash over the runs of one gate."""


class _Account:
    """The runs of one gate: how many, and a hash over all that they did and earned."""

    __slots__ = ("hasher", "runs")

    def __init__(self) -> None:
        self.hasher = hashlib.blake2b(digest_size=_DIGEST)
        self.runs = 0


class Trial:
    """One proof's runs. Make it only of a spec whose records build a world."""

    def __init__(self, spec: TaskSpec):
        self.spec = spec
        self.seed = Seed.of(spec)
        self.world = World(self.seed)
        self.start = self.world.snapshot()
        self._accounts: dict[str, _Account] = {}
        self._account = self._account_of(OWN)
        self._grader = Grader(self.seed)
        self._null: Play | None = None
        self._readings: Sequence[text_pieces.Reading] | None = None
        self._plays: dict[tuple[int, ...], Play] = {}
        self._said: dict[int, tuple[Mapping[str, Any], bytes]] = {}
        """Arguments of acts as calls send them."""
        self._told: dict[int, tuple[Grade, bytes]] = {}
        """Grades as the hash takes them in; many runs share one."""
        self.extra: tuple[Act, ...] | None = None
        """Writes too many that succeed, once they were looked for (see mutants.py)."""
        self.computed: tuple[Any, ...] | None = None
        """What the reference's functions gave, once that was asked (see citations.py)."""
        marking = _MarkingWorld(self.seed).remembering_with(self.world)
        self._bound = Bound()
        self.program: ProgramRun = run_program(marking, spec.reference, bound=self._bound)
        self.acts: tuple[Act, ...] = tuple(self.program.acts)
        self.marks: tuple[Snapshot, ...] = (*marking.marks, marking.end or marking.snapshot())
        """marks[k]: the world just before act k; the last one: after all acts, before unreached
        stages.
        """
        self.reference = self._graded("reference", self.acts, 0, marking.evidence())
        self.call_of: Mapping[int, int] = self._positions()
        """Act → index of its call."""

    def _positions(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for position, act in enumerate(self.acts):
            if act.tool is not None:
                found[position] = len(found)
        return found

    def call(self, position: int) -> Call:
        """Return the call that an act of the reference made."""
        return self.reference.calls[self.call_of[position]]

    def readings_of(self, acts: Sequence[Act]) -> Sequence[text_pieces.Reading]:
        """Return what the checks read in the texts of a program's acts; the reference's are looked
        for once.
        """
        own = acts is self.acts
        if own and self._readings is not None:
            return self._readings
        stages = [stage.id for stage in self.spec.stages]
        evidence = self.reference.evidence
        found = list(text_pieces.readings(self.spec.checks, acts, stages, evidence))
        if own:
            self._readings = found
        return found

    def run(self, name: str, acts: Sequence[Act], at: int = 0, *, keep: bool = False) -> Play:
        """Run plain acts from the mark before act `at`, to the end of the episode, and grade.

        Args:
            name: What the run is called in the proof's hash.
            acts: What is done after the mark.
            at: The mark.
            keep: Whether the very same acts will be run again: then this run is taken for that.
        """
        key = (at, *map(id, acts)) if keep or self._plays else ()
        play = self._plays.get(key)
        if play is not None:
            self.note(name, play.calls[len(self.marks[at].log) :], play.grade)
            return play
        acts = tuple(acts)
        play = self._run(name, acts, at)
        if keep:  # the play keeps its acts, so their addresses stay their own
            self._plays[key] = play
        return play

    def _run(self, name: str, acts: Sequence[Act], at: int) -> Play:
        """Run acts; where they end as the reference does, and the world is as it was there, the
        rest is the reference's own and not run again.
        """
        world, mark = self.world, self.marks[at]
        world.restore(mark)
        shared = self._shared_end(acts, at)
        if shared:
            self._do(acts[: len(acts) - shared])
            there = self.marks[len(self.acts) - shared]
            if _same_state(world.store, there):
                return self._rejoined(name, acts, len(mark.log), there)
            self._do(acts[len(acts) - shared :])
        else:
            self._do(acts)
        world.finish()
        return self._graded(name, acts, len(mark.log))

    def _do(self, acts: Sequence[Act]) -> None:
        """Do acts. Most are the very ones of other runs: their arguments are written down once."""
        world, said = self.world, self._said
        for act in acts:
            tool, arguments = act.tool, act.arguments
            if tool is not None:
                met = said.get(id(arguments))
                if met is None:  # the arguments are kept, so their address stays their own
                    met = said[id(arguments)] = (arguments, encode_arguments(arguments))
                world.call(tool, met[1])
            elif world.finished:
                break
            else:
                world.reply(act.reply)

    def _shared_end(self, acts: Sequence[Act], at: int) -> int:
        """Return how many acts at the end are the reference's own."""
        own, most, count = self.acts, min(len(acts), len(self.acts) - at), 0
        while count < most and acts[-1 - count] is own[-1 - count]:
            count += 1
        return count

    def _rejoined(
        self,
        name: str,
        acts: Sequence[Act],
        first: int,
        there: Snapshot,
        *,
        numbered: bool = False,
    ) -> Play:
        """Return the run that goes on as the reference does: its stages and calls, moved.

        Args:
            name: What the run is called in the proof's hash.
            acts: What is done.
            first: The first call that the hash takes in.
            there: The reference where it goes on.
            numbered: Whether calls are numbered anew: after more calls than the reference's own
                the order of all is told by their numbers.
        """
        log, own = self.world.store.log, self.reference.evidence
        moved, running = len(log) - len(there.log), self.world.context.stage
        stages = own.stages
        if moved:
            stages = tuple(
                stage
                if number < running
                else stage._replace(
                    first_call=stage.first_call + (moved if number > running else 0),
                    end_call=stage.end_call + moved,
                )
                for number, stage in enumerate(stages)
            )
        rest = own.calls[len(there.log) :]
        if numbered and moved:
            rest = tuple([c.again(c.index + moved, c.state_key, c.stage) for c in rest])
        evidence = Evidence(own.ground, stages, (*log, *rest))
        return self._graded(name, acts, first, evidence)

    def run_program(
        self, name: str, steps: Sequence[Step], *, repetitions: int = REPETITIONS
    ) -> Play:
        """Run a program and grade it; the steps that it begins with as the reference does are not
        run again.
        """
        if repetitions == REPETITIONS:
            first = self._shared_beginning(steps)
            return self._ran(name, steps, first, self.program.begins[first] if first else 0, 0)
        self.world.restore(self.start)
        run = run_program(self.world, steps, repetitions=repetitions, bound=self._bound)
        return self._graded(name, run.acts, 0)

    def _ran(self, name: str, steps: Sequence[Step], first: int, at: int, noted: int) -> Play:
        """Run a program from the mark before act `at`, where its step `first` begins, and grade it.

        Where its last steps are the reference's own, read the very same results and begin in the
        world as it was there, they do the same, and are not done again.
        """
        world, bound, before = self.world, self._bound, self.acts[:at]
        done = {step.id for step in steps[:first]}
        results = {key: value for key, value in self.program.results.items() if key in done}
        world.restore(self.marks[at])
        run, end = ProgramRun(results=results), len(steps)
        shared = self._shared_steps(steps, first)
        run_steps(world, steps, run, range(first, end - shared), bound=bound)
        if shared:
            there = self.program.begins[-1 - shared]
            mark = self.marks[there]
            if _same_state(world.store, mark) and self._reads_the_same(steps[-shared:], run):
                acts = (*before, *run.acts, *self.acts[there:])
                return self._rejoined(name, acts, noted, mark, numbered=True)
            run_steps(world, steps, run, range(end - shared, end), bound=bound)
        world.finish()
        return self._graded(name, (*before, *run.acts), noted)

    def _shared_steps(self, steps: Sequence[Step], first: int) -> int:
        """Return how many steps at the end are the reference's own; 0 where it did not come to its
        end.
        """
        own = self.spec.reference
        if len(self.program.begins) <= len(own):
            return 0
        most, count = min(len(steps) - first, len(own)), 0
        while count < most and steps[-1 - count] is own[-1 - count]:
            count += 1
        return count

    def _reads_the_same(self, steps: Sequence[Step], run: ProgramRun) -> bool:
        """Say whether what steps read of earlier ones is what the reference read there."""
        here, own, made = run.results, self.program.results, set[str | None]()
        for step in steps:
            for value in (step.arguments, step.each, step.reply):
                for name in self._bound.sources(value):
                    if name not in made and here.get(name) is not own.get(name):
                        return False
            made.add(step.id)
        return True

    def _shared_beginning(self, steps: Sequence[Step]) -> int:
        """Return how many steps at the beginning are the reference's own; 0 where two of the
        reference's steps have one id, since results are known by id.
        """
        own = self.spec.reference
        named = [step.id for step in own if step.id is not None]
        if len(set(named)) < len(named):
            return 0
        most, count = min(len(steps), len(own), len(self.program.begins) - 1), 0
        while count < most and steps[count] is own[count]:
            count += 1
        return count

    def run_from_step(self, name: str, steps: Sequence[Step], first: int) -> Play:
        """Run a program that differs from the reference from one step on, and grade it."""
        done = {step.id for step in self.spec.reference[:first]}
        own = [i for i, act in enumerate(self.acts) if act.step in done]
        at = own[-1] + 1 if own else 0
        if any(step.tool is None for step in steps[:first]):
            return self.run_program(name, steps)
        return self._ran(name, steps, first, at, len(self.marks[at].log))

    def tries(self, at: int, act: Act) -> Call | None:
        """Call a tool at a mark and return what came of it; nothing is kept. None for a reply."""
        if act.tool is None:
            return None
        self.world.restore(self.marks[at])
        return self.world.call(act.tool, act.arguments)

    def judged(self, name: str, evidence: Evidence) -> Grade:
        """Grade evidence that was made without calls."""
        found = self.grade(evidence)
        self.note(name, (), found)
        return found

    def grade(self, evidence: Evidence) -> Grade:
        """Return the grade of a run; it is neither counted nor noted."""
        return self._grader.grade(evidence)

    def null(self) -> Play:
        """Return the run that does nothing."""
        if self._null is None:
            with self.account(OWN):
                self.world.restore(self.start)
                self.world.finish()
                self._null = self._graded("null", (), 0)
        return self._null

    def _graded(
        self, name: str, acts: Sequence[Act], first: int, evidence: Evidence | None = None
    ) -> Play:
        evidence = evidence if evidence is not None else self.world.evidence()
        found = self.grade(evidence)
        self.note(name, evidence.calls[first:], found)
        return Play(acts, evidence, found)

    # --- the proof's hash ------------------------------------------------------------------------

    @contextlib.contextmanager
    def account(self, name: str) -> Iterator[None]:
        """Let the runs in here count for a gate, whoever asks for them: then a gate's account is
        the same whether or not other gates are looked at.
        """
        before, self._account = self._account, self._account_of(name)
        try:
            yield
        finally:
            self._account = before

    def _account_of(self, name: str) -> _Account:
        found = self._accounts.get(name)
        if found is None:
            found = self._accounts[name] = _Account()
        return found

    def runs_of(self, name: str) -> int:
        """Return how many runs a gate took."""
        account = self._accounts.get(name)
        return account.runs if account is not None else 0

    def digest_of(self, name: str) -> str:
        """Return the hash over a gate's runs, 32 hex digits; empty where it took none."""
        account = self._accounts.get(name)
        return account.hasher.hexdigest() if account is not None and account.runs else ""

    def count(self) -> None:
        """Count a run that is compared with others and so needs no place in the hash."""
        self._account.runs += 1

    def note(self, name: str, calls: Iterable[Call], found: Grade) -> None:
        """Count a run and add it to the hash: what was called, what came back, what it earned."""
        told = self._told.get(id(found))
        if told is None:
            earned = orjson.dumps([found.total, found.passed, list(found.violations)])
            told = self._told[id(found)] = (found, earned)
        parts = [name.encode()]
        for call in calls:
            parts.append(call.raw)
            parts.append(call.observation)
        parts.append(told[1])
        self._account.runs += 1
        self._account.hasher.update(b"".join(parts))


class _MarkingWorld(World):
    """A world that takes a snapshot before every act."""

    __slots__ = ("end", "marks")

    def __init__(self, seed: Seed):
        super().__init__(seed)
        self.marks: list[Snapshot] = []
        self.end: Snapshot | None = None
        """The state when the program had no more acts."""

    def call(self, name: str, arguments: str | bytes | Mapping[str, Any]) -> Call:
        """Call a tool."""
        self.marks.append(self.snapshot())
        return super().call(name, arguments)

    def reply(self, text: str) -> str | None:
        """End the running stage."""
        if self.end is None:
            self.marks.append(self.snapshot())
        return super().reply(text)

    def finish(self) -> None:
        """Let the stages that were not reached happen; those are no acts."""
        self.end = self.snapshot()
        super().finish()


def _same_state(here: Store, there: Snapshot) -> bool:
    """Say whether a world would go on as another: records, ids to come, stage, colleague, faults.

    Nearly always both hold the very same or the totals differ.
    """
    return (
        here.total == there.total
        and (here.context is there.context or here.context == there.context)
        and (here.counters is there.counters or here.counters == there.counters)
        and (here.tables is there.tables or not diff(here.tables, there.tables))
    )


def trace_of(play: Play) -> str:
    """Return the hash of one whole run: every call, every key, every result of a check."""
    hasher = hashlib.sha256()
    for call in play.calls:
        hasher.update(call.raw)
        hasher.update(call.observation)
        hasher.update(call.state_key.to_bytes(16))
    for stage in play.evidence.stages:
        hasher.update(stage.reply.encode())
    results = [[c.id, c.score, c.detail] for c in play.grade.checks]
    hasher.update(orjson.dumps([play.grade.total, results, list(play.grade.violations)]))
    return hasher.hexdigest()
