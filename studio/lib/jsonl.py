"""JSON Lines: reading with places, writing whole files at once, and a closing line that proves
completeness.

A closed stream ends in ``{"closing":{"count":N,"sha256":"…"}}``: N rows before it, and the
SHA-256 over exactly their bytes, newlines included. A reader that misses the closing line, or
finds another count or hash, has a short file and must say so.

Invariants: one row is one line in canonical JSON, so the same rows give the same bytes.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from studio.lib.files import whole_file
from studio.lib.hashing import canonical_json
from studio.lib.jsonvalue import JsonObject, JsonValue

MAX_LINE_BYTES = 64 * 2**20


class JsonlError(ValueError):
    """A line that cannot be read, or a stream that is short; ``line`` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


class Summary(NamedTuple):
    """What was written: number of rows and SHA-256 over their bytes."""

    rows: int
    sha256: str


class Writer:
    """Turns rows into lines and remembers count and hash: feed it to any byte sink."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._count = 0

    def line(self, row: JsonValue) -> bytes:
        """The bytes of one row, newline included; counted and hashed."""
        data = canonical_json(row) + b"\n"
        self._digest.update(data)
        self._count += 1
        return data

    def summary(self) -> Summary:
        """Count and hash of the rows so far."""
        return Summary(self._count, self._digest.hexdigest())

    def closing(self, **more: JsonValue) -> bytes:
        """The closing line; ``more`` (a cursor, a filter) stands beside count and hash."""
        count, sha256 = self.summary()
        return canonical_json({"closing": {"count": count, "sha256": sha256, **more}}) + b"\n"


def read_lines(source: Iterable[bytes]) -> Iterator[JsonValue]:
    """The values of a stream of lines; empty lines are skipped, a broken one is a JsonlError."""
    for number, raw in enumerate(source, start=1):
        if len(raw) > MAX_LINE_BYTES:
            raise JsonlError(number, f"longer than {MAX_LINE_BYTES} bytes")
        text = raw.strip()
        if not text:
            continue
        try:
            value: JsonValue = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise JsonlError(number, f"not JSON: {error}") from error
        yield value


def read_closed(source: Iterable[bytes]) -> Iterator[JsonObject]:
    """The rows of a closed stream; JsonlError when the closing line is missing or disagrees."""
    writer = Writer()
    closing: JsonValue = None
    number = 0
    for number, value in enumerate(read_lines(source), start=1):
        if closing is not None:
            raise JsonlError(number, "a row after the closing line")
        if not isinstance(value, dict):
            raise JsonlError(number, "a row must be an object")
        if set(value) == {"closing"}:
            closing = value["closing"]
            continue
        writer.line(value)
        yield value
    if not isinstance(closing, dict):
        raise JsonlError(number + 1, "the closing line is missing: the file is short")
    count, sha256 = writer.summary()
    if closing.get("count") != count or closing.get("sha256") != sha256:
        raise JsonlError(number, "count or SHA-256 of the closing line do not match the rows")


def read_file(path: Path) -> list[JsonValue]:
    """All values of a file."""
    with path.open("rb") as stream:
        return list(read_lines(stream))


def write_file(path: Path, rows: Iterable[JsonValue], *, closing: bool = False) -> Summary:
    """Write rows to ``path``, whole or not at all: a partial file never bears the name."""
    writer = Writer()
    with whole_file(path) as place, place.open("wb") as stream:
        for row in rows:
            stream.write(writer.line(row))
        if closing:
            stream.write(writer.closing())
    return writer.summary()
