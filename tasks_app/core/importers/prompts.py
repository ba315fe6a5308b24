"""Prompts of a benchmark out of a folder or file, for gate V2: data alone, nothing is run.

Read are folders of Claw-Eval tasks (`task.yaml`: task_id, prompt.text), `.txt` (one prompt a file)
and `.jsonl` (one a line: a text, or an object with the prompt and perhaps an id). What is hostile
or broken is left out with its reason; a source that breaks a limit is refused as a whole.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from tasks_app.core.importers.safe_yaml import UnsafeYamlError, load_yaml
from tasks_app.core.importers.specs import SourceError

LARGEST_FILE: Final = 50 * 2**20
"""Bytes of one JSON Lines file, and of all files of a folder together."""
LARGEST_TEXT: Final = 1_000_000
"""Bytes of a `.txt` or `task.yaml`, and characters of a prompt."""
MOST_PROMPTS: Final = 50_000
MOST_FILES: Final = 20_000
LONGEST_TITLE: Final = 200
_TEXTS: Final = ("prompt", "request", "instruction", "question", "text", "task", "query")
_TITLES: Final = ("id", "task_id", "name", "title", "slug", "key")
_LINES: Final = (".jsonl", ".ndjson")


class Prompt(NamedTuple):
    """One prompt, or why an item is none."""

    title: str
    text: str
    reason: str = ""


def read_prompts(path: Path) -> Iterator[Prompt]:
    """Yield the prompts at a path in a fixed order. Raises SourceError for the whole."""
    for count, prompt in enumerate(_read(path), start=1):
        if count > MOST_PROMPTS:
            raise SourceError(f"{path.name}: more than {MOST_PROMPTS:,} prompts")
        yield prompt


def _read(path: Path) -> Iterator[Prompt]:
    try:
        if path.is_dir():
            yield from _read_folder(path)
        elif path.is_file():
            yield from _read_file(path, path.name)
        else:
            raise SourceError(f"{path.name} is neither a file nor a folder")
    except OSError as error:
        raise SourceError(f"{error.filename or path} cannot be read: {error.strerror}") from error


def _read_folder(folder: Path) -> Iterator[Prompt]:
    home = folder.resolve()
    found: list[Path] = []
    total = 0
    for file in folder.rglob("*"):
        if file.name != "task.yaml" and file.suffix.lower() not in (".txt", *_LINES):
            continue
        if file.is_symlink() or not file.is_file() or not file.resolve().is_relative_to(home):
            continue
        found.append(file)
        total += file.stat().st_size
        if len(found) > MOST_FILES:
            raise SourceError(f"{folder.name}: more than {MOST_FILES:,} files")
        if total > LARGEST_FILE:
            raise SourceError(f"{folder.name}: more than {LARGEST_FILE // 2**20} MiB")
    tasks = {file.parent for file in found if file.name == "task.yaml"}
    for file in sorted(found):
        inside = any(parent in tasks for parent in file.parents)
        if inside and file.name != "task.yaml":
            continue  # a task's own files are its data, not what it asks
        yield from _read_file(file, str(file.relative_to(folder)))


def _read_file(file: Path, name: str) -> Iterator[Prompt]:
    lines = file.suffix.lower() in _LINES
    if file.stat().st_size > (LARGEST_FILE if lines else LARGEST_TEXT):
        yield Prompt(_title(name), "", "the file is too large")
        return
    data = file.read_bytes()
    if lines:
        yield from _lines(data, name)
    elif file.suffix.lower() in (".yaml", ".yml"):
        yield _task(data, file.parent.name)
    elif file.suffix.lower() == ".txt":
        yield _prompt(name, data.decode("utf-8", errors="replace"))
    else:
        raise SourceError(f"{name}: expected .txt, .jsonl, task.yaml, or a folder of them")


def _lines(data: bytes, name: str) -> Iterator[Prompt]:
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            item = orjson.loads(line)
        except orjson.JSONDecodeError as problem:
            yield Prompt(_title(place), "", f"not JSON: {problem.msg}")
            continue
        if isinstance(item, str):
            yield _prompt(place, item)
        elif isinstance(item, Mapping):
            text = next((_text(item[key]) for key in _TEXTS if _text(item.get(key))), "")
            title = next((str(item[k]) for k in _TITLES if isinstance(item.get(k), str | int)), "")
            yield _prompt(title or place, text)
        else:
            yield Prompt(_title(place), "", "neither a text nor an object")


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("text", value.get("content"))
    return value if isinstance(value, str) else ""


def _task(data: bytes, name: str) -> Prompt:
    try:
        declared = load_yaml(data)
    except UnsafeYamlError as problem:
        return Prompt(_title(name), "", str(problem))
    if not isinstance(declared, Mapping):
        return Prompt(_title(name), "", "task.yaml is no object")
    named = declared.get("task_id")
    return _prompt(named if isinstance(named, str) else name, _text(declared.get("prompt")))


def _prompt(title: str, text: str) -> Prompt:
    text = text.strip()
    if not text:
        return Prompt(_title(title), "", "no prompt")
    if len(text) > LARGEST_TEXT:
        return Prompt(_title(title), "", "the prompt is too long")
    return Prompt(_title(title), text)


def _title(text: str) -> str:
    """Return a title of printable characters in one line."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())[:LONGEST_TITLE] or "untitled"
