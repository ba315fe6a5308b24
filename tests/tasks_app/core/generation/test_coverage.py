"""Which cells can be filled, and the plan that fills the emptiest first."""

from dataclasses import dataclass
from typing import Any

from tasks_app.core.generation.coverage import Cell, Place, Share, possible, shares_of
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import Family


@dataclass(frozen=True)
class Shape:
    """A family that only says what it has."""

    name: str
    levels: tuple[int, ...]
    capabilities: tuple[str, ...]
    track: str = "claw_eval"
    title: str = ""
    purpose: str = ""
    subtypes: tuple[str, ...] = ("one", "two")

    def draft(self, subtype: str, level: int, rng: Any) -> Any:
        """Nothing: only plans are made of it."""
        raise NotImplementedError


SHAPES: dict[str, Family] = {
    "desk": Shape("desk", (1, 2), ("C1", "C2")),
    "lamp": Shape("lamp", (1,), ("C1",)),
    "tiny": Shape("tiny", (1,), ("C1",), track="pocket"),
}
DESK_1, DESK_2, LAMP_1 = Place("desk", 1), Place("desk", 2), Place("lamp", 1)


def test_cells_are_what_families_of_inventories_may_show() -> None:
    assert list(possible(families=SHAPES)) == [
        Cell("desk", 1, "C1"),
        Cell("desk", 1, "C2"),
        Cell("desk", 2, "C1"),
        Cell("desk", 2, "C2"),
        Cell("lamp", 1, "C1"),
    ]
    assert {cell.family for cell in possible()} == {
        name for name, family in FAMILIES.items() if family.track != "pocket"
    }


def test_an_empty_library_is_filled_evenly() -> None:
    assert shares_of(4, {}, {}, families=SHAPES) == [
        Share("desk", 1, 1, 0),
        Share("lamp", 1, 2, 0),
        Share("desk", 2, 1, 0),
    ]


def test_the_emptiest_cell_comes_first_and_fullest_last() -> None:
    cells = {
        Cell("desk", 1, "C1"): 5,
        Cell("desk", 1, "C2"): 3,
        Cell("desk", 2, "C1"): 1,
        Cell("desk", 2, "C2"): 1,
        Cell("lamp", 1, "C1"): 2,
    }
    tasks = {DESK_1: 5, DESK_2: 1, LAMP_1: 2}
    assert shares_of(1, cells, tasks, families=SHAPES) == [Share("desk", 2, 1, 1)]
    assert shares_of(6, cells, tasks, families=SHAPES) == [
        Share("desk", 2, 3, 1),
        Share("lamp", 1, 2, 2),
        Share("desk", 1, 1, 5),
    ]


def test_a_cell_that_stays_empty_after_two_rounds_of_subtypes_is_not_waited_for() -> None:
    cells = {Cell("desk", 1, "C1"): 4, Cell("desk", 2, "C1"): 2, Cell("desk", 2, "C2"): 2}
    tasks = {DESK_1: 4, DESK_2: 2, LAMP_1: 3}
    cells[Cell("lamp", 1, "C1")] = 3
    assert shares_of(1, cells, tasks, families=SHAPES) == [Share("desk", 2, 1, 2)]
    tasks[DESK_1] = 3
    assert shares_of(1, cells, tasks, families=SHAPES) == [Share("desk", 1, 1, 3)]


def test_levels_can_be_chosen() -> None:
    assert shares_of(2, {}, {}, levels=[2], families=SHAPES) == [Share("desk", 2, 2, 0)]
    assert shares_of(2, {}, {}, levels=[5], families=SHAPES) == []
