"""payment_allocation: what goes where follows from the rules, and each wrong turn loses."""

import random
from collections.abc import Callable

import pytest

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.payment_allocation.facts import MoneyFacts
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted

FAMILY = "payment_allocation"
SUBTYPES = ("oldest_first", "by_reference", "overpayment", "credit_note_first")


def _the_disputed_one_first(steps: Steps) -> None:
    steps["invoice0"]["arguments"]["invoice_id"]["where"] = {"status": "disputed"}


def _the_oldest_where_another_is_named(steps: Steps) -> None:
    steps["invoice0"]["arguments"]["invoice_id"]["where"] = {"status": "open"}


def _money_of_a_firm_of_that_name(steps: Steps) -> None:
    where = steps["payment"]["arguments"]["transaction_id"]["where"]
    where["counterparty"] = {"ne": where["counterparty"]}
    where["category"] = "incoming"
    steps["payment"]["arguments"]["transaction_id"]["take"] = "first"


def _money_where_the_note_is_left(steps: Steps) -> None:
    steps["book0"]["arguments"]["transaction_id"] = {"from": "payment", "path": "id"}


def _all_of_it_on_one_invoice(steps: Steps) -> None:
    steps["book0"]["arguments"]["amount"] = {"from": "payment", "path": "amount"}


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("oldest_first", 1, _the_disputed_one_first),
        ("oldest_first", 4, _the_disputed_one_first),
        ("oldest_first", 2, _money_of_a_firm_of_that_name),
        ("by_reference", 1, _the_oldest_where_another_is_named),
        ("by_reference", 3, _money_of_a_firm_of_that_name),
        ("overpayment", 1, _all_of_it_on_one_invoice),
        ("overpayment", 5, _money_of_a_firm_of_that_name),
        ("credit_note_first", 1, _money_where_the_note_is_left),
        ("credit_note_first", 4, _money_where_the_note_is_left),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


def _facts(subtype: str, level: int, seed: int) -> MoneyFacts:
    return MoneyFacts(subtype, level, Cast(random.Random(f"{subtype}/{level}/{seed}")))


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 3, 5])
def test_no_cent_is_used_twice_or_put_on_what_is_settled(subtype: str, level: int) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        for invoice in facts.open:
            assert facts.paid(invoice) <= invoice["amount"]
        sources = [facts.payment, *([facts.credit] if facts.credit is not None else [])]
        assert all(facts.used(source) <= abs(source["amount"]) for source in sources)
        owed = sum(facts.due(invoice) for invoice in facts.open)
        used = sum(facts.used(source) for source in sources)
        assert round(owed - used, 2) == facts.still_open


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_an_overpayment_settles_everything_and_leaves_something(level: int) -> None:
    facts = _facts("overpayment", level, 1)
    assert (facts.still_open, facts.left > 0) == (0.0, True)
    assert all(facts.paid(invoice) == invoice["amount"] for invoice in facts.open)


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_what_a_payment_names_comes_before_what_is_older(level: int) -> None:
    facts = _facts("by_reference", level, 1)
    named = [invoice["id"] for invoice in facts.named]
    got = [part.invoice["id"] for part in facts.parts]
    assert got[: len(named)] == named
    assert facts.open[0]["id"] not in named
    assert all(name in facts.payment["reference"] for name in named)


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_money_is_used_only_where_the_credit_note_does_not_reach(level: int) -> None:
    facts = _facts("credit_note_first", level, 1)
    sources = [part.source["category"] for part in facts.parts]
    assert sources == sorted(sources)
    assert sources[0] == "credit_note"
