"""Replay: frames made again from recorded calls."""

from dataclasses import replace

import pytest

from rollouts_app.core.episode import run_episode
from rollouts_app.core.frames import Frame, Replay
from rollouts_app.core.replay import replay
from rollouts_app.core.scripted import plain
from rollouts_app.core.trajectory import DamagedTurn, RecordedTurn, Trajectory
from tasks_app.core.program import Act
from tasks_app.core.spec import TaskSpec
from tests.factories.specs import small_spec
from tests.rollouts_app.specs import changed, example, run


def replayed(name: str) -> Replay:
    """The replay of an example's reference."""
    spec = example(name)
    return replay(spec, run(spec).trajectory)


def played(spec: TaskSpec, *acts: Act) -> Trajectory:
    """The trajectory of plain acts."""
    return run_episode(spec, plain("script", acts)).trajectory


def frame_with(shown: Replay, tool: str) -> Frame:
    """The one frame that calls a tool."""
    (found,) = [f for f in shown.frames if any(call.name == tool for call in f.calls)]
    return found


def test_the_refund_appears_at_its_call_and_flips_its_check_there() -> None:
    frame = frame_with(replayed("support_resolution"), "finance_create_refund")
    (change,) = frame.changes
    assert (change.address, change.kind, change.stray) == ("finance/refunds/RF-5167", "add", False)
    assert {field.name: field.after for field in change.fields} == {
        "id": "RF-5167",
        "order_id": "OR-88431",
        "line": 2,
        "amount": 76.6,
        "currency": "EUR",
        "reason": "damaged_in_transit",
        "created_at": "2031-03-20T09:10:00+01:00",
    }
    (flip,) = [flip for flip in frame.flips if flip.check == "o_refund"]
    assert (flip.before, flip.after, flip.call, flip.cites) == (
        0.0,
        1.0,
        12,
        ("finance/refunds/RF-5167",),
    )


def test_only_the_field_that_an_update_changed_is_shown() -> None:
    shown = replayed("payment_change_investigation")
    held = [c for f in shown.frames for c in f.changes if c.address == "finance/invoices/IN-5521"]
    assert [(c.kind, [(f.name, f.before, f.after) for f in c.fields]) for c in held] == [
        (
            "update",
            [("status", "approved", "on_hold"), ("hold_reason", None, "fraud_suspected")],
        )
    ]


def test_every_check_flips_once_and_the_reward_climbs_to_one() -> None:
    for name in ("support_resolution", "payment_change_investigation"):
        shown = replayed(name)
        flipped = sorted(flip.check for frame in shown.frames for flip in frame.flips)
        rewards = [frame.reward for frame in shown.frames]
        assert flipped == sorted(check.id for check in example(name).checks)
        assert rewards == sorted(rewards)
        assert rewards[-1] == shown.grade.total == 1.0


def test_constraints_speak_on_the_calls_they_are_about() -> None:
    frame = frame_with(replayed("support_resolution"), "finance_create_refund")
    assert [(v.constraint, v.state) for v in frame.calls[0].verdicts] == [
        ("K1", "kept"),
        ("K2", "kept"),
        ("K3", "kept"),
    ]


