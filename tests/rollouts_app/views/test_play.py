"""Playing a task in the browser: tools as forms, two tabs, the end, what becomes of it."""

from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client

from rollouts_app.enums import EpisodeState, Purpose
from rollouts_app.models import Episode
from rollouts_app.views.tool_forms import tool_forms
from studio.web.choices import Role
from studio.web.models import Draft
from tasks_app.enums import Origin, TaskState
from tasks_app.models import Task
from tests.factories.pages import HOSTILE, ClientOf, page, words
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from tests.rollouts_app.views.test_pages import section

CLOSE = {
    "tool": "helpdesk_close_ticket",
    "arg-ticket_id": "TK-2",
    "arg-resolution": "answered",
    "arg-reference": "",
}


@pytest.fixture
def task(db: None) -> Task:
    """The small task, proven."""
    return stored(small_spec())


@pytest.fixture
def client(client_of: ClientOf) -> Client:
    """An editor's."""
    return client_of(Role.EDITOR)


def started(client: Client, task: Task) -> Episode:
    """Begin a game."""
    sent = client.post("/play/", {"task": task.code})
    episode = Episode.objects.get()
    assert (sent.status_code, sent["Location"]) == (303, f"/play/{episode.code}/")
    return episode


def act(client: Client, episode: Episode, base: int, **fields: str) -> Any:
    """Send one act."""
    return client.post(f"/play/{episode.code}/act/", {"base": base, **fields})


def test_a_game_is_played_to_its_grade(client: Client, task: Task) -> None:
    episode = started(client, task)
    sent = act(client, episode, 0, **CLOSE)
    assert sent["Location"] == f"/play/{episode.code}/?tool=helpdesk_close_ticket#turn-1"
    shown = page(client, f"/play/{episode.code}/")
    assert "TK-2, 6 fields" in words(section(shown, 1))
    ended = act(client, episode, 1, reply="TK-2 is closed.")
    assert ended["Location"] == f"/episodes/{episode.code}/"
    episode.refresh_from_db()
    assert (episode.state, episode.reward, episode.policy, episode.turns) == (
        EpisodeState.GRADED,
        1.0,
        "person",
        2,
    )
    assert (episode.batch.purpose, episode.batch.mean_reward) == (Purpose.PLAY, 1.0)
    assert not Draft.objects.exists()
    assert "helpdesk/tickets/TK-2" in page(client, f"/episodes/{episode.code}/")


def test_nothing_of_the_grading_is_shown_while_it_goes_on(client: Client, task: Task) -> None:
    episode = started(client, task)
    act(client, episode, 0, **CLOSE)
    shown = page(client, f"/play/{episode.code}/")
    assert "Rules on this call" not in shown
    assert "reward" not in words(shown).lower()
    assert "i-flag" not in shown


def test_the_last_act_can_be_taken_back(client: Client, task: Task) -> None:
    episode = started(client, task)
    act(client, episode, 0, **CLOSE)
    assert client.post(f"/play/{episode.code}/undo/", {"base": 1}).status_code == 303
    assert 'id="turn-1"' not in page(client, f"/play/{episode.code}/")
    assert client.post(f"/play/{episode.code}/undo/", {"base": 0}).status_code == 409


def test_a_second_tab_that_is_behind_is_refused_and_nothing_happens_twice(
    client: Client, task: Task
) -> None:
    episode = started(client, task)
    act(client, episode, 0, **CLOSE)
    assert act(client, episode, 0, **CLOSE).status_code == 409
    assert Draft.objects.get().content["acts"] == [
        {
            "tool": "helpdesk_close_ticket",
            "arguments": {"ticket_id": "TK-2", "resolution": "answered"},
        }
    ]


def test_wrong_arguments_are_answered_by_the_tool_as_to_any_policy(
    client: Client, task: Task
) -> None:
    episode = started(client, task)
    act(client, episode, 0, tool="helpdesk_close_ticket", **{"arg-ticket_id": "TK-99"})
    shown = words(section(page(client, f"/play/{episode.code}/"), 1))
    assert "missing_argument resolution: Field required" in shown


def test_a_tool_that_is_not_offered_and_a_form_without_base_are_refused(
    client: Client, task: Task
) -> None:
    episode = started(client, task)
    assert act(client, episode, 0, tool="finance_create_refund").status_code == 404
    assert client.post(f"/play/{episode.code}/act/", {"reply": "x"}).status_code == 400


