"""inbox_to_todo: what is left of each thread becomes an item, and each wrong turn loses."""

import random
from collections.abc import Callable
from datetime import date

import pytest

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.days import weekday_of
from tasks_app.core.generation.families.inbox_to_todo.facts import WEEKDAY
from tasks_app.core.generation.families.inbox_to_todo.letters import Inbox
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted

FAMILY = "inbox_to_todo"
SUBTYPES = ("asked_and_dated", "answered_already", "cancelled_later", "delegated")


def _the_day_of_the_first_letter(steps: Steps) -> None:
    for step in steps.values():
        if step["id"].startswith("made"):
            step["each"]["where"]["in_reply_to"] = {"exists": False}
            del step["each"]["where"]["id"]


def _any_answer_settles(steps: Steps) -> None:
    settled = steps["made0"]["each"]["where"]["id"]["not_in"]
    del settled["where"]


def _what_was_taken_back_too(steps: Steps) -> None:
    del steps["made0"]["each"]["where"]["id"]


def _nothing_is_dropped(steps: Steps) -> None:
    steps["dropped"]["arguments"]["status"] = "done"


def _whoever_took_it_first(steps: Steps) -> None:
    steps["made0"]["arguments"]["owner"]["take"] = "first"


def _promises_too(steps: Steps) -> None:
    for step in steps.values():
        if step["id"].startswith("made"):
            del step["each"]["where"]["body"]["contains_any"]


def _counted_from_today(steps: Steps) -> None:
    for step in steps.values():
        if step["id"].startswith("made"):
            step["arguments"]["due_on"]["args"][1] = {"from": "clock", "path": "today"}


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("asked_and_dated", 1, _the_day_of_the_first_letter),
        ("asked_and_dated", 4, _the_day_of_the_first_letter),
        ("asked_and_dated", 3, _promises_too),
        ("answered_already", 1, _any_answer_settles),
        ("answered_already", 5, _any_answer_settles),
        ("answered_already", 2, _promises_too),
        ("cancelled_later", 1, _nothing_is_dropped),
        ("cancelled_later", 2, _what_was_taken_back_too),
        ("cancelled_later", 5, _what_was_taken_back_too),
        ("delegated", 2, _whoever_took_it_first),
        ("delegated", 4, _whoever_took_it_first),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn, below=0.95)


def _facts(subtype: str, level: int, seed: int) -> Inbox:
    return Inbox(subtype, level, Cast(random.Random(f"{subtype}/{level}/{seed}")))


def test_a_weekday_counted_from_today_is_another_day_where_it_has_passed() -> None:
    passed = next(
        seed
        for seed in range(1, 40)
        if any(
            thread.form == WEEKDAY and thread.due < facts.clock.day
            for facts in [_drawn(seed)]
            for thread in facts.due_threads
            if thread.due is not None
        )
    )
    assert_loses(drafted(FAMILY, "answered_already", 3, passed), _counted_from_today)


def _drawn(seed: int) -> Inbox:
    return Inbox("answered_already", 3, Cast(random.Random(f"{FAMILY}/{seed}")))


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 3, 5])
def test_the_day_of_an_item_is_the_first_of_its_name_after_the_letter(
    subtype: str, level: int
) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        for thread in facts.due_threads:
            assert thread.due is not None
            written = date.fromisoformat(thread.deciding["date"][:10])
            assert written < thread.due
            if thread.form == WEEKDAY:
                assert f"by {weekday_of(thread.due)}" in thread.deciding["body"]
                assert (thread.due - written).days < 7


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_letters_of_a_thread_follow_one_another_and_none_comes_after_now(
    subtype: str, level: int
) -> None:
    for seed in range(8):
        facts = _facts(subtype, level, seed)
        dates = {row["id"]: row["date"] for row in (*facts.letters, *facts.sent)}
        assert max(dates.values()) < facts.clock.now
        for row in (*facts.letters, *facts.sent):
            if "in_reply_to" in row:
                assert dates[row["in_reply_to"]] < row["date"]


@pytest.mark.parametrize("level", [2, 3, 4, 5])
def test_who_took_it_over_owns_it_and_nobody_asked_leaves_it_to_the_lead(level: int) -> None:
    facts = _facts("delegated", level, 1)
    inside = {person.email for person in facts.colleagues}
    owners = [thread.owner for thread in facts.due_threads]
    assert owners[0] in inside
    assert owners[1] == facts.lead.email
    retaken = [row for row in facts.threads[0].letters if row["from"] == owners[0]]
    assert retaken[0] is facts.threads[0].letters[2]
