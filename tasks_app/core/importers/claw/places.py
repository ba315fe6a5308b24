"""Where a fault of the finished spec stands in the folder that it was made of."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from tasks_app.core.importers.claw.folder import Folder
from tasks_app.core.importers.claw.records import Records, line_of_row
from tasks_app.core.spec import SpecProblem
from tasks_app.core.values import InvalidValueError, freeze

_MADE_OF: Final[Mapping[str, str]] = {
    "title": "/task_name",
    "language": "/prompt/language",
    "request": "/prompt/text",
    "user": "/user_agent",
    "tool_aliases": "/tools",
    "checks": "/scoring_components",
    "constraints": "/safety_checks",
    "limits": "/environment",
    "provenance": "/reference_solution",
}
"""Field of a spec → what of `task.yaml` it is made of."""


def place_of(folder: Folder, records: Records, problem: SpecProblem) -> str:
    """Return file and line of a fault; the first line of `task.yaml` where nothing is nearer."""
    parts = (problem.path or _row_of(records)).split("/")[1:]
    if parts[:1] == ["services"] and len(parts) == 1:
        return next(reversed(records.taken), folder.at("/services"))
    if len(parts) > 3 and parts[0] == "services" and parts[3].isdecimal():
        home = f"{parts[1]}/{parts[2]}"
        file = next((file for file, at in records.taken.items() if at == home), None)
        if file is not None and folder.has(PurePosixPath(file)):
            data = folder.read(PurePosixPath(file))
            return f"{file}, line {line_of_row(data, int(parts[3]))}"
    return folder.at(_MADE_OF.get(parts[0] if parts else "", ""))


def _row_of(records: Records) -> str:
    """Return the pointer of the first record with a value that no spec holds; empty for none."""
    for service, collections in records.services.items():
        for collection, rows in collections.items():
            for number, row in enumerate(rows):
                try:
                    freeze(row)
                except InvalidValueError:
                    return f"/services/{service}/{collection}/{number}"
    return ""
