"""N5: criteria that rule nobody out, or decide nothing, are found; a lookalike makes them tell."""

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.distractors import judged, telling
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, example, order


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_criterion_of_an_example_decides(name: str) -> None:
    trial = Trial(example(name))

    assert list(telling(trial)) == []
    assert len(list(judged(trial))) >= 3


def one_graphite_kettle(data: Written) -> None:
    """Leave one product that the search for the kettle finds."""
    products = data["services"]["inventory"]["products"]
    products[:] = [row for row in products if row["sku"] != "KTL-15-GRB"]
    step = next(s for s in data["reference"] if s.get("id") == "stock")
    step["arguments"]["sku"]["where"] = {"name": "Kettle 1.5 l graphite"}


def test_a_criterion_that_rules_nobody_out_gets_a_lookalike() -> None:
    spec = broken(SUPPORT, one_graphite_kettle)

    found = list(telling(Trial(spec)))

    assert [(f.path, f.message) for f in found] == [
        (
            "/reference/6/arguments/sku/where/name",
            "step stock chooses by name (Kettle 1.5 l graphite), which rules nobody out",
        )
    ]
    suggestion = found[0].suggestion
    assert suggestion is not None
    assert suggestion.rule == "add_lookalike"
    mended = load_spec(apply(spec.written(), suggestion.patch))
    assert list(telling(Trial(mended))) == []
    assert len(mended.services["inventory"]["products"]) == 1 + len(
        spec.services["inventory"]["products"]
    )
    assert prove(mended).proven


def test_a_criterion_within_what_another_choice_goes_by_is_found() -> None:
    def nested(data: Written) -> None:
        step = next(s for s in data["reference"] if s.get("id") == "stock")
        choice = step["arguments"]["sku"]
        inner = {**choice, "where": {**choice["where"], "sku": {"exists": True}}}
        choice["where"] = {"sku": inner}

    spec = broken(SUPPORT, nested)
    trial = Trial(spec)
    assert trial.reference.grade.passed

    assert [(f.path, f.message) for f in telling(trial)] == [
        (
            "/reference/6/arguments/sku/where/sku/where/sku",
            "step stock chooses by sku (exists), which rules nobody out",
        )
    ]


def test_a_criterion_that_decides_nothing_is_found() -> None:
    def far_off(data: Written) -> None:
        for row in data["services"]["orders"]["orders"]:
            graphite = any(line["sku"] == "KTL-15-GRA" for line in row["lines"])
            if graphite and row["id"] != "OR-88431":
                row["lines"] = [line for line in row["lines"] if line["sku"] != "KTL-15-GRA"] or [
                    {**row["lines"][0], "sku": "TEA-01", "name": "Tea tin", "unit_price": 8.4}
                ]

    spec = broken(SUPPORT, far_off)
    trial = Trial(spec)
    assert trial.reference.grade.passed

    assert [f.message for f in telling(trial)] == [
        "step opened chooses by delivered_on (between), and passes without that as well"
    ]


def test_a_filter_that_leaves_all_is_found() -> None:
    def all_approved(data: Written) -> None:
        for row in data["services"]["finance"]["invoices"]:
            if row["payee_id"] == "PY-210":
                row["status"] = "approved" if row["status"] != "approved" else row["status"]

    trial = Trial(broken(PAYMENT, all_approved))
    found = [f for f in telling(trial) if "status" in f.path]

    assert all("which rules nobody out" in f.message for f in found)


def test_the_window_of_the_example_decides() -> None:
    spec = broken(SUPPORT, lambda d: order(d, "OR-88431").update(voucher_percent=10))

    assert "delivered_on" in [c.name for c, _ in judged(Trial(spec))]
