"""K3: rules that nobody is told and values that follow from nothing are found and made known."""

from typing import Any

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.citations import disclosed, entailed, expectations
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.repair import mend
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, check, example


def found(spec: TaskSpec) -> list[Finding]:
    return [*disclosed(spec), *entailed(Trial(spec))]


def mended(spec: TaskSpec) -> TaskSpec:
    suggestion = found(spec)[0].suggestion
    assert suggestion is not None
    return load_spec(apply(spec.written(), suggestion.patch))


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_that_an_example_grades_is_said(name: str) -> None:
    assert found(example(name)) == []


def test_a_rule_that_no_policy_says_is_written_into_it() -> None:
    spec = broken(
        SUPPORT, lambda d: d["constraints"][1].update(sentence="Two refunds are one too many")
    )

    assert [(f.path, f.message) for f in found(spec)] == [
        (
            "/constraints/1/sentence",
            (
                "K2 grades a rule that nobody is told: 'Two refunds are one too many' stands "
                "neither in a policy nor in the request"
            ),
        )
    ]
    assert "Two refunds are one too many." in mended(spec).workplace.policies[0].text
    assert prove(mended(spec)).proven


def test_a_rule_that_stands_in_another_policy_is_cited_there() -> None:
    spec = broken(SUPPORT, lambda d: d["constraints"][1].update(policy="writing"))

    assert [f.message for f in found(spec)] == [
        "K2 names policy writing, but its sentence stands in damage"
    ]
    assert mended(spec).constraints[1].policy == "damage"
    assert found(mended(spec)) == []


@pytest.mark.parametrize(
    "sentence", ["one refund per order", "One  refund per order;", "One refund per order."]
)
def test_case_blanks_and_the_last_mark_do_not_matter(sentence: str) -> None:
    assert found(broken(SUPPORT, lambda d: d["constraints"][1].update(sentence=sentence))) == []


def made_up(data: Written) -> None:
    """Let reference and check agree on a code that stands nowhere."""
    check(data, "o_refund")["expect"]["reason"] = "not_received"
    next(s for s in data["reference"] if s.get("id") == "refund")["arguments"]["reason"] = (
        "not_received"
    )


def test_a_value_that_follows_from_nothing_is_found_and_said() -> None:
    spec = broken(SUPPORT, made_up)

    assert [(f.path, f.message) for f in found(spec)] == [
        (
            "/checks/0/expect/reason",
            (
                "o_refund expects reason 'not_received', which follows from no policy, no "
                "record that is read and no sentence of the request"
            ),
        )
    ]
    again = mended(spec)
    assert again.workplace.policies[0].text.endswith(" The reason is not_received.")
    assert again.checks[0].because == {"reason": "damage"}
    assert found(again) == []
    done = mend(spec)
    assert (done.quarantined, [r.rule for r in done.repairs]) == (None, ["append_sentence"])


def test_a_number_that_nobody_can_know_is_no_longer_asked_for() -> None:
    spec = broken(
        SUPPORT, lambda d: check(d, "o_refund")["expect"].update(amount={"between": [70, 93.31]})
    )

    assert [f.path for f in found(spec)] == [
        "/checks/0/expect/amount",
        "/checks/0/expect/amount",
    ]
    assert "amount" not in mended(spec).check("o_refund").plain["expect"]


@pytest.mark.parametrize(
    "cited",
    [
        "damage",
        "orders/orders/OR-88431",
        "orders/orders/OR-88431#lines",
        "A refund is the line price less the voucher",
    ],
)
def test_what_is_cited_may_be_a_policy_a_record_or_a_sentence(cited: str) -> None:
    def citing(data: Written) -> None:
        made_up(data)
        check(data, "o_refund")["because"] = {"reason": cited}

    assert found(broken(SUPPORT, citing)) == []


@pytest.mark.parametrize(
    ("because", "message", "after"),
    [
        (
            {"reason": "damages"},
            (
                "o_refund rests reason on 'damages', which is no policy, no record "
                "and no sentence of this task"
            ),
            {},
        ),
        (
            {"reason": "orders/orders/OR-1"},
            (
                "o_refund rests reason on 'orders/orders/OR-1', which is no policy, no record "
                "and no sentence of this task"
            ),
            {},
        ),
        (
            {"reasons": "damage"},
            "o_refund says why reasons, but expects no such field",
            {"reason": "damage"},
        ),
    ],
)
def test_a_citation_of_nothing_is_mended(
    because: dict[str, str], message: str, after: dict[str, str]
) -> None:
    spec = broken(SUPPORT, lambda d: check(d, "o_refund").update(because=because))

    assert [f.message for f in found(spec)] == [message]
    assert dict(mended(spec).checks[0].because) == after
    assert found(mended(spec)) == []


def test_fields_of_texts_and_recipients_are_expected_too() -> None:
    fields = [(e.field, e.values) for e in expectations(example(PAYMENT).check("r_supplier"))]

    assert fields == [
        ("to", ("petra.vosloo@tarnwick-castings.example",)),
        ("text", ("4402", "IN-5498")),
        ("text", ("4417", "IN-5521")),
        ("text", ("4431", "IN-5530")),
    ]


def test_a_card_shows_the_gate() -> None:
    states: dict[str, Any] = {g.id: g.state for g in prove(example(SUPPORT)).gates}

    assert states["K3"] == "held"
