"""M2: fields that no check reads are found, and read or declared free."""

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.proof import prove
from tests.factories.examples import PAYMENT, SUPPORT, Written, broken, check, example
from tests.tasks_app.core.generation.wrong_turns import drafted


def without_reason(data: Written) -> None:
    check(data, "o_refund")["expect"].pop("reason")


def without_verdict(data: Written) -> None:
    expect = check(data, "o_case")["expect"]
    for name in ("severity", "queue", "reference"):
        expect.pop(name)


def test_the_right_work_leaves_nothing_overlooked() -> None:
    gates = {gate.id: (gate.state, gate.reason) for gate in prove(example(PAYMENT)).gates}

    assert gates["M2"] == ("held", "16 of 16 lose")


def test_a_field_that_no_check_reads_is_found_with_a_repair_that_holds() -> None:
    spec = broken(PAYMENT, without_verdict)

    found = [f for f in prove(spec).findings if f.gate == "M2"]

    assert [f.message.rpartition(": ")[2] for f in found] == [
        "no check reads helpdesk/tickets/HD-640#queue",
        "no check reads helpdesk/tickets/HD-640#reference",
        "no check reads helpdesk/tickets/HD-640#severity",
    ]
    assert found[0].suggestion is not None
    assert found[0].suggestion.title == "let o_case also expect queue security"
    mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
    assert "HD-640#queue" not in "".join(f.message for f in prove(mended).findings)


def test_a_field_of_a_new_record_is_expected_where_a_check_reads_it() -> None:
    spec = broken(SUPPORT, without_reason)

    found = [f for f in prove(spec).findings if f.gate == "M2"]

    assert [f.suggestion and f.suggestion.title for f in found] == [
        "let o_refund also expect reason damaged_in_transit"
    ]
    assert found[0].suggestion is not None
    assert prove(load_spec(apply(spec.written(), found[0].suggestion.patch))).proven


def test_a_field_declared_free_is_not_asked_for() -> None:
    def freed(data: Written) -> None:
        without_reason(data)
        data["free"].append({"address": "finance/refunds/*#reason", "reason": "any will do"})

    assert [f for f in prove(broken(SUPPORT, freed)).findings if f.gate == "M2"] == []


def test_a_field_that_may_be_anything_is_expected_exactly() -> None:
    spec = broken(
        SUPPORT, lambda d: check(d, "o_refund")["expect"].update(reason={"nonempty": True})
    )

    found = [f for f in prove(spec).findings if f.gate == "M2"]

    assert [f.suggestion and f.suggestion.title for f in found] == [
        "let o_refund also expect reason damaged_in_transit"
    ]
    assert found[0].suggestion is not None
    assert prove(load_spec(apply(spec.written(), found[0].suggestion.patch))).proven


def test_one_field_left_open_on_a_middle_day_is_found_among_many() -> None:
    data = drafted("month_end_close", "intercompany", 5).written()
    expect = check(data, "o_day2_moved")["expect"]
    expect["D"] = {"nonempty": True}

    found = [f for f in prove(load_spec(data)).findings if f.gate == "M2"]

    assert [f.message.partition("!6#")[2] for f in found] == [
        "D is 'open·' from day2 on: no check reads sheets/rows/SH-38!6#D"
    ]
    assert [f.suggestion and f.suggestion.title for f in found] == [
        "let o_day2_moved also expect D open"
    ]
