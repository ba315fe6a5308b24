"""Export tasks as JSON Lines."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonl import write_file
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from studio.web.errors import NotFound
from tasks_app.management.commands._filters import TakesFilter
from tasks_app.queries import every
from tasks_app.schemas.tasks import export_row


class Command(TakesFilter, StudioCommand):
    """`export_tasks FILTER --to json PATH`."""

    help = "Write the current versions of all tasks of a filter, one JSON object a line."

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Filter, format and file."""
        parser.add_argument("filter", help="such as 'state:approved'; '' for all")
        parser.add_argument("--to", required=True, choices=["json"], help="the format")
        parser.add_argument("path", type=Path, help="the file to write")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Write the file whole or not at all; its last line proves that it is complete."""
        path: Path = options["path"]
        began = time.monotonic()
        try:
            rows, sha256 = write_file(path, map(export_row, every(options["filter"])), closing=True)
        except OSError as error:
            raise NotFound(f"{path} cannot be written: {error.strerror}.") from error
        return {
            "rows": rows,
            "sha256": sha256,
            "seconds": round(time.monotonic() - began, 3),
        }
