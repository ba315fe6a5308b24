"""Tasks as folders in Claw-Eval's form: read back, they are the same tasks."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import yaml

from tasks_app.core.exporters.claw_eval import folder_of, name_of
from tasks_app.core.generation.families.catalog import FAMILIES, families_of
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.importers.claw_eval import read_folder
from tasks_app.core.importers.outcome import Imported, Refused
from tasks_app.core.importers.safe_yaml import load_yaml
from tasks_app.core.spec import TaskSpec
from tests.factories.specs import small_spec

MANY = 56


def drafted(count: int) -> Iterator[TaskSpec]:
    """So many tasks of all families of the track."""
    names = families_of("claw_eval")
    for name in names:
        for plan in plans(FAMILIES[name], -(-count // len(names)), 5):
            yield draft(FAMILIES[name], plan)


def written(root: Path, spec: TaskSpec) -> Path:
    place = root / name_of(spec)
    for inner, content in folder_of(spec).items():
        (place / inner).parent.mkdir(parents=True, exist_ok=True)
        (place / inner).write_bytes(content)
    return place


def read(place: Path) -> Imported:
    found = read_folder(place)
    assert isinstance(found, Imported), found
    return found


def test_over_fifty_tasks_of_all_families_come_back_with_the_same_hash(tmp_path: Path) -> None:
    specs = list(drafted(MANY))
    found = [read(written(tmp_path, spec)) for spec in specs]
    assert len(specs) >= MANY
    assert [entry.spec.hash for entry in found] == [spec.hash for spec in specs]
    assert {entry.reason for entry in found} == {"written by this studio"}
    assert {entry.source_id for entry in found} == {""}


def test_odd_texts_and_numbers_come_back_as_they_are(tmp_path: Path) -> None:
    record = {
        "id": "TK-9",
        "subject": "“Tür” 北京 \u2028 \t end ",
        "body": "a\r\nb\n\n  c: - d #e\n",
        "created_at": "2031-03-19T09:00:00+01:00",
        "share": 0.1,
        "big": 2**53,
        "none": None,
        "list": [[], {}, "", "yes", "012", "1:30", "~", "2031-03-20"],
    }
    text = "  Look at ticket TK-9:\n\tnow\r\n\n#1 – *please* & 'thank' \"you\"\u0085 "
    spec = small_spec(
        title="no: 'yes' — 12",
        request={"text": text},
        services={"helpdesk": {"tickets": [record], "comments": []}},
    )
    assert read(written(tmp_path, spec)).spec.hash == spec.hash


def test_the_folder_says_in_claw_eval_s_words_what_they_can_say() -> None:
    spec = next(spec for spec in drafted(MANY) if spec.constraints)
    files = folder_of(spec)
    task = load_yaml(files["task.yaml"])
    assert task["task_id"] == name_of(spec)
    assert task["prompt"]["text"] == spec.request.text
    assert [tool["name"] for tool in task["tools"]] == list(spec.tools)
    assert {
        path: orjson.loads(content) for path, content in files.items() if "fixtures/" in path
    } == {
        f"fixtures/{service}/{collection}.json": list(rows)
        for service, collections in spec.written()["services"].items()
        for collection, rows in collections.items()
    }
    assert sum(part["weight"] for part in task["scoring_components"]) == pytest.approx(1)
    assert [rule["description"] for rule in task["safety_checks"]] == [
        rule.sentence for rule in spec.constraints
    ]
    assert len(task["reference_solution"].splitlines()) == len(spec.reference)
    rest = orjson.loads(files["studio.json"])
    assert {"services", "title", "language"} & set(rest) == set()
    assert "text" not in rest["request"]


def test_a_colleague_is_told_as_a_persona_and_comes_back_whole(tmp_path: Path) -> None:
    fact = {"id": "due", "text": "It is due on Friday.", "asks": [["when"], ["due", "day"]]}
    user = {"name": "Ada Lovelace", "manner": "in a hurry", "patience": 2, "facts": [fact]}
    spec = small_spec(user=user)
    task = load_yaml(folder_of(spec)["task.yaml"])
    assert (task["tags"], task["user_agent"]) == (
        ["general", "user_agent"],
        {
            "enabled": True,
            "persona": "You are Ada Lovelace. in a hurry\n\n- It is due on Friday.\n",
            "max_rounds": 2,
        },
    )
    assert read(written(tmp_path, spec)).spec.hash == spec.hash


def test_a_change_of_the_folder_is_a_change_of_the_task_and_is_said(tmp_path: Path) -> None:
    spec = small_spec()
    place = written(tmp_path, spec)
    data = yaml.safe_load((place / "task.yaml").read_text())
    data["prompt"]["text"] = "Do something else with the ticket."
    (place / "task.yaml").write_text(yaml.safe_dump(data))
    found = read(place)
    assert found.spec.request.text == "Do something else with the ticket."
    assert found.spec.hash != spec.hash
    assert found.reason == (
        "written by this studio; findings: studio.json, line 1: the task was changed since it was "
        "written"
    )


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("studio.json", b"{\n]", "studio.json, line 2: "),
        ("studio.json", b"[]", "studio.json, line 1: expected an object"),
        ("studio.json", b"{}", "studio.json, line 1: does not fit the task format: /format: "),
        ("task.yaml", b"services: [{}]", "task.yaml, line 1: a service has a name, and files"),
        ("fixtures/helpdesk/tickets.json", b"{}", "fixtures/helpdesk/tickets.json, line 1: "),
    ],
)
def test_a_broken_folder_is_refused_with_file_and_line(
    tmp_path: Path, file: str, content: bytes, reason: str
) -> None:
    place = written(tmp_path, small_spec())
    (place / file).write_bytes(content)
    found = read_folder(place)
    assert isinstance(found, Refused)
    assert found.reason.startswith(reason), found.reason
