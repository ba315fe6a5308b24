"""Two people, each in a browser of their own, at the same task, the same batch, the same game."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import plain
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import link_job, open_batch
from rollouts_app.operations.episodes import Ended, record_outcomes
from rollouts_app.operations.plays import add_act, open_play
from rollouts_app.queries import selected
from studio.web.choices import JobState
from studio.web.models import Job, User
from tasks_app.core.program import Act as Step
from tasks_app.enums import Origin, TaskState
from tasks_app.models import Task, TaskVersion
from tasks_app.operations.tasks import create_task
from tests.browser.visitor import visiting
from tests.factories.people import person
from tests.factories.specs import green_card, small_spec

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


class Live:
    """What pytest-django's live server offers."""

    url: str


class Both(NamedTuple):
    """A page of each; they share nothing but the studio."""

    ada: Page
    bo: Page


Open = Callable[..., Both]


@pytest.fixture
def ada(transactional_db: None) -> User:
    """An editor."""
    return person("ada")


@pytest.fixture
def bo(transactional_db: None) -> User:
    """Another."""
    return person("bo")


@pytest.fixture
def task(transactional_db: None) -> Task:
    """A proven task."""
    spec = small_spec()
    return create_task(spec=spec, by=None, origin=Origin.WRITTEN, card=green_card(spec))


@pytest.fixture
def both(beside: Browser, live_server: Live, ada: User, bo: User) -> Iterator[Open]:
    """Opens an address in the browsers of both, or of one person twice."""
    with ExitStack() as stack:

        def open_(path: str, *, second: User = bo) -> Both:
            return Both(
                *(
                    stack.enter_context(visiting(beside, live_server.url, who)).open(path)
                    for who in (ada, second)
                )
            )

        yield open_


def save(page: Page, reason: str) -> None:
    """Say why and press Save."""
    page.fill("#reason", reason)
    page.get_by_role("button", name="Save Ctrl s", exact=True).click()


def written(task: Task, number: int) -> TaskVersion:
    """A version as it is stored."""
    return TaskVersion.objects.get(task=task, number=number)


def test_the_second_save_shows_both_texts_and_loses_neither(both: Open, task: Task) -> None:
    ada, bo = both(f"/tasks/{task.code}/edit/")
    ada.fill("#f-title", "Ada’s title")
    ada.fill("#f-request", "Ada’s request")
    bo.fill("#f-title", "Bo’s title")
    bo.fill("#f-org", "Bo’s house")
    save(ada, "Ada says why")
    ada.wait_for_url(re.compile(r"/tasks/T-\w+/$"))
    save(bo, "Bo says why")
    said = bo.locator("#stale-h")
    expect(said).to_have_text("ada saved v2 while you were editing v1.")
    expect(said).to_be_focused()
    expect(bo.locator(".note.fl")).to_contain_text("“Ada says why” Your text is kept.")
    expect(bo.locator(".chgs tbody tr")).to_have_count(1)
    expect(bo.locator(".chgs tbody tr")).to_contain_text("Ada’s title")
    expect(bo.locator(".chgs tbody tr")).to_contain_text("Bo’s title")
    assert bo.input_value("#reason") == "Bo says why"
    assert bo.input_value("#f-title") == "Bo’s title"
    bo.get_by_role("button", name="Merge as chosen").click()
    expect(bo.locator(".toast")).to_contain_text("Your draft stands on v2 now")
    save(bo, "Bo says why")
    bo.wait_for_url(re.compile(r"/tasks/T-\w+/$"))
    spec = written(task, 3).load()
    assert (spec.title, spec.request.text, spec.workplace.organisation) == (
        "Bo’s title",
        "Ada’s request",
        "Bo’s house",
    )
    assert written(task, 2).load().title == "Ada’s title"


def test_who_types_on_after_the_other_saved_is_told_at_once(both: Open, task: Task) -> None:
    ada, bo = both(f"/tasks/{task.code}/edit/")
    ada.fill("#f-title", "Ada’s title")
    save(ada, "why")
    ada.wait_for_url(re.compile(r"/tasks/T-\w+/$"))
    bo.fill("#f-org", "Bo’s house")
    expect(bo.locator("#check")).to_contain_text("ada saved v2 meanwhile.")
    bo.get_by_role("link", name="See both and merge").click()
    expect(bo.locator(".note.fl")).to_contain_text("Nothing clashes")
    assert bo.input_value("#f-org") == "Bo’s house"


def test_one_person_in_two_browsers_does_not_write_over_what_the_other_one_saved(
    both: Open, task: Task, ada: User
) -> None:
    desk, sofa = both(f"/tasks/{task.code}/edit/", second=ada)
    desk.fill("#f-title", "From the desk")
    save(desk, "why")
    desk.wait_for_url(re.compile(r"/tasks/T-\w+/$"))
    sofa.fill("#f-org", "From the sofa")
    expect(sofa.locator("#check")).to_contain_text("ada saved v2 meanwhile.")
    save(sofa, "why not")
    expect(sofa.locator(".note.fl")).to_contain_text("Nothing clashes")
    sofa.get_by_role("button", name="Merge").click()
    save(sofa, "why not")
    sofa.wait_for_url(re.compile(r"/tasks/T-\w+/$"))
    spec = written(task, 3).load()
    assert (spec.title, spec.workplace.organisation) == ("From the desk", "From the sofa")


