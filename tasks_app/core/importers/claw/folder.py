"""A Claw-Eval task folder as data: `task.yaml` and the files below it.

Nothing of it is executed. What is not as it should be is refused with file and line, or left out
with a finding that says so; nothing is dropped in silence.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import orjson

from tasks_app.core.importers.safe_yaml import LARGEST_YAML, UnsafeYamlError, load_document

TASK: Final = PurePosixPath("task.yaml")
LARGEST_FIXTURE: Final = 5_000_000
LONGEST_REQUEST: Final = 20_000
KEYS: Final = frozenset(
    {"task_id", "task_name", "version", "category", "difficulty", "tags", "prompt", "tools"}
    | {"tool_endpoints", "environment", "scoring_components", "safety_checks", "services"}
    | {"expected_actions", "primary_dimensions", "judge_rubric", "reference_solution"}
    | {"sandbox_files", "sandbox_grader_files", "local_grader_files", "user_agent"}
    | {"env_snapshot_commands", "env_snapshot_files"}
)
"""All that a `task.yaml` may say."""


class ImportProblemError(ValueError):
    """A folder cannot become a task; the message is the reason."""


class Entry(NamedTuple):
    """One object of a list in `task.yaml`."""

    place: str
    """JSON pointer, as `/tools/3`."""
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder whose `task.yaml` was read."""

    path: Path
    declared: Mapping[str, Any]
    lines: Mapping[str, int]
    findings: list[str] = field(default_factory=list)
    """What was left out or put right on the way, each with file and line."""

    @property
    def name(self) -> str:
        """The folder's name, which is the task's."""
        return self.path.name

    def at(self, place: str) -> str:
        """Return where something of `task.yaml` stands, for a message."""
        return f"{TASK}, line {self.lines.get(place, 1)}"

    def found(self, place: str, what: str) -> None:
        """Note what was left out or put right."""
        said = f"{self.at(place)}: {what}"
        if said not in self.findings:
            self.findings.append(said)

    def refusal(self, place: str, what: str) -> ImportProblemError:
        """Return the error that says what is wrong there."""
        return ImportProblemError(f"{self.at(place)}: {what}")

    def entries(self, key: str) -> list[Entry]:
        """Return the objects of a list. Raises ImportProblemError where it is none."""
        listed = self.declared.get(key)
        if listed is None:
            return []
        if not isinstance(listed, list):
            raise self.refusal(f"/{key}", f"{key} is not a list")
        kept = []
        for number, entry in enumerate(listed):
            place = f"/{key}/{number}"
            if isinstance(entry, dict):
                kept.append(Entry(place, entry))
            else:
                self.found(place, f"{key} lists something that is no object; left out")
        return kept

    def texts(self, key: str, within: str = "") -> list[str]:
        """Return the texts of a list; anything else in it is left out with a finding."""
        holder = self.section(within) if within else self.declared
        listed = holder.get(key)
        if listed is None:
            return []
        place = f"/{within}/{key}" if within else f"/{key}"
        if not isinstance(listed, list):
            self.found(place, f"{key} is not a list; left out")
            return []
        for number, item in enumerate(listed):
            if not isinstance(item, str):
                self.found(f"{place}/{number}", f"{key} lists something that is no text; left out")
        return [item for item in listed if isinstance(item, str)]

    def text(self, key: str, within: str = "", most: int = 20_000) -> str:
        """Return a text, empty where there is none; numbers are written out."""
        holder = self.section(within) if within else self.declared
        value = holder.get(key)
        place = f"/{within}/{key}" if within else f"/{key}"
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.found(place, f"{key} is no text; left out")
            return ""
        written = str(value).strip()
        if len(written) > most:
            self.found(place, f"{key} is cut to {most:,} of {len(written):,} characters")
        return written[:most]

    def section(self, key: str) -> Mapping[str, Any]:
        """Return an object of `task.yaml`, empty where there is none."""
        value = self.declared.get(key)
        if value is not None and not isinstance(value, dict):
            self.found(f"/{key}", f"{key} is no object; left out")
        return value if isinstance(value, dict) else {}

    def read(self, inner: PurePosixPath, most: int = LARGEST_FIXTURE) -> bytes:
        """Read a file below the folder. Raises ImportProblemError."""
        return read_below(self.path, inner, most)

    def has(self, inner: PurePosixPath) -> bool:
        """Say whether a file lies there and may be read."""
        return _stays(inner) and is_file(self.path / inner)


