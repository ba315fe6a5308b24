"""The stages of a ClawMark task: what each stage function changes, tells and when.

Statements are followed in order, loops over literals are unrolled, helpers that change services are
followed into. What depends on something computed is counted and named, and left out.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks_app.core.importers.claw.days import PERIOD
from tasks_app.core.importers.mark.office import READS, SERVICES, Office
from tasks_app.core.importers.mark.source import Function, Source, at
from tasks_app.core.importers.mark.values import (
    LATER,
    Below,
    Cell,
    Context,
    NotLiteralError,
    Reader,
    Row,
    Rows,
    Scope,
    Sheet,
)
from tasks_app.core.instants import add_days, is_instant, parse_instant

STAGE: Final = re.compile(r"stage(\d{1,3})")
_DEEPEST_CALL: Final = 8
_NOTHING: Final = object()


@dataclass(slots=True)
class Told:
    """What a stage function says beside its changes."""

    id: str
    line: int
    at: str = ""
    """When it begins: its own time, or a day after the stage before where that is computed."""
    notification: str | None = None
    time: str | None = None
    taken: int = 0
    not_taken: list[str] = field(default_factory=list)
    """Each with its line: changes and returned values that are computed."""


def read_stages(reader: Reader, office: Office) -> list[Told]:
    """Follow all stage functions in order."""
    numbered = sorted(
        (int(match[1]), name)
        for name in reader.source.functions
        if (match := STAGE.fullmatch(name)) is not None
    )
    stages: list[Told] = []
    for position, (number, name) in enumerate(numbered):
        function = reader.source.functions[name]
        if number != position:
            reader.source.found(function, f"{name} is stage {position + 1} of {len(numbered)}")
        told = Told(name, function.lineno)
        stages.append(told)
        office.begin(position)
        walk = _Walk(reader, office, told)
        context = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][:1]
        result = walk.run(function.body, dict.fromkeys(context, Context()))
        if result is _NOTHING:
            told.not_taken.append(f"{at(function)}: {name} returns nothing")
        told.at = _moment_of(told, function, stages[-2].at if position else "", reader.source)
        office.close(told.at)
    return stages


def _moment_of(told: Told, function: Function, before: str, source: Source) -> str:
    moment = told.time or ""
    if moment and not is_instant(moment) and is_instant(f"{moment}+00:00"):
        source.found(function, f"{told.id}: {moment} has no offset; UTC is taken")
        moment = f"{moment}+00:00"
    if not is_instant(moment):
        told.not_taken.append(f"{at(function)}: {told.id}: when it begins")
        return _next_day(before) if before else f"{PERIOD}T09:00:00+00:00"
    earlier, later = parse_instant(before), parse_instant(moment)
    if earlier is not None and later is not None and later <= earlier:
        source.found(function, f"{told.id} begins at {moment}, no later than the stage before")
    return moment


def _next_day(moment: str) -> str:
    day = moment[:10]
    return f"{add_days(day, 1) if day < '9999-12-31' else day}{moment[10:]}"


class _Walk:
    """Follows the statements of one stage."""

    def __init__(self, reader: Reader, office: Office, told: Told) -> None:
        self.reader = reader
        self.office = office
        self.told = told
        self._calls = 0

    def run(self, body: list[ast.stmt], scope: Scope) -> Any:
        """Follow statements; return what they return, a mark of nothing where they do not."""
        for statement in body:
            self.reader.spend(statement, 1)
            result = self._statement(statement, scope)
            if result is not _NOTHING:
                return result
        return _NOTHING

    def _statement(self, statement: ast.stmt, scope: Scope) -> Any:
        if isinstance(statement, ast.Return):
            return self._returned(statement, scope)
        if isinstance(statement, ast.Assign):
            self._assign(statement, scope)
        elif isinstance(statement, ast.Expr):
            self._said(statement.value, scope)
        elif isinstance(statement, ast.If):
            return self._if(statement, scope)
        elif isinstance(statement, ast.For):
            return self._for(statement, scope)
        else:
            self._miss(statement, f"in a {type(statement).__name__} statement")
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    scope[node.id] = LATER
        return _NOTHING

    def _returned(self, statement: ast.Return, scope: Scope) -> Any:
        if statement.value is None:
            return None
        if self._calls == 0 and isinstance(statement.value, ast.Dict):
            for key, value in zip(statement.value.keys, statement.value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in ("notification", "time"):
                    self._tell(str(key.value), value, scope)
            return None
        try:
            return self.reader.value(statement.value, scope)
        except NotLiteralError as problem:
            if self._calls == 0:
                self.told.not_taken.append(f"{at(statement)}: what is returned: {problem.why}")
            return LATER

    def _tell(self, key: str, value: ast.expr, scope: Scope) -> None:
        try:
            said = self.reader.text(value, scope)
        except NotLiteralError as problem:
            self.told.not_taken.append(f"{at(value)}: {key}: {problem.why}")
            return
        if key == "time":
            self.told.time = said
        else:
            self.told.notification = said

    def _assign(self, statement: ast.Assign, scope: Scope) -> None:
        value = self._said(statement.value, scope)
        for target in statement.targets:
            if isinstance(target, ast.Name):
                scope[target.id] = value
                continue
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    scope[node.id] = LATER

    def _said(self, node: ast.expr, scope: Scope) -> Any:
        """Follow an expression that stands for itself or is kept under a name."""
        call = node.value if isinstance(node, ast.Await) else node
        if isinstance(call, ast.Call):
            made = self._service_call(call, scope)
            if made is not _NOTHING:
                return made
            made = self._helper_call(call, scope)
            if made is not _NOTHING:
                return made
        try:
            return self.reader.value(call, scope)
        except NotLiteralError:
            self._miss(node, "what it is given is computed")
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                _forget_name(call.func.value, scope)  # rows.append(…): rows is another list now
            return LATER

    def _service_call(self, call: ast.Call, scope: Scope) -> Any:
        named = _service_method(call, scope)
        if named is None:
            return _NOTHING
        try:
            arguments = {
                str(k.arg): self.reader.value(k.value, scope) for k in call.keywords if k.arg
            }
            places = [self._argument(named, a, scope, n) for n, a in enumerate(call.args)]
            made = self.office.do(call, named, places, arguments)
        except NotLiteralError as problem:
            if named not in READS:
                self.told.not_taken.append(f"{at(call)}: {named}: {problem.why}")
            return LATER
        self.told.taken += named not in READS
        return made

    def _argument(self, named: str, node: ast.expr, scope: Scope, position: int) -> Any:
        """An argument by place. A range such as f"A1:B{n}" counts by its first cell."""
        first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else None
        if (
            named == "google_sheets.update_values"
            and position == 1
            and isinstance(first, ast.Constant)
            and ":" in str(first.value)
        ):
            return str(first.value).partition(":")[0]
        return self.reader.value(node, scope)

    def _helper_call(self, call: ast.Call, scope: Scope) -> Any:
        """Follow a function of the task that is given the context; others only say something."""
        function = self._helper(call, scope)
        if function is None:
            return _NOTHING
        if self._calls >= _DEEPEST_CALL:
            self._miss(function, f"{function.name} is called too deep")
            return LATER
        try:
            inner = self.reader.bound(function, call, scope)
        except NotLiteralError as problem:
            self._miss(function, problem.why)
            return LATER
        self._calls += 1
        try:
            result = self.run(function.body, inner)
        finally:
            self._calls -= 1
        return None if result is _NOTHING else result

    def _helper(self, call: ast.Call, scope: Scope) -> Function | None:
        if not isinstance(call.func, ast.Name):
            return None
        given = (*call.args, *(keyword.value for keyword in call.keywords))
        if not any(isinstance(a, ast.Name) and scope.get(a.id) == Context() for a in given):
            return None
        return self.reader.source.functions.get(call.func.id)

    def _if(self, statement: ast.If, scope: Scope) -> Any:
        """Follow `if row:` and `if sheet_id:`; other conditions are computed."""
        test = statement.test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            if _is_known(test.operand, scope):
                return self.run(statement.orelse, scope)
        elif _is_known(test, scope) or self._is_file(test, scope):
            self._miss_all(statement.orelse, "otherwise")
            return self.run(statement.body, scope)
        self._miss(statement, "a condition that is computed")
        _forget(statement, scope)
        return _NOTHING

    def _is_file(self, test: ast.expr, scope: Scope) -> bool:
        """Say whether it asks for a file of the task; whoever takes it looks for it again."""
        if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute):
            return False
        try:
            place = self.reader.value(test.func.value, scope)
        except NotLiteralError:
            return False
        return test.func.attr == "exists" and isinstance(place, Below)

    def _for(self, statement: ast.For, scope: Scope) -> Any:
        try:
            over = self.reader.value(statement.iter, scope)
        except NotLiteralError as problem:
            self._miss(statement, problem.why)
            _forget(statement, scope)
            return _NOTHING
        if isinstance(over, Rows) and isinstance(statement.target, ast.Name):
            return self._seek(statement, statement.target.id, Row(over.table), scope)
        if not isinstance(over, list):
            self._miss(statement, "a loop over what is computed")
            return _NOTHING
        for item in over:
            if not _unpack(statement.target, item, scope):
                self._miss(statement, "a loop whose parts do not fit")
                return _NOTHING
            result = self.run(statement.body, scope)
            if result is not _NOTHING:
                return result
        return _NOTHING

    def _seek(self, loop: ast.For, name: str, row: Row, scope: Scope) -> Any:
        """Follow a loop that looks for rows by their columns and does something with them."""
        scope[name] = row
        for statement in loop.body:
            if isinstance(statement, ast.If):
                try:
                    where = self._conditions(statement.test, scope)
                except NotLiteralError as problem:
                    self._miss(statement, f"a condition that is computed: {problem.why}")
                    continue
                found = Row(row.table, (*row.where, *where))
                result = self.run(_straight(statement.body), {**scope, name: found})
                self._miss_all(statement.orelse, "otherwise")
                if result is not _NOTHING:
                    return result
            elif not isinstance(statement, ast.Break | ast.Continue):
                result = self._statement(statement, scope)
                if result is not _NOTHING:
                    return result
        return _NOTHING

    def _conditions(self, test: ast.expr, scope: Scope) -> list[tuple[str, Any]]:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return [pair for part in test.values for pair in self._conditions(part, scope)]
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left = self.reader.value(test.left, scope)
            right = self.reader.value(test.comparators[0], scope)
            if isinstance(test.ops[0], ast.Eq):
                cell, wanted = (left, right) if isinstance(left, Cell) else (right, left)
                if isinstance(cell, Cell) and isinstance(wanted, str | int | float):
                    return [(cell.column, wanted)]
            if isinstance(test.ops[0], ast.In) and isinstance(right, Cell):
                return [(right.column, {"contains_any": [left]})]
            if isinstance(test.ops[0], ast.In) and isinstance(left, Cell):
                return [(left.column, {"in": right})]
        raise NotLiteralError(test, "no comparison of a column with a literal")

    def _miss(self, node: ast.AST, why: str) -> None:
        """Count the changes inside something that cannot be followed."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                named = _service_call_name(inner)
                if named is not None and named not in READS:
                    self.told.not_taken.append(f"{at(inner)}: {named}: {why}")

    def _miss_all(self, body: list[ast.stmt], why: str) -> None:
        for statement in body:
            self._miss(statement, why)


