"""Each kind of check: holds, fails, and what a hostile policy tries."""

from typing import Any

import pytest
from pydantic import ValidationError

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.catalog import CHECKS
from tasks_app.core.evidence import Evidence, EvidenceError
from tests.factories.evidence import call, evidence, stages, tables, written
from tests.factories.grading import check

REFUND: dict[str, Any] = {"id": "RF-0007", "order_id": "OR-1", "amount": 76.6, "reason": "damaged"}
REFERENCE = {"record": "finance/refunds", "where": {"order_id": "OR-1"}, "field": "id"}


def score(made: BaseCheck, seen: Evidence) -> float | None:
    return made.judge(seen).score


def mail(record_id: str, to: list[str], body: str, **keys: Any) -> dict[str, Any]:
    return {"id": record_id, "to": to, "cc": [], "subject": "Note", "body": body, **keys}


def test_the_catalog_names_each_kind_by_its_literal() -> None:
    for kind, made in CHECKS.items():
        assert made.model_fields["kind"].annotation.__args__ == (kind,)  # type: ignore[union-attr]  # a Literal


# --- record_match --------------------------------------------------------------------------------


def test_record_match_holds_and_cites_the_record() -> None:
    made = check(
        "record_match",
        service="finance",
        collection="refunds",
        where={"order_id": "OR-1"},
        expect={"amount": 76.6, "reason": {"in": ["damaged"]}},
    )
    found = made.judge(evidence({"finance/refunds": [REFUND]}))
    assert found == (1.0, "", ("finance/refunds/RF-0007",))
    assert made.reads() == ("finance/refunds",)


def test_record_match_says_which_field_differs() -> None:
    made = check(
        "record_match",
        service="finance",
        collection="refunds",
        where={"id": "RF-0007"},
        expect={"amount": 66.6, "reason": "damaged"},
    )
    found = made.judge(evidence({"finance/refunds": [REFUND]}))
    assert found == (0.0, "amount is 76.6; expected 66.6", ("finance/refunds/RF-0007",))


@pytest.mark.parametrize(
    ("count", "rows", "expected"),
    [
        (None, 1, 1.0),
        (None, 0, 0.0),
        (None, 2, 0.0),
        (2, 2, 1.0),
        ({"ge": 1}, 3, 1.0),
        ({"eq": 0}, 0, 1.0),
        ({"between": [1, 2]}, 3, 0.0),
    ],
)
def test_record_match_counts_exactly_one_unless_told(
    count: Any, rows: int, expected: float
) -> None:
    keys = {} if count is None else {"count": count}
    made = check(
        "record_match", service="finance", collection="refunds", where={"order_id": "OR-1"}, **keys
    )
    refunds = [{**REFUND, "id": f"RF-{n}"} for n in range(rows)]
    assert score(made, evidence({"finance/refunds": refunds})) == expected


def test_expect_must_hold_for_every_selected_record() -> None:
    made = check(
        "record_match",
        service="finance",
        collection="invoices",
        where={"status": "on_hold"},
        expect={"id": {"in": ["IN-1", "IN-2"]}},
        count={"eq": 2},
    )
    held = [{"id": "IN-1", "status": "on_hold"}, {"id": "IN-3", "status": "on_hold"}]
    assert score(made, evidence({"finance/invoices": held})) == 0.0


def test_a_reference_is_resolved_in_the_same_snapshot() -> None:
    made = check(
        "record_match",
        service="helpdesk",
        collection="tickets",
        where={"id": "TK-1"},
        expect={"reference": REFERENCE},
    )
    rows: dict[str, Any] = {"finance/refunds": [REFUND]}
    rows["helpdesk/tickets"] = [{"id": "TK-1", "reference": "x"}]
    assert score(made, evidence(rows)) == 0.0
    rows["helpdesk/tickets"] = [{"id": "TK-1", "reference": "RF-0007"}]
    assert score(made, evidence(rows)) == 1.0
    assert made.reads() == ("helpdesk/tickets", "finance/refunds")
    with pytest.raises(EvidenceError, match="2 records"):
        made.judge(evidence({**rows, "finance/refunds": [REFUND, {**REFUND, "id": "RF-0008"}]}))


