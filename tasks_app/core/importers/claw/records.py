"""The records of a Claw-Eval task: every one of its JSON files, nothing lost, nothing made up.

A record keeps all its own fields; ours stand beside them, so that our tools can select on it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from tasks_app.core.importers.claw.folder import (
    TASK,
    Entry,
    Folder,
    ImportProblemError,
    is_file,
    line_of,
    read_below,
    read_rows,
)
from tasks_app.core.importers.claw.homes import HOMES, Home
from tasks_app.core.importers.claw.upstream import LIVE, OCR
from tasks_app.core.services.files import KINDS, ending

CAPTION: Final = "caption"
DOCUMENTS: Final = "documents"
LARGEST_TEXT: Final = 100_000
"""Characters of a text file that is carried over; a longer one is said to be missing."""
_MEDIA: Final = re.compile(r"[A-Za-z0-9_-]+\.(?:png|jpg|jpeg|pdf)")
TEXTS: Final = frozenset(
    {"txt", "md", "csv", "json", "jsonl", "html", "xml", "yaml", "sql", "py", "js", "srt", "log"}
)
"""Endings of files whose text is carried over."""

Collections = dict[str, list[dict[str, Any]]]


@dataclass(slots=True)
class Records:
    """What a folder holds for the world, and what it should hold but doesn't."""

    services: dict[str, Collections] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    """File below the folder (or its sibling) → where its records stand, `mail/messages`."""
    copied: list[str] = field(default_factory=list)
    """Service files that also lay among the agent's own files."""
    unnamed: list[str] = field(default_factory=list)
    """Services that name no variable for their records, with the file that was found."""
    missing: list[str] = field(default_factory=list)
    """Files that the task works on and that are not carried over, each with the reason."""


def read_records(folder: Folder) -> Records:
    """Read all records of a folder. Raises ImportProblemError with file and line."""
    records = Records()
    sandbox = folder.texts("sandbox_files")
    for entry in folder.entries("services"):
        name = str(entry.data.get("name") or "")
        if is_text_service(name):
            _add_scans(folder, name, sandbox, records)
        elif name not in LIVE:
            _add_service(folder, name, entry, sandbox, records)
    _add_files(folder, sandbox, records)
    _refuse_twins(folder, records)
    if "mail" in records.services:
        records.services["mail"].setdefault("drafts", [])
        records.services["mail"].setdefault("outbox", [])
    return records


def is_text_service(name: str) -> bool:
    """Say whether a service answers with canned texts of pictures or documents."""
    return name.startswith(OCR) or name in (CAPTION, DOCUMENTS)


# Business services


def _add_service(
    folder: Folder, name: str, entry: Entry, sandbox: Sequence[str], records: Records
) -> None:
    homes = HOMES.get(name)
    if homes is None:
        raise folder.refusal(
            f"{entry.place}/name", f"needs {name[:80]}, which this studio does not simulate yet"
        )
    home, base, inner = _fixture(folder, name, homes, entry, sandbox, records)
    rows = read_rows(base, inner)
    made = [_record(row, home, base, inner, number) for number, row in enumerate(rows)]
    collections = records.services.setdefault(home.service, {})
    collections.setdefault(home.collection, []).extend(made)
    for collection, more in _inner_records(made, home).items():
        collections.setdefault(collection, []).extend(more)
    shown = str(inner) if base == folder.path else f"{base.name}/{inner}"
    records.taken[shown] = f"{home.service}/{home.collection}"
    if str(inner) in sandbox:
        records.copied.append(str(inner))