def _service_method(call: ast.Call, scope: Mapping[str, Any]) -> str | None:
    """`ctx.email.send_email` as `email.send_email`; None where it is no call of a service."""
    named = _service_call_name(call)
    if named is None:
        return None
    node = call.func
    while isinstance(node, ast.Attribute):
        node = node.value
    return named if isinstance(node, ast.Name) and scope.get(node.id) == Context() else None


def _service_call_name(call: ast.Call) -> str | None:
    parts: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or len(parts) < 2:
        return None
    if node.id != "ctx" and parts[0] not in SERVICES:
        return None
    return ".".join(parts)[:80]


def _is_known(test: ast.expr, scope: Mapping[str, Any]) -> bool:
    return isinstance(test, ast.Name) and isinstance(scope.get(test.id), Row | Rows | Sheet)


def _straight(body: list[ast.stmt]) -> list[ast.stmt]:
    return [s for s in body if not isinstance(s, ast.Break | ast.Continue)]


def _forget_name(node: ast.expr, scope: Scope) -> None:
    if isinstance(node, ast.Name):
        scope[node.id] = LATER


def _forget(statement: ast.stmt, scope: Scope) -> None:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope[node.id] = LATER


def _unpack(target: ast.expr, item: Any, scope: Scope) -> bool:
    if isinstance(target, ast.Name):
        scope[target.id] = item
        return True
    if isinstance(target, ast.Tuple) and isinstance(item, list):
        return len(target.elts) == len(item) and all(
            _unpack(part, value, scope) for part, value in zip(target.elts, item, strict=True)
        )
    return False
