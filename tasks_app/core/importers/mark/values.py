"""What an expression of `task.py` says without being run: literals, and names for them.

Literals, names that are set once, elements of literals, joined texts and lists, helpers that only
return an expression of their arguments. Some values are no literals and yet known: a sheet by its
title, the row of a table that a loop looks for, a file below the task. Everything else is computed
and raises NotLiteralError with its line. All that is read costs a little of one budget, so that no
text can double itself into gigabytes.
"""

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.importers.claw.folder import ImportProblemError
from tasks_app.core.importers.mark.source import Function, Source, at
from tasks_app.core.values import DEEPEST, LARGEST_INTEGER

MOST_READ: Final = 400_000
"""Values, and packets of characters, that are read of one `task.py`."""
_PACKET: Final = 64
_DEEPEST_CALL: Final = 12
_UNFIT: Final = re.compile("[\x00\ud800-\udfff]")
_UNITS: Final = ("year", "month", "day", "hour", "minute", "second")
_NOT_ISO: Final = "a time that is computed"


class NotLiteralError(Exception):
    """An expression whose value only running it would tell; the message says where."""

    def __init__(self, node: ast.AST, why: str) -> None:
        super().__init__(f"{at(node)}: {why}")
        self.node = node
        self.why = why


@dataclass(frozen=True, slots=True)
class Context:
    """The parameter through which a task reaches its services."""


@dataclass(frozen=True, slots=True)
class Below:
    """A file or folder of the task, by its parts below it."""

    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A spreadsheet by its title, or the object that holds its id."""

    title: str


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a table, by the table's name."""

    table: str


