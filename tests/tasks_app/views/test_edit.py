"""The editor: drafts, typed cells, live check, saving, a stale base, new tasks."""

import json
from typing import Any

import pytest
from django.test import Client

from studio.web.choices import Role
from studio.web.models import Draft
from tasks_app.jobs import prove_now
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tests.factories.specs import small_spec, small_written
from tests.tasks_app.views.conftest import client_of

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true", "HX-Target": "check"}
PARTS = (
    "request",
    "records",
    "tools",
    "constraints",
    "checks",
    "reference",
    "timeline",
    "json",
)


@pytest.fixture
def small(db: None) -> Task:
    """A small draft."""
    return create_task(spec=small_spec(), by=None)


def edit(client: Client, task: Task, data: dict[str, Any], part: str = "request") -> Any:
    return client.post(f"/tasks/{task.code}/edit/?part={part}", data)


def drafted(task: Task) -> dict[str, Any]:
    kept = Draft.objects.get(subject=f"task:{task.code}").content["text"]
    spec: dict[str, Any] = json.loads(kept)
    return spec


def cell(key: str, **cells: str) -> dict[str, str]:
    return {
        "act": "keep_record",
        "collection": "helpdesk/tickets",
        "key": key,
        **{f"cell:{name}": value for name, value in cells.items()},
    }


@pytest.mark.parametrize("part", PARTS)
def test_every_part_opens(editor: Client, small: Task, part: str) -> None:
    answer = editor.get(f"/tasks/{small.code}/edit/?part={part}")
    assert answer.status_code == 200
    assert "Outcome carries 1.00 of the weight; at most 0.6" in answer.content.decode()


def test_a_change_is_kept_as_a_draft_and_survives_a_reload(editor: Client, small: Task) -> None:
    answer = edit(editor, small, {"act": "keep", "/title": "Another title"})
    assert (answer.status_code, answer["Location"]) == (
        303,
        f"/tasks/{small.code}/edit/?part=request",
    )
    page = editor.get(f"/tasks/{small.code}/edit/").content.decode()
    assert 'value="Another title"' in page
    small.refresh_from_db()
    assert (small.title, small.current_number) == ("Close the ticket about the lamp", 1)


def test_the_fields_of_records_keep_their_order(editor: Client, small: Task) -> None:
    edit(editor, small, cell("TK-1", subject="Pot"), "records")
    edit(editor, small, {"act": "save", "reason": "a pot"})
    small.refresh_from_db()
    assert small.current is not None
    ticket = small.current.spec["services"]["helpdesk"]["tickets"][0]
    assert list(ticket) == ["id", "subject", "status", "created_at", "updated_at"]


def test_a_kept_change_answers_with_the_live_check_and_the_difference(
    editor: Client, small: Task
) -> None:
    url = f"/tasks/{small.code}/edit/?part=records"
    answer = editor.post(url, cell("TK-1", status="closed"), headers=FRAGMENT)
    page = answer.content.decode()
    assert page.startswith('<div id="check"')
    assert "helpdesk/tickets TK-1, status" in page
    assert "<del>open</del> → <ins>closed</ins>" in page


def test_cells_are_typed_by_their_column(editor: Client) -> None:
    tickets = small_written()["services"]["helpdesk"]["tickets"]
    tickets[0]["hours"], tickets[0]["done"], tickets[0]["labels"] = 2.5, False, ["a"]
    tickets[1]["hours"], tickets[1]["done"] = None, True
    task = create_task(spec=small_spec(services={"helpdesk": {"tickets": tickets}}), by=None)
    edit(editor, task, cell("TK-1", hours="3", done="true", labels='["a", "b"]', subject=""))
    edit(editor, task, cell("TK-2", hours="1,200.50", labels="", due_on=""))
    first, second = drafted(task)["services"]["helpdesk"]["tickets"]
    assert (first["hours"], first["done"], first["labels"], first["subject"]) == (
        3,
        True,
        ["a", "b"],
        "",
    )
    assert second["hours"] == 1200.5
    assert "labels" not in second
    assert "due_on" not in second


