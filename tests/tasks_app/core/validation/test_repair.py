"""The repair loop: planted defects end in a proof that holds, or in quarantine with a reason."""

from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.repair import mend
from tests.factories.examples import (
    EXAMPLES,
    MONTH_END,
    PAYMENT,
    SUPPORT,
    Written,
    broken,
    check,
    example,
    invoice,
    order,
    written,
)


def shift(data: Written, loser: str, heir: str) -> None:
    check(data, heir)["weight"] += check(data, loser)["weight"]
    data["checks"].remove(check(data, loser))


DEFECTS: list[tuple[str, str, Any, list[tuple[str, str]]]] = [
    (
        "a price",
        SUPPORT,
        lambda d: order(d, "OR-88431")["lines"][1].update(unit_price=80.0),
        [("O1", "recompute_expected")],
    ),
    (
        "an article number",
        SUPPORT,
        lambda d: order(d, "OR-88431")["lines"][1].update(sku="KTL-15-GRX"),
        [("O1", "restore_value")],
    ),
    (
        "an article that a rule does not allow",
        SUPPORT,
        lambda d: (
            d["constraints"].append(
                {**d["constraints"][3], "id": "KX", "tool": "inventory_get_product"}
            ),
            d["services"]["inventory"]["products"][2].update(sku="KTL-15-GRX"),
        ),
        [("O1", "restore_value")],
    ),
    (
        "a voucher",
        SUPPORT,
        lambda d: order(d, "OR-88431").update(voucher_percent=20),
        [("O1", "recompute_expected")],
    ),
    (
        "the customer's address",
        SUPPORT,
        lambda d: d["services"]["crm"]["customers"][0].update(email="r.a@other.example"),
        [("O1", "recompute_expected")],
    ),
    (
        "an amount in a sum",
        PAYMENT,
        lambda d: invoice(d, "IN-5498").update(amount=3307.75),
        [("O1", "recompute_expected")],
    ),
    (
        "a due date that leaves the run",
        PAYMENT,
        lambda d: invoice(d, "IN-5498").update(due_on="2031-06-20"),
        # Two invoices are held then: no bulk any more.
        [("O1", "recompute_expected"), ("V3", "strip_tag")],
    ),
    ("an unknown key", SUPPORT, lambda d: d.update(colour="red"), [("S1", "cast_to_form")]),
    (
        "a check of a kind misspelt",
        SUPPORT,
        lambda d: check(d, "r_reply").update(kind="answers"),
        [("S1", "cast_to_form")],
    ),
    (
        "an operator misspelt",
        SUPPORT,
        lambda d: check(d, "o_amount")["expect"].update(amount={"betwen": [76.6, 76.6]}),
        [("S1", "cast_to_form")],
    ),
    (
        "weights that sum to 1.1",
        SUPPORT,
        lambda d: check(d, "o_refund").update(weight=0.25),
        [("S2", "renormalise_weights")],
    ),
    (
        "a report that requires nothing",
        SUPPORT,
        lambda d: check(d, "c_only").update(requires=[]),
        [("S4", "require_anchor")],
    ),
    (
        "an amount that no check expects",
        SUPPORT,
        lambda d: check(d, "o_amount").update(expect={"reason": "damaged_in_transit"}),
        [("M1", "missing_check")],
    ),
    (
        "no collateral check",
        SUPPORT,
        lambda d: shift(d, "c_only", "o_refund"),
        [("S2", "renormalise_weights"), ("X1", "add_collateral_check")],
    ),
    (
        "letters without limit",
        SUPPORT,
        lambda d: d["write_set"][3].pop("max"),
        [("M1", "close_write_set")],
    ),
    (
        "a write set that forgets a ticket",
        SUPPORT,
        lambda d: d["write_set"].pop(1),
        [("O1", "write_set_from_reference")],
    ),
    (
        "a tight budget",
        SUPPORT,
        lambda d: d["limits"].update(tool_calls=16),
        [("O2", "raise_budget")],
    ),
    (
        "a wrong expectation",
        SUPPORT,
        lambda d: check(d, "o_second")["expect"].update(reference="TK-2050"),
        [("O1", "recompute_expected")],
    ),
    (
        "a report that nobody checks",
        PAYMENT,
        lambda d: shift(d, "o_report", "o_case"),
        [("M1", "missing_check")],
    ),
]