@dataclass(frozen=True, slots=True)
class Row:
    """The rows of a table that meet all conditions."""

    table: str
    where: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of the row that a loop looks at."""

    row: Row
    column: str


class Later:
    """What a name holds that only running the task would tell."""


LATER: Final = Later()
Scope = dict[str, Any]


class Reader:
    """Reads expressions of one `task.py`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._left = MOST_READ
        self._open: set[str] = set()
        self._calls = 0

    def value(self, node: ast.expr, scope: Mapping[str, Any], depth: int = 0) -> Any:
        """Return what an expression says. Raises NotLiteralError, and ImportProblemError where the
        whole task says too much.
        """
        self.spend(node, 1)
        if depth > DEEPEST:
            raise NotLiteralError(node, f"nested more than {DEEPEST} levels deep")
        read = getattr(self, f"_{type(node).__name__.lower()}", None)
        if read is None:
            raise NotLiteralError(node, f"{_words(node)} is computed")
        return read(node, scope, depth + 1)

    def text(self, node: ast.expr, scope: Mapping[str, Any]) -> str:
        """Return a text. Raises NotLiteralError."""
        value = self.value(node, scope)
        if not isinstance(value, str):
            raise NotLiteralError(node, "no text")
        return value

    def spend(self, node: ast.AST, cost: int) -> None:
        """Take from the budget. Raises ImportProblemError where nothing is left."""
        self._left -= cost
        if self._left < 0:
            raise ImportProblemError(f"{at(node)}: says more than is read of one task")

    def bound(
        self, function: Function, call: ast.Call, scope: Mapping[str, Any], depth: int = 0
    ) -> Scope:
        """Return a function's parameters with what a call gives them; what is computed is LATER.

        Raises NotLiteralError where the call does not say which parameter gets what.
        """
        form = function.args
        names = [a.arg for a in (*form.posonlyargs, *form.args)]
        if form.vararg or form.kwarg or len(call.args) > len(names):
            raise NotLiteralError(call, f"{function.name} is called with open arguments")
        given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in given:
                raise NotLiteralError(call, f"{function.name} is called with open arguments")
            given[keyword.arg] = keyword.value
        defaults = dict(zip(reversed(names), reversed(form.defaults), strict=False))
        bound: Scope = {}
        for name in (*names, *(a.arg for a in form.kwonlyargs)):
            node = given.get(name, defaults.get(name))
            try:
                bound[name] = LATER if node is None else self.value(node, scope, depth)
            except NotLiteralError:
                bound[name] = LATER
        return bound

    def _constant(self, node: ast.Constant, _: Mapping[str, Any], __: int) -> Any:
        value = node.value
        if isinstance(value, str):
            self.spend(node, len(value) // _PACKET)
            if _UNFIT.search(value):
                raise NotLiteralError(node, "a character that no database keeps")
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise NotLiteralError(node, "no finite number")
        elif isinstance(value, int) and not isinstance(value, bool):
            if abs(value) > LARGEST_INTEGER:
                raise NotLiteralError(node, "a number beyond 2^53")
        elif value is not None and not isinstance(value, bool):
            raise NotLiteralError(node, f"a value of the type {type(value).__name__}")
        return value

    def _list(self, node: ast.List | ast.Tuple, scope: Mapping[str, Any], depth: int) -> list[Any]:
        return [self.value(item, scope, depth) for item in node.elts]

    _tuple = _list

    def _dict(self, node: ast.Dict, scope: Mapping[str, Any], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, scope, depth)
            if key is None:
                if not isinstance(value, dict):
                    raise NotLiteralError(item, "no object")
                self.spend(item, len(value))
                made.update(value)
                continue
            name = self.value(key, scope, depth)
            if not isinstance(name, str):
                raise NotLiteralError(key, "a key that is no text")
            if name in made:
                self.source.found(key, f"{name[:80]!r} stands twice in one object; the last counts")
            made[name] = value
        return made

    def _name(self, node: ast.Name, scope: Mapping[str, Any], depth: int) -> Any:
        if node.id in scope:
            value = scope[node.id]
            if value is LATER:
                raise NotLiteralError(node, f"{node.id} is computed")
            return value
        known = self.source.names.get(node.id)
        if known is None or node.id in self._open:
            raise NotLiteralError(node, f"{node.id} is not set to a literal")
        self._open.add(node.id)
        try:
            return self.value(known, {}, depth)
        finally:
            self._open.discard(node.id)

    def _unaryop(self, node: ast.UnaryOp, scope: Mapping[str, Any], depth: int) -> Any:
        value = self.value(node.operand, scope, depth)
        if isinstance(node.op, ast.USub) and type(value) in (int, float):
            return -value
        raise NotLiteralError(node, f"{_words(node)} is computed")

    def _binop(self, node: ast.BinOp, scope: Mapping[str, Any], depth: int) -> Any:
        left, right = self.value(node.left, scope, depth), self.value(node.right, scope, depth)
        if isinstance(node.op, ast.Div) and isinstance(left, Below) and isinstance(right, str):
            return Below((*left.parts, *right.split("/")))
        if isinstance(node.op, ast.Add):
            for kind, packet in ((str, _PACKET), (list, 1)):
                if isinstance(left, kind) and isinstance(right, kind):
                    self.spend(node, (len(left) + len(right)) // packet)
                    return left + right  # type: ignore[operator]  # both are of this kind
        raise NotLiteralError(node, f"{_words(node)} is computed")

    def _joinedstr(self, node: ast.JoinedStr, scope: Mapping[str, Any], depth: int) -> str:
        parts: list[str] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.value(part.value, scope, depth)
                if part.conversion != -1 or part.format_spec or type(value) not in (str, int):
                    raise NotLiteralError(part, "a text that is computed")
                parts.append(str(value))
            else:
                parts.append(str(self.value(part, scope, depth)))
            self.spend(node, len(parts[-1]) // _PACKET)
        return "".join(parts)

    def _subscript(self, node: ast.Subscript, scope: Mapping[str, Any], depth: int) -> Any:
        holder = self.value(node.value, scope, depth)
        if isinstance(holder, Row | Sheet):
            return holder  # its id stands for it
        key = self.value(node.slice, scope, depth)
        if isinstance(holder, dict) and isinstance(key, str) and key in holder:
            return holder[key]
        if isinstance(holder, list) and type(key) is int and -len(holder) <= key < len(holder):
            return holder[key]
        raise NotLiteralError(node, f"{_words(node)} is computed")

    def _attribute(self, node: ast.Attribute, scope: Mapping[str, Any], depth: int) -> Any:
        if node.attr == "task_dir" and isinstance(self.value(node.value, scope, depth), Context):
            return Below()
        raise NotLiteralError(node, f"{_words(node)} is computed")

    def _call(self, node: ast.Call, scope: Mapping[str, Any], depth: int) -> Any:
        called = node.func
        if isinstance(called, ast.Attribute):
            return self._method(node, called, scope, depth)
        if not isinstance(called, ast.Name):
            raise NotLiteralError(node, f"{_words(node)} is computed")
        if called.id == "datetime":
            return _moment(node, [self.value(a, scope, depth) for a in node.args], "", {
                k.arg: self.value(k.value, scope, depth)
                for k in node.keywords if k.arg in _UNITS
            })  # fmt: skip
        function = self.source.functions.get(called.id)
        if function is None:
            raise NotLiteralError(node, f"{called.id} is computed")
        bound = self.bound(function, node, scope, depth)
        given = list(bound.values())
        if len(given) > 1 and isinstance(given[0], Row) and isinstance(given[1], str):
            return Cell(given[0], given[1])  # a helper that looks up a row's column
        body = [s for s in function.body if not _is_text(s)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            raise NotLiteralError(node, f"{called.id} is computed")
        self._calls += 1
        try:
            if self._calls > _DEEPEST_CALL:
                raise NotLiteralError(node, f"{called.id} is computed")
            return self.value(body[0].value, bound, depth)
        finally:
            self._calls -= 1

    def _method(
        self, node: ast.Call, called: ast.Attribute, scope: Mapping[str, Any], depth: int
    ) -> Any:
        holder = self.value(called.value, scope, depth)
        if called.attr in ("lower", "strip") and isinstance(holder, Cell) and not node.args:
            return holder  # predicates don't mind the case
        if called.attr == "get" and isinstance(holder, Row | Sheet):
            return holder
        if called.attr == "replace" and isinstance(holder, str) and not node.args:
            return _moment(node, [], holder, {
                k.arg: self.value(k.value, scope, depth) for k in node.keywords
            })  # fmt: skip
        raise NotLiteralError(node, f"{_words(node)} is computed")


def _moment(node: ast.Call, given: list[Any], base: str, named: dict[str | None, Any]) -> str:
    """Return `datetime(2026, 3, 18, 9)`, or one whose hour is replaced, as a local time."""
    parts = [int(p) for p in re.findall(r"\d+", base)] if base else [*given]
    if base and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", base):
        raise NotLiteralError(node, _NOT_ISO)
    parts = [*parts, *([0] * (6 - len(parts)))][:6]
    for unit, value in named.items():
        if unit not in _UNITS:
            raise NotLiteralError(node, _NOT_ISO)
        parts[_UNITS.index(unit)] = value
    if not all(type(p) is int and 0 <= p <= 9999 for p in parts):
        raise NotLiteralError(node, _NOT_ISO)
    year, month, day, hour, minute, second = parts
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _words(node: ast.AST) -> str:
    """What an expression is called in a message."""
    inner = node.func if isinstance(node, ast.Call) else node
    if isinstance(inner, ast.Attribute):
        return f"{_words(inner.value)}.{inner.attr}"[-60:]
    return inner.id[:60] if isinstance(inner, ast.Name) else f"a {type(inner).__name__}"