def test_what_a_person_types_is_inert(client: Client, task: Task) -> None:
    episode = started(client, task)
    act(client, episode, 0, tool="helpdesk_search_tickets", **{"arg-query": HOSTILE})
    html = page(client, f"/play/{episode.code}/")
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_only_the_person_who_began_it_plays_on(
    client: Client, task: Task, client_of: ClientOf
) -> None:
    episode = started(client, task)
    other = client_of(Role.LEAD)
    page(other, f"/play/{episode.code}/", 404)
    assert act(other, episode, 0, reply="mine now").status_code == 404
    assert "Somebody is playing this." in page(other, f"/episodes/{episode.code}/")
    assert "Go on playing" in page(client, f"/episodes/{episode.code}/")


@pytest.mark.parametrize(
    ("role", "status"), [(None, 302), (Role.VIEWER, 403), (Role.REVIEWER, 403), (Role.EDITOR, 303)]
)
def test_playing_needs_an_editor(
    task: Task, client_of: ClientOf, role: Role | None, status: int
) -> None:
    assert client_of(role).post("/play/", {"task": task.code}).status_code == status


def test_a_task_that_does_not_exist_is_404(db: None, client: Client) -> None:
    assert client.post("/play/", {"task": "T-0000"}).status_code == 404


def test_a_played_episode_becomes_the_reference_of_a_new_task(client: Client, task: Task) -> None:
    episode = started(client, task)
    act(client, episode, 0, **CLOSE)
    act(client, episode, 1, reply="TK-2 is closed now.")
    sent = client.post(f"/episodes/{episode.code}/reference/")
    made = Task.objects.exclude(pk=task.pk).get()
    assert (sent.status_code, sent["Location"]) == (303, f"/tasks/{made.code}/?tab=reference")
    assert (made.origin, made.state) == (Origin.PLAYED, TaskState.DRAFT)
    assert made.current is not None
    assert made.current.parent == task.current
    assert [step.get("reply", step.get("tool")) for step in made.current.spec["reference"]] == [
        "helpdesk_close_ticket",
        "TK-2 is closed now.",
    ]


@pytest.mark.parametrize(("role", "status"), [(None, 302), (Role.REVIEWER, 403)])
def test_making_a_task_of_an_episode_needs_an_editor(
    client: Client, task: Task, client_of: ClientOf, role: Role | None, status: int
) -> None:
    episode = started(client, task)
    act(client, episode, 0, reply="Nothing to do.")
    path = f"/episodes/{episode.code}/reference/"
    assert client_of(role).post(path).status_code == status


def schema(**properties: Any) -> dict[str, Any]:
    """A tool with these properties, the first one required."""
    return {
        "type": "function",
        "function": {
            "name": "t",
            "description": "",
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": [next(iter(properties))],
                "$defs": {"Status": {"enum": ["open", "closed"], "type": "string"}},
            },
        },
    }


def test_fields_follow_the_schema_and_read_their_type_back() -> None:
    (form,) = tool_forms(
        [
            schema(
                ticket_id={"type": "string"},
                body={"type": "string"},
                status={"$ref": "#/$defs/Status"},
                amount={"anyOf": [{"type": "number"}, {"type": "null"}]},
                limit={"type": "integer"},
                urgent={"type": "boolean"},
                to={"type": "array", "items": {"type": "string"}},
                lines={"type": "array", "items": {"type": "object"}},
                left_out={"type": "string"},
            )
        ],
        {},
    )
    assert [(field.name, field.kind, field.required) for field in form.fields] == [
        ("ticket_id", "text", True),
        ("body", "long", False),
        ("status", "choice", False),
        ("amount", "number", False),
        ("limit", "number", False),
        ("urgent", "flag", False),
        ("to", "lines", False),
        ("lines", "json", False),
        ("left_out", "text", False),
    ]
    typed = QueryDict(mutable=True)
    typed.update(
        {
            "arg-ticket_id": " TK-1 ",
            "arg-body": "a\r\nb",
            "arg-status": "open",
            "arg-amount": "12,50",
            "arg-limit": "5",
            "arg-urgent": "true",
            "arg-to": "a@x.example\r\n\r\nb@x.example",
            "arg-lines": '[{"sku": "A"}]',
            "arg-left_out": "",
        }
    )
    assert form.arguments(typed) == {
        "ticket_id": "TK-1",
        "body": "a\nb",
        "status": "open",
        "amount": 12.5,
        "limit": 5,
        "urgent": True,
        "to": ["a@x.example", "b@x.example"],
        "lines": [{"sku": "A"}],
    }


def test_what_cannot_be_read_goes_on_as_text_for_the_tool_to_refuse() -> None:
    (form,) = tool_forms([schema(limit={"type": "integer"}, lines={"type": "object"})], {})
    typed = QueryDict(mutable=True)
    typed.update({"arg-limit": "many", "arg-lines": "{oops"})
    assert form.arguments(typed) == {"limit": "many", "lines": "{oops"}
