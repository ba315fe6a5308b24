"""R3: values beside each other agree, the zone with its offset and lines with their sum."""

from typing import Any

import pytest

from tasks_app.core.spec import load_spec
from tasks_app.core.validation.contradictions import contradictions
from tests.factories.examples import EXAMPLES, SUPPORT, Written, broken, example
from tests.tasks_app.core.generation.wrong_turns import drafted


@pytest.mark.parametrize("name", EXAMPLES)
def test_in_an_example_nothing_contradicts_what_stands_beside_it(name: str) -> None:
    assert list(contradictions(example(name))) == []


@pytest.mark.parametrize(
    ("start", "zone", "right"),
    [
        ("2031-03-20T09:10:00+01:00", "Europe/Berlin", True),
        ("2031-03-20T09:10:00+02:00", "Europe/Berlin", False),
        ("2031-06-20T09:10:00+02:00", "Europe/Berlin", True),
        ("2031-03-30T09:10:00+01:00", "Europe/Berlin", True),  # clocks change on that day
        ("2031-03-20T09:10:00-05:00", "Asia/Shanghai", False),
        ("2031-03-20T09:10:00-05:00", "America/Nowhere", True),  # of others nothing is said
        ("2031-03-20T09:10:00+08:00", "UTC", True),  # as a spec without a zone has it
    ],
)
def test_the_zone_of_the_clock_has_its_offset(start: str, zone: str, right: bool) -> None:
    spec = broken(SUPPORT, lambda data: data["clock"].update(start=start, zone=zone))
    found = [(f.gate, f.severity, f.path) for f in contradictions(spec)]
    assert found == ([] if right else [("R3", "block", "/clock/zone")])


def invoices(**change: Any) -> list[tuple[str, str]]:
    """What is said of an invoice with a change of it or of its first line."""
    data: Written = drafted("three_way_match", "short_delivery", 1).written()
    invoice = data["services"]["finance"]["invoices"][0]
    line = invoice["lines"][0]
    for name, value in change.items():
        (line if name in line else invoice)[name] = value
    return [(f.severity, f.path) for f in contradictions(load_spec(data))]


def test_lines_that_do_not_come_to_the_sum_of_their_invoice_warn() -> None:
    assert invoices() == []
    assert invoices(unit_price=9.99) == [("warn", "/services/finance/invoices/0/lines")]


def test_where_something_else_comes_to_the_lines_they_are_not_added_up() -> None:
    assert invoices(unit_price=9.99, delivery_charge=6.5) == []
    assert invoices(lines=[{"sku": "A-1", "quantity": 2}]) == []
    assert invoices(lines=[]) == []
