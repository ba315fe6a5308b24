from typing import Any

from tasks_app.core.presenting.records import columns_of, tables
from tasks_app.core.presenting.reference import reference_view
from tests.factories.specs import small_spec, small_written


def test_a_named_record_is_the_target_and_its_like_a_lookalike() -> None:
    tickets = [
        {"id": "TK-1", "subject": "Lamp", "reporter": "Ada", "area": "desk", "status": "open"},
        {"id": "TK-2", "subject": "Lamp", "reporter": "Bea", "area": "desk", "status": "open"},
        {"id": "TK-3", "subject": "Roof", "reporter": "Cem", "area": "yard", "status": "done"},
    ]
    table = tables(small_spec(services={"helpdesk": {"tickets": tickets}}))[0]
    assert [(row.id, row.role, row.differs) for row in table.rows] == [
        ("TK-1", "lookalike", ("reporter",)),
        ("TK-2", "target", ()),
        ("TK-3", "", ()),
    ]
    assert (table.may_change, table.read_by) == (True, ("closed",))
    assert [row.write_set for row in table.rows] == [False, True, False]


def test_what_the_reply_must_not_name_is_a_lookalike() -> None:
    check = small_written()["checks"][0]
    answer = {
        "id": "reply",
        "kind": "answer",
        "component": "report",
        "weight": 0.5,
        "text": [["TK-2"]],
        "forbidden": ["TK-1"],
    }
    table = tables(small_spec(checks=[{**check, "weight": 0.5}, answer]))[0]
    assert [(row.role, row.named_by, row.avoided_by) for row in table.rows] == [
        ("lookalike", (), ("reply",)),
        ("target", ("closed", "reply"), ()),
    ]


def test_columns_know_their_kind_and_cells_their_state() -> None:
    records: list[dict[str, Any]] = [
        {"id": "A", "n": 1, "ok": True, "text": "x" * 80, "tags": ["a"]},
        {"id": "B", "n": None, "more": "y"},
    ]
    assert [(c.name, c.kind, c.long) for c in columns_of(records, "id")] == [
        ("id", "text", False),
        ("n", "number", False),
        ("ok", "yes_no", False),
        ("text", "text", True),
        ("tags", "nested", False),
        ("more", "text", False),
    ]


def test_the_reference_is_told_step_by_step_with_what_flipped() -> None:
    run = reference_view(small_spec())
    assert (run.reward, run.passed, run.problems) == (1.0, True, ())
    step, reply = run.steps
    assert (step.tool, step.kind, step.error) == ("helpdesk_close_ticket", "write", "")
    change = step.changes[0]
    assert (change.address, change.kind) == ("helpdesk/tickets/TK-2", "update")
    assert [(f.name, f.before, f.after) for f in change.fields if f.name == "status"] == [
        ("status", "open", "closed")
    ]
    assert [(flip.check, flip.before, flip.after) for flip in step.flips] == [("closed", 0.0, 1.0)]
    assert (reply.kind, reply.reply, reply.flips) == ("reply", "TK-2 is closed.", ())


def test_a_reference_that_cannot_go_on_names_the_step() -> None:
    steps = small_written()["reference"]
    steps[0]["arguments"] = {"ticket_id": {"from": "nowhere"}, "resolution": "answered"}
    run = reference_view(small_spec(reference=steps))
    assert [(step, position) for step, _, position in run.problems] == [("close", 0)]
    assert run.passed is False