def test_a_changed_copy_of_a_check_forgets_what_it_compiled() -> None:
    made = check("record_match", service="a", collection="b", where={"x": 1}, expect={"y": 1})
    seen = evidence({"a/b": [{"id": "1", "x": 1, "y": 2}]})
    assert score(made, seen) == 0.0
    assert score(made.model_copy(update={"expect": {"y": 2}}), seen) == 1.0
    assert made.model_copy(deep=True) == made


# --- unchanged -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("helpdesk/tickets/TK-1#status", 0.0),
        ("helpdesk/tickets/TK-1#note", 1.0),
        ("helpdesk/tickets/*", 0.0),
        ("helpdesk/tickets/TK-2", 1.0),
        (["helpdesk/tickets/TK-2", "helpdesk/tickets/TK-1#owner,status"], 0.0),
        ("crm/customers/*", 1.0),
    ],
)
def test_unchanged_looks_at_an_address(address: Any, expected: float) -> None:
    seen = evidence(
        {"helpdesk/tickets": [{"id": "TK-1", "status": "closed"}, {"id": "TK-2"}]},
        before={"helpdesk/tickets": [{"id": "TK-1", "status": "open"}, {"id": "TK-2"}]},
    )
    assert score(check("unchanged", address=address), seen) == expected


def test_outside_the_write_set_names_what_strayed() -> None:
    seen = evidence(
        {"helpdesk/tickets": [{"id": "TK-1", "status": "closed", "owner": "x"}]},
        before={"helpdesk/tickets": [{"id": "TK-1", "status": "open", "owner": "y"}]},
        write_set=["helpdesk/tickets/TK-1#status"],
    )
    found = check("unchanged", outside="write_set").judge(seen)
    assert found.score == 0.0
    assert found.cites == ("helpdesk/tickets/TK-1#owner",)


def test_timeline_changes_are_nobodys_fault_and_later_repair_is_no_excuse() -> None:
    one, two, three = (tables({"t/rows": [{"id": "A", "v": v}]}) for v in (1, 2, 3))
    quiet = stages([("day1", one, one, ""), ("day2", two, two, "")])
    assert score(check("unchanged", address="t/rows/*"), quiet) == 1.0
    repaired = stages([("day1", one, three, ""), ("day2", three, one, "")])
    assert score(check("unchanged", address="t/rows/*"), repaired) == 0.0
    later = stages([("day1", one, one, ""), ("day2", one, three, "")])
    assert score(check("unchanged", address="t/rows/*", stage="day1"), later) == 1.0
    assert score(check("unchanged", outside="write_set", stage="day1"), later) == 1.0
    assert score(check("unchanged", outside="write_set", stage="day2"), later) == 0.0


@pytest.mark.parametrize("keys", [{}, {"address": "a/b/c", "outside": "write_set"}])
def test_unchanged_needs_exactly_one_of_both(keys: Any) -> None:
    with pytest.raises(ValidationError):
        check("unchanged", **keys)


# --- message_match -------------------------------------------------------------------------------

TO = ["petra@x.example"]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([mail("M1", ["Petra@X.example"], "4402 and 76,60")], 1.0),
        ([mail("M1", [], "4402 and 76.6", cc=["petra@x.example"])], 1.0),
        ([mail("M1", TO, "4402 and 76.6", cc=["eve@x.example"])], 0.0),
        ([mail("M1", ["eve@x.example"], "4402 and 76.6")], 0.0),
        ([mail("M1", TO, "4402 and 176.6")], 0.0),
        ([mail("M1", TO, "4402"), mail("M2", TO, "76.60")], 0.0),
        ([mail("M1", TO, "nothing"), mail("M2", TO, "4402: 76.60")], 1.0),
        ([mail("M1", TO, "4402: 76.60"), mail("M2", TO, "and 4440")], 0.0),
        ([], 0.0),
    ],
)
def test_message_match_wants_exact_recipients_and_all_groups(
    messages: Any, expected: float
) -> None:
    made = check(
        "message_match",
        to=TO,
        text=[["4402", "IN-5498"], [{"number": 76.6}]],
        forbidden=["4440"],
    )
    assert score(made, evidence({"mail/outbox": messages})) == expected


def test_the_subject_is_part_of_the_text_and_a_reference_of_a_group() -> None:
    made = check("message_match", to=TO, text=[[REFERENCE]])
    rows = {"finance/refunds": [REFUND], "mail/outbox": [mail("M1", TO, "x", subject="RF-0007")]}
    assert made.judge(evidence(rows)) == (1.0, "", ("mail/outbox/M1",))
    assert made.expected_text() == (REFERENCE,)
    assert made.reads() == ("mail/outbox", "finance/refunds")


