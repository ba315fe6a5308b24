"""The cap on tasks that are built alike, and where the generator goes instead."""

from tasks_app.core.generation.crowd import Crowd, cells_of
from tasks_app.core.generation.families.catalog import FAMILIES, families_of, inventory_of
from tasks_app.core.generation.family import Plan
from tasks_app.core.generation.generate import generate

RESCHEDULE = "pocket_reschedule"


def test_five_percent_of_an_inventory_may_be_built_alike_and_five_at_least() -> None:
    assert [Crowd(planned).most for planned in (20, 100, 101, 600)] == [5, 5, 6, 30]


def test_a_structure_is_full_once_that_many_are_kept() -> None:
    crowd = Crowd(20)
    for index in range(5):
        assert crowd.is_full("abc") is False
        crowd.add("abc", Plan("f", "s", 1, 1, index))

    assert (crowd.is_full("abc"), crowd.is_full("def")) == (True, False)


def test_a_plan_is_steered_to_the_emptiest_other_cell_of_its_family() -> None:
    crowd = Crowd(20)
    cells = (("a", 1), ("b", 1), ("c", 1))
    crowd.add("x", Plan("f", "b", 1, 1, 0))

    assert crowd.steered(Plan("f", "a", 1, 1, 3), cells) == Plan("f", "c", 1, 1, 3)
    assert crowd.steered(Plan("f", "c", 1, 1, 3), cells) == Plan("f", "a", 1, 1, 3)


def test_a_family_of_one_cell_stays_where_it_is() -> None:
    assert Crowd(20).steered(Plan("f", "a", 1, 1, 3), (("a", 1),)) == Plan("f", "a", 1, 1, 3)


def test_with_a_cap_no_more_than_that_many_of_a_structure_are_kept() -> None:
    crowd = Crowd(8)
    outcomes = list(generate(RESCHEDULE, 8, 3, crowd=crowd))

    kept = [o for o in outcomes if o.fate == "unique"]
    lost = [o for o in outcomes if o.crowded]
    assert len(kept) == 5
    assert {o.reason for o in lost} == {"5 tasks of the inventory are built like it"}
    assert {o.fate for o in lost} == {"duplicate"}


def test_without_a_cap_a_run_of_one_family_keeps_all() -> None:
    assert [o.fate for o in generate(RESCHEDULE, 8, 3)] == ["unique"] * 8


def test_an_inventory_is_all_families_of_a_track_and_more_than_one() -> None:
    whole = families_of("claw_eval")

    assert inventory_of(whole) == "claw_eval"
    assert inventory_of(whole[:1]) is None
    assert inventory_of([*whole, RESCHEDULE]) is None
    assert inventory_of([name for name in FAMILIES if name.startswith("pocket_")]) is None


def test_cells_are_subtypes_by_difficulty() -> None:
    family = FAMILIES["support_resolution"]

    assert cells_of(family, 2) == tuple((subtype, 2) for subtype in family.subtypes)
    assert len(cells_of(family, None)) == len(family.subtypes) * len(family.levels)
