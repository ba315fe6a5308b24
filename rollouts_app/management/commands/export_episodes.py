"""``manage.py export_episodes FILTER --to jsonl|parquet PATH``."""

import errno
import hashlib
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rollouts_app.queries import EPISODES, export_rows
from studio.lib.files import whole_file
from studio.lib.hashing import canonical_json
from studio.lib.jsonl import Summary, write_file
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from studio.web.errors import Invalid, Problem

_AS_TEXT: Final = ("components", "grade", "turns")
"""Columns whose shape differs from task to task: JSON text in Parquet."""
_ROWS: Final = 2000
_BYTES: Final = 64 * 2**20
"""A row group ends after so many rows, or so many bytes of text."""
_SCHEMA: Final = pa.schema(
    [
        *((name, pa.string()) for name in ("code", "batch", "task")),
        ("version", pa.int32()),
        *((name, pa.string()) for name in ("spec_hash", "family", "subtype", "policy")),
        ("group_index", pa.int32()),
        ("seed", pa.int64()),
        ("state", pa.string()),
        ("stop", pa.string()),
        ("reward", pa.float64()),
        ("passed", pa.bool_()),
        ("components", pa.string()),
        ("violations", pa.list_(pa.string())),
        ("tokens", pa.int64()),
        ("seconds", pa.float64()),
        *((name, pa.string()) for name in ("curation", "boundary", "failure", "created_at")),
        ("grade", pa.string()),
        ("turns", pa.string()),
    ]
)


class Command(StudioCommand):
    """Write the episodes of a filter to a file, whole or not at all."""

    help = "Write the episodes of a filter, each with its grade and turns."

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Filter, form, path."""
        parser.add_argument("filter", help='an episode filter; "" for all')
        parser.add_argument("--to", required=True, choices=["jsonl", "parquet"], help="the form")
        parser.add_argument("path", type=Path, help="the file to write")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Write it and say how many rows, with a hash (of the rows; for Parquet of the file)."""
        began = time.monotonic()
        filter_text, path = options["filter"], options["path"]
        EPISODES.compile(filter_text)
        try:
            if options["to"] == "parquet":
                summary = write_parquet(path, export_rows(filter_text))
            else:
                summary = write_file(path, export_rows(filter_text), closing=True)
        except OSError as error:
            raise Invalid(
                f"{path} cannot be written.", [Problem("path", error.strerror or str(error))]
            ) from error
        return {
            "rows": summary.rows,
            "sha256": summary.sha256,
            "seconds": round(time.monotonic() - began, 3),
        }


def write_parquet(path: Path, rows: Iterable[JsonObject]) -> Summary:
    """Write rows as Parquet (zstd), whole or not at all; a partial file never bears the name."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Parquet needs an ordinary file", str(path))
    count = 0
    with whole_file(path) as place:
        with pq.ParquetWriter(place, _SCHEMA, compression="zstd") as writer:
            for group in _groups(rows):
                writer.write_table(pa.Table.from_pylist(group, schema=_SCHEMA))
                count += len(group)
        digest = hashlib.sha256(place.read_bytes()).hexdigest()
    return Summary(count, digest)


def _groups(rows: Iterable[JsonObject]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        flat: dict[str, Any] = dict(row)
        for name in _AS_TEXT:
            text = canonical_json(row[name]).decode()
            flat[name] = text
            size += len(text)
        group.append(flat)
        if len(group) >= _ROWS or size >= _BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