def _fixture(
    folder: Folder,
    name: str,
    homes: Sequence[Home],
    entry: Entry,
    sandbox: Sequence[str],
    records: Records,
) -> tuple[Home, Path, PurePosixPath]:
    """Find a service's records: the variable's path, then the service's default, then the sandbox
    files. Returns its home, the folder and the path below it: a variable may name another task's.
    """
    named = _variable(folder, entry)
    candidates: list[tuple[Path, PurePosixPath]] = []
    if named:
        parts = PurePosixPath(named).parts
        if folder.name in parts:
            parts = parts[parts.index(folder.name) + 1 :]
        elif len(parts) > 2 and parts[0] == "tasks" and parts[1] != "..":
            sibling = folder.path.parent / parts[1]
            if is_file(sibling / TASK) and not sibling.is_symlink():
                candidates.append((sibling, PurePosixPath(*parts[2:])))
        candidates.append((folder.path, PurePosixPath(*parts)))
    candidates += [(folder.path, PurePosixPath("fixtures") / home.fixture) for home in homes]
    candidates += [
        (folder.path, PurePosixPath(f))
        for f in sandbox
        if f"/{name}/" in f"/{f}" and f.endswith(".json")
    ]
    for base, inner in candidates:
        if inner.is_absolute() or ".." in inner.parts:
            raise folder.refusal(entry.place, f"{inner}: the path leaves the folder")
        if is_file(base / inner):
            home = next((h for h in homes if inner.name == PurePosixPath(h.fixture).name), homes[0])
            if not named:
                records.unnamed.append(f"{name} ({inner})")
            return home, base, inner
    looked = ", ".join(dict.fromkeys(str(inner) for _, inner in candidates))
    raise folder.refusal(entry.place, f"{name}: no records found (looked for {looked})")


def _variable(folder: Folder, entry: Entry) -> str:
    variables = entry.data.get("env")
    if variables is not None and not isinstance(variables, dict):
        folder.found(f"{entry.place}/env", "env is no object; left out")
        return ""
    for key, value in (variables or {}).items():
        if str(key).endswith("_FIXTURES"):
            return str(value)
    return ""


def _record(
    row: Mapping[str, Any], home: Home, base: Path, inner: PurePosixPath, number: int
) -> dict[str, Any]:
    """Return their record with `id` and our field names added; nothing of theirs is lost."""
    record_id = row.get(home.id_field, row.get("id"))
    if record_id in (None, "") or isinstance(record_id, dict | list):
        line = line_of_row(read_below(base, inner), number)
        raise ImportProblemError(f"{inner}, line {line}: record {number} has no {home.id_field}")
    added = {
        ours: home.renamed.get(ours, {}).get(str(row[theirs]), row[theirs])
        for ours, theirs in home.known_as.items()
        if theirs in row and ours not in row
    }
    own = {"upstream_id": row["id"]} if "id" in row and row["id"] != record_id else {}
    return {**row, **own, **added, "id": str(record_id)}


def line_of_row(data: bytes, number: int) -> int:
    """Return the line on which the so-many-th object of a list of objects begins."""
    depth, seen, quoted, escaped = 0, -1, False, False
    for at, byte in enumerate(data):
        if quoted:
            quoted = escaped or byte != 0x22
            escaped = not escaped and byte == 0x5C
        elif byte == 0x22:
            quoted = True
        elif byte in b"[{":
            depth += 1
            seen += depth == 2
            if depth == 2 and seen == number:
                return data.count(b"\n", 0, at) + 1
        elif byte in b"]}":
            depth -= 1
    return 1


def _inner_records(records: Sequence[Mapping[str, Any]], home: Home) -> Collections:
    """Return what stands inside their records and has a collection of its own here."""
    found: Collections = {}
    for part in home.parts:
        made = found.setdefault(part.collection, [])
        for record in records:
            listed = record.get(part.field)
            for number, row in enumerate(listed if isinstance(listed, list) else [], start=1):
                if isinstance(row, dict):
                    added = {o: row[t] for o, t in part.renamed.items() if t in row}
                    inner = {"id": f"{record['id']}-R{number}", part.link: record["id"]}
                    made.append({**inner, **row, **added})
    for kind in home.kinds:
        first: dict[str, Mapping[str, Any]] = {}
        for record in records:
            if isinstance(record.get(kind.field), str) and record[kind.field]:
                first.setdefault(record[kind.field], record)
        found.setdefault(kind.collection, []).extend(
            {"id": value, "name": value, **{f: r[f] for f in kind.shared if f in r}}
            for value, r in first.items()
        )
    return found


