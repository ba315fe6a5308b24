"""Two episodes beside each other: what the page shows, how the two are chosen, what it refuses."""

import pytest
from django.test import Client

from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import plain
from rollouts_app.models import Episode
from rollouts_app.operations.episodes import Broken
from rollouts_app.queries import comparable
from studio.web.choices import Role
from tasks_app.core.program import Act as Step
from tasks_app.models import Task
from tasks_app.operations.tasks import save_version
from tests.factories.pages import HOSTILE, ClientOf, page, words
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import rolled_out, stored
from tests.rollouts_app.views.test_pages import kept

CLOSE = Step("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"})
WRONG = Step("helpdesk_close_ticket", {"ticket_id": "TK-1", "resolution": "answered"})
LOOK = Step("helpdesk_search_tickets", {"query": "lamp"})
DONE = Step(None, {}, "TK-2 is closed.")


def played(*acts: Step) -> Episode:
    """An episode of plain acts on the first task there is."""
    return kept(run_episode(small_spec(), plain("script", acts)))


def compared(client: Client, first: Episode, second: Episode, status: int = 200) -> str:
    """The page of two."""
    return page(client, f"/compare/{first.code}/{second.code}/", status)


@pytest.fixture
def right(db: None) -> Episode:
    """Looks, closes the ticket that was meant, says so."""
    stored(small_spec())
    return played(LOOK, CLOSE, DONE)


@pytest.fixture
def wrong(right: Episode) -> Episode:
    """Looks, closes another ticket, says the same."""
    return played(LOOK, WRONG, DONE)


def test_the_page_says_where_they_part_what_each_did_there_and_what_came_of_it(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    html = compared(client_of(Role.VIEWER), right, wrong)
    text = words(html)
    assert "They part at turn 2 1 before it the same" in text
    assert "Here they part: other arguments" in text
    assert "<mark>TK-2</mark>" in html
    assert "<mark>TK-1</mark>" in html
    assert "<mark>answered</mark>" not in html
    assert "Reward −1.00 1.00 and 0.00 Checks that differ 1 of 1" in text
    assert "Records left otherwise 2 at the end" in text
    assert "1 of 3 rows differs" in text
    assert f"/episodes/{wrong.code}/?turn=2#turn-2" in html


def test_checks_stand_side_by_side_with_the_turn_where_they_turned(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    html = compared(client_of(Role.VIEWER), right, wrong)
    start = html.index('<tr class="differs">')
    row = words(html[start : html.index("</tr>", start)])
    assert row.startswith("closed outcome 1.00 holds turn 2 not met")


def test_swapped_the_second_stands_on_the_left(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    html = compared(client_of(Role.VIEWER), wrong, right)
    assert "Reward +1.00 0.00 and 1.00" in words(html)
    assert f'href="/compare/{right.code}/{wrong.code}/"' in html


def test_two_that_do_the_same_never_part(right: Episode, client_of: ClientOf) -> None:
    text = words(compared(client_of(Role.VIEWER), right, played(LOOK, CLOSE, DONE)))
    assert "They part never the same from beginning to end" in text
    assert "Both leave the same records behind." in text


def test_episodes_of_different_tasks_are_not_laid_together_and_each_is_offered_its_own(
    right: Episode, wrong: Episode, payment_task: Task, client_of: ClientOf
) -> None:
    other = rolled_out(filter_text=f"family:{payment_task.family}").episodes.get()
    html = compared(client_of(Role.VIEWER), right, other)
    text = words(html)
    assert "These two were asked different things." in text
    assert "Turn by turn" not in text.replace("Turn by turn only", "")
    assert f'href="/compare/{right.code}/{wrong.code}/"' in html
    assert "Nothing else was played on this task." in text


def test_another_version_of_the_task_is_compared_under_a_warning(
    right: Episode, client_of: ClientOf
) -> None:
    spec = small_spec(title="Close the ticket about the lamp today")
    save_version(task=right.task, base=1, spec=spec, reason="a clearer title", by=None)
    later = kept(run_episode(spec, plain("script", (LOOK, CLOSE, DONE))), "state:draft")
    text = words(compared(client_of(Role.VIEWER), right, later))
    assert "They played different versions of the task , v1 and v2." in text
    assert "They part never" in text


def test_one_that_recorded_nothing_says_why_and_offers_another(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    failed = kept(Broken(0, "endpoint", "the server is gone"))
    text = words(compared(client_of(Role.VIEWER), failed, right))
    assert (
        f"{failed.code} recorded no turn. The endpoint of {failed.code} broke: the server" in text
    )
    assert f"{failed.code} with …" in text


def test_an_episode_is_not_compared_with_itself_and_unknown_ones_are_named(
    right: Episode, client_of: ClientOf
) -> None:
    client = client_of(Role.VIEWER)
    assert "is compared with itself. Name two episodes." in compared(client, right, right, 400)
    assert "There is no episode E-000000." in page(client, f"/compare/{right.code}/E-000000/", 404)
    assert "is no code of an evaluation" in page(client, f"/compare/{right.code}/EV-0000/", 404)


def test_a_code_may_be_typed_in_small_letters(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    page(client_of(Role.VIEWER), f"/compare/{right.code.lower()}/{wrong.code}/")


def test_two_that_are_marked_in_the_list_lead_to_their_page(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    client = client_of(Role.VIEWER)
    assert f'name="episodes" value="{right.code}"' in page(client, "/episodes/")
    answer = client.get("/compare/", {"episodes": [right.code, wrong.code]})
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"/compare/{right.code}/{wrong.code}/",
    )


def test_one_alone_is_asked_for_the_second_and_three_are_refused(
    right: Episode, wrong: Episode, client_of: ClientOf
) -> None:
    client = client_of(Role.VIEWER)
    html = page(client, f"/compare/?episodes={right.code}")
    assert f'href="/compare/{right.code}/{wrong.code}/"' in html
    assert f'href="/compare/?episodes={right.code}"' in page(client, f"/episodes/{right.code}/")
    three = [right.code, wrong.code, played(DONE).code]
    answer = client.get("/compare/", {"episodes": three})
    assert answer.status_code == 400
    assert "3 episodes are chosen. Two can stand beside each other" in answer.content.decode()


def test_without_any_the_page_says_how_two_are_chosen(db: None, client_of: ClientOf) -> None:
    assert "Choose two episodes of one task." in page(client_of(Role.VIEWER), "/compare/")


def test_the_group_of_an_episode_is_offered_before_newer_ones(support_task: Task) -> None:
    first, second = rolled_out(n=2).episodes.order_by("group_index")
    newer = rolled_out("null").episodes.get()
    assert [row.code for row in comparable(first)] == [second.code, newer.code]


def test_hostile_text_is_inert_on_the_page_too(db: None, client_of: ClientOf) -> None:
    stored(small_spec())
    acts = [
        Step("helpdesk_close_ticket", {"ticket_id": HOSTILE, "resolution": HOSTILE}),
        Step(HOSTILE, {HOSTILE: HOSTILE}),
        Step(None, {}, HOSTILE),
    ]
    html = compared(client_of(Role.ADMIN), played(*acts), played(CLOSE, DONE))
    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_nobody_gets_in_without_an_account(right: Episode, wrong: Episode) -> None:
    answer = Client().get(f"/compare/{right.code}/{wrong.code}/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")
