"""ClawMark's RUBRIC as named rubric texts: id, docstring and weight of each checker.

A checker is a program, and programs are not translated: the text stands for a judge or a person to
read, and nothing of it enters a grade by itself.
"""

import ast
import math
from dataclasses import dataclass, field
from typing import Any, Final

from tasks_app.core.importers.labels import free_name, word
from tasks_app.core.importers.mark.source import at
from tasks_app.core.importers.mark.values import NotLiteralError, Reader

LONGEST_QUESTION: Final = 5_000
FINAL: Final = "final"


@dataclass(slots=True)
class Rubric:
    """What grades a task upstream."""

    checkers: list[dict[str, Any]] = field(default_factory=list)
    """Stage, id, weight and docstring of each, as upstream has them."""
    checks: list[dict[str, Any]] = field(default_factory=list)
    not_taken: list[str] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return math.fsum(checker["weight"] for checker in self.checkers)


def read_rubric(reader: Reader, stages: list[str]) -> Rubric:
    """Read the checkers of all stages; what is no literal is named with its line."""
    rubric = Rubric()
    declared = reader.source.names.get("RUBRIC")
    if not isinstance(declared, ast.Dict):
        rubric.not_taken.append(
            f"{at(declared)}: RUBRIC is computed" if declared else "RUBRIC is not set to an object"
        )
        return rubric
    for key, listed in zip(declared.keys, declared.values, strict=True):
        stage = key.value if isinstance(key, ast.Constant) else None
        if not isinstance(stage, str) or not isinstance(listed, ast.List | ast.Tuple):
            rubric.not_taken.append(f"{at(listed)}: the checkers of a stage are computed")
            continue
        if stage != FINAL and stage not in stages:
            rubric.not_taken.append(
                f"{at(listed)}: there is no stage {stage[:40]!r}; its checkers are read at the end"
            )
        for entry in listed.elts:
            _add(reader, rubric, stage, entry)
    _to_checks(rubric, stages)
    return rubric


def _add(reader: Reader, rubric: Rubric, stage: str, entry: ast.expr) -> None:
    if not isinstance(entry, ast.Dict):
        rubric.not_taken.append(f"{at(entry)}: a checker that is computed")
        return
    parts = {
        key.value: value
        for key, value in zip(entry.keys, entry.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    try:
        name = reader.text(parts["id"], {})
        weight = reader.value(parts["weight"], {})
    except (KeyError, NotLiteralError) as problem:
        why = problem.why if isinstance(problem, NotLiteralError) else f"no {problem.args[0]}"
        rubric.not_taken.append(f"{at(entry)}: a checker without literal id and weight: {why}")
        return
    if type(weight) not in (int, float) or not 0 < weight <= 1000:
        rubric.not_taken.append(f"{at(entry)}: {name[:80]}: {str(weight)[:40]!r} is no weight")
        return
    checker = parts.get("checker")
    function = reader.source.functions.get(checker.id) if isinstance(checker, ast.Name) else None
    said = (ast.get_docstring(function) or "") if function is not None else ""
    if not said.strip():
        reader.source.found(entry, f"{name[:80]}: its checker does not say what it tests")
    known = {c["id"] for c in rubric.checkers}
    if name in known:
        reader.source.found(entry, f"a second checker is called {name[:80]!r}; both are kept")
    rubric.checkers.append(
        {"stage": stage, "id": name, "weight": float(weight), "docstring": _fit(said)}
    )


def _fit(said: str) -> str:
    text = " ".join(said.replace("\x00", " ").split())
    return text.encode("utf-8", "replace").decode("utf-8")[:LONGEST_QUESTION]


def _to_checks(rubric: Rubric, stages: list[str]) -> None:
    taken: set[str] = set()
    for checker in rubric.checkers:
        stage = checker["stage"]
        rubric.checks.append(
            {
                "id": free_name(word(checker["id"]), taken),
                "kind": "rubric",
                "component": "report",
                "weight": round(checker["weight"] / rubric.total, 9),
                "explain": f"{checker['id'][:200]}: weight {checker['weight']:g} upstream",
                "question": checker["docstring"] or checker["id"][:200],
                "scope": "all",
                **({"stage": stage} if stage in stages else {}),
            }
        )
