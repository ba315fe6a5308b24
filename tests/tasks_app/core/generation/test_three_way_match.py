"""three_way_match: the papers decide, and each subtype's wrong turn loses."""

from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.spec import TaskSpec
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted, played

FAMILY = "three_way_match"
APPROVE, HOLD = "finance_approve_invoice", "finance_hold_invoice"


def _decision(spec: TaskSpec) -> tuple[str, Any]:
    step = next(step for step in spec.reference if step.id == "decided")
    return str(step.tool), step.arguments.get("reason")


def _decided(subtype: str, level: int, wanted: tuple[str, Any]) -> TaskSpec:
    """The first draft of a cell that ends with a decision."""
    drafts = (drafted(FAMILY, subtype, level, seed) for seed in range(60))
    return next(spec for spec in drafts if _decision(spec) == wanted)


def _approves(steps: Steps) -> None:
    steps["decided"].update(tool=APPROVE)
    steps["decided"]["arguments"].pop("reason", None)


def _holds(steps: Steps) -> None:
    steps["decided"].update(tool=HOLD)
    steps["decided"]["arguments"]["reason"] = "quantity_mismatch"


def _sister_firm(steps: Steps) -> None:
    name = steps["payees"]["arguments"]["query"]
    steps["payee"]["arguments"]["payee_id"]["where"]["name"] = {"ne": name}


def _sum_of_another_order(steps: Steps) -> None:
    where = steps["invoice"]["arguments"]["invoice_id"]["where"]
    where["purchase_order_id"] = {"ne": where["purchase_order_id"]}


@pytest.mark.parametrize(
    ("subtype", "level", "decision", "turn"),
    [
        ("short_delivery", 2, (HOLD, "quantity_mismatch"), _approves),
        ("short_delivery", 4, (APPROVE, None), _holds),
        ("price_over", 3, (HOLD, "price_mismatch"), _sister_firm),
        ("price_over", 4, (HOLD, "over_limit"), _approves),
        ("second_invoice", 3, (HOLD, "duplicate"), _sum_of_another_order),
        ("part_delivery", 1, (HOLD, "quantity_mismatch"), _approves),
        ("part_delivery", 5, (APPROVE, None), _holds),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, decision: tuple[str, Any], turn: Callable[[Steps], None]
) -> None:
    assert_loses(_decided(subtype, level, decision), turn, below=0.2)


@pytest.mark.parametrize("subtype", ["short_delivery", "price_over"])
def test_the_band_of_the_payee_and_the_general_one_decide_otherwise(subtype: str) -> None:
    for seed in range(20):
        spec = drafted(FAMILY, subtype, 4, seed)
        rules = spec.workplace.policies[0].text
        general = float(rules.split("more than ")[2].split(" percent")[0])
        payee = next(s for s in spec.reference if s.id == "payee").arguments["payee_id"]["where"]
        own = next(
            p["band_percent"]
            for p in spec.services["finance"]["payees"]
            if p["name"] == payee["name"] and p["status"] == "active"
        )
        assert (own > general) is (_decision(spec)[1] in (None, "over_limit"))


def test_goods_booked_so_that_the_invoice_fits_cost_everything() -> None:
    spec = _decided("short_delivery", 3, (HOLD, "quantity_mismatch"))

    def books(steps: Steps) -> None:
        order = steps["order"]["arguments"]["purchase_order_id"]
        steps["decided"].update(
            tool="inventory_receive_purchase_order", arguments={"purchase_order_id": order}
        )

    grade = played(spec, books)
    assert (grade.total, [c.id for c in grade.constraints if c.broken]) == (0.0, ["k_goods"])
