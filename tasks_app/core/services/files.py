"""Files: folders of texts, tables, images and documents, each under its path.

A file's id is its path, `q1/report.csv`. Texts (txt, md, csv, json) hold their `text`, and so does
a spreadsheet file, as csv. Images and documents hold a `sidecar` that says what is on them: reading
such a file shows what kind it is, and only `extract_text` reads the sidecar out.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, cast

from pydantic import Field, StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Limit, Query, RecordId, Service, Text, collection, tool
from tasks_app.core.services.listing import DEFAULT_LIMIT, Page, Word, page, search

Path = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Lines = Annotated[
    Sequence[Annotated[Sequence[str | float | int | bool | None], Field(max_length=100)]],
    Field(min_length=1, max_length=500),
]

_SUMMARY: Final = ("id", "media_type", "title", "owner", "updated_at")
KINDS: Final[Mapping[str, str]] = {
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
}
_WRITABLE: Final = ("txt", "md", "csv", "json")
_TABLES: Final = ("csv", "xlsx")
_SEEN: Final = ("pdf", "png", "jpg", "jpeg")
"""Kinds that are looked at: their text is a sidecar."""
_PATH: Final = re.compile(r"[^/\\\x00-\x1f]+(/[^/\\\x00-\x1f]+)*")


class File(TypedDict, total=False):
    """A file."""

    id: ReadOnly[str]
    media_type: ReadOnly[str]
    title: ReadOnly[str | None]
    owner: ReadOnly[str | None]
    text: ReadOnly[str | None]
    sidecar: ReadOnly[str | None]
    blob: ReadOnly[str | None]
    read_only: ReadOnly[bool]
    updated_at: ReadOnly[str]


class Files(Service):
    """Files and folders."""

    name = "files"
    function = "files"
    purpose = "List, read, write, move and delete files; read what is on images."

    files = collection(File, prefix="FILE")

    @tool()
    def list_files(
        self, folder: Path | None = None, kind: Word | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """List files by path, without their content.

        Args:
            folder: Only files in this folder and those below it.
            kind: Only files with this ending, such as csv.
            limit: How many to show at most.
        """
        rows = list(self.files)
        if folder is not None:
            start = f"{folder.strip('/')}/"
            rows = [row for row in rows if str(row.get("id")).startswith(start)]
        if kind is not None:
            wanted = kind.casefold().lstrip(".")
            rows = [row for row in rows if ending(str(row.get("id"))) == wanted]
        return page("files", rows, limit, _SUMMARY)

    @tool()
    def search_files(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find files in whose path, title or text every word occurs; what images show is not read.

        Args:
            query: Words that must all occur.
            limit: How many to show at most.
        """
        rows = [row for row in self.files if search([_shown(row)], query)]
        return page("files", rows, limit, _SUMMARY)

    @tool()
    def read_file(self, file_id: RecordId) -> Mapping[str, Any]:
        """Show a file: its text, or for an image or a document what kind it is.

        Args:
            file_id: The file's path.
        """
        return _shown(self.files[file_id])

    @tool()
    def read_table(
        self, file_id: RecordId, limit: Annotated[int, Field(ge=1, le=1000)] = 200
    ) -> Mapping[str, Any]:
        """Read a csv or xlsx file as a table.

        Args:
            file_id: The file's path.
            limit: How many rows to show at most.
        """
        file = self.files[file_id]
        if ending(file_id) not in _TABLES:
            raise ToolError("conflict", f"{file_id} is no table")
        lines = read_csv(_text(file))
        head, rows = (lines[0], lines[1:]) if lines else ([], [])
        return {"columns": head, "rows": rows[:limit], "total": len(rows)}

    @tool()
    def extract_text(self, file_id: RecordId) -> Mapping[str, Any]:
        """Read the text that can be seen on an image or in a document.

        Args:
            file_id: The file's path.
        """
        file = self.files[file_id]
        if ending(file_id) not in _SEEN:
            raise ToolError("conflict", f"{file_id} is no image or document; read it")
        sidecar = file.get("sidecar")
        return {"id": file_id, "text": sidecar if isinstance(sidecar, str) else ""}

    @tool(
        writes=True,
        text=("text",),
        inside=True,
        fills=("files#media_type", "files#updated_at", "files#owner"),
    )
    def write_file(
        self,
        path: Path,
        text: Text,
        replace: bool = False,  # noqa: FBT001, FBT002 (a tool's argument, always passed by name)
    ) -> Mapping[str, Any]:
        """Write a text file.

        Args:
            path: Where it stands; the ending says what it is: txt, md, csv or json.
            text: Its whole content.
            replace: Whether a file of that path may be replaced.
        """
        kind = _writable(path)
        known = self.files.get(path)
        if known is not None and not replace:
            raise ToolError("conflict", f"{path} exists; replace it or choose another path")
        self._may_change(known, path)
        if known is not None and known.get("text") == text:
            raise ToolError("conflict", f"{path} has this text already")
        made: dict[str, Any] = {
            **(known or {"id": path, "owner": self.mailbox}),
            "media_type": KINDS[kind],
            "text": text,
            "updated_at": self.now,
        }
        return self.files.put(cast(File, made))

    @tool(writes=True, text=("text",), inside=True, fills=("files#updated_at",))
    def append_text(self, file_id: RecordId, text: Text) -> Mapping[str, Any]:
        """Add text to the end of a text file.

        Args:
            file_id: The file's path.
            text: What is added, on a line of its own.
        """
        known = self.files[file_id]
        _writable(file_id)
        self._may_change(known, file_id)
        if not text:
            raise ToolError("invalid_value", "the text is empty")
        before = _text(known)
        joined = before if not before or before.endswith("\n") else f"{before}\n"
        return self.files.put(cast(File, {**known, "text": joined + text, "updated_at": self.now}))

    @tool(writes=True, fills=("files#updated_at",))
    def append_rows(self, file_id: RecordId, rows: Lines) -> Mapping[str, Any]:
        """Add rows to the end of a csv file.

        Args:
            file_id: The file's path.
            rows: Row by row, in the order of its columns.
        """
        known = self.files[file_id]
        if ending(file_id) != "csv":
            raise ToolError("conflict", f"{file_id} is no csv file")
        self._may_change(known, file_id)
        lines = read_csv(_text(known))
        width = len(lines[0]) if lines else len(rows[0])
        if any(len(row) != width for row in rows):
            raise ToolError("invalid_value", f"rows: {file_id} has {width} columns")
        added = [["" if cell is None else _plain(cell) for cell in row] for row in rows]
        text = write_csv([*lines, *added])
        self.files.put(cast(File, {**known, "text": text, "updated_at": self.now}))
        return {"id": file_id, "rows_added": len(rows), "total": max(0, len(lines) - 1) + len(rows)}

    @tool(writes=True, fills=("files#updated_at",))
    def move_file(self, file_id: RecordId, path: Path) -> Mapping[str, Any]:
        """Give a file another path of the same ending.

        Args:
            file_id: The path it has.
            path: The path it gets.
        """
        known = self.files[file_id]
        _checked(path)
        if ending(path) != ending(file_id):
            raise ToolError("invalid_value", f"path: the ending stays {ending(file_id)}")
        if path in self.files:
            raise ToolError("conflict", f"{path} exists already")
        self._may_change(known, file_id)
        self.files.remove(file_id)
        return _shown(self.files.put(cast(File, {**known, "id": path, "updated_at": self.now})))

    @tool(writes=True)
    def delete_file(self, file_id: RecordId) -> Mapping[str, Any]:
        """Delete a file.

        Args:
            file_id: The file's path.
        """
        known = self.files[file_id]
        self._may_change(known, file_id)
        self.files.remove(file_id)
        return {"id": file_id, "deleted": True}

    def _may_change(self, known: File | None, path: str) -> None:
        if known is not None and known.get("read_only") is True:
            raise ToolError("forbidden", f"{path} cannot be changed")


