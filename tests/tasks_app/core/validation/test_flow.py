"""O3 by data flow: values from nowhere are found in reads, functions, choices and letters."""

import re
from collections.abc import Callable

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.flow import codes, grounded
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import (
    EXAMPLES,
    MONTH_END,
    PAYMENT,
    SUPPORT,
    Written,
    broken,
    entry,
    example,
)
from tests.tasks_app.core.generation.wrong_turns import drafted


def found(spec: TaskSpec) -> list[tuple[str, str]]:
    return [(f.path, f.message.partition(",")[0]) for f in grounded(Trial(spec))]


def step(data: Written, wanted: str) -> Written:
    return entry([s for s in data["reference"] if "id" in s], wanted)


def read_by_magic(data: Written) -> None:
    data["reference"].insert(
        0, {"id": "magic", "tool": "orders_get_order", "arguments": {"order_id": "OR-88431"}}
    )


def reckoned_by_magic(data: Written) -> None:
    step(data, "refund")["arguments"]["amount"] = {"fn": "sum", "args": [[76.6]]}


def chosen_by_magic(data: Written) -> None:
    step(data, "ticket")["arguments"]["ticket_id"] = {
        "from": "tickets",
        "path": "tickets",
        "where": {"id": "TK-2041"},
        "field": "id",
    }


def stated_by_magic(data: Written) -> None:
    step(data, "letter")["arguments"]["body"]["text"] += " Your case is ZX-4711."


def replied_by_magic(data: Written) -> None:
    data["reference"][-1]["reply"]["text"] += " It cost us 93.35 in all."


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_that_an_example_uses_came_from_somewhere(name: str) -> None:
    assert found(example(name)) == []


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (read_by_magic, "/reference/0/arguments/order_id", "step magic uses 'OR-88431'"),
        (
            reckoned_by_magic,
            "/reference/8/arguments/amount/args/0/0",
            "step refund uses 76.6",
        ),
        (
            chosen_by_magic,
            "/reference/1/arguments/ticket_id/where/id",
            "step ticket uses 'TK-2041'",
        ),
        (stated_by_magic, "/reference/11/arguments/body/text", "step letter uses 'ZX-4711'"),
        (replied_by_magic, "/reference/12/reply/text", "the reply states 93.35"),
    ],
)
def test_a_value_from_nowhere_is_found_where_it_is_used(
    change: Callable[[Written], None], path: str, message: str
) -> None:
    assert found(broken(SUPPORT, change)) == [(path, message)]


def test_who_asks_by_a_name_is_not_told_that_it_is_meant() -> None:
    data = drafted("three_way_match", "price_over", 3).written()
    supplier = step(data, "orders")["arguments"]["supplier"]
    assert supplier in data["request"]["text"]
    data["request"]["text"] = data["request"]["text"].replace(supplier, "the usual firm")

    # The orders are filtered by the supplier, whom the search for the payee has shown.
    assert {message for _, message in found(load_spec(data))} == {f"step orders uses {supplier!r}"}


def test_a_read_is_added_that_shows_the_value() -> None:
    spec = broken(SUPPORT, read_by_magic)

    item = next(iter(grounded(Trial(spec))))

    assert item.suggestion is not None
    assert item.suggestion.rule == "add_read"
    mended = load_spec(apply(spec.written(), item.suggestion.patch))
    assert found(mended) == []
    assert [f for f in prove(mended).findings if f.severity == "block"] == []


def test_what_no_read_shows_is_said_in_the_policy() -> None:
    spec = broken(SUPPORT, replied_by_magic)

    item = next(iter(grounded(Trial(spec))))

    assert item.suggestion is not None
    assert item.suggestion.title == "say in damage: The reply states 93.35."
    mended = load_spec(apply(spec.written(), item.suggestion.patch))
    assert found(mended) == []
    assert prove(mended).proven


def test_a_plain_value_that_is_written_is_said_in_the_policy_too() -> None:
    def own_code(data: Written) -> None:
        case = step(data, "case")
        case["arguments"]["reference"] = "CB-9981"
        for check in data["checks"]:
            if check["id"] == "o_case":
                check["expect"]["reference"] = "CB-9981"

    spec = broken(PAYMENT, own_code)

    item = next(iter(grounded(Trial(spec))))

    assert item.path.endswith("/arguments/reference")
    assert item.suggestion is not None
    assert item.suggestion.title == "say in payee: The reference is CB-9981."
    assert found(load_spec(apply(spec.written(), item.suggestion.patch))) == []


