"""Reading the files that commands are given; every fault says which file and where."""

from pathlib import Path
from typing import Any

import orjson

from studio.web.errors import Invalid, NotFound, Problem, TooLarge
from tasks_app.core.program import Act, read_acts
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import InvalidValueError, freeze
from tasks_app.core.world.world import seed_problem
from tasks_app.operations.tasks import read_spec

LARGEST_CALLS_FILE = 20 * 2**20


def read_spec_file(path: Path) -> TaskSpec:
    """Read one spec as JSON and make sure that a world can be made of it."""
    spec = read_spec(_bytes(path))
    problem = seed_problem(spec)
    if problem is not None:
        raise Invalid(f"{path}: no world can be made of these records: {problem}")
    return spec


def read_calls_file(path: Path) -> list[Act]:
    """Read a JSON list of {"tool", "arguments"} and {"reply"}."""
    try:
        return read_acts(_frozen(orjson.loads(_bytes(path))))
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise Invalid(f"{path}: not JSON at {place}: {error.msg}") from error
    except ValueError as error:
        raise Invalid(f"{path}: {error}", [Problem(str(path), str(error))]) from error


def _frozen(data: Any) -> Any:
    """Freeze entry by entry, so that a value that no tool takes is named with its place."""
    if not isinstance(data, list):
        return data
    entries = []
    for position, entry in enumerate(data):
        try:
            entries.append(freeze(entry))
        except InvalidValueError as error:
            raise ValueError(f"[{position}]: {error}") from error
    return entries


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_CALLS_FILE:
            raise TooLarge(f"{path} is larger than {LARGEST_CALLS_FILE // 2**20} MB.")
        return path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}.") from error