def test_the_call_that_breaks_a_constraint_says_so_and_later_ones_remember() -> None:
    close = Act("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    other = Act("helpdesk_close_ticket", {"ticket_id": "TK-1", "resolution": "answered"})
    spec = small_spec()
    shown = replay(spec, played(spec, close, other, other, Act(None, {}, "Done.")))
    states = [[v.state for call in frame.calls for v in call.verdicts] for frame in shown.frames]
    assert states[0] == ["kept"]
    assert states[1] == ["broken"]
    assert [frame.reward for frame in shown.frames] == [1.0, 0.0, 0.0, 0.0]
    assert [rule.broken for rule in shown.frames[1].rules] == [True]
    assert shown.frames[1].rules[0].call == 2


def test_a_change_outside_the_write_set_is_marked() -> None:
    spec = small_spec()
    other = Act("helpdesk_close_ticket", {"ticket_id": "TK-1", "resolution": "answered"})
    (frame, _) = replay(spec, played(spec, other)).frames
    (change,) = frame.changes
    assert change.stray
    assert {field.name: field.stray for field in change.fields} == {
        "status": True,
        "updated_at": True,
        "resolution": True,
    }


def test_arguments_say_where_their_value_was_first_seen() -> None:
    shown = replayed("payment_change_investigation")
    report = frame_with(shown, "finance_submit_report").calls[0]
    assert {a.name: a.origin for a in report.arguments} == {
        "kind": "rules",
        "payee_id": "call 3",
        "verdict": "option",
        "exposure": "",
        "callback": "call 5",
    }


def test_a_failed_call_shows_its_error_and_changes_nothing() -> None:
    shown = replayed("payment_change_investigation")
    (failed,) = [f for f in shown.frames if f.errors]
    (call,) = failed.calls
    assert (call.error, call.message, call.changed) == (
        "rate_limited",
        "too many requests; try again later",
        0,
    )
    assert failed.changes == ()
    assert failed.state_before == failed.state_after


def test_on_the_same_spec_nothing_diverges() -> None:
    for name in ("support_resolution", "payment_change_investigation"):
        shown = replayed(name)
        assert (shown.divergence, shown.other_spec, shown.damage) == (None, False, ())


def test_a_changed_record_diverges_at_the_first_call_that_sees_another_state() -> None:
    spec = example("support_resolution")
    services = spec.written()["services"]
    customers = [
        {**row, "club": "none"} if row["id"] == "CU-3307" else row
        for row in services["crm"]["customers"]
    ]
    other = changed(spec, services={**services, "crm": {**services["crm"], "customers": customers}})
    shown = replay(other, run(spec).trajectory)
    assert shown.other_spec
    assert shown.divergence is not None
    assert (shown.divergence.turn, shown.divergence.call, shown.divergence.kind) == (0, 1, "state")
    assert shown.frames[0].calls[0].divergence == shown.divergence


def test_another_answer_in_the_same_state_is_a_divergence_of_the_observation() -> None:
    spec = example("support_resolution")
    trajectory = run(spec).trajectory
    turn = trajectory.turns[1]
    assert isinstance(turn, RecordedTurn)
    call = replace(turn.calls[0], observation=b'{"id": "TK-2041", "status": "gone"}')
    edited = (trajectory.turns[0], replace(turn, calls=(call,)), *trajectory.turns[2:])
    shown = replay(spec, replace(trajectory, turns=edited))
    assert shown.divergence is not None
    assert (shown.divergence.turn, shown.divergence.kind) == (1, "observation")
    assert shown.frames[1].calls[0].observation == b'{"id": "TK-2041", "status": "gone"}'
    assert shown.frames[2].calls[0].divergence is None


def test_another_end_state_is_a_divergence_of_the_end() -> None:
    spec = example("support_resolution")
    shown = replay(spec, replace(run(spec).trajectory, end_key="0" * 32))
    assert shown.divergence is not None
    assert (shown.divergence.kind, shown.divergence.call) == ("end", None)


def test_a_damaged_turn_is_a_frame_of_its_own_with_the_raw_line() -> None:
    spec = example("support_resolution")
    trajectory = run(spec).trajectory
    turns = (trajectory.turns[0], DamagedTurn(1, b'{"turn": 1', "cut off"), *trajectory.turns[2:])
    frame = replay(spec, replace(trajectory, turns=turns)).frames[1]
    assert (frame.damaged, frame.problem, frame.calls) == ('{"turn": 1', "cut off", ())


STAGES = [
    {"id": "day1", "at": "2031-03-20T09:10:00+01:00"},
    {
        "id": "day2",
        "at": "2031-03-21T09:10:00+01:00",
        "notification": "Good morning.",
        "mutations": [
            {
                "service": "helpdesk",
                "collection": "tickets",
                "op": "update",
                "where": {"id": "TK-1"},
                "values": {"status": "waiting"},
            }
        ],
    },
]


def test_what_happens_between_stages_is_nobodys_change() -> None:
    spec = small_spec(timeline=STAGES)
    first, second = replay(spec, played(spec, Act(None, {}, "a"), Act(None, {}, "b"))).frames
    assert first.changes == ()
    assert [(c.address, c.kind) for c in first.timeline] == [("helpdesk/tickets/TK-1", "update")]
    assert (first.heard, second.stage, second.at) == (
        "Good morning.",
        "day2",
        "2031-03-21T09:10:00+01:00",
    )


def test_the_grade_of_a_stopped_episode_includes_the_stages_it_did_not_reach() -> None:
    spec = small_spec(timeline=STAGES)
    close = Act("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    outcome = run_episode(spec, plain("script", [close]), limits=spec.limits)
    shown = replay(spec, outcome.trajectory)
    assert shown.grade == outcome.grade


@pytest.mark.parametrize("name", ["support_resolution", "payment_change_investigation"])
def test_a_long_episode_finds_the_same_flips_turn_by_turn(name: str) -> None:
    exact = replayed(name)
    sparse = replay(example(name), run(example(name)).trajectory, exact_calls=0)

    def flips(shown: Replay) -> list[tuple[int, str]]:
        return [(f.index, flip.check) for f in shown.frames for flip in f.flips]

    assert (exact.exact, sparse.exact) == (True, False)
    assert flips(sparse) == flips(exact)


def test_a_check_that_falls_back_flips_a_second_time() -> None:
    close = Act("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
    reopen = Act("helpdesk_update_ticket", {"ticket_id": "TK-2", "status": "open"})
    spec = small_spec(
        tools=["helpdesk_close_ticket", "helpdesk_update_ticket"],
        constraints=[],
        checks=[
            {
                "id": "open",
                "kind": "record_match",
                "component": "outcome",
                "weight": 1.0,
                "service": "helpdesk",
                "collection": "tickets",
                "where": {"id": "TK-2"},
                "expect": {"status": "open"},
            }
        ],
    )
    first = replay(spec, played(spec, close, reopen)).frames[0]
    assert [(flip.check, flip.before, flip.after, flip.rises) for flip in first.flips] == [
        ("open", 1.0, 0.0, False)
    ]
