"""The manifest of a dataset: what it holds, where it comes from, and the hash of every file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from studio.lib.hashing import bytes_hash, content_hash
from studio.lib.jsonvalue import JsonValue
from training_app.core.run_dir import RunDirError, read_json, write_json

FORMAT: Final = "dataset/1"
FILE: Final = "manifest.json"
Kind = Literal["demonstrations", "prompts"]
SplitKind = Literal["new_instances", "new_families"]


def write_manifest(
    folder: Path,
    *,
    kind: Kind,
    rows: int,
    split_kind: SplitKind,
    provenance: Mapping[str, JsonValue],
) -> dict[str, Any]:
    """Hash every file of a dataset's folder and write the manifest beside them.

    Args:
        folder: The dataset.
        kind: What its rows are.
        rows: How many.
        split_kind: What is new in the tasks held back from it; printed beside every number.
        provenance: What it was made from.
    """
    files: dict[str, dict[str, JsonValue]] = {
        file.relative_to(folder).as_posix(): {
            "sha256": bytes_hash(file.read_bytes()),
            "bytes": file.stat().st_size,
        }
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != FILE and not file.name.endswith(".partial")
    }
    body: dict[str, Any] = {
        "format": FORMAT,
        "kind": kind,
        "rows": rows,
        "split_kind": split_kind,
        "provenance": dict(provenance),
        "files": files,
    }
    body["sha256"] = content_hash({name: entry["sha256"] for name, entry in files.items()})
    write_json(folder / FILE, body)
    return body


def check_manifest(folder: Path) -> dict[str, Any]:
    """Read a manifest and compare every file with it.

    Raises RunDirError that names the file that is missing, changed or not listed.
    """
    try:
        body = read_json(folder / FILE)
    except FileNotFoundError as problem:
        raise RunDirError(f"{folder} has no {FILE}") from problem
    listed = body["files"]
    for name, entry in listed.items():
        file = folder / name
        if not file.is_file():
            raise RunDirError(f"{file} is missing")
        if bytes_hash(file.read_bytes()) != entry["sha256"]:
            raise RunDirError(f"{file} is not what the manifest describes")
    return body
