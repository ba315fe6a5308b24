"""order_change: how far an order is and the day decide, and each wrong turn loses."""

import random
from collections.abc import Callable
from datetime import date

import pytest

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.order_change.facts import OPEN, OrderFacts
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted

FAMILY = "order_change"
SUBTYPES = ("before_packing", "one_line_only", "new_address", "too_late")


def _one_that_is_packed(steps: Steps) -> None:
    steps["cards"]["each"]["where"]["status"] = "packed"


def _one_that_leaves_too_soon(steps: Steps) -> None:
    where = steps["order"]["arguments"]["order_id"]["where"]
    where["leaves_on"] = {"le": where["leaves_on"]["gt"]}


def _the_branch_elsewhere(steps: Steps) -> None:
    choice = steps["order"]["arguments"]["order_id"]
    city = choice["where"]["address"]["contains_any"][0]
    choice["where"]["address"] = {"regex": f"[^{city[-1]}]$"}


def _no_question(steps: Steps) -> None:
    steps["asked"]["arguments"]["text"] = "Good morning!"


def _the_whole_order(steps: Steps) -> None:
    changed = steps["changed"]
    changed["tool"] = "orders_cancel_order"
    changed["arguments"] = {
        "order_id": {"from": "order", "path": "id"},
        "reason": "customer_request",
    }


def _one_order_of_all(steps: Steps) -> None:
    each = steps["changed"]["each"]
    each["where"] = {"id": {**each, "take": "first"}}


def _what_was_cancelled_before_goes_back_too(steps: Steps) -> None:
    del steps["stock"]["each"]["where"]


def _whatever_was_placed_last(steps: Steps) -> None:
    del steps["order"]["arguments"]["order_id"]["where"]["lines.*.name"]


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("before_packing", 1, _one_that_is_packed),
        ("before_packing", 2, _one_that_leaves_too_soon),
        ("before_packing", 2, _no_question),
        ("before_packing", 3, _what_was_cancelled_before_goes_back_too),
        ("before_packing", 5, _the_branch_elsewhere),
        ("one_line_only", 1, _the_whole_order),
        ("one_line_only", 4, _one_that_leaves_too_soon),
        ("new_address", 1, _one_that_is_packed),
        ("new_address", 2, _the_branch_elsewhere),
        ("new_address", 4, _one_order_of_all),
        ("too_late", 1, _whatever_was_placed_last),
        ("too_late", 5, _whatever_was_placed_last),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level, 4), turn, below=0.95)


def _facts(subtype: str, level: int, seed: int) -> OrderFacts:
    return OrderFacts(subtype, level, Cast(random.Random(f"{subtype}/{level}/{seed}")))


@pytest.mark.parametrize("subtype", SUBTYPES[:3])
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_just_the_orders_that_are_meant_may_still_be_changed(subtype: str, level: int) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        free = [
            order
            for order in facts.orders
            if order["customer_id"] == facts.customer_id
            and order["status"] in OPEN
            and (not facts.dated or order["leaves_on"] > facts.limit)
            and (facts.all_orders or facts.article in [row["name"] for row in order["lines"]])
        ]
        assert sorted(order["id"] for order in free) == sorted(o["id"] for o in facts.meant)


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_how_a_late_wish_ends_follows_from_state_day_and_category(level: int) -> None:
    for seed in range(12):
        facts = _facts("too_late", level, seed)
        order = facts.meant[0]
        barred = facts.goods[facts.article]["category"] == facts.category
        if facts.end == "gone":
            assert order["delivered_on"] is None
            assert order["status"] not in OPEN or order["leaves_on"] <= facts.limit
            continue
        age = (facts.clock.day - date.fromisoformat(order["delivered_on"])).days
        assert (age > facts.term) is (facts.end == "old")
        assert not facts.barred or barred is (facts.end == "barred")


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_an_order_is_placed_before_it_leaves_and_leaves_before_it_arrives(subtype: str) -> None:
    for level in (1, 3, 5):
        for order in _facts(subtype, level, 2).orders:
            days = [order["placed_on"], order["leaves_on"], order["delivered_on"] or "9999"]
            assert days == sorted(days)
