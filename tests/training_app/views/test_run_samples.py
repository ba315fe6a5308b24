"""What a run's folder holds, on its page: samples, log, hostile text."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client

from studio.web.choices import JobState
from tests.factories.pages import HOSTILE, page, words
from tests.factories.runs import log_steps, made_run
from tests.training_app.conftest import in_folder
from training_app.models import TrainingRun

pytestmark = pytest.mark.django_db


def test_hostile_text_is_inert_wherever_it_stands(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=5, state=JobState.FAILED, message=HOSTILE, host=HOSTILE)
    TrainingRun.objects.filter(pk=run.pk).update(preset=HOSTILE[:40])
    folder = in_folder(run_named(run), tmp_path, log=f"{HOSTILE}\n")
    folder.write_samples(
        4,
        [
            {
                "slug": HOSTILE,
                "reward": 0.5,
                "violations": [HOSTILE],
                "messages": [
                    {"role": HOSTILE, "content": HOSTILE},
                    {"role": "assistant", "content": None,
                     "tool_calls": [{"function": {"name": HOSTILE, "arguments": HOSTILE}}]},
                    7,
                ],
            }
        ],
    )  # fmt: skip
    log_steps(run, 6, 6, {6: {HOSTILE: 1.0}})
    for path in (
        f"/runs/{run.code}/",
        "/runs/",
        "/runs/?q=" + "%3Cscript%3E",
        "/runs/compare/",
        f"/runs/compare/?runs={run.code}",
        "/runs/new/?shown=1&preset=cpu-tiny-grpo&more=%3Cscript%3Ealert(1)%3C/script%3E",
    ):
        html = page(editor, path)
        assert "<script>alert" not in html, path
        assert "<img src=x" not in html, path
    html = page(editor, f"/runs/{run.code}/")
    assert "&lt;script&gt;alert(1)" in html


def run_named(run: TrainingRun) -> TrainingRun:
    """A run whose directory is made from a preset, whatever its own is called."""
    run.preset = "cpu-tiny-grpo"
    return run


def test_samples_of_a_step_are_shown_and_the_nearest_kept_step_where_none_was(
    editor: Client, tmp_path: Path
) -> None:
    run = made_run(steps=40)
    folder = in_folder(run, tmp_path)
    for step in (20, 40):
        folder.write_samples(
            step, [{"slug": f"triage-{step}", "reward": 1.0, "passed": True, "messages": []}] * 15
        )
    html = page(editor, f"/runs/{run.code}/")
    assert "Samples of step 40" in words(html)
    assert "Showing 12 of 15" in words(html)
    part = page(
        editor,
        f"/runs/{run.code}/?step=27&all=1",
        headers={"HX-Request": "true", "HX-Target": "run-samples"},
    )
    assert part.strip().startswith('<section class="panel" id="run-samples"')
    assert "Samples of step 20" in words(part)
    assert "nearest to step 27" in words(part)
    assert part.count("triage-20") == 30  # name and title of each of the fifteen


def test_damaged_samples_are_told_and_the_page_stands(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=40)
    in_folder(run, tmp_path).samples.joinpath("step-000020.jsonl").write_text("{broken")
    assert "cannot be read" in words(page(editor, f"/runs/{run.code}/"))


def test_the_log_follows_from_an_offset_and_a_half_line_waits(
    viewer: Client, tmp_path: Path
) -> None:
    run = made_run(steps=4, state=JobState.RUNNING)
    folder = in_folder(run, tmp_path, log="one\ntwo\nhal")
    html = page(viewer, f"/runs/{run.code}/")
    assert re.search(r'data-offset="8"[^>]*>one\ntwo\n</pre>', html)
    with folder.log_file.open("a", encoding="utf-8") as stream:
        stream.write("f\n")
    body = json.loads(page(viewer, f"/runs/{run.code}/log/?offset=8"))
    assert body == {"text": "half\n", "offset": 13, "skipped": 0, "again": False}
    whole = viewer.get(f"/runs/{run.code}/log.txt")
    sent = b"".join(whole.streaming_content)  # type: ignore[attr-defined]  # a streaming answer
    assert sent == b"one\ntwo\nhalf\n"


def test_a_reader_far_behind_gets_the_newest_lines_and_is_told_what_is_left_out(
    viewer: Client, tmp_path: Path
) -> None:
    run = made_run(steps=4)
    in_folder(run, tmp_path, log="x" * 99 + "\n" + ("y" * 99 + "\n") * 1000)
    body = json.loads(page(viewer, f"/runs/{run.code}/log/?offset=0"))
    assert len(body["text"]) <= 64 * 1024
    assert body["skipped"] + len(body["text"]) == 100_100
    assert body["text"].startswith("yyy")