def open_folder(path: Path) -> Folder:
    """Read a folder's `task.yaml`. Raises ImportProblemError with the line."""
    try:
        document = load_document(read_below(path, TASK, LARGEST_YAML))
    except UnsafeYamlError as problem:
        raise ImportProblemError(f"{TASK}, {problem}") from problem
    if not isinstance(document.data, dict):
        raise ImportProblemError(f"{TASK}, line 1: expected an object")
    folder = Folder(path, document.data, document.lines)
    for key in document.data:
        if key not in KEYS:
            folder.found(f"/{key}", f"the key {str(key)[:80]!r} is not known; left out")
    said = document.data.get("task_id")
    if said is not None and said != folder.name:
        folder.found(
            "/task_id", f"task_id is {str(said)[:80]!r}, the folder's name stands: {folder.name}"
        )
    return folder


def read_below(folder: Path, inner: PurePosixPath, most: int = LARGEST_FIXTURE) -> bytes:
    """Read a file below a folder. Refuses absolute paths, `..`, links and large files."""
    if not _stays(inner):
        raise ImportProblemError(f"{inner}: the path leaves the folder")
    if not is_file(folder / inner):
        raise ImportProblemError(f"{str(inner)[:200]}: there is no such file")
    path = folder
    for part in inner.parts:
        path = path / part
        if path.is_symlink():
            raise ImportProblemError(f"{inner}: links are not followed")
    if path.stat().st_size > most:
        raise ImportProblemError(f"{inner}: larger than {most:,} bytes")
    try:
        return path.read_bytes()
    except OSError as problem:
        raise ImportProblemError(f"{inner}: cannot be read: {problem.strerror}") from problem


def is_file(path: Path) -> bool:
    """Say whether a file lies there; what is no possible name is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def read_rows(folder: Path, inner: PurePosixPath) -> list[dict[str, Any]]:
    """Read a JSON list of objects below a folder, exactly. Raises ImportProblemError with the line.

    What a reader would change in silence is refused: a field that stands twice in an object, a
    number beyond 64 bits, a text that no database keeps.
    """
    data = read_below(folder, inner)
    try:
        rows = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise ImportProblemError(f"{inner}, line {problem.lineno}: {problem.msg}") from problem
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ImportProblemError(f"{inner}, line 1: expected a list of objects")
    text = data.decode("utf-8")
    at = text.index("[") + 1
    exact = []
    for _ in rows:
        at = text.index("{", at)
        try:
            row, end = _EXACT.raw_decode(text, at)
        except ValueError as problem:
            raise ImportProblemError(f"{inner}, {_line(text, at)}: {problem}") from problem
        nul = _NUL.search(text, at, end)
        if nul is not None:
            raise ImportProblemError(f"{inner}, {_line(text, nul.end())}: a NUL character")
        exact.append(row)
        at = end
    return exact


def _line(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the field {key[:80]!r} stands twice in one object")
        made[key] = value
    return made


def _whole(written: str) -> int:
    number = int(written) if len(written) < 25 else _BEYOND
    if not -_BEYOND <= number < _BEYOND:
        raise ValueError(f"{written[:40]} is a number beyond 64 bits")
    return number


_BEYOND: Final = 2**63
_EXACT: Final = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole)
_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def line_of(data: bytes, written: str, occurrence: int = 1) -> int:
    """Return the line on which a text stands the so-many-th time as JSON; 1 where it doesn't."""
    wanted = orjson.dumps(written)
    at = -1
    for _ in range(occurrence):
        at = data.find(wanted, at + 1)
        if at < 0:
            return 1
    return data.count(b"\n", 0, at) + 1


def files_below(folder: Folder) -> Iterator[str]:
    """Yield the files below a folder but its `task.yaml`, in order; links are left out."""
    for path in sorted(folder.path.rglob("*")):
        if path.is_file() and not path.is_symlink():
            inner = path.relative_to(folder.path).as_posix()
            if inner != str(TASK):
                yield inner


def _stays(inner: PurePosixPath) -> bool:
    return not inner.is_absolute() and ".." not in inner.parts and "\x00" not in str(inner)
