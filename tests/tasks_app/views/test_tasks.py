"""The list of tasks: filter, pages, chosen rows, saved views."""

import pytest
from django.test import Client

from studio.web.models import AuditEntry, SavedView
from tasks_app.enums import TaskState
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tests.factories.specs import green_card, red_card, small_spec

pytestmark = pytest.mark.django_db


def body(client: Client, url: str, status: int = 200) -> str:
    answer = client.get(url)
    assert answer.status_code == status
    return answer.content.decode()


def three() -> list[Task]:
    easy, hard = (
        small_spec(title="An easy one"),
        small_spec(title="A hard one", difficulty={"level": 5}),
    )
    broken = small_spec(title="A broken one", subtype="other")
    return [
        create_task(spec=easy, card=green_card(easy), by=None),
        create_task(spec=hard, card=green_card(hard), by=None),
        create_task(spec=broken, card=red_card(broken), by=None),
    ]


def test_an_empty_library_shows_the_way_to_a_first_task(editor: Client, viewer: Client) -> None:
    assert "Generate 20 tasks" in body(editor, "/tasks/")
    assert "Generate 20 tasks" not in body(viewer, "/tasks/")


def test_a_filter_narrows_the_rows_and_its_chips_drop(viewer: Client) -> None:
    three()
    page = body(viewer, "/tasks/?q=difficulty:5&q=hard")
    assert "A hard one" in page
    assert "An easy one" not in page
    assert 'aria-label="Drop difficulty:5"' in page
    assert "Showing 1 of 1 task" in page


def test_a_wrong_filter_is_named_and_the_good_terms_rows_stay(viewer: Client) -> None:
    three()
    page = body(viewer, "/tasks/?q=state:proven+dificulty:5", 400)
    assert "There is no filter “dificulty” here." in page
    assert "state%3Aproven+difficulty%3A5" in page
    assert "A hard one" in page
    assert "A broken one" not in page
    assert "A quote is not closed." in body(viewer, '/tasks/?q="open', 400)


def test_no_match_says_what_to_drop_and_what_comes_back(viewer: Client) -> None:
    three()
    page = body(viewer, "/tasks/?q=difficulty:5+state:invalid")
    assert "Drop <b>difficulty:5</b> to see 1" in page
    assert "or <b>state:invalid</b> to see 1" in page


def test_facets_toggle_their_value_in_the_filter(viewer: Client) -> None:
    three()
    page = body(viewer, "/tasks/?q=difficulty:2")
    assert "/tasks/?q=difficulty%3A2%2C5" in page
    assert "/tasks/?q=difficulty%3A2+state%3Ainvalid" in page


def test_unknown_orders_and_foreign_cursors_are_refused(viewer: Client) -> None:
    assert "There is no order" in body(viewer, "/tasks/?sort=colour", 400)
    assert "not one of ours" in body(viewer, "/tasks/?cursor=x", 400)


def test_the_list_alone_is_the_answer_to_its_own_target(viewer: Client) -> None:
    three()
    answer = viewer.get("/tasks/", headers={"HX-Request": "true", "HX-Target": "tasks"})
    assert answer.content.decode().lstrip().startswith('<div id="tasks">')


def test_chosen_rows_are_proven_rolled_out_or_retired(editor: Client) -> None:
    easy, hard, broken = three()
    codes = [easy.code, broken.code]
    answer = editor.post("/tasks/", {"action": "prove", "code": codes, "q": "state:proven"})
    assert (answer.status_code, answer["Location"]) == (303, "/tasks/?q=state%3Aproven")
    answer = editor.post("/tasks/", {"action": "roll_out", "code": codes})
    assert answer["Location"] == f"/rollouts/?tasks=code%3A{easy.code}%2C{broken.code}"
    editor.post(f"/tasks/{hard.code}/reject/", {"base": "1", "reason": "too hard"})
    editor.post("/tasks/", {"action": "retire", "code": [hard.code, easy.code]})
    hard.refresh_from_db()
    assert hard.state == TaskState.RETIRED
    assert editor.post("/tasks/", {"action": "melt", "code": codes}).status_code == 400


def test_readers_cannot_act_on_rows(viewer: Client) -> None:
    easy = three()[0]
    for action in ("prove", "roll_out", "retire"):
        answer = viewer.post("/tasks/", {"action": action, "code": [easy.code]})
        assert answer.status_code == 403


def test_a_view_is_saved_under_a_name_and_shown_as_a_tab(viewer: Client) -> None:
    three()
    data = {"action": "save_view", "name": "Hard desk work", "q": "difficulty:>=4"}
    assert viewer.post("/tasks/", data).status_code == 303
    view = SavedView.objects.get()
    assert view.query == "difficulty:>=4"
    assert AuditEntry.objects.filter(act="save_view", subject=view.code).count() == 1
    assert "Hard desk work" in body(viewer, "/tasks/")


def test_what_the_database_cannot_hold_is_no_error_of_ours(editor: Client) -> None:
    task = three()[0]
    nul = "a\x00b"
    for url, data in (
        ("/tasks/", {"action": "save_view", "name": nul, "q": ""}),
        ("/tasks/", {"action": "prove", "code": [nul]}),
        (f"/tasks/{task.code}/comments/", {"text": nul, "anchor": nul}),
        (f"/tasks/{task.code}/edit/", {"act": "keep", "/title": nul}),
        (f"/tasks/{task.code}/edit/", {"act": "save", "reason": nul}),
        (f"/tasks/{task.code}/reject/", {"base": "1", "reason": nul}),
    ):
        assert editor.post(url, data).status_code in (303, 422)
    for url in ("/tasks/?q=%00", "/generate/?from=%00", f"/tasks/{task.code}/?tab=%00"):
        assert editor.get(url).status_code in (400, 404)
    assert editor.get(f"/tasks/{task.code}/?tab=records&record=%00").status_code == 200
