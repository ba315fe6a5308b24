"""Our environment behind TRL's `environment_factory`: one class a toolset, its tools as methods.

TRL makes an instance a rollout and uses it again, so `reset` clears everything. Its loop ends at a
reply without calls, which it keeps to itself; `settle` hears it from the completion.
"""

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from rollouts_app.core.environment import Environment
from rollouts_app.core.messages import ToolRequest
from rollouts_app.core.policy import Action
from tasks_app.core.calls import anchor_keys, log_call
from tasks_app.core.results import GRADED
from training_app.core.prompts import spec_of

_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "number": float,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True)
class Settled:
    """What a rollout came to."""

    reward: float
    passed: bool
    truncated: bool
    contributions: Mapping[str, float] = field(default_factory=dict)
    violations: tuple[str, ...] = ()
    anchors: tuple[int, ...] = ()
    """Per turn of the policy, what it knew and the records were when the turn began."""
    spec_hash: str = ""
    group: str = ""


class ToolEnvironment:
    """Base of the classes that `environment_class` makes. Names with _ are not tools."""

    _tools: Sequence[Mapping[str, Any]] = ()

    def __init__(self) -> None:
        self._environment: Environment | None = None
        self._settled: Settled | None = None
        self._row: Mapping[str, Any] = {}

    def reset(self, **row: Any) -> None:
        """Begin the task of a row; nothing of the one before is left."""
        self._row = row
        self._environment = Environment(spec_of(row))
        self._settled = None

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool of the world; TRL gives one call at a time, so each is a step of its own."""
        if self._environment is None or self._environment.stop is not None:
            return orjson.dumps({"error": "unavailable", "message": "the episode is over"}).decode()
        asked = len(self._environment.world.calls)
        request = ToolRequest(f"call_{asked + 1}", name, orjson.dumps(dict(arguments)))
        made = self._environment.step(Action("", (request,))).calls
        if not made:
            return orjson.dumps({"error": "unavailable", "message": "no calls are left"}).decode()
        return made[0].observation.decode()

    def _settle(self, completion: Sequence[Mapping[str, Any]], *, truncated: bool) -> Settled:
        """Hear the last reply, grade once, and find the anchors of the turns.

        Args:
            completion: The messages of the rollout, from the policy's first on.
            truncated: Whether it was cut by the budget: it then earns nothing.
        """
        if self._settled is not None:
            return self._settled
        environment = self._environment
        if environment is None:
            raise RuntimeError("a rollout is settled before it was reset")
        anchors = self._anchors(environment, completion)
        last = completion[-1] if completion else {}
        if environment.stop is None and last.get("role") == "assistant" and not truncated:
            environment.step(Action(str(last.get("content") or "")))
        grade = environment.grade()
        self._settled = Settled(
            reward=0.0 if truncated else grade.total,
            passed=grade.passed and not truncated,
            truncated=truncated,
            contributions=dict.fromkeys(GRADED, 0.0) if truncated else dict(grade.contributions),
            violations=grade.violations,
            anchors=anchors,
            spec_hash=environment.spec.hash,
            group=str(self._row.get("group", "")),
        )
        return self._settled

    def _anchors(
        self, environment: Environment, completion: Sequence[Mapping[str, Any]]
    ) -> tuple[int, ...]:
        """One anchor a turn: after so many calls as the turns before it made."""
        calls = environment.world.calls
        end = log_call(
            len(calls), "", "", b"{}", b"{}", None, False, (), "",
            environment.world.store.state_key(), environment.world.store.tables,
        )  # fmt: skip
        keys = anchor_keys([*calls, end], environment.seed.ground.tools)
        known = {tool["function"]["name"] for tool in self._tools}
        anchors: list[int] = []
        made = 0
        for message in completion:
            if message.get("role") == "assistant":
                anchors.append(keys[min(made, len(calls))])
                made += sum(
                    call.get("function", {}).get("name") in known
                    for call in message.get("tool_calls") or ()
                )
        return tuple(anchors)


def environment_class(key: str, tools: Sequence[Mapping[str, Any]]) -> type[ToolEnvironment]:
    """Make the class of a toolset: each tool a typed, documented method.

    Args:
        key: The toolset's key, part of the name.
        tools: The declarations, as the model sees them.
    """
    methods = {tool["function"]["name"]: _method(tool["function"]) for tool in tools}
    return type(f"Tools_{key}", (ToolEnvironment,), {**methods, "_tools": tuple(tools)})


def _method(declared: Mapping[str, Any]) -> Callable[..., str]:
    name, schema = declared["name"], declared["parameters"]
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    required = schema.get("required", ())

    def tool(self: ToolEnvironment, **arguments: Any) -> str:
        return self._call(name, arguments)

    ordered = sorted(properties, key=lambda argument: argument not in required)
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = [declared["description"], "", "Args:"]
    for argument in ordered:
        if not argument.isidentifier() or keyword.iskeyword(argument):
            raise ValueError(f"{name}: {argument!r} cannot be an argument of a method")
        described = properties[argument]
        parameters.append(
            inspect.Parameter(
                argument,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if argument in required else None,
                annotation=_annotation(described),
            )
        )
        lines.append(f"    {argument}: {described.get('description', '')}")
    lines += ["", "Returns:", "    The result, or an error, as JSON."]
    tool.__name__ = name
    tool.__qualname__ = name
    tool.__doc__ = "\n".join(lines)
    tool.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]  # read by inspect
    tool.__annotations__ = {p.name: p.annotation for p in parameters[1:]} | {"return": str}
    return tool


def _annotation(schema: Mapping[str, Any]) -> Any:
    options = schema.get("anyOf", (schema,))
    found = [_TYPES.get(option.get("type", ""), type(None)) for option in options]
    kind: Any = found[0]
    for other in found[1:]:
        kind = kind | other
    return kind
