"""The write set: what each form of a rule allows, and what strays."""

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_app.core.records import diff
from tasks_app.core.writes import WriteRule, strays
from tests.factories.evidence import Rows, tables

RULES: TypeAdapter[tuple[WriteRule, ...]] = TypeAdapter(tuple[WriteRule, ...])


def stray(write_set: Any, *days: tuple[str, Rows, Rows]) -> list[str]:
    changes = [(day, diff(tables(before), tables(after))) for day, before, after in days]
    return [found.address for found in strays(RULES.validate_python(write_set), changes)]


def mails(*to: Sequence[str]) -> Rows:
    return {"mail/outbox": [{"id": f"M{n}", "to": list(who)} for n, who in enumerate(to)]}


TICKET = {"id": "TK-1", "status": "open", "owner": "a"}


@pytest.mark.parametrize(
    ("write_set", "after", "expected"),
    [
        (["h/t/TK-1#status,owner"], [{**TICKET, "status": "x", "owner": "b"}], []),
        (["h/t/TK-1#status"], [{**TICKET, "status": "x"}], []),
        (["h/t/TK-1#status"], [{**TICKET, "status": "x", "owner": "b"}], ["h/t/TK-1#owner"]),
        (["h/t/TK-1#status", "h/t/*#owner"], [{**TICKET, "status": "x", "owner": "b"}], []),
        (["h/t/TK-1#status"], [{**TICKET, "new": 1}], ["h/t/TK-1#new"]),
        (["h/t/TK-1#status"], [{"id": "TK-1", "status": "x"}], ["h/t/TK-1#owner"]),
        (["h/t/TK-1#status"], [], ["h/t/TK-1"]),
        (["h/t/TK-1"], [], []),
        (["h/t/TK-2*"], [{**TICKET, "status": "x"}], ["h/t/TK-1#status"]),
        (["h/t/*"], [TICKET, {"id": "TK-2"}], []),
        ([{"address": "h/t/*", "change": "update"}], [TICKET, {"id": "TK-2"}], ["h/t/TK-2"]),
        ([{"address": "h/t/*", "change": ["add", "update"]}], [], ["h/t/TK-1"]),
        ([{"address": "h/t/*", "change": "delete", "where": {"owner": "a"}}], [], []),
        ([{"address": "h/t/*", "change": "delete", "where": {"owner": "b"}}], [], ["h/t/TK-1"]),
        ([], [TICKET], []),
    ],
)
def test_a_rule_allows_its_fields_kinds_and_records(
    write_set: Any, after: Any, expected: list[str]
) -> None:
    assert stray(write_set, ("main", {"h/t": [TICKET]}, {"h/t": after})) == expected


LETTER_TO = ["petra@x.example"]
LETTER = {
    "address": "mail/outbox/*",
    "change": "add",
    "where": {"to": ["petra@x.example"]},
    "max": 1,
    "stages": ["day1"],
}


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ([("day1", mails(), mails(["petra@x.example"]))], []),
        ([("day1", mails(), mails(["eve@x.example"]))], ["mail/outbox/M0"]),
        ([("day1", mails(), mails(LETTER_TO, LETTER_TO))], ["mail/outbox/M1"]),
        ([("day2", mails(), mails(["petra@x.example"]))], ["mail/outbox/M0"]),
    ],
)
def test_person_count_and_day_close_the_write_set(days: Any, expected: list[str]) -> None:
    assert stray([LETTER], *days) == expected


def test_max_counts_over_the_whole_episode() -> None:
    rule = {"address": "mail/outbox/*", "change": "add", "max": 1}
    one, two = mails(["a@x"]), mails(["a@x"], ["a@x"])
    assert stray([rule], ("day1", mails(), one), ("day2", one, two)) == ["mail/outbox/M1"]


def test_damage_of_one_day_stays_damage_after_repair() -> None:
    good, bad = {"h/t": [TICKET]}, {"h/t": [{**TICKET, "owner": "b"}]}
    found = stray([], ("day1", good, bad), ("day2", bad, good))
    assert found == ["h/t/TK-1#owner", "h/t/TK-1#owner"]


def test_ids_with_signs_of_the_address_language() -> None:
    rows = {"files/files": [{"id": "q1/a.b#c*,~", "v": 1}]}
    after = {"files/files": [{"id": "q1/a.b#c*,~", "v": 2}]}
    address = "files/files/q1~1a~2b~3c~4~5~0#v"
    assert stray([], ("main", rows, after)) == [address]
    assert stray([address], ("main", rows, after)) == []


@pytest.mark.parametrize("written", ["h/t/TK-1#a,b", LETTER, {"address": "h/t/*", "max": 0}])
def test_a_rule_is_written_as_it_was_read(written: Any) -> None:
    assert WriteRule.model_validate(written).model_dump() == written


@pytest.mark.parametrize(
    "written", ["h/t", "h/*/x", {"address": "h/t/*", "where": {"a": {"x": 1}}}, {"max": 1}, 7]
)
def test_a_rule_that_means_nothing_is_refused(written: Any) -> None:
    with pytest.raises(ValidationError):
        WriteRule.model_validate(written)
