"""A task as a folder in Claw-Eval's form: `task.yaml`, its records as JSON, and `studio.json`.

What Claw-Eval's form can say stands in its own files: the request, the tools with their schemas,
the records, what is graded and forbidden, in words where it has no word for it. What it cannot say
(policies, checks as data, the write set, the reference) stands in `studio.json`, which Claw-Eval
does not read. Its own servers do not know our services, so the folder names no command for them.

Invariant: our importer reads a folder back to the same content hash.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson
import yaml

from tasks_app.core.briefing import tool_schemas
from tasks_app.core.importers.claw.own import FIXTURES, REST, SUFFIX
from tasks_app.core.presenting.rules import check_rows
from tasks_app.core.spec import TaskSpec
from tasks_app.core.world.world import Seed

_DIFFICULTY: Final = {1: "easy", 2: "easy", 3: "medium", 4: "hard", 5: "hard"}
_ELSEWHERE: Final = ("title", "language", "services")
"""Fields that `task.yaml` and the JSON files hold."""


class _Dumper(yaml.SafeDumper):
    """Writes every value out: no anchors, which readers of strangers' YAML refuse."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def name_of(spec: TaskSpec) -> str:
    """Return the folder's name: the slug, and enough of the hash to tell two apart."""
    return f"{spec.slug[:80]}-{spec.hash[:12]}"


def folder_of(spec: TaskSpec) -> dict[str, bytes]:
    """Return a task's folder: path below it → content. Pure: the same spec gives the same bytes."""
    files = {
        f"{FIXTURES}/{service}/{collection}.json": _json([dict(row) for row in rows])
        for service, collections in spec.services.items()
        for collection, rows in collections.items()
    }
    files["task.yaml"] = yaml.dump(
        _task(spec), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100
    ).encode()
    files[str(REST)] = _json(_rest(spec))
    return files


def _rest(spec: TaskSpec) -> dict[str, Any]:
    rest = {key: value for key, value in spec.written().items() if key not in _ELSEWHERE}
    rest["request"] = {key: value for key, value in rest["request"].items() if key != "text"}
    return {"hash": spec.hash, **rest}


def _task(spec: TaskSpec) -> dict[str, Any]:
    name = name_of(spec)
    several = len(spec.services) > 1
    talks = spec.user is not None
    task: dict[str, Any] = {
        "task_id": name,
        "task_name": spec.title,
        "version": "1.0",
        "category": spec.family,
        "difficulty": _DIFFICULTY[spec.difficulty.level],
        "tags": ["general", *(["user_agent"] if talks else ["multi_service"] if several else [])],
        "prompt": {
            "text": spec.request.text,
            "language": spec.language,
            "attachments": [attached.name for attached in spec.request.attachments],
        },
        "services": [
            {"name": service, "env": _variables(name, service, collections)}
            for service, collections in spec.services.items()
        ],
        "tools": [
            {
                "name": schema["function"]["name"],
                "description": schema["function"]["description"],
                "input_schema": schema["function"]["parameters"],
            }
            for schema in tool_schemas(spec, Seed.of(spec).ground.tools)
        ],
        "tool_endpoints": [],
        "scoring_components": [
            {"name": row.id, "weight": row.weight, "check": _check(row.kind, row.sentence)}
            for row, check in zip(check_rows(spec), spec.checks, strict=True)
            if check.pays
        ],
        "safety_checks": [_safety(rule) for rule in spec.constraints],
        "expected_actions": [],
        "judge_rubric": "\n".join(f"- {row.sentence}" for row in check_rows(spec)),
        "reference_solution": _solution(spec),
        "environment": {
            "timeout_seconds": spec.limits.seconds,
            "max_turns": spec.limits.turns,
        },
        "primary_dimensions": ["completion", "robustness", "safety"],
    }
    if spec.user is not None:
        facts = "\n".join(f"- {fact.text}" for fact in spec.user.facts)
        task["user_agent"] = {
            "enabled": True,
            "persona": f"You are {spec.user.name}. {spec.user.manner}\n\n{facts}\n",
            "max_rounds": spec.user.patience,
        }
    # A YAML writer takes plain lists and objects alone; a spec's are frozen.
    plain: dict[str, Any] = orjson.loads(_json(task))
    return plain


def _variables(name: str, service: str, collections: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"{service}_{collection}{SUFFIX}".upper(): (
            f"tasks/{name}/{FIXTURES}/{service}/{collection}.json"
        )
        for collection in collections
    }


def _check(kind: str, sentence: str) -> dict[str, Any]:
    return {"type": "llm_judge", "description": f"{kind}: {sentence}"}


def _safety(rule: Any) -> dict[str, Any]:
    tool = getattr(rule, "tool", None)
    if rule.kind == "forbid_tool" and isinstance(tool, str) and not getattr(rule, "arguments", {}):
        return {"type": "tool_not_called", "tool_name": tool, "description": rule.sentence}
    return {"type": "custom", "description": rule.sentence}


def _solution(spec: TaskSpec) -> str:
    steps = [step.tool or "the reply" for step in spec.reference]
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def _json(value: Any) -> bytes:
    return orjson.dumps(value, default=dict, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
