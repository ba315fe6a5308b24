"""K2: rules that exclude each other are found, and the weaker one goes."""

from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.proof import prove
from tests.factories.examples import SUPPORT, Written, broken

ALWAYS: dict[str, Any] = {
    "policy": "damage",
    "sentence": "One refund per order",
    "severity": {"deduct": 0.2},
}


def with_rules(*rules: Written) -> Any:
    def change(data: Written) -> None:
        data["constraints"] += [{**ALWAYS, **rule} for rule in rules]

    return change


RETURNS = "orders_create_return"
CONTRADICTIONS: list[tuple[Written, Written, str]] = [
    (
        {
            "id": "K6",
            "kind": "argument_policy",
            "tool": RETURNS,
            "argument": "line",
            "limit": {"le": 1},
        },
        {
            "id": "K7",
            "kind": "argument_policy",
            "tool": RETURNS,
            "argument": "line",
            "limit": {"gt": 2},
        },
        "no value of line in orders_create_return is allowed by both",
    ),
    (
        {
            "id": "K6",
            "kind": "require_before",
            "write": {"tool": RETURNS},
            "needs": {"tool": "orders_reship_line"},
        },
        {"id": "K7", "kind": "forbid_tool", "tool": "orders_reship_line"},
        "orders_reship_line must come before orders_create_return, and is forbidden",
    ),
    (
        {
            "id": "K6",
            "kind": "require_before",
            "write": {"tool": RETURNS},
            "needs": {"tool": "orders_reship_line"},
        },
        {
            "id": "K7",
            "kind": "require_before",
            "write": {"tool": "orders_reship_line"},
            "needs": {"tool": RETURNS},
        },
        "orders_reship_line and orders_create_return each have to come first",
    ),
    (
        {
            "id": "K6",
            "kind": "only_when",
            "tool": RETURNS,
            "record": {"service": "orders", "collection": "orders", "id_argument": "order_id"},
            "where": {"status": "delivered"},
        },
        {
            "id": "K7",
            "kind": "only_when",
            "tool": RETURNS,
            "record": {"service": "orders", "collection": "orders", "id_argument": "order_id"},
            "where": {"status": "shipped"},
        },
        "status of a record of orders/orders would have to be two things at once",
    ),
]


@pytest.mark.parametrize(("first", "second", "reason"), CONTRADICTIONS)
def test_two_rules_that_exclude_each_other_are_found(
    first: Written, second: Written, reason: str
) -> None:
    card = prove(broken(SUPPORT, with_rules(first, second)))

    found = [f for f in card.findings if f.gate == "K2"]
    assert [f.message for f in found] == [f"K7 and K6 cannot both be kept: {reason}"]
    assert found[0].suggestion is not None
    assert found[0].suggestion.patch == ({"op": "remove", "path": "/constraints/6"},)


def test_a_gate_is_stronger_than_a_deduction() -> None:
    first, second, _ = CONTRADICTIONS[0]
    spec = broken(SUPPORT, with_rules(first, {**second, "severity": "gate"}))

    found = next(f for f in prove(spec).findings if f.gate == "K2")

    assert found.suggestion is not None
    mended = load_spec(apply(spec.written(), found.suggestion.patch))
    assert [rule.id for rule in mended.constraints] == ["K1", "K2", "K3", "K4", "K5", "K7"]
    assert [f for f in prove(mended).findings if f.gate == "K2"] == []


@pytest.mark.parametrize(
    "rules",
    [
        [
            {**CONTRADICTIONS[0][0], "limit": {"ge": 2}},
            {**CONTRADICTIONS[0][1], "limit": {"le": 2}},
        ],
        [
            {**CONTRADICTIONS[0][0], "limit": None, "deny": [1]},
            {**CONTRADICTIONS[0][1], "limit": None, "deny": [2]},
        ],
        [CONTRADICTIONS[3][0], {**CONTRADICTIONS[3][1], "where": {"status": {"ne": "shipped"}}}],
        [CONTRADICTIONS[2][0], {"id": "K7", "kind": "forbid_tool", "tool": RETURNS}],
    ],
)
def test_rules_that_can_be_kept_together_are_left_alone(rules: list[Written]) -> None:
    card = prove(broken(SUPPORT, with_rules(*rules)))

    assert [f.message for f in card.findings if f.gate == "K2"] == []


def test_a_rule_that_the_reference_breaks_is_named() -> None:
    rule = {"id": "K6", "kind": "forbid_tool", "tool": "finance_create_refund"}
    card = prove(broken(SUPPORT, with_rules(rule)))

    assert [(f.path, f.message) for f in card.findings if f.gate == "K2"] == [
        ("/constraints/5", "the reference breaks K6: finance_create_refund was called")
    ]
