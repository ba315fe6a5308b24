"""Folders that are broken or hostile: refused or put right, with file and line; never executed."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tasks_app.core.importers.claw_eval import read_folder
from tasks_app.core.importers.outcome import Imported, Refused
from tests.tasks_app.core.importers.claw_folders import (
    TICKETS,
    declared,
    folder,
    imported,
    tool,
)

WRONG: tuple[Any, ...] = (None, 7, -1.5, True, "", "x" * 400, [], ["a", 3, None], {}, {"a": 1})


def refused(place: Path) -> str:
    found = read_folder(place)
    assert isinstance(found, Refused), found
    return found.reason


def written(root: Path, text: str) -> Path:
    """A folder whose `task.yaml` is this text."""
    place = folder(root)
    (place / "task.yaml").write_text(text, encoding="utf-8")
    return place


def dumped(change: Callable[[dict[str, Any]], object] = lambda _: None) -> str:
    data = declared()
    change(data)
    return str(yaml.safe_dump(data, sort_keys=False))


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x [1]\nb: *x\n", "task.yaml, line 1: anchors are refused"),
        ("a: 1\nb: !!python/object/apply:os.system [touch x]\n", "task.yaml, line 2: the tag"),
        ("task_id: T1\ntask_id: T2\n", "task.yaml, line 2: task_id stands there twice"),
        ("a: [1\nb: 2\n", "task.yaml, line 2, column 2:"),
        ("- 1\n", "task.yaml, line 1: expected an object"),
        ("", "task.yaml, line 1: expected an object"),
        ("a: " + "x" * 10_000_000, "task.yaml: larger than 2,000,000 bytes"),
        ("a: " + "9" * 5000, "task.yaml, "),
        ("a: " + "[" * 100 + "]" * 100, "task.yaml, line 1: nested more than 40 levels deep"),
        ("? [1, 2]\n: 3\n", "task.yaml, line 1"),
    ],
    ids=["bomb", "tag", "twice", "broken", "list", "empty", "10MB", "number", "deep", "key"],
)
def test_a_text_that_is_no_plain_yaml_is_refused_with_its_line(
    tmp_path: Path, text: str, reason: str
) -> None:
    found = refused(written(tmp_path, text))
    assert found.startswith(reason), found
    assert sorted(p.name for p in tmp_path.iterdir()) == ["T900_lamp_triage"]


@pytest.mark.parametrize(
    ("part", "reason", "change"),
    [
        (
            "- name: helpdesk_shred",
            "tool helpdesk_shred has no counterpart in this studio",
            lambda d: d["tools"].append(tool("helpdesk_shred")),
        ),
        (
            "- name: fax",
            "needs fax, which this studio does not simulate yet",
            lambda d: d["services"].append({"name": "fax"}),
        ),
        ("prompt:", "prompt.text is empty", lambda d: d.update(prompt={"text": " "})),
        ("tools:", "tools is not a list", lambda d: d.update(tools={"a": 1})),
        ("services:", "services is not a list", lambda d: d.update(services="helpdesk")),
        (
            "input_schema: 5",
            "tool helpdesk_list_tickets: input_schema is missing or no object",
            lambda d: d["tools"][0].update(input_schema=5),
        ),
        (
            "- name: helpdesk\n",
            "../secret.json: the path leaves the folder",
            lambda d: d["services"][0].update(env={"X_FIXTURES": "../secret.json"}),
        ),
        (
            "- name: gmail",
            "gmail: no records found (looked for fixtures/gmail/inbox.json)",
            lambda d: d["services"].append({"name": "gmail"}),
        ),
    ],
)
def test_a_declaration_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, part: str, reason: str, change: Callable[[dict[str, Any]], object]
) -> None:
    text = dumped(change)
    found = refused(written(tmp_path, text))
    assert found == f"task.yaml, line {line_of(text, part)}: {reason}"


@pytest.mark.parametrize(
    ("part", "finding", "change"),
    [
        (
            "colour: red",
            "the key 'colour' is not known; left out",
            lambda d: d.update(colour="red"),
        ),
        (
            "task_id:",
            "task_id is 'T7', the folder's name stands: T900_lamp_triage",
            lambda d: d.update(task_id="T7"),
        ),
        (
            "difficulty:",
            "'brutal' is no difficulty; medium is taken",
            lambda d: d.update(difficulty="brutal"),
        ),
        (
            "language: Klingon!",
            "'Klingon!' is no language; en is taken",
            lambda d: d["prompt"].update(language="Klingon!"),
        ),
        ("tags: 5", "tags is not a list; left out", lambda d: d.update(tags=5)),
        (
            "environment: []",
            "environment is no object; left out",
            lambda d: d.update(environment=[]),
        ),
        (
            "weight: heavy",
            "'heavy' is no weight; none is taken",
            lambda d: d["scoring_components"][0].update(weight="heavy"),
        ),
        (
            (
                "- name: helpdesk_close_ticket\n  description: does helpdesk_close_ticket\n  "
                "input_schema:\n    type: object\n    properties: {}"
            ),
            "the tool helpdesk_close_ticket stands there twice; left out",
            lambda d: d["tools"].append(tool("helpdesk_close_ticket")),
        ),
        (
            "- 12\n",
            "tools lists something that is no object; left out",
            lambda d: d["tools"].append(12),
        ),
    ],
)
def test_what_can_be_put_right_is_with_a_finding_that_names_the_line(
    tmp_path: Path, part: str, finding: str, change: Callable[[dict[str, Any]], object]
) -> None:
    text = dumped(change)
    found = imported(written(tmp_path, text))
    told = f"task.yaml, line {line_of(text, part)}: {finding}"
    assert list(found.spec.provenance["findings"]) == [told]
    assert found.reason.endswith(f"; findings: {told}")


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a document."""
    items = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def test_a_wrong_type_at_any_place_is_refused_or_put_right(tmp_path: Path) -> None:
    place = folder(tmp_path)
    outcomes = {True: 0, False: 0}
    all_places = places(declared() | {"user_agent": {"enabled": True, "persona": "- a: b"}})
    for number, at in enumerate(all_places):
        for wrong in WRONG[number % 4 :: 4]:  # all of them at each would take half a minute
            data = declared() | {"user_agent": {"enabled": True, "persona": "- a: b"}}
            holder: Any = data
            for key in at[:-1]:
                holder = holder[key]
            holder[at[-1]] = wrong
            (place / "task.yaml").write_bytes(orjson.dumps(data))  # JSON is YAML, and fast to write
            found = read_folder(place)
            if isinstance(found, Refused):
                assert found.reason, (at, wrong)
            outcomes[isinstance(found, Imported)] += 1
    assert min(outcomes.values()) > 20


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            "fixtures/helpdesk/tickets.json, line 1: expected a list of objects",
            b'{"tickets": []}',
        ),
        (
            "fixtures/helpdesk/tickets.json, line 3: record 1 has no ticket_id",
            b'[{"ticket_id": "a[{\\"", "l": [{}]},\n\n {"title": "nameless"}]',
        ),
        (
            "fixtures/helpdesk/tickets.json, line 1: record 0 has no ticket_id",
            b'[{"ticket_id": ""}]',
        ),
        (
            "fixtures/helpdesk/tickets.json, line 3: TK-1 stands there twice",
            b'[{"ticket_id": "TK-1"},\n{"ticket_id": "TK-2"},\n{"ticket_id": "TK-1"}]',
        ),
        ("fixtures/helpdesk/tickets.json, line 2: ", b'[{"ticket_id": "TK-1"},\n{,}]'),
        (
            "fixtures/helpdesk/tickets.json, line 2: a NUL character",
            b'[{"ticket_id": "TK-1", "title": "\\\\u0000"},\n {"title": "a\\u0000b"}]',
        ),
        (
            "fixtures/helpdesk/tickets.json, line 2: the field 'title' stands twice in one object",
            b'[{"ticket_id": "TK-1"},\n{"ticket_id": "TK-2", "title": 1, "title": 2}]',
        ),
        (
            "fixtures/helpdesk/tickets.json, line 2: 12345678901234567890123 is a number beyond 64",
            b'[{"ticket_id": "TK-1"},\n{"ticket_id": "TK-2", "n": 12345678901234567890123}]',
        ),
    ],
)  # fmt: skip
def test_records_that_cannot_be_are_refused_with_file_and_line(
    tmp_path: Path, reason: str, text: bytes
) -> None:
    place = folder(tmp_path)
    (place / "fixtures" / "helpdesk" / "tickets.json").write_bytes(text)
    assert refused(place).startswith(reason), refused(place)


