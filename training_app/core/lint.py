"""Gates E1 and E2: what a dataset must hold before anybody trains on it.

E1 reads demonstrations, E2 recorded rollouts. Each finding names its row, place and reason; a row
with a finding is dropped, a rollout with one is computed again from its trace.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import orjson

from tasks_app.core.results import GRADED
from tasks_app.core.spec import SpecError
from training_app.core.prompts import PromptError, prompt_of, spec_of

TOLERANCE: Final = 1e-6
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class Finding(NamedTuple):
    """One fault of one row."""

    gate: Literal["E1", "E2"]
    row: int
    place: str
    """`messages[3].tool_calls[0]`; empty for the row as a whole."""
    message: str


def lint_demonstrations(rows: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """E1: roles alternate, every call is answered once, arguments fit their declaration."""
    found: list[Finding] = []
    for number, row in enumerate(rows):
        found += [Finding("E1", number, place, text) for place, text in _demonstration(row)]
    return found


def _demonstration(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        return [("messages", "no messages")]
    try:
        tools = _declared(row.get("tools", "[]"))
    except (ValueError, KeyError, TypeError):
        return [("tools", "no list of tool declarations")]
    faults: list[tuple[str, str]] = []
    pending: list[str] = []
    before = ""
    for i, message in enumerate(messages):
        place = f"messages[{i}]"
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            faults.append((place, f"no role {role!r}"))
            continue
        if role == "tool":
            answered = message.get("tool_call_id")
            if answered not in pending:
                faults.append((place, f"answers {answered!r}, which nobody asked"))
            else:
                pending.remove(answered)
        elif pending:
            faults.append((place, f"calls without an answer before it: {', '.join(pending)}"))
            pending = []
        if role == "system" and i:
            faults.append((place, "a system message that is not the first"))
        if role == before and role != "tool":
            faults.append((place, f"two messages of {role} in a row"))
        if role == "assistant":
            calls = message.get("tool_calls") or []
            if not calls and not message.get("content"):
                faults.append((place, "an assistant that neither speaks nor calls"))
            for j, call in enumerate(calls):
                where = f"{place}.tool_calls[{j}]"
                pending.append(call.get("id"))
                faults += [(where, text) for text in _call(call, tools)]
        before = role
    last = messages[-1]
    if last.get("role") != "assistant" or last.get("tool_calls"):
        faults.append((f"messages[{len(messages) - 1}]", "does not end with a reply"))
    return faults


def _declared(tools: Any) -> dict[str, Mapping[str, Any]]:
    listed = orjson.loads(tools) if isinstance(tools, str | bytes) else tools
    return {tool["function"]["name"]: tool["function"]["parameters"] for tool in listed}


def _call(call: Mapping[str, Any], tools: Mapping[str, Mapping[str, Any]]) -> list[str]:
    function = call.get("function") or {}
    name, written = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or name not in tools:
        return [f"no tool {name!r} is offered"]
    try:
        arguments = orjson.loads(written) if isinstance(written, str | bytes) else written
    except orjson.JSONDecodeError as problem:
        return [f"the arguments are not JSON: {problem}"]
    if not isinstance(arguments, Mapping):
        return ["the arguments are no object"]
    schema = tools[name]
    properties = schema.get("properties", {})
    faults = [f"no argument {key!r}" for key in arguments if key not in properties]
    faults += [f"without {key!r}" for key in schema.get("required", ()) if key not in arguments]
    faults += [
        f"{key!r} is {value!r}"
        for key, value in arguments.items()
        if key in properties and not _fits(value, properties[key])
    ]
    return faults


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if "anyOf" in schema:
        return any(_fits(value, option) for option in schema["anyOf"])
    if "enum" in schema and value not in schema["enum"]:
        return False
    wanted = schema.get("type")
    if wanted is None:
        return True
    if isinstance(value, bool) and wanted != "boolean":
        return False
    return isinstance(value, _TYPES.get(wanted, (object,)))


def lint_prompts(rows: Iterable[Mapping[str, Any]]) -> list[Finding]:
    """E2 of prompts: group, seed, a spec whose hash holds, and what the world itself would say."""
    found: list[Finding] = []
    groups: set[str] = set()
    for number, row in enumerate(rows):
        faults = _prompt(row)
        group = row.get("group")
        if group in groups:
            faults.append(("group", "another row has this group; their rollouts would be compared"))
        if isinstance(group, str):
            groups.add(group)
        found += [Finding("E2", number, place, text) for place, text in faults]
    return found


def _prompt(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    if not row.get("group"):
        faults.append(("group", "no group"))
    if not isinstance(row.get("seed"), int):
        faults.append(("seed", "no seed"))
    try:
        spec = spec_of(row)
    except (PromptError, SpecError, KeyError) as problem:
        return [*faults, ("spec", str(problem))]
    made = prompt_of(spec, row["seed"] if isinstance(row.get("seed"), int) else 0)
    if row.get("prompt") != made["prompt"]:
        faults.append(("prompt", "the messages are not those of the spec"))
    if row.get("toolset") != made["toolset"]:
        faults.append(("toolset", "the key is not that of the spec's tools"))
    return faults


def lint_rollouts(rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """E2: groups, seeds, rewards that are the sum of their parts, anchors, lengths, failures.

    A row is `{"group", "seed", "reward", "contributions", "weights", "turns": [{"anchor",
    "tokens"}], "tokens", "failed"}`. A failed rollout has no reward at all.
    """
    found: list[Finding] = []
    sizes: dict[Any, int] = {}
    for row in rows:
        sizes[row.get("group")] = sizes.get(row.get("group"), 0) + 1
    for number, row in enumerate(rows):
        faults = _rollout(row)
        if row.get("group") and sizes[row["group"]] < 2:
            faults.append(("group", "nobody to compare with"))
        found += [Finding("E2", number, place, text) for place, text in faults]
    return found


def _rollout(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    if not row.get("group"):
        faults.append(("group", "no group"))
    if not isinstance(row.get("seed"), int):
        faults.append(("seed", "no seed"))
    reward = row.get("reward")
    if row.get("failed"):
        if reward is not None:
            faults.append(("reward", "an infrastructure failure has no reward, not even 0"))
        return faults
    if not isinstance(reward, int | float) or not math.isfinite(reward):
        return [*faults, ("reward", f"{reward!r} is no finite number")]
    parts = row.get("contributions")
    if not isinstance(parts, Mapping) or set(parts) != set(GRADED):
        faults.append(("contributions", f"the components are not {', '.join(GRADED)}"))
    elif abs(math.fsum(parts.values()) - reward) > TOLERANCE:
        faults.append(("contributions", f"sum to {math.fsum(parts.values()):g}, not {reward:g}"))
    elif min(parts.values()) < 0:
        faults.append(("contributions", "a contribution below 0"))
    if any(weight != 1 for weight in (row.get("weights") or {}).values()):
        faults.append(("weights", "reward weights other than 1: the parts carry their weights"))
    turns = row.get("turns")
    if not isinstance(turns, list) or not turns:
        return [*faults, ("turns", "no turns")]
    for i, turn in enumerate(turns):
        if not turn.get("anchor"):
            faults.append((f"turns[{i}]", "no anchor key"))
    lengths = [turn.get("tokens") for turn in turns]
    if all(isinstance(length, int) for length in lengths) and sum(lengths) != row.get("tokens"):
        faults.append(("tokens", f"the turns have {sum(lengths)}, the row says {row['tokens']}"))
    return faults
