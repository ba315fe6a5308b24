"""Import tasks from a folder, a file or an archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from studio.web.errors import NotFound
from tasks_app.enums import ImportSource
from tasks_app.jobs import IMPORT
from tasks_app.operations.imports import open_import


class Command(JobCommand):
    """`import_tasks --from json|claw-eval|clawmark PATH`."""

    help = "Import tasks; every item becomes a task or is refused with its reason."
    kind = IMPORT

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Which format, and where."""
        parser.add_argument(
            "--from", required=True, choices=ImportSource.values, dest="source", help="the format"
        )
        parser.add_argument("path", type=Path, help="a folder, a file or a zip archive")

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the import that the job fills."""
        path: Path = options["path"].expanduser().resolve()
        if not path.exists():
            raise NotFound(f"{options['path']} does not exist.")
        self._run = open_import(by=None, source=ImportSource(options["source"]), name=path.name)
        return {"run": self._run.code, "path": str(path)}

    def job_subject(self, options: dict[str, Any]) -> str:
        """The import's code."""
        return self._run.code
