"""K1: every kind of constraint has a violating policy; a rule that nobody can break is named."""

from typing import Any

import pytest

from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.violations import breaking, prove_constraints, satisfying
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, example


def rule(name: str, **body: Any) -> Any:
    """Return a change that adds one constraint to an example."""
    policy, sentence = {
        SUPPORT: ("damage", "One refund per order"),
        PAYMENT: ("payee", "Hold first"),
    }[name]
    written = {"id": "KX", "policy": policy, "sentence": sentence, "severity": "gate", **body}
    return lambda data: data["constraints"].append(written)


REFUND, LETTER = "finance_create_refund", "mail_send_message"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (SUPPORT, {"kind": "forbid_tool", "tool": "orders_reship_line"}),
        (SUPPORT, {"kind": "forbid_tool", "tool": REFUND, "arguments": {"reason": "goodwill"}}),
        (SUPPORT, {"kind": "forbid_tool", "tool": REFUND, "arguments": {"amount": {"gt": 90}}}),
        (
            SUPPORT,
            {"kind": "argument_policy", "tool": REFUND, "argument": "reason", "deny": ["goodwill"]},
        ),
        (SUPPORT, {"kind": "argument_policy", "tool": REFUND, "argument": "line", "allow": [2]}),
        (
            SUPPORT,
            {"kind": "argument_policy", "tool": REFUND, "argument": "amount", "limit": {"le": 80}},
        ),
        (
            SUPPORT,
            {
                "kind": "argument_policy",
                "tool": LETTER,
                "argument": ["to", "cc"],
                "own_domain": "kestrelmoor.example",
                "also": ["rosalind.achterberg@mailbarn.example"],
            },
        ),
        (
            SUPPORT,
            {
                "kind": "require_before",
                "write": {"tool": LETTER},
                "needs": {"tool": "crm_get_customer"},
            },
        ),
        (
            PAYMENT,
            {
                "kind": "confirm_with_user",
                "write": {"tool": "finance_hold_invoice"},
                "answer": ["yes"],
            },
        ),
        (SUPPORT, {"kind": "at_most", "tool": LETTER, "n": 1}),
        (SUPPORT, {"kind": "at_most", "tool": "helpdesk_add_comment", "per": "ticket_id", "n": 1}),
        (
            SUPPORT,
            {
                "kind": "only_when",
                "tool": "helpdesk_close_ticket",
                "record": {
                    "service": "helpdesk",
                    "collection": "tickets",
                    "id_argument": "ticket_id",
                },
                "where": {"customer_id": "CU-3307"},
            },
        ),
        (SUPPORT, {"kind": "no_disclosure", "values": [{"number": 4711}], "allowed": []}),
        (PAYMENT, {"kind": "at_most", "tool": "finance_hold_invoice", "n": 3}),
    ],
)
def test_a_rule_of_every_kind_bites(name: str, body: Written) -> None:
    trial = Trial(broken(name, rule(name, **body)))

    found = prove_constraints(trial)[-1]
    assert (found.id, found.bites, found.reward) == ("KX", True, 0.0)
    assert found.violating


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "argument_policy", "tool": REFUND, "argument": "amount", "limit": {"le": 10**7}},
        {"kind": "forbid_tool", "tool": "mail_delete_draft"},
    ],
)
def test_a_rule_that_nobody_can_break_is_named_with_its_removal(body: Written) -> None:
    card = prove(broken(SUPPORT, rule(SUPPORT, **body)))

    findings = [finding for finding in card.findings if finding.gate == "K1"]
    assert [f.path for f in findings] == ["/constraints/5"]
    assert findings[0].suggestion is not None
    assert findings[0].suggestion.patch == ({"op": "remove", "path": "/constraints/5"},)


@pytest.mark.parametrize("calls", [2, 12, 15])
def test_where_calls_are_short_the_limit_is_named_and_nothing_is_to_be_dropped(calls: int) -> None:
    card = prove(broken(SUPPORT, lambda data: data.update(limits={"tool_calls": calls})))

    titles = [f.suggestion.title for f in card.findings if f.suggestion is not None]
    assert titles == ["raise tool_calls to 25"]


def test_where_no_call_is_left_each_rule_waits_for_the_limit() -> None:
    card = prove(broken(SUPPORT, lambda data: data.update(limits={"tool_calls": 2})))

    findings = [finding for finding in card.findings if finding.gate == "K1"]
    assert findings
    assert {f.hint for f in findings} == {"raise the limit of tool calls first; the rule can stay"}
    assert [f.suggestion for f in findings] == [None] * len(findings)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_deduction_is_taken_from_what_the_violator_earns(name: str) -> None:
    spec = example(name)
    deductions = {c.id: c.deduct for c in spec.constraints if not c.gate}

    for proof in prove_constraints(Trial(spec)):
        assert proof.reward is not None
        if proof.id in deductions:
            assert 0 < proof.reward <= 1 - deductions[proof.id] + 1e-9
        else:
            assert proof.reward == 0


@pytest.mark.parametrize(
    ("limit", "values"),
    [
        ({"lt": 150}, [150, 151, 180.0]),
        ({"le": 10}, [10.01, 11, 12.0]),
        ({"gt": 5}, [5, 4]),
        ({"between": [1, 3]}, [4, 0]),
        ({"not_in": ["a", "b"]}, ["a", "b"]),
        ({"in": ["TK-12"]}, ["TK-21"]),
    ],
)
def test_a_limit_is_turned_into_values_that_break_it(limit: Written, values: list[Any]) -> None:
    assert list(breaking(limit)) == values


def test_a_where_is_turned_into_arguments_that_meet_it() -> None:
    where = {"a": "x", "b": {"in": ["y", "z"]}, "c": {"ge": 3}, "d.e": 1, "f": {"exists": True}}

    assert satisfying(where) == {"a": "x", "b": "y", "c": 3}
