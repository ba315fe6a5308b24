"""Task specs out of a file, a folder or an archive: JSON, JSON Lines, zip.

Nothing of an archive is written to disk or run. Limits are checked before anything is unpacked, and
again while unpacking, because an archive may lie about its sizes. A source that breaks a limit is
refused as a whole; an item that is no spec is refused by itself, with its place.
"""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import orjson

from tasks_app.core.spec import LARGEST_SPEC, SpecError, TaskSpec, load_spec

LARGEST_SOURCE: Final = 50 * 2**20
"""Bytes of an upload, a file, or an archive's content once unpacked."""
MOST_ENTRIES: Final = 2_000
"""Files of a folder or an archive."""
MOST_SPECS: Final = 20_000
_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")


class SourceError(ValueError):
    """A source that is refused as a whole: too large, a path outside, a link, not readable."""


@dataclass(frozen=True, slots=True)
class Found:
    """One spec of a source, or why one item is none."""

    name: str
    """``folder/tasks.jsonl:3``: the file, and the line where there are several."""
    spec: TaskSpec | None
    reason: str = ""


def read_path(path: Path) -> Iterator[Found]:
    """Read a file, an archive or every JSON file below a folder. Raises SourceError."""
    try:
        if path.is_dir():
            return _read_folder(path)
        if path.exists() and not path.is_file():
            raise SourceError(f"{path} is neither a file nor a folder")
        if path.stat().st_size > LARGEST_SOURCE:
            raise SourceError(f"{path.name}: {_too_large(path.stat().st_size)}")
        return read_upload(path.name, path.read_bytes())
    except OSError as error:
        place = error.filename or path
        raise SourceError(f"{place} cannot be read: {error.strerror}") from error


def read_upload(name: str, data: bytes) -> Iterator[Found]:
    """Read the bytes of one file that is called ``name``. Raises SourceError."""
    if len(data) > LARGEST_SOURCE:
        raise SourceError(f"{name}: {_too_large(len(data))}")
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return _counted(_read_archive(name, data))
    return _counted(_read_file(name, data))


def _read_folder(folder: Path) -> Iterator[Found]:
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.suffix in _SUFFIXES
    )
    if len(files) > MOST_ENTRIES:
        raise SourceError(f"{folder.name}: {len(files):,} files; at most {MOST_ENTRIES:,}")
    home = folder.resolve()
    total = 0
    for path in files:
        if not path.resolve().is_relative_to(home):
            raise SourceError(f"{path.relative_to(folder)} links to a place outside the folder")
        total += path.stat().st_size
    if total > LARGEST_SOURCE:
        raise SourceError(f"{folder.name}: {_too_large(total)}")
    return _counted(
        found
        for path in files
        for found in _read_file(path.relative_to(folder).as_posix(), path.read_bytes())
    )


def _read_archive(name: str, data: bytes) -> Iterator[Found]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise SourceError(f"{name} is a damaged archive: {error}") from error
    with archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        _check_entries(name, entries)
        wanted = sorted(
            (entry for entry in entries if entry.filename.endswith(_SUFFIXES)),
            key=lambda entry: entry.filename,
        )
        if not wanted:
            raise SourceError(f"{name} holds no {', '.join(_SUFFIXES)} file")
        left = LARGEST_SOURCE
        for entry in wanted:
            content = _unpack(name, archive, entry, left)
            left -= len(content)
            yield from _read_file(entry.filename, content)


def _check_entries(name: str, entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise SourceError(f"{name}: {len(entries):,} files; at most {MOST_ENTRIES:,}")
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ":" in path.parts[0] or ".." in path.parts:
            raise SourceError(f"{name}: {entry.filename!r} points outside the archive")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise SourceError(f"{name}: {entry.filename!r} is a link")
        if entry.flag_bits & 1:
            raise SourceError(f"{name}: {entry.filename!r} is encrypted")
    total = sum(entry.file_size for entry in entries)
    if total > LARGEST_SOURCE:
        raise SourceError(f"{name}, unpacked: {_too_large(total)}")


def _unpack(name: str, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> bytes:
    try:
        with archive.open(entry) as stream:
            content = stream.read(left + 1)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise SourceError(f"{name}: {entry.filename!r} cannot be unpacked: {error}") from error
    if len(content) > left:
        raise SourceError(f"{name}, unpacked: {_too_large(LARGEST_SOURCE + 1)}")
    return content


def _read_file(name: str, data: bytes) -> Iterator[Found]:
    if name.endswith((".jsonl", ".ndjson")):
        for number, line in enumerate(data.split(b"\n"), start=1):
            text = line.strip()
            # The last line of our own exports counts the rows; it is no row.
            if text and not text.startswith(b'{"closing":'):
                yield _found(f"{name}:{number}", text)
        return
    text = data.strip()
    if text.startswith(b"["):
        try:
            items = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            yield Found(name, None, f"not JSON at {place}: {error.msg}")
            return
        for number, item in enumerate(items):
            yield _found(f"{name}[{number}]", orjson.dumps(item))
        return
    yield _found(name, text)


def _found(name: str, text: bytes) -> Found:
    if len(text) > LARGEST_SPEC:
        return Found(name, None, f"larger than {LARGEST_SPEC:,} bytes")
    try:
        return Found(name, load_spec(_spec_of(text)))
    except SpecError as error:
        return Found(name, None, str(error))


def _spec_of(text: bytes) -> bytes:
    """Take the spec out of a row of our own export, which carries the code beside it."""
    if b'"spec":' not in text[:4096] and not text.startswith(b'{"code"'):
        return text
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if isinstance(data, dict) and "format" not in data and isinstance(data.get("spec"), dict):
        return orjson.dumps(data["spec"])
    return text


def _counted(items: Iterator[Found]) -> Iterator[Found]:
    for number, item in enumerate(items, start=1):
        if number > MOST_SPECS:
            raise SourceError(f"more than {MOST_SPECS:,} task specs")
        yield item


def _too_large(size: int) -> str:
    return f"{size / 2**20:,.1f} MB; at most {LARGEST_SOURCE // 2**20} MB"
