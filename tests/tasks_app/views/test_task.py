"""The page of one task: its parts, its proof, and every act on it."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from studio.web.models import Draft
from tasks_app.core.validation.card import RepairRecord, Suggestion
from tasks_app.enums import TaskState
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task, save_version
from tests.factories.specs import green_card, imported_spec, red_card, small_spec
from tests.studio.lib.test_tokens import tokenizer_at

pytestmark = pytest.mark.django_db

TABS = (
    "request",
    "records",
    "tools",
    "constraints",
    "checks",
    "reference",
    "timeline",
    "model",
    "history",
)


def body(client: Client, url: str, status: int = 200) -> str:
    answer = client.get(url)
    assert answer.status_code == status
    return answer.content.decode()


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_of_a_generated_task_opens(viewer: Client, task: Task, tab: str) -> None:
    page = body(viewer, f"/tasks/{task.code}/?tab={tab}")
    assert 'id="proof"' in page
    assert "style=" not in page
    assert "<script>" not in page


def test_the_proof_card_says_what_each_policy_earns(viewer: Client, task: Task) -> None:
    page = body(viewer, f"/tasks/{task.code}/")
    assert "Proven" in page
    assert "Mutants of the work killed" in page
    assert "One scale" not in page
    assert 'aria-label="Rewards on one scale from 0 to 1: null 0.00;' in page


def test_a_reader_is_offered_no_act(viewer: Client, task: Task) -> None:
    page = body(viewer, f"/tasks/{task.code}/")
    assert [act for act in ("/prove/", "/approve/", "/reject/", "/edit/") if act in page] == []
    assert viewer.post(f"/tasks/{task.code}/prove/").status_code == 403
    assert viewer.get(f"/tasks/{task.code}/edit/").status_code == 403


def test_a_record_that_a_check_names_is_the_target(viewer: Client) -> None:
    task = create_task(spec=small_spec(), by=None)
    page = body(viewer, f"/tasks/{task.code}/?tab=records")
    rows = page.split("<tr data-row")[1:]
    assert ["TK-1" in rows[0], "target" in rows[0]] == [True, False]
    assert ["TK-2" in rows[1], '<span class="tag t">target</span>' in rows[1]] == [True, True]


def test_the_reference_is_shown_as_it_ran(viewer: Client) -> None:
    task = create_task(spec=small_spec(), by=None)
    page = body(viewer, f"/tasks/{task.code}/?tab=reference")
    assert "helpdesk/tickets/TK-2" in page
    assert "<del>open</del> → <ins>closed</ins>" in page
    assert "0.00 → 1.00" in page


def test_hostile_text_is_only_text(viewer: Client) -> None:
    evil = "<script>alert(1)</script>"
    spec = small_spec(title=evil, request={"text": evil})
    task = create_task(spec=spec, by=None)
    for tab in TABS:
        page = body(viewer, f"/tasks/{task.code}/?tab={tab}")
        assert evil not in page
        assert "&lt;script&gt;alert(1)" in page


def test_an_older_version_is_read_only(editor: Client, task: Task) -> None:
    spec = small_spec()
    answer = editor.post(
        f"/tasks/{task.code}/edit/?part=request",
        {"act": "keep", "/title": "Another title"},
    )
    assert answer.status_code == 303
    saved = editor.post(f"/tasks/{task.code}/edit/", {"act": "save", "reason": "a better title"})
    assert saved.status_code == 303
    page = body(editor, f"/tasks/{task.code}/?v=1")
    assert "older version" in page
    assert "/approve/" not in page
    assert spec.title not in page


def test_unknown_tabs_versions_and_tasks_are_named(viewer: Client, task: Task) -> None:
    assert "There is no tab “colour”" in body(viewer, f"/tasks/{task.code}/?tab=colour", 400)
    assert "has no version 9" in body(viewer, f"/tasks/{task.code}/?v=9", 404)
    assert "is no number of a version" in body(viewer, f"/tasks/{task.code}/?v=x", 400)
    assert viewer.get("/tasks/T-0000/").status_code == 404


def test_a_broken_proof_says_what_where_and_what_to_press(editor: Client) -> None:
    suggestion = Suggestion(
        rule="recompute_expected",
        title="expect what the reference arrives at",
        patch=({"op": "replace", "path": "/checks/0/expect/resolution", "value": "answered"},),
    )
    spec = small_spec()
    task = create_task(spec=spec, card=red_card(spec, suggestion=suggestion), by=None)
    page = body(editor, f"/tasks/{task.code}/")
    assert "The proof does not hold." in page
    assert "Check closed, expected resolution" in page
    assert "Accept and prove" in page
    assert f"/tasks/{task.code}/?tab=checks#at-checks-0" in page


def test_a_repair_names_its_places_in_words_and_its_path_beside_them(editor: Client) -> None:
    spec = small_spec()
    patch = (
        {"op": "replace", "path": "/checks/0/expect/resolution", "value": "no_fault"},
        {"op": "add", "path": "/checks/-", "value": {
            "id": "c", "kind": "unchanged", "outside": "write_set"}},
        {"op": "remove", "path": "/constraints/0"},
    )  # fmt: skip
    suggestion = Suggestion(rule="r", title="expect no fault", patch=patch)
    task = create_task(spec=spec, card=red_card(spec, suggestion=suggestion), by=None)
    page = body(editor, f"/tasks/{task.code}/")
    told = page.split('<dl class="patch">')[1].split("</dl>")[0]
    assert [line.split("</dd>")[0] for line in told.split("<dt>")[1:]] == [
        (
            'Check closed, expected resolution</dt><dd class="wrap"><del>answered</del> → '
            '<ins>no_fault</ins> <code class="path">/checks/0/expect/resolution</code>'
        ),
        (
            'Checks</dt><dd class="wrap"><span class="dim">added</span> <ins>unchanged: everything '
            'outside the write set</ins> <code class="path">/checks/-</code>'
        ),
        (
            'Constraint “Tickets are never deleted.”</dt><dd class="wrap"><span class="dim">taken '
            "away</span> <del>at most: tool helpdesk_close_ticket; 1</del> "
            '<code class="path">/constraints/0</code>'
        ),
    ]


def test_a_repair_of_a_long_policy_shows_the_sentence_that_it_adds(editor: Client) -> None:
    workplace = small_spec().written()["workplace"]
    text = "Tickets are never deleted. " * 20
    workplace["policies"][0]["text"] = text.strip()
    spec = small_spec(workplace=workplace)
    path = "/workplace/policies/0/text"
    patch = ({"op": "replace", "path": path, "value": text + "Notes may be."},)
    suggestion = Suggestion(rule="r", title="say it", patch=patch)
    task = create_task(spec=spec, card=red_card(spec, suggestion=suggestion), by=None)

    told = body(editor, f"/tasks/{task.code}/").split('<dl class="patch">')[1].split("</dl>")[0]

    assert "Notes may be.</ins>" in told
    assert "Notes may be" not in told.split("<ins>")[0]


def test_a_repair_that_adds_over_a_value_replaces_it(editor: Client) -> None:
    spec = small_spec(limits={"tool_calls": 2})
    patch = ({"op": "add", "path": "/limits/tool_calls", "value": 7},)
    suggestion = Suggestion(rule="r", title="raise tool_calls to 7", patch=patch)
    task = create_task(spec=spec, card=red_card(spec, suggestion=suggestion), by=None)

    page = body(editor, f"/tasks/{task.code}/")

    assert "<del>2</del> → <ins>7</ins>" in page


def test_a_repair_on_the_way_may_have_taken_away_what_is_gone(editor: Client) -> None:
    spec = small_spec()
    patch = ({"op": "remove", "path": "/checks/40"},)
    record = RepairRecord(
        gate="S4", rule="r", title="drop it", actor="rule",
        before="a", after="b", patch=patch,
    )  # fmt: skip
    card = green_card(spec, repairs=(record,))
    task = create_task(spec=spec, card=card, by=None)

    assert "taken away" in body(editor, f"/tasks/{task.code}/")


def test_a_finding_said_once_per_item_is_one_thing_to_mend(editor: Client) -> None:
    spec = small_spec()
    card = red_card(spec)
    said = card.findings[0].model_copy(
        update={"message": "o_gone and the rest", "hint": "did you mean o_one?"}
    )
    card = card.model_copy(update={"findings": (said, said, said)})
    page = body(editor, f"/tasks/{create_task(spec=spec, card=card, by=None).code}/")

    assert page.count("<b>O1</b> o_gone and the rest.") == 1
    assert "1 finding<" in page
    assert "Did you mean o_one?</span>" in page


def test_a_check_shows_what_it_expects_and_how_reference_and_null_stand(viewer: Client) -> None:
    task = create_task(spec=small_spec(), by=None)
    page = body(viewer, f"/tasks/{task.code}/?tab=checks")
    check = page.split('id="check-closed"')[1].split("</article>")[0]
    assert "<code>status</code> <b>closed</b>" in check
    assert "<code>resolution</code> <b>answered</b>" in check
    worked, idle = check.split('<div class="standing s">')[1:]
    assert ["Reference" in worked, "1.00" in worked, "holds" in worked] == [True, True, True]
    assert ["Doing nothing" in idle, "0.00" in idle] == [True, True]
    assert "Status is open; expected closed" in idle
    # No JSON but what opens on request.
    assert "{" not in check.split("<details")[0] + check.split("</details>")[1]


def test_what_a_check_expects_is_only_text(viewer: Client) -> None:
    evil = "<img src=x onerror=alert(1)>"
    checks = [
        {
            "id": "closed", "kind": "record_match", "component": "outcome", "weight": 0.5,
            "explain": evil, "service": "helpdesk", "collection": "tickets",
            "where": {"id": "TK-2", "subject": {"ne": evil}},
            "expect": {"status": "closed", "resolution": {"in": [evil]}},
        },
        {
            "id": "told", "kind": "answer", "component": "report", "weight": 0.5,
            "text": [[evil]], "forbidden": [evil], "because": {"text": evil},
        },
    ]  # fmt: skip
    task = create_task(spec=small_spec(checks=checks), by=None)
    page = body(viewer, f"/tasks/{task.code}/?tab=checks")
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 7


def test_an_accepted_repair_is_a_proven_version(editor: Client) -> None:
    spec = small_spec(
        checks=[
            {
                "id": "closed",
                "kind": "record_match",
                "component": "outcome",
                "weight": 1.0,
                "service": "helpdesk",
                "collection": "tickets",
                "where": {"id": "TK-2"},
                "expect": {"status": "closed", "resolution": "wrong"},
            }
        ]
    )
    suggestion = Suggestion(
        rule="recompute_expected",
        title="expect what the reference arrives at",
        patch=({"op": "replace", "path": "/checks/0/expect/resolution", "value": "answered"},),
    )
    task = create_task(spec=spec, card=red_card(spec, suggestion=suggestion), by=None)
    answer = editor.post(f"/tasks/{task.code}/repair/", {"base": "1", "finding": "0"})
    assert (answer.status_code, answer["Location"]) == (303, f"/tasks/{task.code}/#proof")
    task.refresh_from_db()
    assert (task.current_number, task.origin) == (2, "written")
    assert task.current is not None
    assert task.current.spec["checks"][0]["expect"]["resolution"] == "answered"
    assert task.proof is not None
    undone = editor.post(f"/tasks/{task.code}/undo/", {"base": "2"})
    assert undone.status_code == 303
    task.refresh_from_db()
    assert (task.current_number, task.spec_hash) == (3, spec.hash)


def test_undo_goes_back_edit_by_edit_and_never_forth_again(editor: Client) -> None:
    first, second, third = (small_spec(title=title) for title in ("One", "Two", "Three"))
    task = create_task(spec=first, by=None)
    for base, spec in ((1, second), (2, third)):
        task = save_version(task=task, base=base, spec=spec, by=None, reason="an edit")

    seen = []
    for base in (3, 4):
        assert editor.post(f"/tasks/{task.code}/undo/", {"base": str(base)}).status_code == 303
        task.refresh_from_db()
        assert task.current is not None
        seen.append((task.current.spec["title"], task.current.reason))

    assert seen == [("Two", "takes v3 back"), ("One", "takes v2 back")]
    assert editor.post(f"/tasks/{task.code}/undo/", {"base": "5"}).status_code == 409


def test_approval_and_rejection_name_the_version_that_was_read(
    reviewer: Client, task: Task
) -> None:
    assert reviewer.post(f"/tasks/{task.code}/approve/", {"base": "7"}).status_code == 409
    assert reviewer.post(f"/tasks/{task.code}/approve/").status_code == 400
    assert reviewer.post(f"/tasks/{task.code}/approve/", {"base": "1"}).status_code == 303
    task.refresh_from_db()
    assert task.state == TaskState.APPROVED


def test_a_rejection_without_a_reason_comes_back_with_the_field(
    reviewer: Client, task: Task
) -> None:
    answer = reviewer.post(f"/tasks/{task.code}/reject/", {"base": "1", "reason": " "})
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    answer = reviewer.post(f"/tasks/{task.code}/reject/", {"base": "1", "reason": "two targets"})
    assert answer.status_code == 303
    task.refresh_from_db()
    assert task.state == TaskState.REJECTED
    assert "two targets" in body(reviewer, f"/tasks/{task.code}/")


def test_a_judged_task_is_retired_and_a_copy_is_a_draft(editor: Client, task: Task) -> None:
    assert editor.post(f"/tasks/{task.code}/retire/").status_code == 409
    editor.post(f"/tasks/{task.code}/approve/", {"base": "1"})
    assert editor.post(f"/tasks/{task.code}/retire/").status_code == 303
    answer = editor.post(f"/tasks/{task.code}/duplicate/")
    copied = Task.objects.exclude(pk=task.pk).get()
    assert (answer.status_code, answer["Location"]) == (303, f"/tasks/{copied.code}/edit/")
    assert copied.state == TaskState.DRAFT
    assert not Draft.objects.exists()


def test_an_imported_task_says_that_its_grader_is_unproven(editor: Client) -> None:
    task = create_task(spec=imported_spec(), by=None)
    assert editor.post(f"/tasks/{task.code}/prove/").status_code == 303
    page = body(editor, f"/tasks/{task.code}/")
    assert "Unproven upstream grader" in page
    assert "/approve/" not in page
    assert "never approved" in page
    assert f'href="{reverse("evaluations")}#start"' in page
    checks = body(editor, f"/tasks/{task.code}/?tab=checks")
    assert ["no reference" in checks, "Doing nothing" in checks] == [True, True]


def test_a_note_is_added_and_an_empty_one_refused(reviewer: Client, task: Task) -> None:
    assert reviewer.post(f"/tasks/{task.code}/comments/", {"text": ""}).status_code == 422
    reviewer.post(f"/tasks/{task.code}/comments/", {"text": "Is the date right?"})
    assert "Is the date right?" in body(reviewer, f"/tasks/{task.code}/")


def test_a_task_proven_by_older_gates_asks_to_be_proven_again(editor: Client) -> None:
    spec = small_spec()
    task = create_task(spec=spec, card=green_card(spec, gates_version="0"), by=None)
    page = body(editor, f"/tasks/{task.code}/")
    assert "Proven by older gates" in page
    assert "/approve/" not in page


def test_what_the_model_sees_is_counted_by_a_chosen_tokenizer(
    viewer: Client, task: Task, settings: LazySettings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    tokenizer_at(tmp_path / "runs" / "RUN-4K7Q" / "checkpoints" / "step-000100")
    path = f"/tasks/{task.code}/?tab=model"
    assert "characters ÷ 4</span>" in body(viewer, path)
    counted = body(viewer, f"{path}&tokenizer=RUN-4K7Q/checkpoints/step-000100")
    assert "texts counted by RUN-4K7Q/checkpoints/step-000100" in counted
    assert "<option selected>RUN-4K7Q/checkpoints/step-000100</option>" in counted
    assert "This tokenizer is gone." in body(viewer, f"{path}&tokenizer=../../etc/passwd")
