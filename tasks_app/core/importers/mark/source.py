"""A ClawMark `task.py` as a syntax tree: parsed, never compiled, imported or run.

Parsing is bounded in bytes and depth, so that no text can exhaust the reader; what is beyond is
refused with its line.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from tasks_app.core.importers.claw.folder import ImportProblemError, read_below

TASK: Final = PurePosixPath("task.py")
LARGEST_SOURCE: Final = 1_000_000
"""Bytes of a `task.py`."""
DEEPEST: Final = 100
"""Levels of its syntax tree."""
MOST_FINDINGS: Final = 200
_ENCODING: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK: Final = re.compile(rb"^[ \t\f]*(?:#.*)?$")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """A folder whose `task.py` was parsed."""

    path: Path
    names: Mapping[str, ast.expr]
    """Top-level name → what it is set to, for names that are set once."""
    functions: Mapping[str, Function]
    """Top-level functions by name; of two with one name the last counts, as in Python."""
    findings: list[str] = field(default_factory=list)
    """What was left out or read otherwise, each with file and line."""

    def found(self, node: ast.AST, what: str) -> None:
        """Note what was left out."""
        said = f"{at(node)}: {what}"
        if said in self.findings:
            return
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(said)
        elif len(self.findings) == MOST_FINDINGS:
            self.findings.append(f"{TASK}: more findings than {MOST_FINDINGS}")


def at(node: ast.AST) -> str:
    """Return where something stands, for a message."""
    return f"{TASK}, line {getattr(node, 'lineno', 1)}"


def open_source(path: Path) -> Source:
    """Parse a folder's `task.py`. Raises ImportProblemError with the line."""
    tree = _parsed(read_below(path, TASK, LARGEST_SOURCE))
    names: dict[str, ast.expr] = {}
    functions: dict[str, Function] = {}
    source = Source(path, names, functions)
    taken: dict[str, int] = {}
    for statement in tree.body:
        for name, node in _bound(statement):
            earlier = taken.setdefault(name, node.lineno)
            names.pop(name, None)
            if isinstance(node, Function):
                if earlier != node.lineno:
                    source.found(node, f"{name} was defined on line {earlier} already; this counts")
                functions[name] = node
            elif earlier != node.lineno:
                source.found(node, f"{name} was set on line {earlier} already; it is not read")
            elif isinstance(node, ast.expr):
                names[name] = node
    return source


def _bound(statement: ast.stmt) -> Iterator[tuple[str, Function | ast.expr | ast.stmt]]:
    """Yield what a top-level statement binds or changes: names with their function or value, or
    with the statement where what they hold is not said there.
    """
    if isinstance(statement, Function):
        yield statement.name, statement
        return
    if isinstance(statement, ast.Assign) and all(
        isinstance(target, ast.Name) for target in statement.targets
    ):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
        return
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if statement.value is not None:
            yield statement.target.id, statement.value
        return
    for node in ast.walk(statement):
        # RUBRIC["stage1"] = …, RUBRIC["stage1"].append(…): it no longer holds what it was set to.
        set_anew = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        changed = node
        while isinstance(changed, ast.Subscript | ast.Attribute):
            changed = changed.value
        if isinstance(changed, ast.Name) and (set_anew or isinstance(node, ast.Attribute)):
            yield changed.id, statement


def _parsed(data: bytes) -> ast.Module:
    for number, line in enumerate(data.split(b"\n")[:2], start=1):
        declared = _ENCODING.match(line)
        if declared and declared[1].lower().replace(b"_", b"-") not in (b"utf-8", b"utf8"):
            name = declared[1].decode("ascii", "replace")[:40]
            raise ImportProblemError(f"{TASK}, line {number}: encoded as {name}; UTF-8 is read")
        if not _BLANK.match(line.rstrip(b"\r")):
            break
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line_number = data.count(b"\n", 0, problem.start) + 1
        raise ImportProblemError(f"{TASK}, line {line_number}: not UTF-8 text") from problem
    if "\x00" in text:
        line_number = text.count("\n", 0, text.index("\x00")) + 1
        raise ImportProblemError(f"{TASK}, line {line_number}: a NUL character")
    try:
        tree = ast.parse(text)
    except SyntaxError as problem:
        raise ImportProblemError(f"{TASK}, line {problem.lineno or 1}: {problem.msg}") from problem
    except (ValueError, RecursionError, MemoryError) as problem:
        # What the parser says of nesting beyond its own stack; there is no line.
        raise ImportProblemError(f"{TASK}: nested too deep to be parsed") from problem
    _refuse_depths(tree)
    return tree


def _refuse_depths(tree: ast.Module) -> None:
    level: list[ast.AST] = [tree]
    line = 1
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
        line = next((n.lineno for n in level if isinstance(n, ast.expr | ast.stmt)), line)
    raise ImportProblemError(f"{TASK}, line {line}: nested more than {DEEPEST} levels deep")
