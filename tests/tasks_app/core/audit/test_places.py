"""Where a planter finds a place for its defect in the families, and where it would plant none."""

import random

import pytest

from tasks_app.core.audit import spots
from tasks_app.core.audit.catalog import planters
from tasks_app.core.audit.planter import Planted
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.cheap import cheap_acts
from tasks_app.core.spec import load_spec
from tests.factories.examples import MONTH_END, PAYMENT, SUPPORT, written
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


@pytest.mark.parametrize(
    ("gate", "name", "family", "subtype", "level"),
    [
        ("S2", "weights_off_by_a_hair", "meeting_slot", "one_slot_for_all", 1),
        ("S2", "outcome_light", "reach_the_right_person", "deputy_on_leave", 1),
        ("R2", "sent", "reach_the_right_person", "deputy_on_leave", 1),
        ("O4", "own_order", "meeting_slot", "one_slot_for_all", 2),
        ("O4", "own_order", "reach_the_right_person", "deputy_on_leave", 3),
        ("N1", "not_called", "three_way_match", "short_delivery", 1),
        ("N2", "says_done", "payment_allocation", "oldest_first", 1),
        ("N2", "echo", "stock_replenishment", "reorder_point", 1),
        ("N2", "long_enough", "stock_replenishment", "reorder_point", 1),
        ("K2", "must_and_may_not", "reach_the_right_person", "deputy_on_leave", 2),
        ("X1", "allowed_all", "meeting_slot", "one_slot_for_all", 1),
        ("X1", "allowed_all", "ticket_triage", "sla_breach", 1),
        ("M1", "about", "pocket_refund_or_decline", "recent_delivery", 1),
        ("M1", "any_recipient", "three_way_match", "short_delivery", 3),
        ("V3", "claims_c13", "reach_the_right_person", "deputy_on_leave", 1),
        ("V3", "claims_c13", "stock_replenishment", "reorder_point", 1),
        ("V3", "claims_c14", "meeting_slot", "one_slot_for_all", 1),
    ],
)
def test_a_defect_is_found_and_mended_by_rule(
    gate: str, name: str, family: str, subtype: str, level: int
) -> None:
    found = planted(gate, name, family, subtype, level)
    assert found is not None
    assert (gate in found.found, found.repaired) == (True, True), found.words


@pytest.mark.parametrize(
    ("gate", "name", "family", "subtype", "level"),
    [
        ("R4", "other_language", "three_way_match", "short_delivery", 3),
        ("M1", "reply_unheard", "support_resolution", "late_parcel", 3),
        ("M1", "reply_unheard", "three_way_match", "price_over", 3),
        ("N2", "first_is_right", "stock_replenishment", "reorder_point", 1),
        ("N2", "called", "meeting_slot", "one_slot_for_all", 1),
        ("N2", "called", "reach_the_right_person", "deputy_on_leave", 3),
        ("R3", "text_as_list", "ticket_triage", "sla_breach", 3),
        ("R3", "list_as_text", "pocket_reschedule", "to_midday", 1),
        ("R3", "list_as_text", "three_way_match", "short_delivery", 1),
        ("R3", "other_zone", "support_resolution", "late_parcel", 1),
        ("R3", "lines_off", "three_way_match", "price_over", 1),
        ("O3", "another_named", "pocket_refund_or_decline", "recent_delivery", 1),
        ("O3", "another_named", "three_way_match", "price_over", 3),
        ("M1", "by_length", "support_resolution", "late_parcel", 1),
        ("M1", "by_the_request", "payment_allocation", "by_reference", 1),
        ("M1", "wide_tolerance", "pocket_refund_or_decline", "recent_delivery", 1),
        # The sum is part of an order's number as well, which is not the sum.
        ("M1", "wide_tolerance", "stock_replenishment", "substitute", 3),
        ("M1", "any_day", "pocket_reschedule", "to_morning", 1),
        ("D2", "first_of_two", "payment_change_investigation", "callback_denied", 1),
    ],
)
def test_a_defect_that_people_have_to_mend_is_found(
    gate: str, name: str, family: str, subtype: str, level: int
) -> None:
    found = planted(gate, name, family, subtype, level)
    assert found is not None
    assert found.detected, found.words


@pytest.mark.parametrize(
    ("name", "family", "subtype", "level"),
    [
        # No tool on offer sets the state of the invoice, which stays what it was.
        ("no_status", "payment_allocation", "oldest_first", 1),
        # A second refund of the line is refused.
        ("at_least_one", "support_resolution", "damage_refund_or_replace", 1),
        # The tickets are selected by their ids, and each has to be as expected.
        ("at_least_one", "ticket_triage", "sla_breach", 2),
        # Each pair has a check of its own.
        ("one_of_many", "ticket_triage", "merge_duplicates", 2),
    ],
)
def test_what_something_else_holds_too_is_no_defect(
    name: str, family: str, subtype: str, level: int
) -> None:
    assert planted("M1", name, family, subtype, level) is None


@pytest.mark.parametrize("name", ["silence", "unbounded"])
def test_a_check_that_breaks_on_the_reply_of_an_earlier_day_is_found(name: str) -> None:
    subject = Subject("month_end", written(MONTH_END))
    found = PLANTERS["M3", name].try_out(subject, random.Random(1))
    assert found is not None
    assert found.found == ("M3",)


@pytest.mark.parametrize(
    ("gate", "name", "family", "subtype", "level"),
    [
        ("R2", "old_argument", "pocket_reschedule", "to_midday", 1),
        ("R2", "ghost_step", "three_way_match", "part_delivery", 2),
        ("M1", "no_report_check", "payment_change_investigation", "callback_denied", 1),
        ("M1", "no_report_check", "support_resolution", "late_parcel", 3),
        ("M1", "no_report_check", "batch_recall", "one_batch", 5),
        ("M1", "above_nothing", "recruitment_round", "offer", 5),
        ("M2", "outcome_dropped", "stock_replenishment", "pack_size", 5),
        ("M2", "anything_written", "month_end_close", "intercompany", 5),
    ],
)
def test_what_was_not_mended_once_is_mended(
    gate: str, name: str, family: str, subtype: str, level: int
) -> None:
    found = planted(gate, name, family, subtype, level)
    assert found is not None
    assert (found.detected, found.repaired) == (True, True), found.words


@pytest.mark.parametrize("name", [SUPPORT, PAYMENT, MONTH_END])
def test_an_example_whose_report_nobody_checks_is_mended(name: str) -> None:
    found = PLANTERS["M1", "no_report_check"].try_out(
        Subject(name, written(name)), random.Random(1)
    )
    assert found is not None
    assert (found.detected, found.repaired) == (True, True), found.words


@pytest.mark.parametrize("level", [1, 5])
def test_a_program_written_out_makes_the_same_calls(level: int) -> None:
    # At level 5 one of them fails at first and is made again.
    data = drafted("stock_replenishment", "season_stop", level).written()
    acts = [(act.tool, act.arguments, act.reply) for act in spots.acts(data)]
    data["reference"] = spots.literalise(data)

    assert [(act.tool, act.arguments, act.reply) for act in spots.acts(data)] == acts
