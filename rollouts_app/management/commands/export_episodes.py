"""``manage.py export_episodes FILTER --to jsonl|parquet PATH``."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from rollouts_app.queries import EPISODES, export_rows
from studio.lib.jsonl import Summary, write_file
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from studio.web.errors import Invalid, Problem


class Command(StudioCommand):
    """Write the episodes of a filter to a file, whole or not at all."""

    help = "Write the episodes of a filter, each with its grade and turns, as JSON lines."

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Filter, form, path."""
        parser.add_argument("filter", help='an episode filter; "" for all')
        parser.add_argument("--to", required=True, choices=["jsonl"], help="the form of the file")
        parser.add_argument("path", type=Path, help="the file to write")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Write it and say how many rows, with their hash."""
        began = time.monotonic()
        EPISODES.compile(options["filter"])
        summary = _write(options["path"], options["filter"])
        return {
            "rows": summary.rows,
            "sha256": summary.sha256,
            "seconds": round(time.monotonic() - began, 3),
        }


def _write(path: Path, filter_text: str) -> Summary:
    try:
        return write_file(path, export_rows(filter_text), closing=True)
    except OSError as error:
        raise Invalid(
            f"{path} cannot be written.", [Problem("path", error.strerror or str(error))]
        ) from error
