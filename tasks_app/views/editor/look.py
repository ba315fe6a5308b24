"""The live check of a draft: the form of the spec, then every gate that needs no run."""

from dataclasses import dataclass

from tasks_app.core.presenting.places import Place, place_of
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.proof import STATIC
from tasks_app.views.editor.desk import Desk
from tasks_app.views.proof import place_url


@dataclass(frozen=True)
class Fault:
    """Something the live check found, and where it leads."""

    gate: str
    message: str
    hint: str
    place: Place
    url: str
    blocks: bool
    pointer: str


def look(desk: Desk) -> tuple[TaskSpec | None, list[Fault]]:
    """The live check: the form of the spec, then every gate that needs no run."""
    try:
        spec = load_spec(desk.document)
    except SpecError as error:
        return None, [
            _fault(desk, "S1", problem.path, problem.message, "") for problem in error.problems
        ]
    return spec, [
        _fault(
            desk,
            found.gate,
            found.path,
            found.message,
            found.hint,
            blocks=found.severity == "block",
        )
        for gate in STATIC
        for found in gate.look(spec)
    ]


def _fault(
    desk: Desk, gate: str, path: str, message: str, hint: str, *, blocks: bool = True
) -> Fault:
    place = place_of(desk.document, path)
    url = place_url(desk.task, place, edit=True)
    return Fault(gate, message, hint, place, url, blocks, path)