def test_message_match_counts_and_reads_other_mailboxes() -> None:
    posts = [{"id": "P1", "channel": "ops", "text": "moved to 15:00"}]
    made = check("message_match", mailbox="chat/posts", where={"channel": "ops"}, text=[["15:00"]])
    assert score(made, evidence({"chat/posts": posts})) == 1.0
    twice = check("message_match", mailbox="chat/posts", text=[["15:00"]], min=2)
    assert score(twice, evidence({"chat/posts": posts})) == 0.0


# --- tool_called and call_order ------------------------------------------------------------------


def test_tool_called_counts_what_took_effect() -> None:
    lost = call(0, "finance_create_refund", error="timeout", changes=written())
    refused = call(1, "finance_create_refund", error="not_found")
    seen = evidence(calls=[lost, refused, call(2, "helpdesk_get_ticket", {"ticket_id": "TK-1"})])
    assert check("tool_called", tool="finance_create_refund").judge(seen) == (1.0, "", ("call:0",))
    every = check("tool_called", tool="finance_create_refund", successful=False, min=2, max=2)
    assert score(every, seen) == 1.0
    assert score(check("tool_called", tool="finance_create_refund", min=0, max=0), seen) == 0.0
    assert (
        score(
            check(
                "tool_called", tool=["a", "helpdesk_get_ticket"], arguments={"ticket_id": "TK-2"}
            ),
            seen,
        )
        == 0.0
    )


@pytest.mark.parametrize("keys", [{"min": 0}, {"min": 2, "max": 1}])
def test_tool_called_refuses_bounds_that_say_nothing(keys: Any) -> None:
    with pytest.raises(ValidationError):
        check("tool_called", tool="a", **keys)


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("abw", 1.0),
        ("aabbw", 1.0),
        ("bw", 0.0),
        ("baw", 0.0),
        ("awb", 0.0),
        ("wabw", 0.0),
        ("bxabxw", 1.0),
        ("ab", 0.0),
        ("", 0.0),
    ],
)
def test_call_order_wants_all_steps_before_the_first_of_the_last(
    tools: str, expected: float
) -> None:
    made = check("call_order", order=[{"tool": "a"}, {"tool": "b"}, {"tool": "w"}])
    seen = evidence(calls=[call(n, tool) for n, tool in enumerate(tools)])
    assert score(made, seen) == expected


def test_call_order_ignores_failures_and_lets_a_group_come_in_any_order() -> None:
    made = check("call_order", order=[[{"tool": "a"}, {"tool": "b"}], {"tool": "w"}])
    assert score(made, evidence(calls=[call(n, t) for n, t in enumerate("baw")])) == 1.0
    failed = [call(0, "b"), call(1, "a", error="timeout"), call(2, "w")]
    assert score(made, evidence(calls=failed)) == 0.0
    early = [call(0, "w", error="conflict"), *(call(n, t) for n, t in enumerate("abw", 1))]
    assert made.judge(evidence(calls=early)).cites == ("call:1", "call:2", "call:3")


# --- answer and texts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Refund RF-0007 over 76.60 EUR", 1.0),
        ("退款RF-0007，共76.60元", 1.0),
        ("تم رد 76.60 يورو، رقم RF-0007 ✅", 1.0),
        ("Refund RF-0007 over 176.60 EUR", 0.0),
        ("Refund RF-0007 over 76.60 EUR, not TK-2030", 0.0),
        ("", 0.0),
    ],
)
def test_answer_states_the_values_and_none_forbidden(reply: str, expected: float) -> None:
    made = check("answer", text=[[REFERENCE], {"number": 76.6}], forbidden=["TK-2030"])
    seen = evidence({"finance/refunds": [REFUND]}, reply=reply)
    assert score(made, seen) == expected


def test_a_reference_to_an_empty_field_is_never_said() -> None:
    made = check("answer", text=[[{**REFERENCE, "field": "note"}]])
    seen = evidence({"finance/refunds": [{**REFUND, "note": ""}]}, reply="anything")
    assert score(made, seen) == 0.0
    with pytest.raises(ValidationError):
        check("answer", text=[])


