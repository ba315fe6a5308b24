"""Gate D1: the same task gives the same trace and reward again, from records frozen anew."""

from collections.abc import Iterator

from tasks_app.core.grading.grade import grade
from tasks_app.core.program import Act, run_program
from tasks_app.core.records import Snapshot
from tasks_app.core.samples import likely
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding
from tasks_app.core.validation.trial import Play, Trial, trace_of
from tasks_app.core.world.world import Seed, World


def same_again(trial: Trial) -> Iterator[Finding]:
    """D1: a second world, built from the spec anew, gives the same calls, keys and reward."""
    spec = trial.spec
    world = World(Seed(spec))
    start = world.snapshot()
    run_program(world, spec.reference)
    evidence = world.evidence()
    again = Play(trial.acts, evidence, grade(spec.checks, spec.constraints, evidence))
    trial.count()
    if trace_of(again) == trace_of(trial.reference):
        yield from _offered_again(trial, world, start)
        return
    first = next(
        (
            call
            for call, other in zip(trial.reference.calls, again.calls, strict=False)
            if (call.raw, call.observation, call.state_key)
            != (other.raw, other.observation, other.state_key)
        ),
        None,
    )
    where = f"call {first.index} ({first.tool})" if first is not None else "the grade"
    yield finding(
        "D1",
        "/reference",
        f"running the reference twice gives two traces; they part at {where}",
        hint="a tool or check reads something outside the task",
    )


def _offered_again(trial: Trial, world: World, start: Snapshot) -> Iterator[Finding]:
    """A read that the reference does without answers alike in both worlds as well."""
    used = {act.tool for act in trial.acts}
    for i, name in enumerate(trial.spec.tools):
        known = trial.seed.offered.get(name)
        if known is None or known.facts.kind != "read" or name in used:
            continue
        for arguments in likely(name, trial.seed.ground.start, most=1):
            first = trial.tries(0, Act(name, arguments))
            world.restore(start)
            second = world.call(name, arguments)
            if first is not None and first.observation != second.observation:
                yield finding(
                    "D1",
                    f"/tools/{i}",
                    f"{name} answers the same call in two ways",
                    hint="the tool reads something outside the task",
                )
