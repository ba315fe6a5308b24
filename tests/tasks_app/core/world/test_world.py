"""A world runs one episode: order of errors, faults, the colleague, stages, snapshots."""

from typing import Any

import orjson

from tasks_app.core.calls import Call
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.world.world import Seed, World
from tests.factories.specs import small_written


def _bytes(call: Call) -> tuple[Any, ...]:
    """What a call was and what came of it."""
    return (
        call.index,
        call.stage,
        call.name,
        call.tool,
        call.raw,
        call.observation,
        call.error,
        call.valid,
        call.changes,
        call.state_key,
        call.arguments,
        call.outcome,
    )


def spec_of(**changes: Any) -> TaskSpec:
    """A small spec with fields replaced."""
    return load_spec(small_written(**changes))


def two_days() -> TaskSpec:
    """A spec of two stages: overnight one ticket moves silently, one arrives, one change misses."""
    return spec_of(
        timeline=[
            {"id": "day1", "at": "2031-03-20T09:10:00+01:00"},
            {
                "id": "day2",
                "at": "2031-03-21T08:30:00+01:00",
                "notification": "Good morning again.",
                "mutations": [
                    {
                        "service": "helpdesk",
                        "collection": "tickets",
                        "op": "update",
                        "where": {"id": "TK-1"},
                        "values": {"status": "waiting"},
                        "silent": True,
                    },
                    {
                        "service": "helpdesk",
                        "collection": "tickets",
                        "op": "add",
                        "values": {"id": "TK-9", "subject": "Lamp again", "status": "open"},
                    },
                    {
                        "service": "helpdesk",
                        "collection": "tickets",
                        "op": "delete",
                        "where": {"id": "TK-77"},
                    },
                ],
            },
        ]
    )


def test_a_successful_write_changes_the_record_the_key_and_nothing_else() -> None:
    world = World(spec_of())
    before = world.store.state_key()
    call = world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    assert call.ok
    assert [(change.address, change.fields()) for change in call.changes] == [
        ("helpdesk/tickets/TK-2", ("resolution", "status", "updated_at"))
    ]
    assert call.state_key == before
    assert world.store.state_key() != before


