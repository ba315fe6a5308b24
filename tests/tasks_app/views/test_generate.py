"""Generation pages: form, dry run, a run's funnel, the reasons behind losses."""

import pytest
from django.test import Client

from tasks_app.models import Attempt, GenerationRun, Task, WorkflowRequirement

pytestmark = pytest.mark.django_db
FORM = {"family": "support_resolution", "count": "4", "seed": "7", "text": ""}


@pytest.fixture
def run(db: None) -> GenerationRun:
    """A run of five drafts of which one is quarantined and one a duplicate."""
    row = GenerationRun.objects.create(
        families=["support_resolution"], seed=7, asked=3, drafted=5, valid=5, proven=4, unique=3
    )
    Attempt.objects.bulk_create(
        Attempt(
            run=row,
            index=index,
            key=str(index),
            outcome=outcome,
            title=f"Draft {index}",
            family="support_resolution",
            subtype="late_parcel",
            difficulty=1,
            gate=gate,
            reason=reason,
        )
        for index, (outcome, gate, reason) in enumerate(
            [
                ("stored", "", ""),
                ("quarantined", "M1", "a mutant survives"),
                ("stored", "", ""),
                ("duplicate", "V1", "84 % like a sibling"),
                ("stored", "", ""),
            ]
        )
    )
    return row


def test_the_form_offers_the_families_and_says_what_comes(editor: Client) -> None:
    page = editor.get("/generate/").content.decode()
    assert "Support resolution" in page
    assert "Nothing has been generated yet" in page


def test_a_reader_sees_runs_but_no_button(viewer: Client, run: GenerationRun) -> None:
    page = viewer.get("/generate/").content.decode()
    assert run.code in page
    assert "Dry run" not in page
    assert viewer.post("/generate/", {**FORM, "action": "launch"}).status_code == 403


def test_a_dry_run_shows_three_drafts_and_keeps_none(editor: Client) -> None:
    page = editor.post("/generate/", {**FORM, "action": "dry"}).content.decode()
    assert page.count('class="drybox"') == 3
    assert "reference 1.00" in page
    assert not Task.objects.exists()
    assert not GenerationRun.objects.exists()


def test_a_launch_keeps_the_words_as_a_requirement(editor: Client) -> None:
    data = {**FORM, "action": "launch", "text": "Late parcels.\nWith vouchers.", "difficulty": "3"}
    answer = editor.post("/generate/", data)
    row = GenerationRun.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/generate/{row.code}/")
    wish = WorkflowRequirement.objects.get()
    assert (wish.title, wish.text) == ("Late parcels.", "Late parcels.\nWith vouchers.")
    assert (row.asked, row.seed, row.difficulty, row.requirement) == (4, 7, [3], wish)
    page = editor.get(f"/generate/{row.code}/").content.decode()
    assert 'data-poll="2"' in page
    assert f'hx-get="/generate/{row.code}/"' in page


def test_wrong_numbers_come_back_at_their_fields(editor: Client) -> None:
    answer = editor.post("/generate/", {**FORM, "count": "0", "seed": "x", "action": "launch"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count('aria-invalid="true"') == 2


def test_the_funnel_names_a_reason_behind_each_loss(viewer: Client, run: GenerationRun) -> None:
    page = viewer.get(f"/generate/{run.code}/").content.decode()
    assert "a mutant survives" in page
    assert f"/generate/{run.code}/?gate=M1&amp;outcome=quarantined#attempts" in page
    assert "84 % like a sibling" in page
    narrowed = viewer.get(f"/generate/{run.code}/?gate=M1").content.decode()
    assert "lost at M1" in narrowed
    assert "Draft 1" in narrowed
    assert "Draft 3" not in narrowed


def test_a_poll_answers_304_until_something_moves(viewer: Client, run: GenerationRun) -> None:
    headers = {"HX-Request": "true", "HX-Target": f"run-{run.code}"}
    first = viewer.get(f"/generate/{run.code}/", headers=headers)
    assert first.content.decode().lstrip().startswith(f'<div id="run-{run.code}"')
    again = {**headers, "If-None-Match": first["ETag"]}
    assert viewer.get(f"/generate/{run.code}/", headers=again).status_code == 304
    GenerationRun.objects.update(drafted=6)
    assert viewer.get(f"/generate/{run.code}/", headers=again).status_code == 200
