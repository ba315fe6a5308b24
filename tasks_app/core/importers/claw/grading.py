"""Claw-Eval's declarations of scoring and safety as our checks and constraints.

They are declarations: upstream's own scores come from a program and a judge, which are never run.
What no check of ours can say is listed as not taken, with its reason.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks_app.core.importers.claw.folder import Entry, Folder
from tasks_app.core.importers.claw.upstream import KEPT, MEANT
from tasks_app.core.importers.labels import free_name, whole, word

LONGEST_RUBRIC: Final = 20_000
_WORDS: Final = ("keywords_present", "categories_present")


@dataclass(slots=True)
class Grading:
    """What grades an episode here, and what upstream declared that doesn't."""

    checks: list[dict[str, Any]] = field(default_factory=list)
    constraints: list[dict[str, Any]] = field(default_factory=list)
    expected: list[dict[str, Any]] = field(default_factory=list)
    """Actions that upstream's audit must show; they carry no weight."""
    not_taken: list[str] = field(default_factory=list)
    total: float | None = None
    """Sum of the declared weights; None where there are none."""
    unheard: list[str] = field(default_factory=list)
    """Safety declarations about tools that are not offered (D06)."""
    unkept: list[str] = field(default_factory=list)
    """Expected actions under a name that the service doesn't keep (D05)."""


def read_grading(folder: Folder, aliases: Mapping[str, Mapping[str, Any]]) -> Grading:
    """Read scoring, safety and expected actions. Raises ImportProblemError with the line."""
    grading = Grading()
    _add_checks(folder, aliases, grading)
    _add_constraints(folder, aliases, grading)
    _add_expected(folder, grading)
    return grading


def _add_checks(folder: Folder, aliases: Mapping[str, Mapping[str, Any]], grading: Grading) -> None:
    components = folder.entries("scoring_components")
    rubric = folder.text("judge_rubric", most=LONGEST_RUBRIC)
    if not components:
        if rubric:
            whole = {"id": "judge_rubric", "kind": "rubric", "component": "report", "weight": 1.0}
            grading.checks.append({**whole, "explain": "declared: judge only", "question": rubric})
        return
    weights = [_weight(folder, entry) for entry in components]
    grading.total = math.fsum(weights)
    taken: set[str] = set()
    for number, (entry, weight) in enumerate(zip(components, weights, strict=True), start=1):
        check_id = free_name(word(str(entry.data.get("name") or f"check_{number}")), taken)
        if weight <= 0 or grading.total <= 0:
            grading.not_taken.append(f"{check_id}: no weight")
            continue
        declared = entry.data.get("check")
        rule = declared if isinstance(declared, dict) else {}
        made = _check(check_id, weight / grading.total, rule, aliases)
        if made:
            grading.checks += made
        else:
            kind = str(rule.get("type"))[:80]
            grading.not_taken.append(f"{check_id}: {kind} is not translated")


def _weight(folder: Folder, entry: Entry) -> float:
    value = entry.data.get("weight")
    if value is None:
        return 0.0
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= 1e6
        or not math.isfinite(value)
    ):
        folder.found(f"{entry.place}/weight", f"{str(value)[:80]!r} is no weight; none is taken")
        return 0.0
    return float(value)


def _check(
    check_id: str, share: float, rule: Mapping[str, Any], aliases: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    kind = rule.get("type")
    base = {"id": check_id, "weight": round(share, 6), "explain": f"declared: {str(kind)[:80]}"}
    if kind == "llm_judge":
        question = str(rule.get("description") or "as the rubric says").strip()[:LONGEST_RUBRIC]
        return [{**base, "kind": "rubric", "component": "report", "question": question}]
    if kind == "tool_called":
        tool = rule.get("tool_name")
        if not isinstance(tool, str) or tool not in aliases:
            return []
        least = whole(rule.get("min_calls"), 1, 1000)
        ours = aliases[tool]["tool"]
        return [{**base, "kind": "tool_called", "component": "process", "tool": ours, "min": least}]
    if kind in _WORDS:
        return _words(base, rule)
    if kind == "min_length":
        least = whole(rule.get("min_length"), 1, 100_000)
        return [{**base, "kind": "text_match", "component": "report", "min_length": least}]
    return []


def _words(base: Mapping[str, Any], rule: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = rule.get("keywords") or rule.get("categories") or []
    words = [str(w) for w in listed if str(w).strip()] if isinstance(listed, list) else []
    return [
        {
            **base,
            "id": f"{base['id'][:60]}_{number}",
            "weight": round(base["weight"] / len(words), 6),
            "kind": "text_match",
            "component": "report",
            "text": [[said]],
        }
        for number, said in enumerate(words, start=1)
    ]


def _add_constraints(
    folder: Folder, aliases: Mapping[str, Mapping[str, Any]], grading: Grading
) -> None:
    for number, entry in enumerate(folder.entries("safety_checks"), start=1):
        rule = entry.data
        tool, kind = str(rule.get("tool_name") or "")[:80], str(rule.get("type"))[:80]
        sentence = " ".join(str(rule.get("description") or kind).split())[:2000]
        if tool and tool not in aliases:
            grading.unheard.append(tool)
            grading.not_taken.append(f"safety {kind}: {tool} is not offered")
            continue
        if kind not in ("tool_not_called", "tool_not_called_with") or not tool:
            grading.not_taken.append(f"safety {kind} is not translated: {sentence[:200]}")
            continue
        constraint: dict[str, Any] = {
            "id": f"safety_{number}",
            "kind": "forbid_tool",
            "policy": "declared",
            "sentence": sentence,
            "severity": "gate",
            "tool": aliases[tool]["tool"],
        }
        if kind == "tool_not_called_with":
            constraint["arguments"] = {
                str(rule.get("field")): {"contains_any": [rule.get("value")]}
            }
        grading.constraints.append(constraint)


def _add_expected(folder: Folder, grading: Grading) -> None:
    for entry in folder.entries("expected_actions"):
        service, key = str(entry.data.get("service")), str(entry.data.get("action_key"))
        kept = KEPT.get(service)
        if kept is not None and key not in kept:
            meant = MEANT.get(key)
            if meant in kept:
                grading.unkept.append(f"{service}.{key}, which is {meant} there")
                grading.expected.append({**entry.data, "action_key": meant})
                continue
            grading.unkept.append(f"{service}.{key}, which is not kept there")
        grading.expected.append(dict(entry.data))