def test_an_answer_reads_its_stage() -> None:
    none = tables({})
    seen = stages([("day1", none, none, "9,515.50"), ("day2", none, none, "other")])
    assert score(check("answer", text=[{"number": 9515.5}], stage="day1"), seen) == 1.0
    assert score(check("answer", text=[{"number": 9515.5}]), seen) == 0.0
    with pytest.raises(EvidenceError, match="day3"):
        check("answer", text=["x"], stage="day3").judge(seen)


FILE = {"id": "FL-1", "path": "close/handover.md", "content": "Total 6,555.50\nOpen: CL-04"}


def test_text_match_reads_a_file_by_its_path() -> None:
    seen = evidence({"files/files": [FILE]})
    made = check(
        "text_match", path="close/handover.md", text=[{"number": 6555.5}, "CL-04"], regex="^open:"
    )
    assert score(made, seen) == 0.0  # a regex reads the text as it stands: ^ is its start
    made = made.model_copy(update={"regex": "(?m)^open: CL-\\d+$"})
    assert made.judge(seen) == (1.0, "", ("files/files/FL-1",))
    assert score(made.model_copy(update={"forbidden": ("CL-04",)}), seen) == 0.0
    assert score(check("text_match", path="close/handover.md", min_length=500), seen) == 0.0
    with pytest.raises(EvidenceError, match=r"no file other\.md"):
        check("text_match", path="other.md", text=["x"]).judge(seen)


def test_text_scopes_tell_reply_messages_and_all_apart() -> None:
    seen = evidence(
        {"mail/outbox": [mail("M0", TO, "old"), mail("M1", TO, "mailed")]},
        before={"mail/outbox": [mail("M0", TO, "old")]},
        calls=[call(0, "message_user", {"text": "asked"})],
        reply="replied",
    )
    for scope, words in {"final": "replied", "message": "mailed", "all": "replied asked"}.items():
        for word in ("replied", "asked", "mailed", "old"):
            there = 1.0 if word in words.split() else 0.0
            assert score(check("text_match", scope=scope, text=[word]), seen) == there
            assert score(check("text_absent", scope=scope, text=[word]), seen) == 1.0 - there


def test_an_empty_text_holds_nothing_but_a_missing_file_fails() -> None:
    assert score(check("text_absent", text=["secret"]), evidence()) == 1.0
    assert score(check("text_match", min_length=1), evidence(reply="  ")) == 0.0
    with pytest.raises(EvidenceError):
        check("text_absent", path="a.md", text=["secret"]).judge(evidence())


@pytest.mark.parametrize(
    "keys", [{}, {"scope": "file", "text": ["x"]}, {"scope": "all", "path": "x", "text": ["x"]}]
)
def test_text_match_refuses_what_says_nothing(keys: Any) -> None:
    with pytest.raises(ValidationError):
        check("text_match", **keys)


def test_number_close_reads_texts_and_fields_in_any_unit() -> None:
    seen = evidence({"finance/refunds": [{**REFUND, "amount": "€ 76,60"}]}, reply="about 104 %")
    place = {"service": "finance", "collection": "refunds", "field": "amount"}
    assert score(check("number_close", target=100, relative=0.05), seen) == 1.0
    assert score(check("number_close", target=100, absolute=3), seen) == 0.0
    found = check("number_close", target=76.6, place=place).judge(seen)
    assert found == (1.0, "", ("finance/refunds/RF-0007#amount",))
    nowhere = check("number_close", target=1, place={**place, "where": {"id": "RF-9"}})
    with pytest.raises(EvidenceError):
        nowhere.judge(seen)


# --- tables, events, rubric ----------------------------------------------------------------------

CELLS = [
    {"id": "SH!3", "sheet_id": "SH", "row": 3, "A": "CM-203", "C": "4,120.00"},
    {"id": "SH!1", "sheet_id": "SH", "row": 1, "A": "item", "C": "amount"},
    {"id": "SH!2", "sheet_id": "SH", "row": 2, "A": "PR-01", "B": "of May", "C": 23750.0},
    {"id": "SH!5", "sheet_id": "SH", "row": 5, "A": "", "C": None},
    {"id": "OTHER!2", "sheet_id": "OTHER", "row": 2, "A": "CM-207", "C": 1},
]


