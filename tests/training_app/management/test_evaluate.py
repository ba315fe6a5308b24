"""``evaluate`` and ``serve``: their last lines, and what ends them early."""

import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from studio.web.choices import JobState
from studio.web.models import Job
from tests.factories import serve_stub
from tests.training_app.served import checkpoint, folder_of, suite
from training_app.management.commands import serve as serve_command
from training_app.models import Evaluation
from training_app.queries.servings import SERVE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _stub(settings: LazySettings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = [sys.executable, str(serve_stub.__file__)]


def called(*words: str) -> list[Any]:
    """The JSON lines that a command prints."""
    out = StringIO()
    call_command(*words, "--json", stdout=out, stderr=StringIO())
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_last_line_is_the_score_with_what_is_new() -> None:
    row, on = checkpoint(), suite(tasks=2)
    asked = ("--checkpoint", row.code, "--suite", on.code, "--sampled", "--n", "3", "--seed", "9")
    last = called("evaluate", *asked)[-1]
    made = Evaluation.objects.get()
    assert list(last) == ["evaluation", "score", "low", "high", "pass_3", "n", "split_kind"]
    assert last == {
        "evaluation": made.code,
        "score": 1.0,
        "low": pytest.approx(0.3424, abs=5e-5),
        "high": 1.0,
        "pass_3": 1.0,
        "n": 6,
        "split_kind": "new_families",
    }
    assert (made.greedy, made.group_size, made.seed) == (False, 3, 9)
    assert made.job is not None
    assert made.job.subject == made.code


def test_a_baseline_is_named_or_refused_on_purpose() -> None:
    row, on = checkpoint(), suite(tasks=1)
    first = called("evaluate", "--checkpoint", row.code, "--suite", on.name)[-1]["evaluation"]
    asked = ("--checkpoint", row.code, "--suite", on.name, "--baseline")
    second = called("evaluate", *asked, first)[-1]["evaluation"]
    third = called("evaluate", *asked, "none")[-1]["evaluation"]
    rows = {row.code: row for row in Evaluation.objects.select_related("baseline")}
    assert rows[second].baseline == rows[first]
    assert rows[second].report["baseline"]["same"] == 1
    assert rows[third].baseline is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--endpoint", "x", "--suite", "nothing"), "Known: pocket-held-out, pocket-new-families"),
        (("--checkpoint", "CK-0000", "--suite", "lamps"), "There is no checkpoint CK-0000"),
        (("--endpoint", "x", "--suite", "lamps"), "there is no policy “endpoint:x”"),
        (("--endpoint", "x", "--suite", "lamps", "--baseline", "EV-0000"), "EV-0000"),
        (("--suite", "lamps"), "one of the arguments --checkpoint --endpoint is required"),
    ],
)
def test_what_cannot_be_measured_ends_it_with_words(words: tuple[str, ...], said: str) -> None:
    suite(tasks=1)
    with pytest.raises(CommandError, match=said):
        called("evaluate", *words)
    assert Job.objects.count() == 0


@pytest.mark.parametrize("idle", ["nan", "inf", "0", "-1", "1e300"])
def test_serve_refuses_a_pause_that_is_none(idle: str) -> None:
    row = checkpoint()
    with pytest.raises(CommandError, match="--idle: must be above 0 and at most 604,800 seconds"):
        call_command("serve", "--checkpoint", row.code, f"--idle={idle}")


def test_serve_prints_the_address_as_soon_as_it_answers_and_again_at_its_end() -> None:
    row = checkpoint()
    lines = called("serve", "--checkpoint", row.code, "--idle", "1")
    assert lines[0] == lines[-1]
    assert list(lines[0]) == ["url"]
    assert lines[0]["url"].startswith("http://127.0.0.1:")
    assert Job.objects.get().state == JobState.SUCCEEDED


def test_an_interrupt_after_the_address_is_the_usual_end(monkeypatch: pytest.MonkeyPatch) -> None:
    row = checkpoint()
    shown = serve_command.Command.show

    def show(self: serve_command.Command, done: int, total: int | None, note: str) -> None:
        shown(self, done, total, note)
        if self.url:
            raise KeyboardInterrupt

    monkeypatch.setattr(serve_command.Command, "show", show)
    lines = called("serve", "--checkpoint", row.code, "--idle", "60")
    assert [list(line) for line in lines] == [["url"]]
    assert Job.objects.get(kind=SERVE).state == JobState.STOPPED


def test_weights_that_are_gone_are_not_served() -> None:
    row = checkpoint()
    (folder_of(row) / "config.json").unlink()
    with pytest.raises(CommandError, match="are not on this machine"):
        called("serve", "--checkpoint", row.code)
    with pytest.raises(CommandError, match="There is no checkpoint"):
        called("serve", "--checkpoint", "CK-0000")