def test_what_a_policy_does_wrong_is_a_structured_error_in_a_fixed_order() -> None:
    world = World(spec_of())
    cases: list[tuple[str, Any, str]] = [
        ("helpdesk_delete_ticket", {}, "unknown_tool"),
        ("helpdesk_close_ticket", {"resolution": 5, "colour": "red"}, "missing_argument"),
        (
            "helpdesk_close_ticket",
            {"ticket_id": "TK-2", "resolution": 5, "colour": "red"},
            "unknown_argument",
        ),
        ("helpdesk_close_ticket", {"ticket_id": 2, "resolution": "maybe"}, "wrong_type"),
        ("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "maybe"}, "invalid_value"),
        ("helpdesk_close_ticket", {"ticket_id": "TK-404", "resolution": "answered"}, "not_found"),
        ("helpdesk_close_ticket", "{broken", "wrong_type"),
    ]
    start = world.snapshot().tables
    for name, arguments, code in cases:
        call = world.call(name, arguments)
        assert call.error == code
        assert orjson.loads(call.observation)["error"] == code
    assert world.snapshot().tables is start


def test_a_fault_before_the_write_writes_nothing_and_counts_only_valid_calls() -> None:
    world = World(
        spec_of(
            faults=[
                {
                    "tool": "helpdesk_close_ticket",
                    "calls": [1],
                    "code": "rate_limited",
                    "retry_after": 20,
                }
            ]
        )
    )
    invalid = world.call("helpdesk_close_ticket", {"ticket_id": "TK-2"})
    faulted = world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    again = world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    assert [c.error for c in (invalid, faulted, again)] == [
        "missing_argument",
        "rate_limited",
        None,
    ]
    assert faulted.changes == ()
    assert faulted.outcome["retry_after"] == 20


def test_a_fault_after_the_write_loses_the_answer_but_keeps_the_write() -> None:
    world = World(
        spec_of(
            faults=[
                {
                    "tool": "helpdesk_close_ticket",
                    "calls": [1],
                    "code": "timeout",
                    "moment": "after",
                }
            ]
        )
    )
    call = world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    assert call.error == "timeout"
    assert [change.id for change in call.changes] == ["TK-2"]


def test_the_colleague_tells_what_is_asked_until_patience_ends_on_both_channels() -> None:
    script = {
        "name": "Ada Winter",
        "patience": 2,
        "facts": [
            {"id": "colour", "text": "It is green.", "asks": [[["colour", "color"], "lamp"]]},
            {"id": "day", "text": "Monday.", "asks": [["day"]]},
        ],
        "otherwise": "Pardon?",
        "out_of_patience": "Not now.",
    }
    spec = spec_of(user=script, tools=["helpdesk_close_ticket", "message_user"])
    world = World(spec)
    key = world.store.state_key()
    first = world.call("message_user", {"text": "Which COLOUR has the lamp, and which day?"})
    assert first.outcome == {"reply": "It is green. Monday."}
    assert world.store.state_key() != key
    assert world.say("hm") == "Pardon?"
    assert world.say("the lamp's color?") == "Not now."
    assert World(spec).call("message_user", {"text": "colourful"}).outcome == {"reply": "Pardon?"}


def test_a_reply_ends_the_stage_and_the_night_changes_the_world_as_it_was_left() -> None:
    world = World(two_days())
    world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    assert world.reply("Done for today.") == "Good morning again."
    assert (world.stage, world.now) == ("day2", "2031-03-21T08:30:00+01:00")
    assert world.context.missed == ("delete of helpdesk/tickets: nothing matches",)
    new = world.call("helpdesk_close_ticket", {"ticket_id": "TK-9", "resolution": "answered"})
    assert new.outcome["updated_at"] == "2031-03-21T08:30:00+01:00"
    assert world.reply("Finished.") is None
    evidence = world.evidence()
    assert [(s.id, s.first_call, s.end_call, s.reply) for s in evidence.stages] == [
        ("day1", 0, 1, "Done for today."),
        ("day2", 1, 2, "Finished."),
    ]
    assert [[c.address for c in changes] for _, changes in evidence.changes()] == [
        ["helpdesk/tickets/TK-2"],
        ["helpdesk/tickets/TK-9"],
    ]


def test_a_policy_that_stops_early_leaves_empty_replies_and_the_days_happen_all_the_same() -> None:
    world = World(two_days())
    world.finish()
    assert [(s.id, s.reply) for s in world.evidence().stages] == [("day1", ""), ("day2", "")]
    assert world.evidence().rows("helpdesk/tickets")["TK-1"]["status"] == "waiting"


def test_restoring_a_snapshot_brings_back_records_clock_log_and_colleague() -> None:
    world = World(two_days())
    start = world.snapshot()
    world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    world.reply("x")
    world.restore(start)
    assert world.snapshot() == start
    assert (world.stage, world.now, world.calls) == ("day1", "2031-03-20T09:10:00+01:00", ())
    call = world.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    assert call.outcome["updated_at"] == "2031-03-20T09:10:00+01:00"


def test_a_world_that_went_back_does_the_same_on_the_same_tables() -> None:
    world, other = World(two_days()), World(two_days())
    start = world.snapshot()
    close = {"ticket_id": "TK-2", "resolution": "answered"}
    acts: list[tuple[str, Any]] = [
        ("helpdesk_get_ticket", {"ticket_id": "TK-1"}),
        ("helpdesk_close_ticket", close),
        ("helpdesk_get_ticket", {"ticket_id": "NO-1"}),
        ("no_such_tool", {}),
        ("helpdesk_get_ticket", "{"),
        ("helpdesk_close_ticket", close),
    ]
    runs = []
    for _ in range(3):
        world.restore(start)
        for name, arguments in acts:
            world.call(name, arguments)
        runs.append(world.snapshot())
    for name, arguments in acts:
        other.call(name, arguments)
    expected = [_bytes(call) for call in other.calls]
    assert [[_bytes(call) for call in run.log] for run in runs] == [expected] * 3
    assert runs[2].tables is runs[1].tables
    assert runs[2] == runs[1]
    assert runs[1].tables == other.snapshot().tables
    assert runs[1].total == other.snapshot().total


def test_a_call_made_later_on_the_same_tables_has_its_own_number_stage_and_key() -> None:
    world = World(two_days())
    start = world.snapshot()
    world.restore(start)
    read = ("helpdesk_get_ticket", {"ticket_id": "NO-1"})
    first, second = world.call(*read), world.call(*read)
    assert (first.index, second.index) == (0, 1)
    assert second.arguments == {"ticket_id": "NO-1"}
    assert second.arguments is first.arguments
    assert second.outcome is first.outcome
    world.reply("Good night.")
    third = world.call(*read)
    assert (third.index, third.stage) == (2, "day2")
    assert third.state_key != first.state_key


def test_worlds_of_one_spec_share_their_seed_and_not_their_state() -> None:
    spec = spec_of()
    first, second = World(spec), World(spec)
    assert first.seed is second.seed is Seed.of(spec)
    first.call("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    assert (
        second.call("helpdesk_search_tickets", {"query": "lamp"}).outcome["tickets"][0]["status"]
        == "open"
    )
