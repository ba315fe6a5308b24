"""The form of a new run: its recipe, the check before the start, refusals."""

import re
from pathlib import Path

import pytest
from django.test import Client

from tests.factories.pages import page, words
from tests.factories.runs import made_run
from training_app.enums import Algorithm
from training_app.models import Checkpoint, TrainingRun

pytestmark = pytest.mark.django_db


def test_the_form_shows_the_exact_recipe_and_bold_what_differs(editor: Client) -> None:
    html = page(
        editor,
        "/runs/new/?shown=1&preset=cpu-tiny-gigpo&steps=40&more=rollouts.temperature+%3D+0.9",
    )
    changed = re.findall(r'<tr class="changed">(.*?)</tr>', html, re.S)
    assert [words(row) for row in changed] == [
        "steps 40 instead of 78",
        "rollouts.temperature 0.9 instead of 1",
    ]
    assert html.count('class="field changed"') == 1
    assert 'placeholder="32"' in html


def test_the_preflight_names_what_was_looked_at_and_the_fix(editor: Client) -> None:
    text = words(page(editor, "/runs/new/?preset=cpu-tiny-grpo"))
    for expected in (
        "Dataset the pocket suite, 24 tasks made at the start",
        "Start an SFT checkpoint that succeeds in 40% to 60% when sampled",
        "Device no worker for training is running; the run waits until one is",
        "Disk",
    ):
        assert expected in text, expected


def test_a_checkpoint_without_weights_stops_the_run_before_it_starts(editor: Client) -> None:
    checkpoint = Checkpoint.objects.create(run=made_run(Algorithm.SFT, steps=9), step=9)
    html = page(editor, f"/runs/new/?init={checkpoint.code}")
    assert f"the weights of {checkpoint.code} are gone" in html
    answer = editor.post("/runs/new/", {"preset": "cpu-tiny-grpo", "init": checkpoint.code})
    assert answer.status_code == 422
    assert "are gone" in answer.content.decode()
    assert TrainingRun.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"steps": "0"}, "greater than or equal to 1"),
        ({"batch": "7"}, "a step holds whole groups"),
        ({"more": "rollouts.group"}, "is not of the form place = value"),
        ({"more": "nowhere = 1"}, "nowhere"),
        ({"more": "rollouts.norm = 7"}, "rollouts.norm"),
        ({"preset": "cpu-tiny-x"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_recipe_is_refused_at_its_field(
    editor: Client, fields: dict[str, str], said: str
) -> None:
    answer = editor.post("/runs/new/", {"preset": "cpu-tiny-grpo", **fields})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not TrainingRun.objects.exists()


def test_an_editor_starts_a_run_and_gets_to_its_page(editor: Client, studio: Path) -> None:
    answer = editor.post("/runs/new/", {"preset": "cpu-tiny-dr-grpo", "steps": "40", "seed": "3"})
    run = TrainingRun.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/runs/{run.code}/")
    assert (run.algorithm, run.steps, run.seed, run.state) == ("dr_grpo", 40, 3, "queued")
    assert "queued" in page(editor, f"/runs/{run.code}/")


def test_a_viewer_reads_the_form_and_starts_nothing(viewer: Client) -> None:
    assert "Starting a run needs the role editor" in page(viewer, "/runs/new/")
    assert viewer.post("/runs/new/", {"preset": "cpu-tiny-sft"}).status_code == 403
    assert not TrainingRun.objects.exists()