def test_a_cell_of_the_wrong_type_is_named_and_the_others_are_kept(
    editor: Client, small: Task
) -> None:
    tickets = small_written()["services"]["helpdesk"]["tickets"]
    tickets[0]["hours"] = 2.5
    task = create_task(spec=small_spec(services={"helpdesk": {"tickets": tickets}}), by=None)
    url = f"/tasks/{task.code}/edit/?part=records"
    answer = editor.post(url, cell("TK-1", hours="three", subject="Pot"), headers=FRAGMENT)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'data-wrong="cell:hours"' in page
    assert "“three” is not a number" in page
    assert drafted(task)["services"]["helpdesk"]["tickets"][0]["subject"] == "Pot"


def test_records_are_added_copied_renamed_and_deleted(editor: Client, small: Task) -> None:
    base = {"collection": "helpdesk/tickets"}
    edit(editor, small, {**base, "act": "add_record"}, "records")
    edit(editor, small, {**base, "act": "copy_record", "key": "TK-1"}, "records")
    edit(editor, small, cell("TK-3", id="TK-9"), "records")
    edit(editor, small, {**base, "act": "delete_record", "key": "TK-2"}, "records")
    rows = drafted(small)["services"]["helpdesk"]["tickets"]
    assert [(row["id"], row["subject"]) for row in rows] == [
        ("TK-1", "Kettle"),
        ("TK-4", "Kettle"),
        ("TK-9", None),
    ]
    taken = edit(editor, small, cell("TK-4", id="TK-1"), "records")
    assert "cannot be its id" in taken.content.decode()
    gone = edit(editor, small, cell("TK-2", subject="x"), "records")
    assert "there is no record TK-2 any more" in gone.content.decode()


def test_a_first_record_begins_a_collection_and_opens_it(editor: Client, small: Task) -> None:
    data = {"act": "add_record", "collection": "contacts/people"}
    answer = edit(editor, small, data, "records")
    assert "collection=contacts%2Fpeople" in answer["Location"]
    assert len(drafted(small)["services"]["contacts"]["people"]) == 1


def test_conditions_of_a_check_are_fields(editor: Client, small: Task) -> None:
    data = {
        "act": "keep_check",
        "key": "closed",
        "explain": "",
        "component": "outcome",
        "weight": "1",
        "in:expect:status": "open",
        "in:expect:resolution": '{"ne": "answered"}',
        "in:where:id": "17",
        "in:where:other": "ignored",
    }
    edit(editor, small, data, "checks")
    check = drafted(small)["checks"][0]
    assert check["expect"] == {"status": "open", "resolution": {"ne": "answered"}}
    assert check["where"] == {"id": "17"}
    assert (
        'name="in:expect:status"'
        in editor.get(f"/tasks/{small.code}/edit/?part=checks").content.decode()
    )


def test_checks_and_constraints_are_rows_with_json_behind_them(editor: Client, small: Task) -> None:
    check = {"act": "keep_check", "key": "closed", "explain": "TK-2 is closed", "weight": "0.9"}
    edit(editor, small, {**check, "component": "outcome", "requires": ""}, "checks")
    rule = {"act": "keep_constraint", "key": "K1", "sentence": "Tickets are never deleted."}
    edit(editor, small, {**rule, "gate": "deduct", "deduct": "0.3", "policy": "desk"})
    edit(editor, small, {"act": "add_check", "kind": "answer"}, "checks")
    draft = drafted(small)
    assert draft["checks"][0]["weight"] == 0.9
    assert draft["checks"][0]["explain"] == "TK-2 is closed"
    assert draft["checks"][1]["kind"] == "answer"
    assert draft["constraints"][0]["severity"] == {"deduct": 0.3}
    raw = {"act": "keep_entry_json", "place": "/checks", "key": "closed", "json": "{"}
    assert "not JSON at line" in edit(editor, small, raw, "checks").content.decode()
    edit(editor, small, {**raw, "json": json.dumps({**draft["checks"][0], "weight": 1})})
    assert drafted(small)["checks"][0]["weight"] == 1
    edit(editor, small, {"act": "delete_entry", "place": "/checks", "key": "check2"})
    assert [entry["id"] for entry in drafted(small)["checks"]] == ["closed"]


