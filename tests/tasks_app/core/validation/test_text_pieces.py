"""Where a text states a piece: as a whole, as checks read it."""

from typing import Any

import pytest

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.families.payment_change.parties import DENIED, MISSING
from tasks_app.core.generation.family import Plan, draft
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.text_pieces import replaced, spans


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("Held: 6930, together 36930.60 EUR.", "6930", ["6930"]),
        ("Held: 6930 and 6925, together 6930.00 EUR.", "6930", ["6930"]),
        ("OR-12, not OR-123 nor XOR-12; or-12 it is", "OR-12", ["OR-12", "or-12"]),
        ("not yet, notyet, Not  Yet", "not yet", ["not yet", "Not  Yet"]),
        ("Straße 12 und Straße 123", "Straße 12", ["Straße 12"]),
        ("Größe 12 und Größe 123", "Größe 12", ["Größe 12"]),
        ("76,60 or 176.60", {"number": 76.6}, ["76,60"]),
    ],
)
def test_a_piece_is_found_where_it_stands_on_its_own(
    text: str, piece: Any, expected: list[str]
) -> None:
    assert [text[start:end] for start, end in spans(text, piece)] == expected


def test_a_piece_is_replaced_and_what_holds_its_figures_is_left() -> None:
    said = replaced("Held: 6930, together 36930.60 EUR.", "6930", lambda _: "IN-6802")

    assert said == "Held: IN-6802, together 36930.60 EUR."


@pytest.mark.parametrize(
    ("subtype", "level", "seed", "index"), [(MISSING, 5, 43, 57), (DENIED, 3, 47, 8)]
)
def test_a_sum_that_holds_the_figures_of_an_invoice_is_not_torn(
    subtype: str, level: int, seed: int, index: int
) -> None:
    family = FAMILIES["payment_change_investigation"]
    card = prove(draft(family, Plan(family.name, subtype, level, seed, index)))

    assert ([one.message for one in card.findings], card.proven) == ([], True)