def ending(path: str) -> str:
    """Return what comes after the last dot of a path's last part, in lower case; empty if none."""
    name = path.rpartition("/")[2]
    stem, dot, last = name.rpartition(".")
    return last.casefold() if dot and stem else ""


def read_csv(text: str) -> list[list[str]]:
    """Read comma-separated text; blank lines are left out. Raises ToolError `conflict`."""
    try:
        return [line for line in csv.reader(io.StringIO(text), strict=False) if line]
    except csv.Error as problem:
        raise ToolError("conflict", f"this is no readable table: {problem}") from problem


def write_csv(lines: Sequence[Sequence[str]]) -> str:
    """Write comma-separated text, a line feed after each line."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()


def _plain(cell: str | float) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell)


def _text(file: File) -> str:
    text = file.get("text")
    return text if isinstance(text, str) else ""


def _shown(file: File) -> Mapping[str, Any]:
    """A file as reading shows it: never its sidecar."""
    return {key: value for key, value in file.items() if key not in ("sidecar", "blob")}


def _checked(path: str) -> str:
    parts = path.split("/")
    if _PATH.fullmatch(path) is None or any(part in (".", "..") for part in parts):
        raise ToolError("invalid_value", f"{path[:80]!r} is no path such as q1/report.csv")
    return ending(path)


def _writable(path: str) -> str:
    kind = _checked(path)
    if kind not in _WRITABLE:
        raise ToolError("invalid_value", f"only {', '.join(_WRITABLE)} files can be written")
    return kind
