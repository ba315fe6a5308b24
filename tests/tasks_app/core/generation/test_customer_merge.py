"""customer_merge: only records that agree in all keys become one, and each wrong turn loses."""

import random
from collections.abc import Callable

import pytest

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.customer_merge.facts import CustomerFacts
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted

FAMILY = "customer_merge"
SUBTYPES = ("same_person", "household", "moved_company", "shared_mailbox")


def _the_younger_stays(steps: Steps) -> None:
    kept = steps["merged0"]["arguments"]["customer_id"]
    gone = steps["merged0"]["arguments"]["duplicate_customer_id"]
    kept["take"], gone["take"] = gone["take"], kept["take"]


def _the_older_stays_whatever_is_ordered(steps: Steps) -> None:
    arguments = steps["merged0"]["arguments"]
    arguments["customer_id"], arguments["duplicate_customer_id"] = (
        arguments["duplicate_customer_id"],
        arguments["customer_id"],
    )


def _the_same_telephone_is_enough(steps: Steps) -> None:
    for choice in steps["merged0"]["arguments"].values():
        del choice["where"]["card"]


def _the_same_card_is_enough(steps: Steps) -> None:
    for choice in steps["merged0"]["arguments"].values():
        del choice["where"]["phone"]


def _closed_ones_too(steps: Steps) -> None:
    del steps["records"]["each"]["where"]


def _no_question(steps: Steps) -> None:
    steps["asked0"]["arguments"]["text"] = "Good morning!"


def _one_of_the_household(steps: Steps) -> None:
    each = steps["marked"]["each"]
    each["where"] = {"id": {**each, "take": "first"}}


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("same_person", 1, _the_younger_stays),
        ("same_person", 1, _the_same_telephone_is_enough),
        ("same_person", 2, _the_same_card_is_enough),
        ("same_person", 2, _no_question),
        ("same_person", 4, _the_older_stays_whatever_is_ordered),
        ("household", 1, _one_of_the_household),
        ("household", 3, _the_same_telephone_is_enough),
        ("household", 2, _closed_ones_too),
        ("moved_company", 1, _closed_ones_too),
        ("moved_company", 5, _the_older_stays_whatever_is_ordered),
        ("shared_mailbox", 1, _the_same_telephone_is_enough),
        ("shared_mailbox", 4, _the_same_card_is_enough),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn, below=0.95)


def _facts(subtype: str, level: int, seed: int) -> CustomerFacts:
    return CustomerFacts(subtype, level, Cast(random.Random(f"{subtype}/{level}/{seed}")))


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_just_the_pairs_agree_in_both_keys_and_are_active(subtype: str, level: int) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        active = [row for row in facts.customers if row["status"] == "active"]
        agreeing = {
            frozenset({one["id"], other["id"]})
            for one in active
            for other in active
            if one is not other and (one["card"], one["phone"]) == (other["card"], other["phone"])
        }
        assert agreeing == {frozenset({p.kept["id"], p.gone["id"]}) for p in facts.pairs}


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_the_record_with_an_order_stays_or_else_the_older_one(subtype: str, level: int) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        owners = {row["customer_id"] for row in facts.orders if row["status"] == "confirmed"}
        for pair in facts.pairs:
            if facts.ordered:
                assert [row["id"] in owners for row in pair] == [True, False]
            else:
                assert pair.kept["since"] < pair.gone["since"]


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_a_household_is_everybody_at_one_telephone_and_no_two_of_them_by_one_card(
    level: int,
) -> None:
    facts = _facts("household", level, 1)
    gone = [pair.gone["id"] for pair in facts.pairs]
    there = [
        row
        for row in facts.customers
        if row["status"] == "active" and row["phone"] == facts.phone and row["id"] not in gone
    ]
    assert sorted(row["id"] for row in there) == sorted(row["id"] for row in facts.members)
    assert len({row["card"] for row in there}) == len(there)
