"""``manage.py freeze_dataset``: its last line, its folder, its faults."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import Task
from tests.training_app.library import rolled_out_library
from training_app.core.manifest import check_manifest
from training_app.models import Dataset

pytestmark = pytest.mark.django_db
CHAT = '{"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]}\n'


def freeze(*arguments: str) -> dict[str, Any]:
    """Run the command and read its last line."""
    out = StringIO()
    call_command("freeze_dataset", "--json", *arguments, stdout=out)
    result: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return result


@pytest.fixture
def library(db: None) -> list[Task]:
    """Two pocket tasks to train on and one of held-out names."""
    return rolled_out_library(2, 1)


def test_the_last_line_says_what_was_frozen(library: list[Task], tmp_path: Path) -> None:
    chat = tmp_path / "chat:v1.jsonl"
    chat.write_text(CHAT)
    line = freeze(
        "--kind=demonstrations",
        "--name=first",
        "--filter=policy:reference",
        "--rule=turns=40",
        "--rule=duplicates=first",
        f"--mix={chat}:3",
        "--license=CC0",
        f"--to={tmp_path / 'out'}",
    )
    dataset = Dataset.objects.get()
    assert line == {
        "dataset": dataset.code,
        "rows": 5,
        "dropped": {"duplicates": 3},
        "sha256": dataset.sha256,
    }
    assert (dataset.rules["turns"], dataset.rules["duplicates"]) == (40, "first")
    assert dataset.mixes[0]["source"] == "chat:v1.jsonl"
    assert check_manifest(tmp_path / "out")["sha256"] == dataset.sha256
    assert (tmp_path / "out" / "README.md").read_text().startswith("---\nconfigs:\n")


def test_prompts_and_held_families(library: list[Task]) -> None:
    held = library[0].family
    line = freeze("--kind=prompts", "--name=p", "--filter=state:proven", f"--hold-out={held}")
    assert (line["rows"], line["dropped"]) == (1, {})
    assert Dataset.objects.get().split_kind == "new_families"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--filter=colour:red"], "There is no filter “colour” here."),
        (["--filter=turns:>=500"], "no episode matches"),
        (["--rule=pased=true"], "rules.pased: there is no such rule. Did you mean “passed”?"),
        (["--rule=passed"], "“passed” is no rule."),
        (["--hold-out=none"], "there is no family “none”"),
        (["--mix=/none/such.jsonl:2"], "/none/such.jsonl cannot be read: No such file"),
        (["--mix=chat.jsonl:much"], "“chat.jsonl:much” is no file with a weight."),
        (["--mix=chat.jsonl:nan"], "“nan” is no weight."),
        (["--to=/"], "/ is not an empty folder."),
    ],
)
def test_faults_are_told_before_a_job_exists(
    library: list[Task], arguments: list[str], said: str
) -> None:
    with pytest.raises(CommandError) as caught:
        freeze("--kind=demonstrations", "--name=first", *arguments)
    assert said in str(caught.value)
    assert not Dataset.objects.exists()


def test_a_broken_line_is_named(library: list[Task], tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text(CHAT + "\n{]\n")
    with pytest.raises(CommandError, match=r"mix chat\.jsonl: line 3 at character 2: not JSON"):
        freeze("--kind=demonstrations", "--name=first", f"--mix={chat}")


def test_nothing_left_is_no_success(library: list[Task]) -> None:
    with pytest.raises(CommandError, match="No row is left to train on"):
        freeze("--kind=demonstrations", "--name=first", "--filter=policy:refuse")