def test_the_whole_json_shows_faults_at_their_line(editor: Client, small: Task) -> None:
    written = small_written(title="")
    text = json.dumps(written, indent=2)
    edit(editor, small, {"act": "keep_json", "json": text}, "json")
    page = editor.get(f"/tasks/{small.code}/edit/?part=json").content.decode()
    assert '<button class="linkish" type="button" data-line="4" data-for="whole-json">' in page
    answer = edit(editor, small, {"act": "keep_json", "json": '{"a": 1,\n"b": }'}, "json")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Not JSON at line 2, column 6" in page
    assert "&quot;b&quot;: }" in page


def test_saving_makes_a_version_and_drops_the_draft(editor: Client, small: Task) -> None:
    edit(editor, small, {"act": "keep", "/title": "Another title"})
    answer = edit(editor, small, {"act": "save", "reason": "clearer"})
    assert (answer.status_code, answer["Location"]) == (303, f"/tasks/{small.code}/")
    small.refresh_from_db()
    assert (small.title, small.current_number) == ("Another title", 2)
    assert small.current is not None
    assert small.current.reason == "clearer"
    assert not Draft.objects.exists()


def test_saving_needs_a_reason_and_a_change(editor: Client, small: Task) -> None:
    answer = edit(editor, small, {"act": "save", "reason": ""})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Say in a few words why you change it" in page
    assert "nothing has changed since the last version" in page


def test_save_and_prove_shows_what_an_edit_broke(editor: Client, small: Task) -> None:
    edit(editor, small, cell("TK-2", status="closed"), "records")
    answer = edit(editor, small, {"act": "save_prove", "reason": "try"})
    assert answer["Location"] == f"/tasks/{small.code}/#proof"
    page = editor.get(f"/tasks/{small.code}/").content.decode()
    assert "Not proven" in page
    assert "What stands against it" in page


def test_a_proof_after_an_edit_says_how_many_gates_it_kept(editor: Client, small: Task) -> None:
    prove_now(task=small, by=None)
    edit(editor, small, {"act": "keep", "/title": "Close the ticket, once more"})
    edit(editor, small, {"act": "save_prove", "reason": "a better title"})
    small.refresh_from_db()
    assert small.proof is not None
    assert small.proof.kept > 0
    counted = f"{small.proof.kept} gates kept"
    assert counted in editor.get(f"/tasks/{small.code}/").content.decode()
    editor.post(f"/tasks/{small.code}/prove/")
    assert "gates kept" not in editor.get(f"/tasks/{small.code}/").content.decode()


def test_half_typed_work_is_kept_but_cannot_be_saved(editor: Client, small: Task) -> None:
    edit(editor, small, {"act": "keep", "/title": "", "/request/text": ""})
    answer = edit(editor, small, {"act": "save", "reason": "x"})
    assert answer.status_code == 422
    assert drafted(small)["request"]["text"] == ""