@pytest.mark.parametrize(
    ("rows", "exact", "expected"),
    [
        ([{"item": "PR-01", "amount": 23750}, {"item": "cm-203", "amount": 4120.0}], True, 1.0),
        ([{"item": "PR-01", "amount": 23750}], False, 1.0),
        ([{"item": "PR-01", "amount": 23750}], True, 0.0),
        ([{"item": "PR-01", "amount": 23751}], False, 0.0),
        ([{"item": "CM-207"}], False, 0.0),
        ([{"item": "CM-203", "amount": {"gt": 4000}}], False, 1.0),
    ],
)
def test_table_rows_compares_a_sheet_by_key(*, rows: Any, exact: bool, expected: float) -> None:
    made = check("table_rows", sheet="SH", key="item", rows=rows, exact=exact)
    seen = evidence({"sheets/sheets": [{"id": "SH"}], "sheets/rows": CELLS})
    assert score(made, seen) == expected


def test_table_rows_reads_csv_files_and_typed_tables() -> None:
    rows = [{"hall": "A", "tonnes": 41.2}]
    csv = {"id": "F", "path": "s.csv", "content": "hall,tonnes\nA,41.2\nB,17.9\n"}
    seen = evidence(
        {
            "files/files": [csv],
            "tables/rows": [
                {"id": "1", "table_id": "stock", "hall": "A", "tonnes": 41.2},
                {"id": "2", "table_id": "sold", "hall": "A", "tonnes": 7},
            ],
        }
    )
    assert score(check("table_rows", path="s.csv", key="hall", rows=rows), seen) == 1.0
    assert score(check("table_rows", table="stock", key="hall", rows=rows, exact=True), seen) == 1.0
    twice = {**csv, "content": "hall,tonnes\nA,41.2\nA,41.2\n"}
    made = check("table_rows", path="s.csv", key="hall", rows=rows)
    assert score(made, evidence({"files/files": [twice]})) == 0.0
    columns = check("table_rows", path="s.csv", key="hall", rows=rows, columns=["note"])
    assert score(columns, seen) == 0.0


ANNA, BEN = "anna@x.example", "ben@x.example"


def event(record_id: str, start: str, end: str, who: list[str], **keys: Any) -> dict[str, Any]:
    day = "2031-06-03T"
    return {
        "id": record_id,
        "start": f"{day}{start}",
        "end": f"{day}{end}",
        "attendees": who,
        **keys,
    }


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([event("E1", "10:00:00+02:00", "10:30:00+02:00", [ANNA, BEN])], 1.0),
        ([event("E1", "08:00:00+00:00", "08:30:00+00:00", [BEN, ANNA.upper()])], 1.0),
        ([event("E1", "10:00:00+02:00", "10:45:00+02:00", [ANNA, BEN])], 0.0),
        ([event("E1", "10:00:00+02:00", "10:30:00+02:00", [ANNA])], 0.0),
        ([event("E1", "09:00:00+02:00", "09:30:00+02:00", [ANNA, BEN])], 0.0),
        ([event("E1", "11:30:00+02:00", "12:00:00+02:00", [ANNA, BEN])], 1.0),
        ([event("E1", "11:45:00+02:00", "12:15:00+02:00", [ANNA, BEN])], 0.0),
        (
            [
                event("E1", "10:00:00+02:00", "10:30:00+02:00", [ANNA, BEN]),
                event("E2", "11:00:00+02:00", "11:30:00+02:00", [ANNA, BEN]),
            ],
            0.0,
        ),
        (
            [
                event(
                    "E1", "10:00:00+02:00", "10:30:00+02:00", [ANNA, BEN, "me@x"], organiser="me@x"
                ),
                event("E2", "10:15:00+02:00", "11:00:00+02:00", [ANNA], status="cancelled"),
            ],
            1.0,
        ),
        ([], 0.0),
    ],
)
def test_event_match_wants_one_event_when_all_are_free(events: Any, expected: float) -> None:
    busy = event("E0", "07:00:00+00:00", "08:00:00+00:00", [ANNA])
    made = check(
        "event_match",
        attendees=[ANNA, BEN],
        window=["2031-06-03T09:00:00+02:00", "2031-06-03T12:00:00+02:00"],
        minutes=30,
        free_for=[ANNA, BEN],
        weekday=["tue"],
    )
    assert score(made, evidence({"calendar/events": [busy, *events]})) == expected


def test_a_rubric_is_not_scored_and_does_not_pay() -> None:
    made = check("rubric", question="Is it polite?")
    assert made.judge(evidence(reply="x")) == (None, "no judge was asked", ())
    assert made.pays is False