def test_a_record_that_no_task_holds_is_named_by_its_line(tmp_path: Path) -> None:
    deep = b"[" * 30 + b"]" * 30
    place = folder(tmp_path)
    file = place / "fixtures" / "helpdesk" / "tickets.json"
    file.write_bytes(b'[{"ticket_id": "TK-1"},\n\n{"ticket_id": "TK-2", "deep": %b}]' % deep)
    assert refused(place) == (
        "fixtures/helpdesk/tickets.json, line 3: does not fit the task format: /: values are "
        "nested more than 24 levels deep"
    )
    file.write_bytes(orjson.dumps([{"ticket_id": str(number)} for number in range(10_001)]))
    assert refused(place) == (
        "fixtures/helpdesk/tickets.json: does not fit the task format: /services: 10,001 records; "
        "at most 10,000"
    )


def test_a_file_of_records_that_is_too_large_is_refused(tmp_path: Path) -> None:
    rows = [{**TICKETS[0], "body": "x" * 10_000_000}]
    assert refused(folder(tmp_path, fixtures=rows)) == (
        "fixtures/helpdesk/tickets.json: larger than 5,000,000 bytes"
    )


@pytest.mark.parametrize("linked", ["fixtures/helpdesk/tickets.json", "task.yaml", "fixtures"])
def test_links_are_not_followed(tmp_path: Path, linked: str) -> None:
    place = folder(tmp_path)
    target = place / linked
    moved = tmp_path / "elsewhere"
    target.rename(moved)
    target.symlink_to(moved)
    assert "links are not followed" in refused(place)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    place = folder(tmp_path)
    os.mkfifo(place / "fixtures" / "helpdesk" / "pipe.json")
    data = declared()
    data["services"][0]["env"]["HELPDESK_FIXTURES"] = "fixtures/helpdesk/pipe.json"
    (place / "task.yaml").write_text(yaml.safe_dump(data))
    assert list(imported(place).spec.services) == ["helpdesk"]  # the service's default is found


def test_a_program_in_the_folder_is_never_run(tmp_path: Path) -> None:
    place = folder(tmp_path, lambda d: d.update(env_snapshot_commands=["touch ran"]))
    (place / "grader.py").write_text("open('ran', 'w')")
    found = imported(place)
    assert not list(tmp_path.rglob("ran"))
    assert found.spec.provenance["files"]["grader.py"] == "left where it is"