def _refuse_twins(folder: Folder, records: Records) -> None:
    for service, collections in records.services.items():
        for collection, rows in collections.items():
            seen: set[str] = set()
            for row in rows:
                if row["id"] in seen:
                    home = f"{service}/{collection}"
                    place = _second_place(folder, records, home, row["id"])
                    raise ImportProblemError(f"{place}{row['id'][:80]} stands there twice")
                seen.add(row["id"])


def _second_place(folder: Folder, records: Records, home: str, record_id: str) -> str:
    files = [file for file, at in records.taken.items() if at == home]
    for file in files:
        inner = PurePosixPath(file)
        if folder.has(inner) and line_of(folder.read(inner), record_id, 2) > 1:
            return f"{file}, line {line_of(folder.read(inner), record_id, 2)}: "
    return f"{files[-1]}: " if files else f"{home}: "


# Texts and files


def _add_scans(folder: Folder, name: str, sandbox: Sequence[str], records: Records) -> None:
    """Add the canned texts of scans as files, under the name by which the request knows them."""
    texts = _canned(folder, name)
    asked = folder.text("text", "prompt")
    known = [PurePosixPath(f).name for f in sandbox] + _MEDIA.findall(asked)
    media = [m for m in dict.fromkeys(known) if _MEDIA.fullmatch(m)]
    if not texts:
        records.missing.append(f"the text of {', '.join(media) or 'what ' + name + ' reads'}")
        return
    for inner in texts:
        stem = inner.stem
        same = [m for m in media if m.rpartition(".")[0] == stem]
        called = (same or (media if len(texts) == 1 else []) or [f"{stem}.png"])[0]
        text = folder.read(inner).decode("utf-8", "replace").replace("\x00", "")
        records.services.setdefault("files", {}).setdefault("files", []).append(
            {"id": called, "media_type": KINDS[ending(called)], "sidecar": text}
        )
        records.taken[str(inner)] = f"files/files/{called}"
        if str(inner) in sandbox:
            records.copied.append(str(inner))


def _canned(folder: Folder, name: str) -> list[PurePosixPath]:
    below = PurePosixPath("fixtures")
    if name == CAPTION:
        alone = below / "caption.txt"
        return [alone] if folder.has(alone) else []
    place = folder.path / below / (OCR if name.startswith(OCR) else DOCUMENTS)
    if not place.is_dir() or place.is_symlink():
        return []
    inner = [below / place.name / path.name for path in sorted(place.glob("*.txt"))]
    return [path for path in inner if folder.has(path)]


def _add_files(folder: Folder, sandbox: Sequence[str], records: Records) -> None:
    """Add the agent's own text files; a file of a service stays with its tools alone."""
    wanted = [*sandbox, *folder.texts("attachments", "prompt")]
    spoken_for = {PurePosixPath(home).name for home in records.taken.values()}
    for written in dict.fromkeys(wanted):
        inner = PurePosixPath(written)
        if written in records.taken or inner.name in spoken_for:
            continue
        if _service_file(folder, inner) or written.removeprefix("tasks/") in records.taken:
            records.copied.append(written)
        elif not folder.has(inner):
            records.missing.append(f"{written} (not in the folder)")
        elif ending(inner.name) not in TEXTS:
            records.missing.append(f"{written} (no text)")
        else:
            text = folder.read(inner).decode("utf-8", "replace").replace("\x00", "")
            if len(text) > LARGEST_TEXT:
                records.missing.append(f"{written} (longer than {LARGEST_TEXT:,} characters)")
                continue
            kind = KINDS.get(ending(inner.name), "text/plain")
            records.services.setdefault("files", {}).setdefault("files", []).append(
                {"id": written, "media_type": kind, "text": text}
            )
            records.taken[written] = f"files/files/{written}"


def _service_file(folder: Folder, inner: PurePosixPath) -> bool:
    """Say whether a file among the agent's own is a service's: only its tools show it."""
    names = {str(entry.data.get("name")) for entry in folder.entries("services")}
    return len(inner.parts) > 2 and inner.parts[0] == "fixtures" and inner.parts[1] in names
