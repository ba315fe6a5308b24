"""Where a value was first seen by the policy: in the request, the rules, or a call's answer."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tasks_app.core.calls import Call, ToolFacts
from tasks_app.core.spec import TaskSpec

_SHORTEST_ORIGIN: Final = 2
_SMALLEST_TELLING: Final = 10


class Origins:
    """Takes in what a policy is told, and says where a value of its own came from."""

    def __init__(self, spec: TaskSpec):
        self._request = spec.request.text
        self._rules = "\n".join(policy.text for policy in spec.workplace.policies)
        self._seen: dict[str | float, int] = {}
        self._told: list[tuple[int, str]] = []
        """What the colleague said, by number of the call."""

    def learn(self, calls: Iterable[Call], tools: Mapping[str, ToolFacts]) -> None:
        """Take in what the calls of a turn answered; the next turn may use it."""
        for call in calls:
            if call.error is not None:
                continue
            self._take(call.outcome, call.index + 1)
            declared = tools.get(call.tool)
            if declared is not None and declared.kind == "channel":
                self._told.append((call.index + 1, call.observation.decode("utf-8")))

    def _take(self, value: Any, number: int) -> None:
        stack = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, Mapping):
                stack.extend(item.values())
            elif isinstance(item, list):
                stack.extend(item)
            elif isinstance(item, str | int | float) and not isinstance(item, bool):
                self._seen.setdefault(item, number)

    def of(self, value: Any, schema: Mapping[str, Any], name: str) -> str:
        """Return the origin of an argument's value; of a list, that of its latest element."""
        if isinstance(value, list):
            found = [self.of(item, {}, "") for item in value]
            return max(found, key=len) if found and all(found) else ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return ""
        if isinstance(value, str):
            if _is_option(value, schema, name):
                return "option"
            if len(value) < _SHORTEST_ORIGIN:
                return ""
            if value in self._request:
                return "request"
        elif abs(value) < _SMALLEST_TELLING:  # a line number 2 stands everywhere and tells nothing
            return ""
        number = self._seen.get(value)
        if number is not None:
            return f"call {number}"
        if not isinstance(value, str):
            return ""
        for told, text in self._told:
            if value in text:
                return f"call {told}"
        return "rules" if value in self._rules else ""


def _is_option(value: str, schema: Mapping[str, Any], name: str) -> bool:
    declared = schema.get("properties", {}).get(name, {})
    reference = declared.get("$ref")
    if isinstance(reference, str):
        declared = schema.get("$defs", {}).get(reference.rpartition("/")[2], {})
    options = [declared, *declared.get("anyOf", [])]
    return any(
        value in option.get("enum", ()) or value == option.get("const")
        for option in options
        if isinstance(option, Mapping)
    )
