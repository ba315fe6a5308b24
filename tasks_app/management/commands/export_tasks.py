"""Export tasks: as JSON Lines, or as folders in Claw-Eval's form."""

import hashlib
import time
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from studio.lib.files import whole_folder
from studio.lib.jsonl import Summary, write_file
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from studio.web.errors import Invalid, NotFound
from tasks_app.core.exporters.claw_eval import folder_of, name_of
from tasks_app.core.licences import NON_COMMERCIAL
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.enums import ImportSource, Track
from tasks_app.management.commands._filters import TakesFilter
from tasks_app.models import Task
from tasks_app.queries import exported
from tasks_app.schemas.tasks import export_row


class Command(TakesFilter, StudioCommand):
    """`export_tasks FILTER --to json|claw-eval PATH`."""

    help = "Write the current versions of all tasks of a filter: one a line, or one a folder."

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Filter, format and place."""
        parser.add_argument("filter", help="such as 'state:approved'; '' for all")
        formats = [ImportSource.JSON.value, ImportSource.CLAW_EVAL.value]
        parser.add_argument("--to", required=True, choices=formats, help="the format")
        parser.add_argument("path", type=Path, help="the file, or the new folder, to write")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Write everything or nothing; the hash is over all that was written."""
        path: Path = options["path"]
        began = time.monotonic()
        found = exported(options["filter"])
        try:
            if options["to"] == ImportSource.CLAW_EVAL:
                rows, sha256 = _write_folders(path, _specs(found.tasks))
            else:
                rows, sha256 = write_file(path, map(export_row, found.tasks), closing=True)
        except OSError as error:
            raise NotFound(f"{path} cannot be written: {error.strerror}.") from error
        return {
            "rows": rows,
            "sha256": sha256,
            "seconds": round(time.monotonic() - began, 3),
            **({"left_out": {NON_COMMERCIAL: found.left_out}} if found.left_out else {}),
        }


def _specs(tasks: Iterable[Task]) -> Iterator[TaskSpec]:
    """The specs of tasks. Raises Invalid at the first that is no Claw-Eval task of our own."""
    for task in tasks:
        if task.evaluation_only or task.track != Track.CLAW_EVAL:
            what = "an import" if task.evaluation_only else f"of the track {task.track}"
            raise Invalid(
                f"{task.code} is {what}; only own tasks of the track claw_eval have this form. "
                "Add track:claw_eval -origin:imported to the filter, or export as json."
            )
        if task.current is not None:
            yield load_spec(task.current.spec)


def _write_folders(path: Path, specs: Iterator[TaskSpec]) -> Summary:
    digest = hashlib.sha256()
    rows = 0
    with whole_folder(path) as root:
        for rows, spec in enumerate(specs, start=1):  # noqa: B007 (the last one counts them)
            name = name_of(spec)
            for inner, content in sorted(folder_of(spec).items()):
                file = root / "tasks" / name / inner
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                digest.update(f"{name}/{inner}\n{len(content)}\n".encode())
                digest.update(content)
    return Summary(rows, digest.hexdigest())
