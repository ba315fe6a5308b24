"""Two replays side by side: which turns are matched, and where the two part."""

from dataclasses import replace

from rollouts_app.core.align import Alignment, align
from rollouts_app.core.episode import run_episode
from rollouts_app.core.frames import Replay
from rollouts_app.core.replay import replay
from rollouts_app.core.scripted import plain
from rollouts_app.core.trajectory import DamagedTurn, Trajectory
from tasks_app.core.program import Act
from tests.factories.specs import small_spec
from tests.rollouts_app.specs import example, run

LOOK = Act("helpdesk_search_tickets", {"query": "lamp"})
DONE = Act(None, {}, "Done.")


def close(ticket: str = "TK-2", resolution: str = "answered") -> Act:
    """The call that closes a ticket."""
    return Act("helpdesk_close_ticket", {"ticket_id": ticket, "resolution": resolution})


def shown(*acts: Act) -> Replay:
    """The replay of plain acts on the small spec."""
    spec = small_spec()
    return replay(spec, run_episode(spec, plain("script", acts)).trajectory)


def laid(alignment: Alignment) -> list[tuple[int | None, int | None, str]]:
    """The turn numbers of each row, and what the row is."""
    return [
        (
            None if row.first is None else row.first.index + 1,
            None if row.second is None else row.second.index + 1,
            row.kind,
        )
        for row in alignment.rows
    ]


def test_an_episode_beside_itself_never_parts() -> None:
    spec = example("support_resolution")
    one = replay(spec, run(spec).trajectory)
    found = align(one, one)
    turns = len(one.frames)
    assert laid(found) == [(n, n, "same") for n in range(1, turns + 1)]
    assert (found.parting, found.ends, found.by_number) == (None, (), False)


def test_arguments_in_another_order_are_the_same_arguments() -> None:
    turned = Act("helpdesk_close_ticket", {"resolution": "answered", "ticket_id": "TK-2"})
    assert align(shown(close(), DONE), shown(turned, DONE)).parting is None


def test_a_turn_that_only_one_of_them_took_stands_alone_and_the_rest_is_matched_again() -> None:
    found = align(shown(close(), DONE), shown(LOOK, close(), DONE))
    assert laid(found) == [(None, 1, "alone"), (1, 2, "same"), (2, 3, "same")]
    assert (found.parting, found.ends) == (0, ())


def test_the_same_tool_with_other_arguments_is_alike_and_leaves_other_records_behind() -> None:
    found = align(shown(LOOK, close(), DONE), shown(LOOK, close("TK-1"), DONE))
    assert laid(found) == [(1, 1, "same"), (2, 2, "alike"), (3, 3, "same")]
    assert [row.records for row in found.rows] == [False, True, False]
    assert found.parting == 1
    assert [(change.address, change.kind) for change in found.ends] == [
        ("helpdesk/tickets/TK-1", "update"),
        ("helpdesk/tickets/TK-2", "update"),
    ]
    status = next(field for field in found.ends[1].fields if field.name == "status")
    assert (status.before, status.after) == ("closed", "open")


def test_turns_without_a_counterpart_stand_beside_each_other() -> None:
    found = align(shown(LOOK, DONE), shown(close(), DONE))
    assert laid(found) == [(1, 1, "other"), (2, 2, "same")]


def test_the_same_call_that_is_answered_otherwise_parts() -> None:
    found = align(shown(LOOK, close(), DONE), shown(close("TK-2", "resolved"), LOOK, DONE))
    assert laid(found) == [
        (None, 1, "alone"),
        (1, 2, "same"),
        (2, None, "alone"),
        (3, 3, "same"),
    ]
    assert [row.answers for row in found.rows] == [False, True, False, False]


def test_the_same_call_that_leaves_other_records_behind_parts() -> None:
    found = align(shown(close(), DONE), shown(close("TK-2", "resolved"), close(), DONE))
    assert laid(found) == [(None, 1, "alone"), (1, 2, "same"), (2, 3, "same")]
    assert [row.records for row in found.rows] == [False, True, False]


def test_more_turns_that_do_the_same_are_worth_more_than_any_that_only_call_the_same_tool() -> None:
    found = align(
        shown(close("TK-1"), close("TK-2"), LOOK, DONE),
        shown(close("TK-2"), close("TK-3"), LOOK, DONE),
    )
    assert laid(found) == [
        (1, None, "alone"),
        (2, 1, "same"),
        (None, 2, "alone"),
        (3, 3, "same"),
        (4, 4, "same"),
    ]


def test_a_long_middle_is_laid_by_number_and_says_so() -> None:
    one, two = shown(LOOK, close("TK-1"), LOOK, DONE), shown(LOOK, close("TK-2"), close(), DONE)
    found = align(one, two, exact_cells=3)
    assert found.by_number
    assert laid(found) == [(1, 1, "same"), (2, 2, "alike"), (3, 3, "other"), (4, 4, "same")]


def test_other_words_beside_a_call_are_no_other_deed_but_another_reply_is() -> None:
    said = Act("helpdesk_search_tickets", {"query": "lamp"}, "Let me look.")
    found = align(shown(LOOK, DONE), shown(said, Act(None, {}, "All done.")))
    assert laid(found) == [(1, 1, "same"), (2, 2, "alike")]


def test_a_damaged_turn_is_itself_and_nothing_else() -> None:
    spec = small_spec()
    whole = run_episode(spec, plain("script", (LOOK, DONE))).trajectory
    torn = replace(whole, turns=(DamagedTurn(0, b"{", "cut short"), *whole.turns[1:]))
    found = align(replay(spec, torn), replay(spec, whole))
    assert laid(found) == [(1, 1, "other"), (2, 2, "same")]


def test_two_episodes_without_a_turn_have_no_row() -> None:
    spec = small_spec()
    nothing = replay(spec, Trajectory(spec.hash, "script", 0))
    assert align(nothing, nothing) == Alignment((), by_number=False, ends=())
