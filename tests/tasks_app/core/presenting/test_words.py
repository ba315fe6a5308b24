from typing import Any

import pytest

from tasks_app.core.presenting.rules import (
    brief,
    check_rows,
    constraint_rows,
    details,
    write_rows,
)
from tasks_app.core.presenting.words import around, binding, predicate, shown, where
from tests.factories.specs import small_spec


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("open", "open"),
        ({"ne": "open"}, "not open"),
        ({"in": ["a", "b", "c"]}, "one of a, b, c"),
        ({"ge": 1, "lt": 5}, "at least 1 and less than 5"),
        ({"between": [1, 5]}, "between 1 and 5"),
        ({"exists": False}, "not there"),
        ({"nonempty": True}, "filled"),
        ({"contains_any": ["x"]}, "any of x"),
        ({"record": "finance/refunds", "where": {"order": "OR-1"}, "field": "amount"},
         "the amount of the finance/refunds record where order OR-1"),
        ({"number": 61.2}, "the number 61.2"),
        ({"number": 60, "within": 2}, "the number 60 ± 2"),
        ({"regex": "RF-[0-9]+"}, "text like /RF-[0-9]+/"),
        ({"street": "Lane"}, "street Lane"),
        (None, "nothing"),
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


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"kind": "record_match", "service": "finance", "collection": "refunds",
          "where": {"order": "OR-1"},
          "expect": {"amount": 42.1, "status": {"in": ["paid", "due"]}}},
         [("in", "finance/refunds", False), ("records where", "order OR-1", False),
          ("expected", "amount 42.1, status one of paid, due", True),
          ("how many", "exactly 1", False)]),
        ({"kind": "answer", "text": [["CB-1", "CB 1"], [{"number": 42.1}]], "forbidden": ["CB-2"]},
         [("in", "the reply", False), ("must say", "CB-1 or CB 1; the number 42.1", True),
          ("must not say", "CB-2", True)]),
        ({"kind": "number_close", "target": 12.5, "path": "a.csv"},
         [("in", "the file a.csv", False), ("number", "12.5", True),
          ("give or take", "0.005", True)]),
        ({"kind": "number_close", "target": 3, "absolute": 1,
          "place": {"service": "crm", "collection": "deals", "where": {"id": "D-1"},
                    "field": "worth"}},
         [("in", "worth of crm/deals where id D-1", False), ("number", "3", True),
          ("give or take", "1", True)]),
        ({"kind": "message_match", "to": ["a@b.example"], "text": ["TK-1"]},
         [("in", "mail/outbox", False), ("addressed to", "a@b.example", True),
          ("must say", "TK-1", True), ("at least", "1", False)]),
        ({"kind": "tool_called", "tool": ["crm_get", "crm_find"], "arguments": {"id": "D-1"}},
         [("tool", "crm_get, crm_find", True), ("with arguments", "id D-1", True),
          ("at least", "1", False)]),
        ({"kind": "call_order",
          "order": [[{"tool": "crm_get", "arguments": {"id": "D-1"}}, {"tool": "kb_get"}],
                    {"tool": ["mail_send", "chat_send"]}]},
         [("in this order", "1. crm_get with id D-1 and kb_get, 2. mail_send or chat_send", True)]),
        ({"kind": "table_rows", "path": "t.csv", "key": "id", "rows": [{"id": "A", "sum": 2}]},
         [("path", "t.csv", False), ("a row is named by", "id", False),
          ("rows", "id A, sum 2", True)]),
        ({"kind": "event_match", "attendees": ["a"], "window": ["9:00", "10:00"], "minutes": 30},
         [("attendees", "a", True), ("window", "from 9:00 to 10:00", True),
          ("minutes", "30", True)]),
        ({"kind": "unchanged", "outside": "write_set"},
         [("unchanged", "everything outside the write set", True)]),
    ],
)  # fmt: skip
def test_a_check_of_every_kind_says_where_it_looks_and_what_it_expects(
    raw: dict[str, Any], said: list[tuple[str, str, bool]]
) -> None:
    assert [(d.label, d.words, d.wanted) for d in details({"id": "c", **raw})] == said


def test_a_number_says_how_closely_it_is_compared() -> None:
    raw = {"kind": "record_match", "expect": {"amount": 42.1, "quantity": 2}}
    expected = details(raw)[0]
    assert [(line.name, line.note) for line in expected.lines] == [
        ("amount", "± 0.005"),
        ("quantity", ""),
    ]


def test_a_part_is_told_on_one_line_without_json() -> None:
    check = {"id": "c", "kind": "unchanged", "address": "crm/deals/*", "weight": 0.1}
    assert brief(check) == "unchanged: crm/deals/*"
    assert brief({"id": "TK-3", "tags": ["a", "b"]}) == "id TK-3, tags a, b"
    assert brief({"gt": 3}) == "more than 3"


def test_rules_are_rows_with_their_own_parts_in_words() -> None:
    spec = small_spec()
    check = check_rows(spec)[0]
    assert check.sentence == "record match helpdesk/tickets"
    assert [(detail.label, detail.words) for detail in check.details] == [
        ("in", "helpdesk/tickets"),
        ("records where", "id TK-2"),
        ("expected", "status closed, resolution answered"),
        ("how many", "exactly 1"),
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


def test_long_texts_are_cut_to_where_they_differ() -> None:
    before = "Refunds need a reason. " * 20 + "Nobody orders twice. The end."
    after = "Refunds need a reason. " * 20 + "The end."

    assert around(before, after, 40) == (
        "…reason. Nobody orders twice. The end.",
        "…reason. The end.",
    )
    assert around("open", "closed", 40) == ("open", "closed")
    assert around("x" * 50, "x" * 50, 40) == ("x" * 39 + "…", "x" * 39 + "…")
