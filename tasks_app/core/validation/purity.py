"""Gate G1: a grade sees records, calls and replies, and nothing beside them.

It is shown by reading the code that would grade: from `judge` and `verdict` of the checks and
constraints of a task, and from the grade itself, every function is followed that those can name.
None may name the file system, the network, the clock, the environment, chance or another process.
What code does with names that it makes up at run time is not seen; none of ours makes any up.
"""

import datetime
import dis
import functools
import io
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

from tasks_app.core.calls import Call
from tasks_app.core.evidence import Evidence, StageEvidence
from tasks_app.core.grading.grade import grade
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, pointer

_HARMLESS: Final = frozenset(
    {
        *("abc", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal"),
        *("enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math"),
        *("numbers", "operator", "re", "statistics", "string", "types", "typing", "unicodedata"),
        *("annotated_types", "orjson", "pydantic", "pydantic_core", "re2", "typing_extensions"),
        "builtins",
    }
)
"""Modules, of the language and of others, that reach nothing outside their arguments."""
_REACHING: Final = frozenset(
    {"open", "input", "print", "exec", "eval", "compile", "__import__", "breakpoint"}
)
_NOW: Final = frozenset({"now", "today", "utcnow"})
_IN_MEMORY: Final = (io, io.StringIO, io.BytesIO)
"""`io` itself opens nothing: what code takes of it is looked at."""
_CLOCKS: Final = (datetime.datetime, datetime.date)
_KEPT: Final = 256


def pure(spec: TaskSpec) -> Iterator[Finding]:
    """G1: what judges this task can name nothing outside it."""
    judges: list[tuple[str, str, type | None, Callable[..., Any]]] = [
        *((pointer("checks", i), c.id, type(c), type(c).judge) for i, c in enumerate(spec.checks)),
        *(
            (pointer("constraints", i), c.id, type(c), type(c).verdict)
            for i, c in enumerate(spec.constraints)
        ),
        ("/checks", "the grade", None, grade),
    ]
    for place, name, kind, judge in judges:
        reached = reaches(judge, kind)
        if reached:
            yield finding(
                "G1",
                place,
                f"{name} is judged by code that reaches outside the task: {'; '.join(reached[:3])}",
                hint="let it read the records, calls and replies of its evidence alone",
            )


@functools.lru_cache(maxsize=_KEPT)
def reaches(judge: Callable[..., Any], kind: type | None = None) -> tuple[str, ...]:
    """Return what a judging function can name outside its evidence, each with where it does.

    Args:
        judge: The function.
        kind: The class whose method it is: what the method asks of itself.
    """
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting: list[Any] = [judge, kind, Evidence, StageEvidence, Call]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        for function in _functions(thing):
            if id(function.__code__) in seen:
                continue
            seen.add(id(function.__code__))
            for named, outside in _read(function):
                if outside:
                    found.setdefault(f"{outside} in {function.__module__}.{function.__qualname__}")
                elif _ours(getattr(named, "__module__", None) or type(named).__module__):
                    waiting.append(named)
    return tuple(found)


def _functions(thing: Any) -> Iterator[types.FunctionType]:
    """Yield the functions that stand behind what code names: wrapped ones, those of a class, those
    that an object of ours holds.
    """
    while not isinstance(thing, types.FunctionType) and hasattr(thing, "__wrapped__"):
        thing = thing.__wrapped__
    if isinstance(thing, types.MethodType):
        thing = thing.__func__
    if isinstance(thing, types.FunctionType):
        yield thing
        for cell in thing.__closure__ or ():
            yield from _held(cell.cell_contents)
    elif isinstance(thing, type):
        for klass in thing.__mro__:
            if _ours(klass.__module__):
                for member in vars(klass).values():
                    yield from _held(member)
    elif _ours(type(thing).__module__):
        yield from _functions(type(thing))
        for name in (*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())):
            yield from _held(getattr(thing, name, None))


def _held(member: Any) -> Iterator[types.FunctionType]:
    for attribute in ("__func__", "fget", "func", "__wrapped__"):
        member = getattr(member, attribute, member)
    if isinstance(member, types.FunctionType) and _ours(member.__module__):
        yield member


@functools.lru_cache(maxsize=4096)
def _read(function: types.FunctionType) -> tuple[tuple[Any, str], ...]:
    """Return what a function names; kinds of checks share most of what they lead to."""
    return tuple(_named(function, function.__code__))


def _named(function: types.FunctionType, code: types.CodeType) -> Iterator[tuple[Any, str]]:
    """Yield what a function names: something to follow, or in words what reaches outside."""
    names = function.__globals__
    last: Any = None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = str(step.argval)
            last = names.get(name)
            if name not in names and name in _REACHING:
                yield None, f"{name}()"
            elif last is not None:
                outside = _outside(last)
                yield (None, outside) if outside else (last, "")
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            name = str(step.argval)
            if name in _NOW and (last in _CLOCKS or last is datetime):
                yield None, f"the clock ({name})"
            last = getattr(last, name, None) if isinstance(last, types.ModuleType) else None
            if last is not None and last not in _CLOCKS:
                outside = _outside(last)
                yield (None, outside) if outside else (last, "")
        elif step.opname == "IMPORT_NAME":
            last = None
            outside = _outside(sys.modules.get(str(step.argval)), str(step.argval))
            if outside:
                yield None, outside
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _named(function, constant)


def _outside(thing: Any, name: str = "") -> str:
    """Return in words what reaches outside; empty for what is ours or harmless."""
    if any(thing is known for known in _IN_MEMORY):
        return ""
    if isinstance(thing, types.ModuleType):
        home = thing.__name__
    else:
        home = str(getattr(thing, "__module__", None) or type(thing).__module__)
    home = home if thing is not None else name
    root = home.partition(".")[0].lstrip("_")
    if not root or root in _HARMLESS or _ours(home):
        return ""
    return f"{home}.{thing.__name__}" if hasattr(thing, "__qualname__") else home


def _ours(home: str | None) -> bool:
    """Say whether a module is no part of the language or of a library: its code is followed."""
    root = (home or "").partition(".")[0]
    return root not in sys.stdlib_module_names and root not in _HARMLESS and not _library(root)


@functools.cache
def _library(root: str) -> bool:
    module = sys.modules.get(root)
    return "site-packages" in str(getattr(module, "__file__", None) or "")