@pytest.mark.parametrize(
    ("name", "damage", "expected"),
    [pytest.param(*defect[1:], id=defect[0]) for defect in DEFECTS],
)
def test_a_planted_defect_is_mended_to_a_proof_that_holds(
    name: str, damage: Any, expected: list[tuple[str, str]]
) -> None:
    data = written(name)
    damage(data)

    mended = mend(data)

    assert mended.quarantined is None
    assert [(r.gate, r.rule) for r in mended.repairs] == expected
    assert mended.spec is not None
    assert mended.card is not None
    assert (mended.card.proven, mended.card.repairs) == (True, mended.repairs)
    assert mended.card.spec_hash == mended.spec.hash


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_proven_task_is_left_as_it_is(name: str) -> None:
    mended = mend(example(name))

    assert (mended.spec, mended.repairs, mended.quarantined) == (example(name), (), None)


def test_a_repair_is_a_patch_from_one_hash_to_the_next() -> None:
    spec = broken(SUPPORT, lambda d: order(d, "OR-88431").update(voucher_percent=20))

    mended = mend(spec)

    (record,) = mended.repairs
    after = load_spec(apply(spec.written(), record.patch))
    assert (record.before, record.after) == (spec.hash, after.hash)
    assert after == mended.spec
    assert record.title.startswith("expect what the reference arrives at: amount 69.2 instead of")
    assert [c["explain"] for c in after.written()["checks"] if c["id"] == "o_amount"] == [
        "It comes to 69.20"
    ]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (
            lambda d: order(d, "OR-88431").update(delivered_on="2031-02-04"),
            "O1: the reference cannot do step earlier (finance_list_refunds): 0 items of step",
        ),
        (
            lambda d: d.update(reference=[]),
            "O1: there is no reference solution, so nothing shows that the task can be solved",
        ),
        (lambda d: d.update(clock={"start": "soon"}), "S1: /clock/start: expected a timestamp"),
        (lambda d: d.update(format="coworker-task/9"), "S1: /format: says 'coworker-task/9'"),
        (
            lambda d: d.update(evaluation_only=True, reference=[], write_set=[]),
            "unproven upstream grader",
        ),
    ],
)
def test_what_no_rule_mends_is_quarantined_with_its_reason(damage: Any, reason: str) -> None:
    data = written(SUPPORT)
    damage(data)

    mended = mend(data)

    assert mended.quarantined is not None
    assert mended.quarantined.startswith(reason)


@pytest.mark.parametrize("source", [b"", b"[]", b"{", "null", b'{"format": 1}'])
def test_what_is_no_task_at_all_is_quarantined(source: bytes | str) -> None:
    mended = mend(source)

    assert (mended.spec, mended.card) == (None, None)
    assert mended.quarantined is not None
    assert mended.quarantined.startswith("S1: ")


def test_the_budget_ends_the_loop() -> None:
    def several(data: Written) -> None:
        check(data, "o_refund")["weight"] = 0.25
        data["limits"]["tool_calls"] = 16

    mended = mend(broken(SUPPORT, several), budget=1)

    assert len(mended.repairs) == 1
    assert mended.quarantined is not None
    assert mended.quarantined.startswith("not mended after 1 rounds: O2: ")


def test_several_defects_are_mended_one_gate_after_the_other() -> None:
    def several(data: Written) -> None:
        check(data, "o_refund")["weight"] = 0.25
        data["limits"]["tool_calls"] = 16
        order(data, "OR-88431")["lines"][1]["unit_price"] = 80.0
        data["write_set"][3].pop("max")

    mended = mend(broken(SUPPORT, several))

    assert mended.quarantined is None
    assert [r.gate for r in mended.repairs] == ["S2", "O1", "O2", "M1"]


def test_mending_is_deterministic() -> None:
    spec = broken(PAYMENT, lambda d: invoice(d, "IN-5498").update(due_on="2031-06-20"))

    assert mend(spec) == mend(spec)


@pytest.mark.parametrize("name", [*EXAMPLES, MONTH_END])
def test_a_check_of_a_day_that_the_task_does_not_have_is_a_finding_whatever_its_kind(
    name: str,
) -> None:
    for number, judged in enumerate(example(name).checks):

        def wait(data: Written, number: int = number) -> None:
            data["checks"][number]["stage"] = "friday"

        found = prove(broken(name, wait)).findings
        assert (judged.id, {one.gate for one in found}) == (judged.id, {"S4", "O1"})
