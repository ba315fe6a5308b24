"""A proof that runs and grades everything in full, from the start, gives the same card."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tasks_app.core.calls import SCHEMA_ERRORS
from tasks_app.core.cheap import cheap_acts, first_program
from tasks_app.core.evidence import Evidence
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import REPETITIONS, Act, perform, run_program
from tasks_app.core.results import Grade
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.validation import proof
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.tools import totality
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.world.world import World
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, broken, check, example


class FullTrial(Trial):
    """Takes no shortcut: a fresh world for every run, the plain grader for every grade."""

    def grade(self, evidence: Evidence) -> Grade:
        """Judge every check and rule."""
        return grade(self.spec.checks, self.spec.constraints, evidence)

    def run(self, name: str, acts: Sequence[Act], at: int = 0, *, keep: bool = False) -> Play:
        """Run the reference's acts before the mark as well."""
        world = World(self.seed)
        perform(world, [*self.acts[:at], *acts])
        return self._graded(name, acts, len(self.marks[at].log), world.evidence())

    def run_program(
        self, name: str, steps: Sequence[Step], *, repetitions: int = REPETITIONS
    ) -> Play:
        """Run every step."""
        world = World(self.seed)
        run = run_program(world, steps, repetitions=repetitions)
        return self._graded(name, run.acts, 0, world.evidence())

    def run_from_step(self, name: str, steps: Sequence[Step], first: int) -> Play:
        """Run the steps before it as well."""
        done = {step.id for step in steps[:first]}
        replied = any(step.tool is None for step in steps[:first])
        before = sum(a.step in done and a.tool is not None for a in self.acts)
        world = World(self.seed)
        run = run_program(world, steps)
        return self._graded(name, run.acts, 0 if replied else before, world.evidence())


def two_days(data: dict[str, Any]) -> None:
    """Let the work stretch over two days: a customer writes in between."""
    start = data["clock"]["start"]
    note = {"service": "helpdesk", "collection": "tickets", "op": "update", "silent": True}
    ticket = data["services"]["helpdesk"]["tickets"][0]
    data["timeline"] = [
        {"id": "first", "at": start},
        {
            "id": "second",
            "at": f"{start[:8]}28{start[10:]}",
            "notification": "Go on, please.",
            "mutations": [
                {**note, "where": {"id": ticket["id"]}, "values": {"priority": "urgent"}}
            ],
        },
    ]
    data["reference"].insert(len(data["reference"]) // 2, {"reply": "I shall go on tomorrow."})


def loosened(data: dict[str, Any]) -> None:
    """Let wrong solutions survive."""
    check(data, "o_amount").update(expect={"reason": "damaged_in_transit"})
    data["write_set"][3].pop("max")


SPECS: dict[str, Callable[[], TaskSpec]] = {
    **{name: lambda name=name: example(name) for name in EXAMPLES},  # type: ignore[misc]  # mypy takes the default for a second argument
    "two days": lambda: broken(SUPPORT, two_days),
    "survivors": lambda: broken(SUPPORT, loosened),
    "no faults met": lambda: broken(PAYMENT, lambda data: data.update(faults=[])),
    "a step twice": lambda: broken(SUPPORT, lambda d: d["reference"].insert(1, d["reference"][0])),
    "a failing step": lambda: broken(
        SUPPORT, lambda d: d["reference"][2]["arguments"].update(customer_id="CU-0")
    ),
}


@pytest.mark.parametrize("name", SPECS)
def test_shortcuts_change_no_byte_of_a_card(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = prove(SPECS[name]())
    monkeypatch.setattr(proof, "Trial", FullTrial)

    assert prove(SPECS[name]()) == short


@pytest.mark.parametrize("family", FAMILIES)
def test_shortcuts_change_no_byte_of_a_drafted_task_s_card(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = [draft(FAMILIES[family], plan) for plan in plans(FAMILIES[family], 3, 20)]
    short = [prove(spec) for spec in specs]
    monkeypatch.setattr(proof, "Trial", FullTrial)

    assert [prove(spec) for spec in specs] == short


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_record_is_played_as_the_cheap_policy_plays_it(name: str) -> None:
    trial = Trial(example(name))

    as_program = trial.run_program("first", first_program(trial.spec))
    as_acts = trial.run("first", cheap_acts("first_record", trial.spec))

    assert [(c.raw, c.observation, c.state_key) for c in as_program.calls] == [
        (c.raw, c.observation, c.state_key) for c in as_acts.calls
    ]
    assert as_program.grade == as_acts.grade


def test_a_program_that_begins_as_the_reference_goes_on_from_there() -> None:
    trial = Trial(example(PAYMENT))
    steps = [*trial.spec.reference[:-1], trial.spec.reference[-1].model_copy()]

    play = trial.run_program("again", steps)

    assert play.evidence.stages == trial.reference.evidence.stages
    assert [act.written() for act in play.acts] == [act.written() for act in trial.acts]
    assert all(a is b for a, b in zip(play.calls, trial.reference.calls, strict=True))


def test_what_a_schema_refuses_is_refused_in_every_task() -> None:
    specs = [example(name) for name in EXAMPLES]
    for spec in specs:
        assert list(totality(spec)) == []

    for spec in specs:
        world = World(spec)
        for name in world.seed.offered:
            call = world.call(name, b"[]")
            assert (call.valid, call.changes) == (False, ())
            assert call.error in SCHEMA_ERRORS
