"""stock_replenishment: what is short is reckoned right, and each subtype's wrong turn loses."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.stock_replenishment.facts import Item
from tasks_app.core.generation.families.stock_replenishment.records import StockFacts
from tests.tasks_app.core.generation.wrong_turns import Steps, drafted, played

FAMILY = "stock_replenishment"
SUBTYPES = ("reorder_point", "pack_size", "substitute", "season_stop")


def _lines(steps: Steps) -> list[Any]:
    lines: list[Any] = steps["order0"]["arguments"]["lines"]
    return lines


def _reserved_is_forgotten(steps: Steps) -> None:
    for line in _lines(steps):
        there = line["quantity"]["args"][1]
        there["args"][1] = {"fn": "sum", "args": [[]]}


def _not_in_full_packs(steps: Steps) -> None:
    for line in _lines(steps):
        line["quantity"] = line["quantity"]["args"][0]


def _pack_size_of_the_product_record(steps: Steps) -> None:
    for line in _lines(steps):
        named = line["sku"]
        line["quantity"]["args"][1] = {**named, "field": "pack_size"}


def _weeks_too_early(steps: Steps) -> None:
    for line in _lines(steps):
        target = line["quantity"]["args"][0]["args"][0]
        for cell in target["args"][0]:
            if isinstance(cell, dict):
                cell["field"] = str(int(cell["field"]) - 2)


def _the_day_before(steps: Steps) -> None:
    steps["order0"]["arguments"]["expected_on"]["args"][1] -= 1


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("reorder_point", 1, _reserved_is_forgotten),
        ("reorder_point", 3, _weeks_too_early),
        ("pack_size", 1, _not_in_full_packs),
        ("pack_size", 2, _not_in_full_packs),
        ("pack_size", 4, _pack_size_of_the_product_record),
        ("season_stop", 2, _the_day_before),
    ],
)
def test_a_wrong_turn_loses(subtype: str, level: int, turn: Callable[[Steps], None]) -> None:
    spec = drafted(FAMILY, subtype, level)
    right, wrong = played(spec, lambda _: None), played(spec, turn)
    assert (right.total, right.passed, wrong.passed) == (1.0, True, False)
    assert wrong.total <= 0.9


def _facts(subtype: str, level: int, seed: int) -> StockFacts:
    return StockFacts(subtype, level, Cast(random.Random(f"{subtype}/{level}/{seed}")))


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_the_fate_of_every_article_follows_from_its_figures(subtype: str, seed: int) -> None:
    facts = _facts(subtype, 5, seed)
    limit = facts.clock.date(facts.season_days)
    for item in facts.items:
        ordered = (
            item.there < item.point
            and item.supplier != facts.blocked
            and item.heir is None
            and (item.season_until is None or item.season_until > limit)
        )
        assert (item.name, ordered) == (item.name, item.fate == "order")


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_what_is_ordered_fills_an_article_up_with_less_than_a_pack_too_much(subtype: str) -> None:
    for seed in range(3):
        facts = _facts(subtype, 4, seed)
        for item in facts.wanted:
            too_much = item.there + facts.quantity(item) - facts.target(item)
            assert (facts.quantity(item) % item.pack, 0 < too_much < item.pack) == (0, True)


def test_the_records_say_what_the_facts_say() -> None:
    facts = _facts("reorder_point", 4, 1)

    def coming(item: Item) -> int:
        return sum(
            line["quantity"] - line["received"]
            for order in facts.purchases
            if order["status"] == "ordered"
            for line in order["lines"]
            if line["sku"] == item.sku
        )

    def waiting(item: Item) -> int:
        return sum(
            line["quantity"]
            for order in facts.customers
            if order["status"] == "waiting"
            for line in order["lines"]
            if line["sku"] == item.sku
        )

    assert [coming(i) for i in facts.items] == [i.coming for i in facts.items]
    assert [waiting(i) for i in facts.wanted] == [i.waiting for i in facts.wanted]


@pytest.mark.parametrize("level", [1, 2, 3, 5])
def test_what_replaces_an_article_is_of_its_kind(level: int) -> None:
    for seed in range(3):
        for item in _facts("substitute", level, seed).items:
            if item.heir is not None:
                assert item.heir.name.split(",")[0] == item.name.split(",")[0]
