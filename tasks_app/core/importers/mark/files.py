"""Files that a ClawMark task puts into the workspace: texts are carried over, the rest is named."""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from tasks_app.core.importers.claw.records import LARGEST_TEXT, TEXTS
from tasks_app.core.importers.mark.source import Source
from tasks_app.core.importers.mark.values import Below, NotLiteralError
from tasks_app.core.services.files import KINDS, ending

MOST_FILES: Final = 500
MOST_TEXT: Final = 2_000_000
"""Characters of all files of a task."""
_WORKSPACE: Final = "/workspace"


class Files:
    """What of a task's files is carried over, and what is missing."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.missing: dict[str, str] = {}
        """File below the task → why its content is not here."""
        self.carried: list[str] = []
        self._text = 0

    def taken(self, call: ast.Call, place: Below, target: str) -> list[dict[str, Any]]:
        """Return the records of the files at a place. Raises NotLiteralError where none may be."""
        inner = PurePosixPath(*(part for part in place.parts if part not in ("", ".")))
        if ".." in inner.parts or inner.is_absolute() or ".." in target.split("/"):
            raise NotLiteralError(call, f"{str(inner)[:80]}: the path leaves the folder")
        path = self.source.path
        for part in inner.parts:
            path = path / part
            if path.is_symlink():
                raise NotLiteralError(call, f"{str(inner)[:80]}: links are not followed")
        home = target.removeprefix(_WORKSPACE).strip("/")
        if path.is_file():
            return list(self._record(call, path, home or path.name))
        if not path.is_dir():
            raise NotLiteralError(call, f"{str(inner)[:80]}: there is no such file")
        records: list[dict[str, Any]] = []
        for file in sorted(path.rglob("*")):
            if file.is_symlink():
                name = file.relative_to(self.source.path).as_posix()
                self.source.found(call, f"{name!a}: links are not followed")
            elif file.is_file() and not self._behind_link(file):
                below = file.relative_to(path).as_posix()
                records += self._record(call, file, f"{home}/{below}" if home else below)
        return records

    def _behind_link(self, file: Path) -> bool:
        return not file.resolve().is_relative_to(self.source.path.resolve())

    def _record(self, call: ast.Call, file: Path, file_id: str) -> Iterator[dict[str, Any]]:
        name = file.relative_to(self.source.path).as_posix()
        if not file_id.isprintable():
            self.source.found(call, f"{ascii(name)[:120]}: a name that no database keeps")
            return
        why = self._why_not(file)
        if why:
            self.missing[name] = why
            return
        text = file.read_bytes().decode("utf-8")
        self._text += len(text)
        self.carried.append(name)
        kind = KINDS.get(ending(file.name), "text/plain")
        yield {"id": file_id, "media_type": kind, "text": text}

    def _why_not(self, file: Path) -> str:
        if ending(file.name) not in TEXTS:
            return "no text"
        if len(self.carried) >= MOST_FILES:
            return f"more than {MOST_FILES} files"
        size = file.stat().st_size
        if size > LARGEST_TEXT:
            return f"longer than {LARGEST_TEXT:,} characters"
        if self._text + size > MOST_TEXT:
            return f"more than {MOST_TEXT:,} characters in all"
        data = file.read_bytes()
        if b"\x00" in data:
            return "a NUL character"
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = data.count(b"\n", 0, problem.start) + 1
            return f"line {line}: not UTF-8 text"
        return ""
