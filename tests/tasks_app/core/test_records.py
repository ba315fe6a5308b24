"""The store: order, keys, ids, snapshots, differences."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.calls import ToolError
from tasks_app.core.records import (
    Collection,
    CollectionFacts,
    Counter,
    Snapshot,
    Store,
    build_tables,
    counter_of,
    diff,
)
from tasks_app.core.values import InvalidValueError
from tests.factories.evidence import tables

TICKETS = CollectionFacts("h/t", prefix="TK")


def store(*rows: dict[str, Any]) -> Store:
    built, total, counters = build_tables({"h": {"t": rows}}, {"h/t": TICKETS})
    return Store(Snapshot(built, total, counters, None, 0, ()))


def collection(living: Store) -> Collection[Any]:
    return Collection(living, TICKETS)


def test_a_table_is_in_id_order_whatever_the_path() -> None:
    one, two = store({"id": "B"}), store()
    collection(one).put({"id": "A", "v": 1})
    for record_id in ("A", "B"):
        collection(two).put({"id": record_id, **({"v": 1} if record_id == "A" else {})})
    assert list(one.tables["h/t"]) == list(two.tables["h/t"]) == ["A", "B"]
    assert one.state_key() == two.state_key()


def test_writing_back_what_was_there_restores_the_key() -> None:
    living = store({"id": "A", "v": 1})
    key = living.state_key()
    collection(living).put({"id": "A", "v": 2})
    assert living.state_key() != key
    collection(living).put({"v": 1.0, "id": "A"})
    assert living.state_key() == key
    collection(living).remove("A")
    assert [c.kind for c in living.take_changes()] == ["update", "update", "delete"]
    assert living.take_changes() == ()


def test_restore_brings_back_records_and_counters() -> None:
    living = store({"id": "TK-0009"})
    before, key = living.snapshot(), living.state_key()
    tickets = collection(living)
    tickets.put({"id": tickets.new_id()})
    tickets.remove("TK-0009")
    living.restore(before)
    assert (living.state_key(), list(living.tables["h/t"])) == (key, ["TK-0009"])
    assert tickets.new_id() == "TK-0010"


def test_ids_are_never_used_again() -> None:
    living = store({"id": "TK-0009"})
    tickets = collection(living)
    first = tickets.new_id()
    tickets.put({"id": first})
    tickets.remove(first)
    assert (first, tickets.new_id()) == ("TK-0010", "TK-0011")
    tickets.put({"id": "TK-0500"})
    assert tickets.new_id() == "TK-0501"
    assert collection(store()).new_id() == "TK-0001"


def test_the_declared_prefix_wins_for_ids() -> None:
    assert counter_of(["X-99", "TK-07"], "TK") == Counter("TK-", 2, 7)
    assert counter_of(["X-99", "Y-07"], "TK") == Counter("X-", 2, 99)
    assert counter_of(["none"], "TK") is None


def test_unknown_ids_and_bad_records_are_tool_errors() -> None:
    tickets = collection(store({"id": "A"}))
    for act in (lambda: tickets["B"], lambda: tickets.remove("B")):
        with pytest.raises(ToolError) as refusal:
            act()
        assert refusal.value.code == "not_found"
    bad: list[dict[str, Any]] = [{"v": 1}, {"id": ""}, {"id": 7}, {"id": "A", "v": float("nan")}]
    for record in bad:
        with pytest.raises(ToolError) as refusal:
            tickets.put(record)
        assert refusal.value.code == "invalid_value"
    assert (len(tickets), "A" in tickets, [row["id"] for row in tickets]) == (1, True, ["A"])


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([{"id": "A"}, {"id": "A"}], "A stands there twice"),
        ([{"v": 1}], "h/t\\[0\\] has no id"),
        ([{"id": "A", "v": 2**60}], "h/t\\[0\\]"),
    ],
)
def test_seed_records_are_refused_with_their_place(rows: Any, place: str) -> None:
    with pytest.raises(InvalidValueError, match=place):
        store(*rows)


ROWS = st.dictionaries(st.sampled_from("ABCDE"), st.integers(0, 2), max_size=5)


@given(ROWS, ROWS)
def test_a_difference_lists_exactly_what_differs_in_order(
    before: dict[str, int], after: dict[str, int]
) -> None:
    one = tables({"h/t": [{"id": k, "v": v} for k, v in before.items()], "h/same": [{"id": "Z"}]})
    two = tables({"h/t": [{"id": k, "v": v} for k, v in after.items()], "h/same": [{"id": "Z"}]})
    expected = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
    assert [change.id for change in diff(one, two)] == expected
    assert [change.kind for change in diff(one, two)] == [
        "add" if k not in before else "delete" if k not in after else "update" for k in expected
    ]
    assert diff(one, one) == ()


def test_a_table_that_comes_or_goes_is_a_difference() -> None:
    one, two = tables({"a/b": [{"id": "1"}]}), tables({"c/d": [{"id": "2"}]})
    assert [(c.address, c.kind) for c in diff(one, two)] == [("a/b/1", "delete"), ("c/d/2", "add")]