def test_a_stale_save_answers_409_with_both_versions_and_keeps_the_text(small: Task) -> None:
    mine, theirs = client_of(Role.EDITOR), client_of(Role.LEAD)
    edit(mine, small, {"act": "keep", "/title": "My title", "/subtype": "mine"})
    edit(theirs, small, {"act": "keep", "/title": "Their title", "/language": "de"})
    edit(theirs, small, {"act": "save", "reason": "translated"})
    answer = edit(mine, small, {"act": "save", "reason": "my reason"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "saved v2" in page
    assert "My title" in page
    assert "Their title" in page
    assert "my reason" in page
    assert edit(mine, small, {"act": "merge", "choose:/title": "theirs"}).status_code == 303
    draft = drafted(small)
    assert (draft["title"], draft["subtype"], draft["language"]) == ("Their title", "mine", "de")
    assert edit(mine, small, {"act": "save", "reason": "merged"}).status_code == 303
    small.refresh_from_db()
    assert (small.current_number, small.title, small.subtype) == (3, "Their title", "mine")


def test_mine_or_theirs_may_be_taken_throughout(small: Task) -> None:
    mine, theirs = client_of(Role.EDITOR), client_of(Role.LEAD)
    edit(mine, small, {"act": "keep", "/title": "My title"})
    edit(theirs, small, {"act": "keep", "/title": "Their title"})
    edit(theirs, small, {"act": "save", "reason": "theirs"})
    edit(mine, small, {"act": "merge", "all": "mine"})
    assert drafted(small)["title"] == "My title"


def test_a_draft_is_thrown_away_on_request(editor: Client, small: Task) -> None:
    edit(editor, small, {"act": "keep", "/title": "Another title"})
    assert edit(editor, small, {"act": "discard"}).status_code == 303
    assert not Draft.objects.exists()


def test_unknown_acts_places_and_parts_are_named(editor: Client, small: Task) -> None:
    assert edit(editor, small, {"act": "melt"}).status_code == 422
    assert edit(editor, small, {"act": "delete_entry", "place": "/services"}).status_code == 422
    assert edit(editor, small, {"act": "keep_check", "key": "none"}).status_code == 422
    assert editor.get(f"/tasks/{small.code}/edit/?part=colour").status_code == 400


NEW = {
    "kind": "words",
    "title": "Answer the letter",
    "request": "Please answer the letter about the lamp.",
    "organisation": "Lantern Yard",
    "requester": "Ada Winter",
    "family": "support_resolution",
    "subtype": "by_hand",
    "level": "2",
    "services": ["helpdesk", "mail"],
}


def test_a_new_task_is_a_draft_with_tools_and_empty_collections(editor: Client) -> None:
    assert editor.get("/tasks/new/").status_code == 200
    answer = editor.post("/tasks/new/", NEW)
    task = Task.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/tasks/{task.code}/edit/")
    assert (task.state, task.services, task.origin) == ("draft", ["helpdesk", "mail"], "written")
    assert editor.get(answer["Location"]).status_code == 200
    assert editor.post(f"/tasks/{task.code}/prove/").status_code == 303
    assert (
        "there is no reference solution"
        in editor.get(f"/tasks/{task.code}/").content.decode().lower()
    )


def test_a_new_task_without_words_comes_back_with_its_fields(editor: Client) -> None:
    answer = editor.post("/tasks/new/", {**NEW, "title": "", "subtype": "Not So"})
    assert answer.status_code == 422
    assert "Small letters, figures and underscores" in answer.content.decode()
    assert not Task.objects.exists()


def test_a_new_task_is_begun_from_a_drafted_one_or_from_json(editor: Client) -> None:
    data = {"kind": "drafted", "family": "support_resolution", "level": "1", "seed": "3"}
    assert editor.post("/tasks/new/", data).status_code == 303
    text = json.dumps(small_written())
    assert editor.post("/tasks/new/", {"kind": "json", "spec": text}).status_code == 303
    assert Task.objects.count() == 2


def test_json_that_is_no_spec_is_refused_with_its_lines(editor: Client) -> None:
    text = json.dumps(small_written(difficulty={"level": 9}), indent=1)
    answer = editor.post("/tasks/new/", {"kind": "json", "spec": text})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "/difficulty/level" in page
    assert "data-line=" in page
    assert not Task.objects.exists()


def test_a_list_in_a_cell_is_said_in_words(editor: Client) -> None:
    written = small_written()
    tickets = written["services"]["helpdesk"]["tickets"]
    tickets[0]["tags"] = ["lamp", "urgent"]
    tickets[0]["lines"] = [{"sku": "A", "quantity": 2}, {"sku": "B", "quantity": 1}]
    tickets[1]["tags"] = []
    task = create_task(spec=small_spec(services=written["services"]), by=None)
    page = editor.get(f"/tasks/{task.code}/edit/?part=records").content.decode()
    for words in (">lamp, urgent</a>", ">2 entries</a>", ">none</a>"):
        assert words in page
