"""Which environment variables the studio reads, and their defaults, out of its source."""

import ast
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
_OURS: Final = frozenset({"DJANGO_SETTINGS_MODULE", "PYTHONPATH", "STUDIO_LINT_FAILED"})
"""Names that one part of the studio sets for another."""


def variables() -> dict[str, str]:
    """Return every variable by name with its default, empty where it has none."""
    found: dict[str, str] = {}
    files = [PROJECT / "dev.py", PROJECT / "manage.py"]
    for app in ("studio", "tasks_app", "rollouts_app", "training_app", "benchmarks"):
        files.extend(sorted((PROJECT / app).rglob("*.py")))
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            read = _read(node)
            if read is not None and read[0] not in _OURS:
                name, default = read
                found[name] = found.get(name) or default
    return dict(sorted(found.items()))


def _read(node: ast.AST) -> tuple[str, str] | None:
    """Return name and default of `env_…(NAME, default)`, `os.environ…`, `NAME in os.environ`."""
    if isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
        name = _text(node.left)
        return None if name is None else (name, "")
    if not (isinstance(node, ast.Call) and node.args):
        return None
    called, name = ast.unparse(node.func), _text(node.args[0])
    if name is None or not (called.startswith("env_") or called in {"os.environ.get", "os.getenv"}):
        return None
    given = [*node.args[1:], *(word.value for word in node.keywords)]
    return name, _default(given[0]) if given else ""


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _default(node: ast.expr) -> str:
    """Return a default as one would set it; an expression of numbers is worked out."""
    if isinstance(node, ast.BinOp):
        left, right = int(_default(node.left)), int(_default(node.right))
        return str(left**right if isinstance(node.op, ast.Pow) else left * right)
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return ""  # a name: it depends on the machine
    if isinstance(value, list):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)
