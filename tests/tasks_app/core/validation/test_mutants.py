"""M1 and M2: which wrong programs there are, which are equivalent, what a weak grader misses."""

from collections import Counter
from typing import Any

import pytest

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.altered_ends import perturbed, prove_states
from tasks_app.core.validation.equivalence import Masks, differences
from tasks_app.core.validation.mutants import Mutant, mutants, prove_mutants, verdict_of
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, check, example
from tests.tasks_app.core.generation.wrong_turns import drafted

OPERATORS = {
    *("drop_step", "duplicate_step", "swap_steps", "truncate", "wrong_record", "wrong_value"),
    *(
        "wrong_recipient",
        "stale_value",
        "omit_argument",
        "extra_write",
        "omit_item",
        "wrong_text",
    ),
    *("forbidden_item", "empty_reply", "idle_reply", "empty_letter"),
}


def survived(spec: TaskSpec) -> list[str]:
    found = prove_mutants(Trial(spec))
    return [result.title for _, result in found if result.verdict == "survived"]


def verdict(trial: Trial, mutant: Mutant) -> str:
    play = trial.run(mutant.operator, mutant.acts, mutant.at)
    return str(verdict_of(trial, Masks(trial), mutant, play, ())[0])


def without_check(data: Written, name: str, heir: str) -> None:
    gone = check(data, name)
    check(data, heir)["weight"] += gone["weight"]
    data["checks"].remove(gone)


def test_every_operator_makes_mutants() -> None:
    made = Counter(m.operator for name in EXAMPLES for m in mutants(Trial(example(name))))

    assert set(made) == OPERATORS


@pytest.mark.parametrize("name", EXAMPLES)
def test_mutants_come_in_the_same_order_every_time(name: str) -> None:
    first, second = (list(mutants(Trial(example(name)))) for _ in range(2))

    assert [(m.title, m.at) for m in first] == [(m.title, m.at) for m in second]


@pytest.mark.parametrize(
    ("name", "weaken", "expected"),
    [
        (
            SUPPORT,
            lambda d: check(d, "o_amount").update(expect={"reason": "damaged_in_transit"}),
            "finance_create_refund: amount wrong, one cent more",
        ),
        (
            SUPPORT,
            lambda d: check(d, "r_customer").update(text=[["refunded"]]),
            None,
        ),
        (
            SUPPORT,
            lambda d: without_check(d, "o_second", "o_first"),
            "leaves out helpdesk_close_ticket",
        ),
        (
            SUPPORT,
            lambda d: d["write_set"][3].pop("max"),
            "does mail_send_message twice",
        ),
        (
            PAYMENT,
            lambda d: without_check(d, "o_report", "o_case"),
            "leaves out finance_submit_report",
        ),
        (
            PAYMENT,
            lambda d: check(d, "o_case")["expect"].pop("severity"),
            "helpdesk_escalate_ticket: severity wrong, low in place of high",
        ),
    ],
)
def test_what_no_check_sees_survives(name: str, weaken: Any, expected: str | None) -> None:
    titles = survived(broken(name, weaken))

    assert (expected in titles) if expected is not None else (titles == [])


def test_an_unread_step_left_out_is_equivalent() -> None:
    trial = Trial(example(SUPPORT))
    skip = Mutant("drop_step", "", 0, trial.acts[1:])

    assert verdict(trial, skip) == "equivalent"


def test_a_second_letter_within_an_open_write_set_is_no_equivalent() -> None:
    trial = Trial(broken(SUPPORT, lambda d: d["write_set"][3].pop("max")))
    place = len(trial.acts) - 1
    twice = Mutant("duplicate_step", "", place, trial.acts[place - 1 :])

    assert verdict(trial, twice) == "survived"


def test_free_fields_are_no_difference() -> None:
    trial = Trial(example(SUPPORT))
    place = len(trial.acts) - 2
    letter = trial.acts[place]
    other = letter._replace(arguments={**letter.arguments, "subject": "About your kettle"})

    assert verdict(trial, Mutant("wording", "", place, (other, trial.acts[-1]))) == "equivalent"


