"""Where a planter finds a place for its defect in the families, and where it would plant none."""

import random

import pytest

from tasks_app.core.audit.catalog import planters
from tasks_app.core.audit.planter import Planted
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.cheap import cheap_acts
from tasks_app.core.spec import load_spec
from tests.factories.exploits import Right
from tests.tasks_app.core.generation.wrong_turns import drafted

PLANTERS = {(planter.gate, planter.name): planter for planter in planters()}


def planted(gate: str, name: str, family: str, subtype: str, level: int) -> Planted | None:
    """What became of a defect in one draft."""
    subject = Subject(family, drafted(family, subtype, level).written())
    assert subject.findings == ()
    return PLANTERS[gate, name].try_out(subject, random.Random(1))


@pytest.mark.parametrize("subtype", ["deputy_on_leave", "role_not_name", "same_name"])
def test_a_deputy_in_lower_case_is_nobody_and_is_linked_again(subtype: str) -> None:
    found = planted("R1", "lower_case", "reach_the_right_person", subtype, 1)
    assert found is not None
    assert (found.found, found.repaired) == (("R1",), True)
    assert found.words.startswith("R1 deputy_id is pe-")


@pytest.mark.parametrize("level", [1, 3])
def test_an_attempt_that_pays_is_seen_behind_a_forbidden_tool(level: int) -> None:
    found = planted("N2", "attempted", "three_way_match", "second_invoice", level)
    assert found is not None
    assert found.spec is not None
    assert found.detected
    # The policy that only fails runs into a gate, and earns nothing for that alone.
    broken = load_spec(found.spec)
    judged = Right(broken).grade(cheap_acts("errors_only", broken))
    assert (judged.total, judged.gated) == (0.0, True)
    assert "making only calls that fail (errors_only) earns" in found.words


@pytest.mark.parametrize("level", [1, 4])
def test_an_order_that_the_work_needs_is_no_order_of_the_author(level: int) -> None:
    # The invoices are listed by the customer whom the payment shows: a transaction comes first.
    assert planted("O4", "own_order", "payment_allocation", "credit_note_first", level) is None


@pytest.mark.parametrize("subtype", ["one_slot_for_all", "shortest_notice"])
def test_a_status_that_the_write_set_asks_for_cannot_be_forgotten_by_a_check(subtype: str) -> None:
    assert planted("M1", "no_status", "meeting_slot", subtype, 1) is None
