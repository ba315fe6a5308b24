"""Teaching a model from the page: launch SFT, watch its curve, cancel, resume, read the result.

The engine is the stub, so that this takes seconds; that the true one trains, stops, goes on and
that its samples replay is held by tests/training_app/engine/test_jobs.py.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connections
from playwright.sync_api import Browser, Page, expect

from studio.web import jobs
from studio.web.choices import Role
from tests.browser.visitor import Visitor, visiting
from tests.factories import engine_stub
from tests.factories.people import person
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from training_app.models import TrainingRun
from training_app.queries.runs import run_dir

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    # an engine outlives the object that started it: that is the point
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PATIENCE = 60_000
"""Milliseconds for what the engine and its job do, also beside other work."""
HELD = 40
"""The step before which the engine waits, so that nobody has to be quick with Cancel."""


def shares(n: int, passed: int, low: float, high: float) -> dict[str, float]:
    return {"n": n, "success": passed / n, "low": low, "high": high, "reward": passed / n}


RESULT = {
    "before": {
        "split_kind": "new_instances",
        "greedy": shares(40, 2, 0.0, 0.13),
        "sampled": shares(40, 0, 0.0, 0.09),
    },
    "after": {
        "split_kind": "new_instances",
        "greedy": shares(40, 36, 0.8, 0.97),
        "sampled": shares(40, 34, 0.71, 0.93),
    },
    "after_new_families": {"split_kind": "new_families", "greedy": shares(10, 1, 0.02, 0.47)},
}


class Live:
    """What pytest-django's live server offers."""

    url: str


@pytest.fixture
def visitor(
    beside: Browser, live_server: Live, settings: LazySettings, tmp_path: Path
) -> Iterator[Visitor]:
    """An editor in a browser, and a studio whose engine is the stub."""
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = [sys.executable, str(engine_stub.__file__)]
    with visiting(beside, live_server.url, person("jo", Role.EDITOR)) as found:
        yield found


class Worker(threading.Thread):
    """Runs one job beside the page, as a worker does."""

    def __init__(self, job_id: int) -> None:
        super().__init__(daemon=True)
        self._job_id = job_id

    def run(self) -> None:
        try:
            jobs.run_job(self._job_id)
        finally:
            connections.close_all()


def test_from_launch_to_before_and_after(visitor: Visitor) -> None:
    spec = small_spec()
    stored(spec)
    page = visitor.page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{visitor.url}/runs/new/?preset=cpu-tiny-sft")
    page.get_by_label("Steps", exact=True).fill("60")
    page.get_by_label("Other values").fill("save_every = 10")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/RUN-*/")
    run = TrainingRun.objects.get()
    written = {"spec_hash": spec.hash, "slug": spec.slug, "reward": 0.0, "messages": [
        {"role": "assistant", "content": "The lamp is closed."}]}  # fmt: skip
    plan = {"pace": 0.1, "hold": HELD, "samples": [written], "result": RESULT}
    (run_dir(run).path / "stub.json").write_text(json.dumps(plan))

    worker = working(run)
    moved = watch_the_curve_move(page)
    page.keyboard.press("c")
    expect(page.locator("#run-live")).to_contain_text("stopped", timeout=PATIENCE)
    expect(page.locator("#run-side tbody tr").first).to_be_visible(timeout=PATIENCE)
    worker.join(60)

    (run_dir(run).path / "go").touch()
    page.locator("#run-resume").click()
    expect(page.locator("#run-live")).to_contain_text("queued", timeout=PATIENCE)
    worker = working(run)
    expect(page.locator("#run-live")).to_contain_text("succeeded", timeout=PATIENCE)
    expect(page.locator("#run-live")).to_contain_text("step 60 of 60", timeout=PATIENCE)
    expect(page.locator("#words-loss")).to_contain_text("at step 60", timeout=PATIENCE)
    worker.join(60)
    steps = page.evaluate("document.getElementById('plot-loss').data.at(-1).customdata")
    assert (steps, moved < 60) == (list(range(1, 61)), True)

    result = page.locator("#run-result table").first.locator("tbody tr")
    expect(result).to_have_count(3, timeout=PATIENCE)
    assert rows_of(page) == [
        "new instances greedy 40 5 % 0–13 % 90 % 80–97 % +0.85 0.72 to 0.94",
        "new instances sampled 40 0 % 0–9 % 85 % 71–93 % +0.85 0.68 to 0.93",
        "new families greedy 10 not measured 10 % 2–47 % –",
    ]
    page.locator("#run-samples details summary").first.click()
    page.locator("#run-samples").get_by_role("button", name="Open as replay").click()
    page.wait_for_url("**/episodes/E-*/")
    expect(page.get_by_text("The lamp is closed.").first).to_be_visible(timeout=PATIENCE)


def working(run: TrainingRun) -> Worker:
    """A worker takes up the run's job."""
    run.refresh_from_db()
    assert run.job_id is not None
    worker = Worker(run.job_id)
    worker.start()
    return worker


def watch_the_curve_move(page: Page) -> int:
    """It appears by itself and goes on without a reload; returns how far it came."""
    loss = page.locator('[data-figure="loss"]')
    expect(loss.locator(".main-svg").first).to_be_visible(timeout=PATIENCE)
    first = step_of(page)
    if first < HELD - 1:
        words = page.locator("#words-loss")
        expect(words).not_to_contain_text(f"at step {first},", timeout=PATIENCE)
        assert step_of(page) > first
    line = loss.locator(".scatterlayer .trace .js-line").last
    expect(line).to_have_attribute("d", re.compile("M.*L"), timeout=PATIENCE)
    return step_of(page)


def step_of(page: Page) -> int:
    """The last step that the words of the loss speak of."""
    said = page.locator("#words-loss").text_content() or ""
    found = re.search(r"at step (\d+)", said)
    assert found is not None, said
    return int(found[1])


def rows_of(page: Page) -> list[str]:
    """The rows of the table of before and after, as they are read."""
    rows = page.locator("#run-result table").first.locator("tbody tr").all_inner_texts()
    return [" ".join(row.split()) for row in rows]
