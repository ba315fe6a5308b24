"""payment_change_investigation: the numbers of a task mean one thing each."""

import re
from collections.abc import Iterator

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.families.payment_change.parties import DENIED
from tasks_app.core.generation.family import Plan, draft, plans
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.proof import prove
from tests.factories.exploits import Right

FAMILY = FAMILIES["payment_change_investigation"]
HOLD = "finance_hold_invoice"


def figures_with_two_meanings(spec: TaskSpec) -> Iterator[str]:
    """Yield what is both a supplier's plain invoice number and the figures of another name."""
    invoices = spec.services["finance"]["invoices"]
    plain = {i["supplier_ref"] for i in invoices if i["supplier_ref"].isdigit()}
    called_back = re.findall(r"CB-(\d+)", str(spec.written()))
    named = {str(i["id"]).partition("-")[2] for i in invoices} | set(called_back)
    yield from sorted(plain & named)


def test_an_invoice_and_another_suppliers_number_never_have_the_same_figures() -> None:
    drafts = [draft(FAMILY, plan) for seed in (500, 501, 502) for plan in plans(FAMILY, 60, seed)]
    assert {spec.slug: list(figures_with_two_meanings(spec)) for spec in drafts} == {
        spec.slug: [] for spec in drafts
    }


def test_a_draft_whose_ids_once_met_its_invoice_numbers_is_proven_as_it_comes() -> None:
    card = prove(draft(FAMILY, Plan(FAMILY.name, DENIED, 1, 500, 40)))
    assert ([finding.message for finding in card.findings], card.proven) == ([], True)


def bulk_holds() -> list[Right]:
    """Drafts in which more than one invoice is held and the supplier is written to."""
    found = [draft(FAMILY, plan) for plan in plans(FAMILY, 20, 11)]
    return [
        Right(spec)
        for spec in found
        if {"o_all", "r_supplier"} <= {check.id for check in spec.checks}
    ]


def test_where_one_of_the_held_invoices_is_missing_what_is_told_of_them_pays_nothing() -> None:
    drafts = bulk_holds()
    assert drafts
    for right in drafts:
        named = next(
            check.plain["where"]["id"] for check in right.spec.checks if check.id == "o_named"
        )
        held = [act.arguments["invoice_id"] for act in right.acts if act.tool == HOLD]
        missing = next(invoice for invoice in held if invoice != named)
        kept = [act for act in right.acts if act.arguments.get("invoice_id") != missing]
        grade = right.grade(kept)
        scores = {check.id: check.score for check in grade.checks}
        told = {name: scores[name] for name in ("o_named", "o_all", "r_supplier", "r_reply")}
        assert told == {"o_named": 1.0, "o_all": 0.0, "r_supplier": 0.0, "r_reply": 0.0}
        assert right.grade(right.acts).total == 1.0
