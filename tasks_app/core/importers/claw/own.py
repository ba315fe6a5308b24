"""A folder in Claw-Eval's form that this studio wrote: read back to exactly the task it was.

`task.yaml` and the JSON files hold what Claw-Eval's form can say: the request, the records, how
long. `studio.json` holds the rest. A spec is put together from both, so that a change in either is
a change of the task, and is gated like any other.
"""

from pathlib import PurePosixPath
from typing import Any, Final

import orjson

from tasks_app.core.importers.claw.folder import Folder, ImportProblemError, read_rows
from tasks_app.core.spec import LARGEST_SPEC, SpecError, TaskSpec, load_spec

REST: Final = PurePosixPath("studio.json")
FIXTURES: Final = PurePosixPath("fixtures")
SUFFIX: Final = "_FIXTURES"


def is_own(folder: Folder) -> bool:
    """Say whether this studio wrote the folder."""
    return folder.has(REST)


def read_own(folder: Folder) -> TaskSpec:
    """Return the task of such a folder. Raises ImportProblemError with file and line.

    A finding says so where it is not the task that was written any more.
    """
    rest = _rest(folder)
    said = rest.pop("hash", None)
    declared = folder.declared
    prompt = folder.section("prompt")
    request = rest.get("request")
    data = {
        **rest,
        "title": declared.get("task_name"),
        "language": prompt.get("language"),
        "request": {**(request if isinstance(request, dict) else {}), "text": prompt.get("text")},
        "services": _records(folder),
    }
    try:
        spec = load_spec(data)
    except SpecError as problem:
        raise ImportProblemError(f"{REST}, line 1: does not fit the task format: {problem}") from (
            problem
        )
    if said != spec.hash:
        folder.findings.append(f"{REST}, line 1: the task was changed since it was written")
    return spec


def _rest(folder: Folder) -> dict[str, Any]:
    try:
        rest = orjson.loads(folder.read(REST, LARGEST_SPEC))
    except orjson.JSONDecodeError as problem:
        raise ImportProblemError(f"{REST}, line {problem.lineno}: {problem.msg}") from problem
    if not isinstance(rest, dict):
        raise ImportProblemError(f"{REST}, line 1: expected an object")
    return rest


def _records(folder: Folder) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the records by service and collection: the files that the variables name."""
    services: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for entry in folder.entries("services"):
        name, variables = entry.data.get("name"), entry.data.get("env") or {}
        if not isinstance(name, str) or not isinstance(variables, dict):
            raise folder.refusal(entry.place, "a service has a name, and files by variable")
        collections = services.setdefault(name, {})
        for file in variables.values():
            inner = FIXTURES / name / PurePosixPath(str(file)).name
            collections[inner.stem] = read_rows(folder.path, inner)
    return services
