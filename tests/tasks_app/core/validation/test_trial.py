"""Shared prefixes and endings, and the grader that judges nothing twice, change no result."""

import pytest

from tasks_app.core.grading.grade import grade
from tasks_app.core.program import Act, Bound, perform, run_program
from tasks_app.core.results import Grade
from tasks_app.core.validation.mutants import mutants
from tasks_app.core.validation.solvability import detours
from tasks_app.core.validation.trial import Trial, trace_of
from tasks_app.core.world.world import Seed, World
from tests.factories.examples import EXAMPLES, SUPPORT, broken, example


def judged(found: Grade) -> list[tuple[object, ...]]:
    """Return the results; calls taken over from the reference keep their numbers when cited."""
    return [(c.id, c.score, c.detail, c.unmet, c.failure) for c in found.checks]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_mutant_earns_what_it_earns_when_run_in_full(name: str) -> None:
    trial = Trial(example(name))

    for mutant in mutants(trial):
        short = trial.run("short", mutant.acts, mutant.at)
        world = World(trial.spec)
        perform(world, [*trial.acts[: mutant.at], *mutant.acts])
        evidence = world.evidence()
        full = grade(trial.spec.checks, trial.spec.constraints, evidence)
        assert judged(short.grade) == judged(full), mutant.title
        assert (short.grade.total, short.grade.violations) == (full.total, full.violations)
        assert [(c.raw, c.observation) for c in short.calls] == [
            (c.raw, c.observation) for c in evidence.calls
        ]
        assert [s.closed for s in short.evidence.stages] == [s.closed for s in evidence.stages]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_variant_of_the_program_does_what_it_does_when_run_in_full(name: str) -> None:
    trial = Trial(example(name))
    own = trial.spec.reference
    programs = [steps for _, steps, _ in detours(trial)]
    programs += [[*own[:left_out], *own[left_out + 1 :]] for left_out in range(len(own))]

    for steps in programs:
        short = trial.run_program("short", steps)
        world = World(Seed(trial.spec))
        run_program(world, steps)
        evidence = world.evidence()
        full = grade(trial.spec.checks, trial.spec.constraints, evidence)
        assert judged(short.grade) == judged(full)
        assert (short.grade.total, short.grade.violations) == (full.total, full.violations)
        assert [(c.index, c.raw, c.observation, c.state_key) for c in short.calls] == [
            (c.index, c.raw, c.observation, c.state_key) for c in evidence.calls
        ]
        assert [(s.closed, s.first_call, s.end_call) for s in short.evidence.stages] == [
            (s.closed, s.first_call, s.end_call) for s in evidence.stages
        ]


def test_what_reads_other_results_is_bound_anew() -> None:
    bound = Bound()
    value = {"of": {"from": "found", "path": "rows.0"}, "on": {"from": "clock", "path": "today"}}
    day = {"now": "2031-03-01T09:00:00+00:00", "today": "2031-03-01"}
    first = {"found": {"rows": ["A"]}, "clock": day}

    once = bound.bind(value, first)

    assert once == {"of": "A", "on": "2031-03-01"}
    assert bound.bind(value, {**first, "clock": {**day}}) is once
    assert bound.bind(value, {**first, "found": {"rows": ["B"]}}) == {**once, "of": "B"}


def test_a_read_too_many_rejoins_the_reference() -> None:
    trial = Trial(example(SUPPORT))
    read = Act("crm_get_customer", {"customer_id": "CU-3307"})

    play = trial.run("extra", (read, *trial.acts[3:]), 3)

    assert play.grade.passed
    assert len(play.calls) == len(trial.reference.calls) + 1
    assert play.evidence.stages[0].end_call == len(play.calls)
    assert play.evidence.stages[0].closed is trial.reference.evidence.stages[0].closed


def test_runs_do_not_disturb_each_other() -> None:
    trial = Trial(example(SUPPORT))
    before = trace_of(trial.run("again", trial.acts, 0))
    for mutant in mutants(trial):
        trial.run("mutant", mutant.acts, mutant.at)

    assert trace_of(trial.run("again", trial.acts, 0)) == before == trace_of(trial.reference)


def test_a_trial_of_a_failing_reference_still_runs() -> None:
    trial = Trial(
        broken(SUPPORT, lambda d: d["reference"][2]["arguments"].update(customer_id="CU-0"))
    )

    assert trial.program.problems[0].step == "customer"
    assert not trial.reference.grade.passed


def test_checks_with_circular_requirements_are_graded_as_ever() -> None:
    def circle(data: dict[str, list[dict[str, object]]]) -> None:
        data["checks"][0]["requires"] = ["o_amount"]

    trial = Trial(broken(SUPPORT, circle))
    spec = trial.spec

    full = grade(spec.checks, spec.constraints, trial.reference.evidence)
    assert trial.reference.grade == full