def test_an_approval_of_what_was_edited_meanwhile_is_refused_with_the_way_back(
    both: Open, task: Task
) -> None:
    ada, bo = both(f"/tasks/{task.code}/")
    ada.goto(ada.url + "edit/")
    ada.fill("#f-title", "Ada’s title")
    save(ada, "why")
    ada.wait_for_url(re.compile(r"/tasks/T-\w+/$"))
    bo.keyboard.press("a")
    expect(bo.locator("h1")).to_have_text("Somebody saved in the meantime")
    expect(bo.locator(".fault")).to_contain_text("at version 2 now; yours began at version 1")
    bo.get_by_role("link", name="Open it again").click()
    expect(bo.locator("h1")).to_have_text("Ada’s title")
    task.refresh_from_db()
    assert (task.state, task.approved) == (TaskState.DRAFT, None)


def test_an_edit_of_what_was_approved_meanwhile_is_saved_and_says_what_it_voids(
    both: Open, task: Task
) -> None:
    ada, bo = both(f"/tasks/{task.code}/")
    ada.goto(ada.url + "edit/")
    ada.fill("#f-title", "Ada’s title")
    expect(ada.locator("#kept")).to_have_text("draft kept just now")
    bo.keyboard.press("a")
    expect(bo.locator(".toast")).to_contain_text("is approved")
    save(ada, "why")
    expect(ada.locator(".toast")).to_contain_text("The approval of v1 is void")
    task.refresh_from_db()
    assert (task.state, task.approved, task.title) == (TaskState.DRAFT, None, "Ada’s title")


@pytest.fixture
def batch(task: Task, ada: User) -> RolloutBatch:
    """A batch that was stopped."""
    made = open_batch(
        policy="reference", chosen=selected(""), filter_text="", group_size=1, seed=0, by=ada
    )
    job = Job.objects.create(
        kind="rollout",
        subject=made.code,
        user=ada,
        arguments={"batch": made.code},
        state=JobState.STOPPED,
    )
    link_job(batch=made, job_id=job.pk)
    made.refresh_from_db()
    return made


def test_of_two_who_resume_and_stop_a_batch_the_second_is_told_how_it_stands(
    both: Open, batch: RolloutBatch
) -> None:
    ada, bo = both(f"/rollouts/{batch.code}/")
    for key, first, told in (
        ("Shift+R", JobState.QUEUED, "is queued"),
        ("c", JobState.STOPPED, "is stopped already"),
    ):
        for page in (ada, bo):
            page.goto(re.sub(r"/rollouts/.*", f"/rollouts/{batch.code}/", page.url))
        ada.keyboard.press(key)
        expect(ada.locator("#batch-live")).to_be_visible()
        ada.wait_for_load_state()
        bo.keyboard.press(key)
        expect(bo.locator(".fault")).to_contain_text(told)
        bo.get_by_role("link", name="Open it again").click()
        expect(bo.locator("#batch-live")).to_be_visible()
        assert [job.state for job in Job.objects.all()] == [first]


def test_of_two_who_make_an_episode_the_reference_the_second_is_led_to_what_the_first_made(
    both: Open, task: Task, ada: User
) -> None:
    batch = open_batch(
        policy="reference", chosen=selected(""), filter_text="", group_size=1, seed=0, by=ada
    )
    episode = Episode.objects.get(batch=batch)
    acts = [
        Step("helpdesk_close_ticket", {"ticket_id": "TK-2", "resolution": "answered"}),
        Step(None, {}, "TK-2 is closed."),
    ]
    outcome = run_episode(small_spec(), plain("person", acts))
    record_outcomes(results=[Ended(episode.pk, outcome)])
    pages = both(f"/episodes/{episode.code}/")
    for page in pages:
        page.get_by_role("button", name="As reference").click()
        page.wait_for_url(re.compile(r"/tasks/T-\w+/\?tab=reference"))
    made = Task.objects.get(origin=Origin.PLAYED)
    assert [made.code in page.url for page in pages] == [True, True]
    expect(pages.bo.locator(".toast")).to_contain_text("was made of this already")


def test_a_game_in_two_browsers_goes_on_once(both: Open, task: Task, ada: User) -> None:
    game = open_play(task=task, by=ada)
    act = {"tool": "helpdesk_search_tickets", "arguments": {"query": "lamp"}}
    add_act(episode=game, by=ada, base=0, act=act)
    add_act(episode=game, by=ada, base=1, act=act)
    desk, sofa = both(f"/play/{game.code}/", second=ada)
    desk.get_by_role("button", name="Take back").click()
    expect(desk.locator(".turn[data-number]")).to_have_count(1)
    sofa.get_by_role("button", name="Take back").click()
    expect(sofa.locator(".fault")).to_contain_text("You went on in another tab")
    sofa.get_by_role("link", name="Open it again").click()
    expect(sofa.locator(".turn[data-number]")).to_have_count(1)
