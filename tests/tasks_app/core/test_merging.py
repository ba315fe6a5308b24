from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.merging import merge

BASE: dict[str, Any] = {
    "title": "a",
    "request": {"text": "x"},
    "checks": [{"id": "k1", "weight": 1}, {"id": "k2", "weight": 2}],
}
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    SCALARS | st.dictionaries(st.sampled_from(["x", "y"]), SCALARS, max_size=2),
    max_size=3,
)


def test_changes_at_different_places_merge_by_themselves() -> None:
    mine = {**BASE, "title": "b", "checks": [{"id": "k1", "weight": 5}, BASE["checks"][1]]}
    theirs = {**BASE, "request": {"text": "y"}, "checks": [*BASE["checks"], {"id": "k3"}]}
    found = merge(BASE, mine, theirs)
    assert found.conflicts == ()
    assert found.document == {
        "title": "b",
        "request": {"text": "y"},
        "checks": [{"id": "k1", "weight": 5}, {"id": "k2", "weight": 2}, {"id": "k3"}],
    }


def test_one_place_changed_twice_is_a_conflict_that_keeps_mine_unless_chosen() -> None:
    mine = {**BASE, "checks": [{"id": "k1", "weight": 5}, BASE["checks"][1]]}
    theirs = {**BASE, "checks": [{"id": "k1", "weight": 7}, BASE["checks"][1]]}
    found = merge(BASE, mine, theirs)
    conflict = found.conflicts[0]
    assert (conflict.key, conflict.base, conflict.mine, conflict.theirs) == (
        "/checks/k1/weight", 1, 5, 7
    )  # fmt: skip
    assert found.document == mine
    assert merge(BASE, mine, theirs, take_theirs=["/checks/k1/weight"]).document == theirs


def test_deleting_what_the_other_changed_is_a_conflict() -> None:
    mine = {**BASE, "checks": [BASE["checks"][1]]}
    theirs = {**BASE, "checks": [{"id": "k1", "weight": 9}, BASE["checks"][1]]}
    found = merge(BASE, mine, theirs)
    assert [(c.key, c.mine_gone, c.theirs_gone) for c in found.conflicts] == [
        ("/checks/k1", True, False)
    ]
    assert found.document == mine


@given(DOCUMENTS, DOCUMENTS)
def test_a_side_that_changed_nothing_takes_the_other(base: object, other: object) -> None:
    assert merge(base, base, other) == merge(base, other, base)
    assert merge(base, base, other).document == other
    assert merge(base, base, other).conflicts == ()


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_all_theirs_is_theirs_wherever_both_changed(
    base: object, mine: object, theirs: object
) -> None:
    conflicts = merge(base, mine, theirs).conflicts
    settled = merge(base, mine, theirs, take_theirs=[c.key for c in conflicts])
    assert merge(base, theirs, mine).document == settled.document