def test_codes_and_figures_are_read_out_of_a_text() -> None:
    assert codes("Refunded 76.60 EUR as RF-5167 in 2031, 1,234.50 and k90.") == [
        76.6,
        "RF-5167",
        1234.5,
        "k90",
    ]


def _review(words: str) -> TaskSpec:
    """The month-end example, whose review is asked for in these words."""

    def change(data: Written) -> None:
        text = data["request"]["text"]
        assert "30 minutes, for tomorrow between 9:00 and 12:00" in text
        data["request"]["text"] = text.replace(
            "30 minutes, for tomorrow between 9:00 and 12:00", words
        )

    return broken(MONTH_END, change)


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("30 minutes, for tomorrow between 9:00 and 12:00", []),
        ("half an hour, for tomorrow between 9 am and noon", []),
        ("30 minutes, for Tuesday, 9:00 to 12:00", []),
        ("half an hour, for tomorrow before 12:00", ["busy"]),
        ("half an hour, for Thursday between 9:00 and 12:00", ["busy", "busy"]),
        ("for tomorrow between 9:00 and 12:00", ["review"] * 3),
    ],
)
def test_a_moment_or_a_length_may_be_said_in_words(words: str, missing: list[str]) -> None:
    spec = _review(words)
    found = list(grounded(Trial(spec), repairs=False))
    assert [spec.reference[int(one.path.split("/")[2])].id for one in found] == missing


def small(family: str, subtype: str, change: Callable[[Written], None]) -> TaskSpec:
    """A draft with a change; the reference goes on earning 1."""
    data = drafted(family, subtype, 1).written()
    change(data)
    spec = load_spec(data)
    assert Trial(spec).reference.grade.passed
    return spec


def test_a_choice_by_a_name_that_only_the_list_itself_holds_is_found() -> None:
    def unnamed(data: Written) -> None:
        name = step(data, "order")["arguments"]["order_id"]["where"]["customer_name"]
        data["request"]["text"] = data["request"]["text"].replace(name, "a customer")

    spec = small("pocket_refund_or_decline", "recent_delivery", unnamed)
    name = step(spec.written(), "order")["arguments"]["order_id"]["where"]["customer_name"]
    assert found(spec) == [
        (
            "/reference/1/arguments/order_id/where/customer_name",
            f"step order uses {name!r}",
        )
    ]


def test_half_of_a_name_tells_whom_and_a_word_that_begins_alike_does_not() -> None:
    def called(words: str) -> Callable[[Written], None]:
        def change(data: Written) -> None:
            name = step(data, "order")["arguments"]["order_id"]["where"]["customer_name"]
            data["request"]["text"] = data["request"]["text"].replace(
                name, words.format(first=name.split()[0])
            )

        return change

    family = "pocket_refund_or_decline", "recent_delivery"
    assert found(small(*family, called("{first}"))) == []
    assert len(found(small(*family, called("{first}shire")))) == 1


def test_a_part_of_the_day_that_nobody_says_is_found() -> None:
    def untold(data: Written) -> None:
        data["request"]["text"] = re.sub("(?i)morning", "day", data["request"]["text"])

    assert found(small("pocket_reschedule", "to_morning", untold)) == [
        ("/reference/1/arguments/part", "step slots uses 'morning'")
    ]


def test_a_place_that_a_read_is_narrowed_to_is_said() -> None:
    def other_site(data: Written) -> None:
        site = data["reference"][0]["arguments"]["site"]
        for place in (data["request"], *data["workplace"]["policies"]):
            place["text"] = place["text"].replace(site, "the other house")

    spec = small("reach_the_right_person", "role_not_name", other_site)
    site = spec.reference[0].arguments["site"]
    assert found(spec)[0] == ("/reference/0/arguments/site", f"step people uses {site!r}")


def test_a_limit_that_decides_between_two_words_is_said() -> None:
    def moved(data: Written) -> None:
        policy = data["workplace"]["policies"][0]
        policy["text"] = policy["text"].replace("25,000.00", "30,000.00")

    assert [words for _, words in found(broken(PAYMENT, moved))] == ["step case uses 25000"]


def test_who_is_meant_is_for_people_to_say() -> None:
    def unnamed(data: Written) -> None:
        name = step(data, "order")["arguments"]["order_id"]["where"]["customer_name"]
        data["request"]["text"] = data["request"]["text"].replace(name, "a customer")

    trial = Trial(small("pocket_refund_or_decline", "recent_delivery", unnamed))
    assert [item.suggestion for item in grounded(trial)] == [None]
