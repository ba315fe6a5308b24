"""Gates O: what a reference needs, and which other ways of working must pass as well."""

from typing import Any

import pytest

from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.solvability import reordered, rewordings
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import (
    EXAMPLES,
    PAYMENT,
    SUPPORT,
    Written,
    broken,
    check,
    example,
    order,
)


def found(name: str, change: Any) -> list[tuple[str, str, str]]:
    return [
        (f.gate, f.path, f.suggestion.rule if f.suggestion is not None else "")
        for f in prove(broken(name, change)).findings
    ]


def step(data: Written, name: str) -> Written:
    wanted: Written = next(s for s in data["reference"] if s.get("id") == name)
    return wanted


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        (
            SUPPORT,
            lambda d: d["limits"].update(tool_calls=20),
            [("O2", "/limits/tool_calls", "raise_budget")],
        ),
        (
            SUPPORT,
            lambda d: order(d, "OR-88431")["lines"][1].update(sku="KTL-15-GRX"),
            [("O1", "/reference/7", "restore_value"), ("O1", "/reference/8", "")],
        ),
        (
            SUPPORT,
            lambda d: check(d, "o_second")["expect"].update(reference="TK-2050"),
            [("O1", "/checks/3", "recompute_expected")],
        ),
        (
            SUPPORT,
            lambda d: d["write_set"].pop(1),
            [("O1", "/checks/7", "write_set_from_reference")],
        ),
        (
            PAYMENT,
            lambda d: step(d, "report")["arguments"].update(callback="CB-9999"),
            [("O1", "/checks/3", "recompute_expected"), ("O1", "/checks/6", "")],
        ),
        (
            PAYMENT,
            lambda d: check(d, "p_source").update(
                order=[
                    {"tool": "mail_search_messages"},
                    {"tool": "message_user"},
                    {"tool": "finance_list_invoices", "arguments": {"status": "approved"}},
                    {"tool": "finance_hold_invoice"},
                ]
            ),
            [("O4", "/checks/4", "partial_order")],
        ),
        (
            SUPPORT,
            lambda d: check(d, "r_reply").update(text=[["76.60"], ["TK-2041"], ["TK-2063"]]),
            [("O5", "/checks/6", "")],
        ),
        (
            SUPPORT,
            lambda d: d.update(alternatives=[d["reference"][:9]]),
            [("O5", "/alternatives/0", "")],
        ),
    ],
)
def test_a_defect_is_found_at_its_place(
    name: str, change: Any, expected: list[tuple[str, str, str]]
) -> None:
    gates = ("O1", "O2", "O3", "O4", "O5")
    assert [row for row in found(name, change) if row[0] in gates][:2] == expected


def test_a_value_that_nothing_says_is_unreachable() -> None:
    def invent(data: Written) -> None:
        step(data, "case")["arguments"]["reference"] = "CB-4321"
        check(data, "o_case")["expect"]["reference"] = "CB-4321"

    assert ("O3", "/reference/9/arguments/reference", "say_in_policy") in found(PAYMENT, invent)


def test_a_value_read_before_is_reachable() -> None:
    def literal(data: Written) -> None:
        step(data, "case")["arguments"]["reference"] = "CB-0731"

    assert [row for row in found(PAYMENT, literal) if row[0] == "O3"] == []


def test_a_written_alternative_in_another_order_and_spelling_passes() -> None:
    def other(data: Written) -> None:
        steps = data["reference"]
        data["alternatives"] = [[steps[5], *steps[:5], *steps[6:]]]
        data["alternatives"][0][0] = {
            **steps[5],
            "arguments": {"query": "graphite 1.5"},
        }

    assert prove(broken(SUPPORT, other)).proven


@pytest.mark.parametrize("name", EXAMPLES)
def test_reads_are_reordered_only_as_bindings_allow(name: str) -> None:
    steps = example(name).reference
    turned = reordered(steps)

    assert sorted(map(id, turned)) == sorted(map(id, steps))
    trial = Trial(example(name))
    assert trial.run_program("turned", turned).grade.passed


def test_numbers_and_words_are_said_in_other_ways() -> None:
    trial = Trial(example(PAYMENT))

    replies = {what: acts[-1].reply for acts, what in rewordings(trial, trial.acts)}
    assert "27463,15 EUR" in replies["with decimal commas"]
    assert "27,463.15 EUR" in replies["with thousands separated"]
    assert "Verdict: false" in replies["in other allowed words"]
