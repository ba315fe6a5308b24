"""expense_audit: each expense ends as the rules have it, and each wrong turn loses."""

import random
from collections.abc import Callable

import pytest

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.expense_audit.facts import ExpenseFacts
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted

FAMILY = "expense_audit"
SUBTYPES = ("duplicate_receipt", "over_limit", "missing_receipt", "foreign_currency")


def _the_same_sum_is_a_duplicate(steps: Steps) -> None:
    steps["own"]["each"]["where"] = {
        "amount": {"in": {"from": "settled", "take": "all", "field": "amount"}}
    }


def _no_tolerance(steps: Steps) -> None:
    steps["own"]["each"]["where"]["amount"]["gt"]["args"][0].pop()


def _every_category(steps: Steps) -> None:
    del steps["own"]["each"]["where"]["category"]


def _small_sums_too(steps: Steps) -> None:
    for name in ("own", "unproven"):
        if name in steps and "amount" in steps[name]["each"].get("where", {}):
            del steps[name]["each"]["where"]["amount"]


def _whatever_is_abroad_is_held(steps: Steps) -> None:
    steps["own"]["arguments"].update(status="on_hold", reason="wrong_rate")


def _the_rate_of_another_time(steps: Steps) -> None:
    choice = steps["rule"]["arguments"]["policy_id"]
    choice["where"] = {"title": "Rates for last year"}


def _all_is_approved(steps: Steps) -> None:
    steps["own"]["arguments"].update(status="approved")


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("duplicate_receipt", 1, _the_same_sum_is_a_duplicate),
        ("duplicate_receipt", 5, _the_same_sum_is_a_duplicate),
        ("duplicate_receipt", 3, _small_sums_too),
        ("over_limit", 1, _no_tolerance),
        ("over_limit", 2, _no_tolerance),
        ("over_limit", 4, _every_category),
        ("missing_receipt", 1, _small_sums_too),
        ("missing_receipt", 5, _small_sums_too),
        ("missing_receipt", 2, _all_is_approved),
        ("foreign_currency", 1, _whatever_is_abroad_is_held),
        ("foreign_currency", 3, _the_rate_of_another_time),
        ("foreign_currency", 5, _all_is_approved),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


def _facts(subtype: str, level: int, seed: int) -> ExpenseFacts:
    return ExpenseFacts(subtype, level, Cast(random.Random(f"{subtype}/{level}/{seed}")))


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_every_pending_expense_of_the_traveller_has_one_fate(subtype: str, level: int) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        pending = [
            row["id"]
            for row in facts.rows
            if row["employee"] == facts.who.name and row["status"] == "pending"
        ]
        fates = [row["id"] for row in (*facts.own, *facts.unproven, *facts.fine)]
        assert sorted(pending) == sorted(fates)


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_an_expense_is_over_the_limit_only_beyond_the_tolerance(level: int) -> None:
    for seed in range(8):
        facts = _facts("over_limit", level, seed)
        most = facts.limit + facts.tolerance
        own = [row for row in facts.own if row["category"] == facts.category]
        assert [row["amount"] > most for row in own] == [True] * len(facts.own)
        fine = [row["amount"] for row in facts.fine if row["category"] == facts.category]
        assert facts.limit < max(fine) <= most


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_a_sum_abroad_is_held_only_where_it_is_too_far_above_its_worth(level: int) -> None:
    for seed in range(8):
        facts = _facts("foreign_currency", level, seed)
        over = {
            row["id"]: round(row["amount"] - round(row["foreign_amount"] * facts.rate, 2), 2)
            for row in facts.rows
            if "foreign_amount" in row
        }
        held = [row["id"] for row in facts.own]
        assert sorted(i for i, more in over.items() if more >= facts.tolerance) == sorted(held)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_a_receipt_is_missing_where_the_rules_miss_it(subtype: str) -> None:
    facts = _facts(subtype, 4, 1)
    titles = {file["title"] for file in facts.files}
    missed = [*facts.unproven, *(facts.own if subtype == "missing_receipt" else [])]
    for row in (*facts.own, *facts.unproven, *facts.fine):
        misses = row["reference"] not in titles and row["amount"] >= facts.small
        assert misses is any(row is one for one in missed)
