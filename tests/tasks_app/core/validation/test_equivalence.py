"""Two runs end alike where what they made holds the same, in whatever order, on whatever day."""

import copy
from typing import Any

from tasks_app.core.program import run_program
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.equivalence import Masks, differences
from tasks_app.core.validation.trial import Trial
from tasks_app.core.world.world import World
from tests.tasks_app.core.generation.wrong_turns import drafted


def _found(rows: list[list[Any]]) -> list[str]:
    """What differs from the reference where the rows of the first day are written so."""
    spec = drafted("month_end_close", "accruals_and_handover", 3)
    written = copy.deepcopy(spec.written())
    step = next(s for s in written["reference"] if s.get("id") == "rows")
    step["arguments"]["values"] = rows
    turned = load_spec(written)
    world = World(turned)
    run_program(world, turned.reference)
    trial = Trial(spec)
    return differences(Masks(trial), trial.reference.evidence, world.evidence())


def _rows() -> list[list[Any]]:
    spec = drafted("month_end_close", "accruals_and_handover", 3)
    world = World(spec)
    run_program(world, spec.reference)
    call = next(c for c in world.evidence().calls if c.tool == "sheets_append_rows")
    return copy.deepcopy([list(row) for row in call.arguments["values"]])


def test_rows_written_in_another_order_end_alike_on_all_days() -> None:
    assert _found(_rows()) == []
    assert _found(_rows()[::-1]) == []


def test_a_row_that_holds_something_else_differs_on_its_day_and_after() -> None:
    rows = _rows()
    rows[0][1] = "Somebody else"
    found = _found(rows[::-1])
    assert len(found) > 0
    assert {place.split("!")[0] for place in found} == {found[0].split("!")[0]}
