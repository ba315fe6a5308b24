from typing import Any

import pytest

from tasks_app.core.presenting.rules import check_rows, constraint_rows, write_rows
from tasks_app.core.presenting.words import binding, predicate, shown, where
from tests.factories.specs import small_spec


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("open", "open"),
        ({"ne": "open"}, "not open"),
        ({"in": ["a", "b", "c"]}, "one of a, b or c"),
        ({"ge": 1, "lt": 5}, "at least 1 and below 5"),
        ({"between": [1, 5]}, "1 to 5"),
        ({"exists": False}, "absent"),
        ({"nonempty": True}, "not empty"),
        ({"contains_any": ["x"]}, "mentions x"),
        ({"record": "finance/refunds", "where": {"order": "OR-1"}, "field": "amount"},
         "the amount of the finance/refunds record where order OR-1"),
        ({"number": 61.2}, "the number 61.2"),
        ({"street": "Lane"}, '{"street":"Lane"}'),
        (None, "null"),
    ],
)  # fmt: skip
def test_a_predicate_reads_as_words(value: Any, words: str) -> None:
    assert predicate(value) == words


def test_conditions_stand_in_one_line_and_long_values_are_cut() -> None:
    assert where({"id": "TK-1", "status": {"ne": "open"}}) == "id TK-1, status not open"
    assert shown("a  b\nc") == "a b c"
    assert shown("x" * 200, 10) == "xxxxxxxxx…"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("literal", ""),
        ({"from": "orders", "path": "0.id"}, "from orders, 0.id"),
        ({"from": "orders", "where": {"status": "open"}, "field": "id"},
         "from orders, id where status open"),
        ({"fn": "sum", "args": []}, "computed: sum"),
        ({"text": "{a}", "with": {}}, "a filled text"),
    ],
)  # fmt: skip
def test_a_binding_says_where_a_value_comes_from(value: Any, words: str) -> None:
    assert binding(value) == words


def test_rules_are_rows_with_their_own_parts_in_words() -> None:
    spec = small_spec()
    check = check_rows(spec)[0]
    assert check.sentence == "record match helpdesk/tickets"
    assert [(detail.label, detail.words) for detail in check.details] == [
        ("in", "helpdesk/tickets"),
        ("looks at records where", "id TK-2"),
        ("expects", "status closed, resolution answered"),
    ]
    rule = constraint_rows(spec)[0]
    assert (rule.policy_title, rule.gate, rule.deduct) == ("Desk rules", True, 0.0)
    assert [(detail.label, detail.words) for detail in rule.details] == [
        ("tool", "helpdesk_close_ticket"),
        ("at most", "1"),
    ]
    assert [(row.address, row.words) for row in write_rows(spec)] == [
        ("helpdesk/tickets/TK-2#status,resolution,updated_at", "may change")
    ]
