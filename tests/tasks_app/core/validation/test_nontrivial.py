"""N1, N2 and X1: what pays without work, and damage that costs nothing."""

from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.proof import prove
from tests.factories.examples import PAYMENT, SUPPORT, Written, broken, check


def of_gate(gate: str, name: str, change: Any) -> list[Finding]:
    return [f for f in prove(broken(name, change)).findings if f.gate == gate]


def true_from_the_start(data: Written) -> None:
    check(data, "o_first").update(requires=[], where={"id": "TK-1988"}, expect={"status": "closed"})


def asks_only_for_words(data: Written) -> None:
    check(data, "r_reply").update(requires=[], text=[["TK-2041"], ["TK-2063"]], forbidden=[])
    check(data, "r_reply")["weight"] = 0.2
    check(data, "r_customer")["weight"] = 0.1


def test_a_check_that_holds_at_the_start_is_found_and_gated() -> None:
    findings = of_gate("N1", SUPPORT, true_from_the_start)

    assert [f.path for f in findings] == ["/checks/2"]
    assert findings[0].suggestion is not None
    assert findings[0].suggestion.patch == (
        {"op": "add", "path": "/checks/2/requires", "value": ["o_refund"]},
    )


def test_a_reply_that_pays_alone_is_found_by_pasting() -> None:
    spec = broken(SUPPORT, asks_only_for_words)
    findings = [f for f in prove(spec).findings if f.gate == "N2"]

    assert ["paste" in findings[0].message, "first_record" in findings[1].message] == [True, True]
    assert findings[0].suggestion is not None
    mended = load_spec(apply(spec.written(), findings[0].suggestion.patch))
    assert [f for f in prove(mended).findings if f.gate == "N2"] == []


def test_a_first_candidate_that_is_the_right_one_is_found() -> None:
    def first(data: Written) -> None:
        invoices = data["services"]["finance"]["invoices"]
        for number, row in enumerate(invoices):
            if row["id"] not in ("IN-5498", "IN-5521", "IN-5530") and row["payee_id"] == "PY-210":
                invoices[number]["status"] = "paid"
        check(data, "p_source")["order"][0].pop("arguments")

    messages = [f.message for f in of_gate("N2", PAYMENT, first)]
    assert messages == []  # the mail read is no write: a wrong read alone does not block


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda d: d["write_set"].append("crm/customers/*"), ""),
        (lambda d: d["checks"].remove(check(d, "c_only")), "add_collateral_check"),
    ],
)
def test_damage_that_costs_nothing_is_found(change: Any, rule: str) -> None:
    def weakened(data: Written) -> None:
        change(data)
        if rule:
            check(data, "o_refund")["weight"] += 0.1

    findings = of_gate("X1", SUPPORT, weakened)
    assert [f.suggestion.rule for f in findings if f.suggestion is not None] == [rule] * bool(rule)


def test_the_write_set_may_be_wider_than_the_reference() -> None:
    card = prove(broken(SUPPORT, lambda d: d["write_set"].append("crm/customers/CU-3307#note")))

    assert (card.proven, card.stray_reward) == (True, 0.9)
