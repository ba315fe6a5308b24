"""Prompts of benchmarks: what is read, what is left out, what is refused."""

import json
from pathlib import Path

import pytest

from tasks_app.core.importers import prompts
from tasks_app.core.importers.prompts import Prompt, read_prompts
from tasks_app.core.importers.specs import SourceError


def task(folder: Path, name: str, body: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "task.yaml").write_text(body, "utf-8")


def test_folders_of_claw_eval_give_id_and_prompt_and_not_their_files(tmp_path: Path) -> None:
    task(tmp_path, "T01", "task_id: T001_tidy\nprompt:\n  text: Tidy the inbox\n  language: en\n")
    (tmp_path / "T01" / "notes.txt").write_text("a fixture of the task")
    task(tmp_path, "T02", "prompt: {text: Book a room}\n")

    assert list(read_prompts(tmp_path)) == [
        Prompt("T001_tidy", "Tidy the inbox"),
        Prompt("T02", "Book a room"),
    ]


def test_lines_are_texts_or_objects_with_a_prompt_and_perhaps_an_id(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    rows = ["One", {"id": 7, "prompt": "Two"}, {"instruction": {"text": "Three"}, "name": "third"}]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")

    assert list(read_prompts(path)) == [
        Prompt("tasks.jsonl:1", "One"),
        Prompt("7", "Two"),
        Prompt("third", "Three"),
    ]


def test_what_is_no_prompt_is_left_out_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x"}\n[1]\n{broken\n')
    (tmp_path / "b.txt").write_text("  ")
    task(tmp_path, "T1", "prompt: &a {text: hello}\nother: *a\n")

    found = {prompt.title: prompt.reason for prompt in read_prompts(tmp_path)}

    assert found["x"] == "no prompt"
    assert found["a.jsonl:2"] == "neither a text nor an object"
    assert found["a.jsonl:3"].startswith("not JSON")
    assert found["b.txt"] == "no prompt"
    assert found["T1"].endswith("anchors are refused")


def test_titles_are_one_printable_line_of_two_hundred_signs(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"id": "a\u202e\nb" + "c" * 300, "prompt": "Hello"}))

    assert [p.title for p in read_prompts(path)] == ["a b" + "c" * 197]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for this")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "own.txt").write_text("mine")
    (folder / "link.txt").symlink_to(secret)

    assert list(read_prompts(folder)) == [Prompt("own.txt", "mine")]


def test_limits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "long.txt").write_text("x" * 50)
    (tmp_path / "more.jsonl").write_text('"a"\n"b"\n"c"\n')
    monkeypatch.setattr(prompts, "LARGEST_TEXT", 40)
    monkeypatch.setattr(prompts, "MOST_PROMPTS", 3)

    with pytest.raises(SourceError, match="more than 3 prompts"):
        list(read_prompts(tmp_path))
    assert next(read_prompts(tmp_path)) == Prompt("long.txt", "", "the file is too large")
    monkeypatch.setattr(prompts, "LARGEST_FILE", 20)
    with pytest.raises(SourceError, match="MiB"):
        list(read_prompts(tmp_path))


def test_another_kind_of_file_is_refused_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "grader.py"
    path.write_text("raise SystemExit")

    with pytest.raises(SourceError, match="expected"):
        list(read_prompts(path))
