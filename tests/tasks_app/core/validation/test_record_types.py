"""The types that services declare for their records, and what does not fit them."""

from typing import Any

import pytest

from tasks_app.core.validation.record_types import Misfit, called, record_shapes


@pytest.mark.parametrize(
    ("place", "field", "value", "found"),
    [
        ("helpdesk/tickets", "status", "open", []),
        ("helpdesk/tickets", "assignee", None, []),
        ("helpdesk/tickets", "status", None, []),
        ("helpdesk/tickets", "status", [1], [Misfit((), "a list", "text")]),
        ("helpdesk/tickets", "tags", ["vip"], []),
        ("helpdesk/tickets", "tags", ["vip", 3], [Misfit((1,), "a number", "text")]),
        ("helpdesk/tickets", "tags", {"a": 1}, [Misfit((), "an object", "a list")]),
        ("orders/orders", "delivery_charge", 4, []),
        ("orders/orders", "delivery_charge", True, [Misfit((), "true or false", "a number")]),
        ("orders/orders", "lines", [{"line": 1, "colour": 7}], []),
        (
            "orders/orders",
            "lines",
            [{"line": 1}, {"line": 1.5, "sku": 7}],
            [
                Misfit((1, "line"), "a number", "a whole number"),
                Misfit((1, "sku"), "a number", "text"),
            ],
        ),
        ("orders/orders", "lines", ["a"], [Misfit((0,), "text", "an object")]),
    ],
)  # fmt: skip
def test_a_value_fits_the_type_of_its_field(
    place: str, field: str, value: Any, found: list[Misfit]
) -> None:
    assert list(record_shapes()[place][field].misfits(value)) == found


def test_a_value_is_called_as_a_person_says_it() -> None:
    values = (True, 7, 7.5, "seven", [7], {"seven": 7})
    assert [called(value) for value in values] == [
        "true or false", "a number", "a number", "text", "a list", "an object",
    ]  # fmt: skip
