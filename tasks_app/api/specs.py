"""Specs without storing them: is this one, does it hold, what do these calls earn."""

from django.http import HttpRequest
from ninja import Router

from studio.web.acts import Act
from studio.web.auth import require
from studio.web.errors import Invalid, Problem
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import perform, read_acts
from tasks_app.core.spec import SpecError, load_spec
from tasks_app.core.validation.proof import prove
from tasks_app.core.values import InvalidValueError, freeze
from tasks_app.core.world.world import World, seed_problem
from tasks_app.operations.tasks import read_spec, storable
from tasks_app.schemas.specs import CheckedOut, GradeIn, GradeOut, PlaceOut, SpecIn

router = Router(tags=["specs"])


@router.post("/validate", response=CheckedOut, summary="Check and prove a spec")
@require(Act.READ)
def validate(request: HttpRequest, body: SpecIn) -> CheckedOut:
    """Its form, and if that holds, its proof card; nothing is stored."""
    try:
        spec = load_spec(storable(body.spec))
    except SpecError as error:
        problems = [
            PlaceOut(place=problem.path or "/", message=problem.message)
            for problem in error.problems
        ]
        return CheckedOut(valid=False, problems=problems, hash=None, proven=None, card=None)
    card = prove(spec)
    return CheckedOut(
        valid=True,
        problems=[],
        hash=spec.hash,
        proven=card.proven,
        card=card.model_dump(mode="json"),
    )


@router.post("/grade", response=GradeOut, summary="Grade calls on a spec")
@require(Act.READ)
def grade_calls(request: HttpRequest, body: GradeIn) -> GradeOut:
    """Runs the acts on a fresh world, without repetition, and grades what they left."""
    spec = read_spec(body.spec)
    problem = seed_problem(spec)
    if problem is not None:
        raise Invalid("No world can be made of these records.", [Problem("/services", problem)])
    try:
        storable({"calls": body.calls})
        acts = read_acts(freeze(body.calls))
    except (InvalidValueError, ValueError) as error:
        raise Invalid("These calls cannot be read.", [Problem("calls", str(error))]) from error
    world = World(spec)
    perform(world, acts)
    found = grade(spec.checks, spec.constraints, world.evidence())
    return GradeOut(
        reward=found.total,
        passed=found.passed,
        components=dict(found.components),
        violations=list(found.violations),
        checks={result.id: result.score for result in found.checks},
        state_key=f"{world.store.state_key():032x}",
    )