def test_an_emptied_reply_counts_where_a_check_reads_it_or_the_contract_asks_for_it() -> None:
    def unheard(data: Written) -> None:
        without_check(data, "r_reply", "r_customer")

    def unasked(data: Written) -> None:
        unheard(data)
        data["workplace"]["output_contract"] = "The customer is written to."

    read = Trial(example(SUPPORT))
    asked, quiet = Trial(broken(SUPPORT, unheard)), Trial(broken(SUPPORT, unasked))

    for trial, expected in ((read, "killed"), (asked, "survived"), (quiet, "equivalent")):
        emptied = [m for m in mutants(trial) if m.operator == "empty_reply"]
        assert [verdict(trial, mutant) for mutant in emptied] == [expected]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        (
            {"kind": "text_match", "scope": "final", "text": [], "min_length": 20},
            ["a reply that gives back what was asked", "a reply that is mere words"],
        ),
        ({"text": [["Rosalind"]]}, ["a reply that gives back what was asked"]),
    ],
)
def test_a_reply_that_says_nothing_of_its_own_survives_a_check_that_does_not_listen(
    change: Written, expected: list[str]
) -> None:
    def deaf(data: Written) -> None:
        check(data, "r_reply").update(change)

    trial = Trial(broken(SUPPORT, deaf))
    idle = [m for m in mutants(trial) if m.operator == "idle_reply"]
    assert [m.title for m in idle if verdict(trial, m) == "survived"] == expected
    assert len(idle) == 2


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        ({"number": 76.6}, []),
        ({"number": 76.6, "within": 0.5}, []),
        ({"number": 76.6, "within": 50}, ["r_reply: 85.26 for 76.60"]),
        ({"regex": r"76\.60"}, []),
        ({"regex": r"\d+\.\d\d"}, ["r_reply: 76.06 for 76.60"]),
    ],
)
def test_another_value_that_a_tolerance_or_an_expression_lets_pass_survives(
    piece: Written, expected: list[str]
) -> None:
    def wide(data: Written) -> None:
        check(data, "r_reply").update(text=[[piece]])

    trial = Trial(broken(SUPPORT, wide))
    assert [title for title in survived(trial.spec) if " for " in title] == expected


def test_a_text_that_loses_a_named_piece_is_never_equivalent() -> None:
    trial = Trial(example(SUPPORT))
    texts = [m for m in mutants(trial) if m.operator in ("omit_item", "wrong_text")]

    assert texts
    assert {verdict(trial, mutant) for mutant in texts} == {"killed"}


def test_new_ids_are_not_compared() -> None:
    trial = Trial(broken(SUPPORT, lambda d: d["tools"].append("helpdesk_list_tickets")))
    note = ("helpdesk_add_comment", {"ticket_id": "TK-2041", "body": "a"})
    other = ("helpdesk_add_comment", {"ticket_id": "TK-2063", "body": "b"})
    ends = []
    for calls in ((note, other), (other, note)):
        trial.world.restore(trial.start)
        for tool, arguments in calls:
            trial.world.call(tool, arguments)
        trial.world.finish()
        ends.append(trial.world.evidence())

    assert ends[0].tables() != ends[1].tables()
    assert differences(Masks(trial), ends[0], ends[1]) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_wrong_final_field_never_passes(name: str) -> None:
    found = prove_states(Trial(example(name)))

    assert len(found) > 8
    assert [result.title for result in found if result.verdict != "killed"] == []


def test_a_final_field_that_no_check_expects_survives() -> None:
    spec = broken(PAYMENT, lambda d: check(d, "o_report")["expect"].pop("verdict"))

    titles = [r.title for r in prove_states(Trial(spec)) if r.verdict == "survived"]
    assert titles == ["finance/reports/RP-001#verdict is 'fraud_suspected·'"]


def test_a_line_of_an_order_has_near_misses_in_each_of_its_values() -> None:
    spec = drafted("stock_replenishment", "reorder_point", 1)
    titles = [m.title for m in mutants(Trial(spec)) if "inventory_create_purchase_order" in m.title]

    assert [t for t in titles if "its quantity wrong, one more" in t]
    assert [t for t in titles if "its sku wrong" in t]


def test_a_list_of_one_is_altered_by_another_beside_it() -> None:
    assert perturbed(["a@b.example"]) == ["a@b.example", "a@b.example·"]
    assert perturbed([{}]) == [{}, {}]
    assert perturbed(["one", "two"]) == ["one"]
    assert perturbed([]) is None
