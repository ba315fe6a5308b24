"""The shared state of one proof: one world, the reference with a mark before every act, shared
prefixes.

A mutant knows its first differing act; it is run from the mark before that act, so the common
prefix is never run again. The log is part of a snapshot, so the prefix brings its calls along.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from tasks_app.core.calls import Call
from tasks_app.core.evidence import Evidence
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import Act, ProgramRun, perform, run_program
from tasks_app.core.records import Snapshot
from tasks_app.core.results import Grade
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.validation.card import Run
from tasks_app.core.world.world import Seed, World

SOLVED = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Play:
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


class Trial:
    """One proof's runs. Make it only of a spec whose records build a world."""

    def __init__(self, spec: TaskSpec):
        self.spec = spec
        self.seed = Seed.of(spec)
        self.world = World(self.seed)
        self.start = self.world.snapshot()
        self.runs = 0
        self._trace = hashlib.sha256(spec.hash.encode())
        self._null: Play | None = None
        self.program: ProgramRun = run_program(self.world, spec.reference)
        self.acts: tuple[Act, ...] = tuple(self.program.acts)
        self.marks: tuple[Snapshot, ...] = ()
        """marks[k]: the world just before act k; the last one: after all acts, before unreached
        stages.
        """
        self.reference = self._reference()
        self.call_of: Mapping[int, int] = self._positions()
        """Act → index of its call."""

    def _reference(self) -> Play:
        world = self.world
        world.restore(self.start)
        marks: list[Snapshot] = []
        for act in self.acts:
            marks.append(world.snapshot())
            if act.tool is None:
                world.reply(act.reply)
            else:
                world.call(act.tool, act.arguments)
        marks.append(world.snapshot())
        world.finish()
        self.marks = tuple(marks)
        return self._graded("reference", self.acts, 0)

    def _positions(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        for position, act in enumerate(self.acts):
            if act.tool is not None:
                found[position] = len(found)
        return found

    def call(self, position: int) -> Call:
        """Return the call that an act of the reference made."""
        return self.reference.calls[self.call_of[position]]

    def run(self, name: str, acts: Sequence[Act], at: int = 0) -> Play:
        """Run plain acts from the mark before act `at`, to the end of the episode, and grade."""
        self.world.restore(self.marks[at])
        perform(self.world, acts)
        return self._graded(name, acts, len(self.marks[at].log))

    def run_program(self, name: str, steps: Sequence[Step], *, repetitions: int = 3) -> Play:
        """Run a program from the start and grade it."""
        self.world.restore(self.start)
        run = run_program(self.world, steps, repetitions=repetitions)
        return self._graded(name, run.acts, 0)

    def tries(self, at: int, act: Act) -> Call | None:
        """Call a tool at a mark and return what came of it; nothing is kept. None for a reply."""
        if act.tool is None:
            return None
        self.world.restore(self.marks[at])
        return self.world.call(act.tool, act.arguments)

    def judged(self, name: str, evidence: Evidence) -> Grade:
        """Grade evidence that was made without calls."""
        found = grade(self.spec.checks, self.spec.constraints, evidence)
        self.runs += 1
        self.note(name, (), found)
        return found

    def null(self) -> Play:
        """Return the run that does nothing."""
        if self._null is None:
            self.world.restore(self.start)
            self.world.finish()
            self._null = self._graded("null", (), 0)
        return self._null

    def _graded(self, name: str, acts: Sequence[Act], first: int) -> Play:
        evidence = self.world.evidence()
        found = grade(self.spec.checks, self.spec.constraints, evidence)
        self.runs += 1
        self.note(name, evidence.calls[first:], found)
        return Play(acts, evidence, found)

    # --- the proof's hash ------------------------------------------------------------------------

    def note(self, name: str, calls: Iterable[Call], found: Grade) -> None:
        """Add a run to the proof's hash: what was called, what came back, what it earned."""
        trace = self._trace
        trace.update(name.encode())
        for call in calls:
            trace.update(call.raw)
            trace.update(call.observation)
        trace.update(orjson.dumps([found.total, found.passed, list(found.violations)]))

    @property
    def trace_hash(self) -> str:
        """The hash over all traces and rewards so far."""
        return self._trace.hexdigest()


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
