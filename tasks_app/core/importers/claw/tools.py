"""The tools of a Claw-Eval task: their names and schemas over our tools.

A schema is normalised to what works here: an argument without effect is not advertised. What has no
counterpart that could work (the live web, a shell) is not offered, and said to be missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks_app.core.importers.claw.folder import Entry, Folder
from tasks_app.core.importers.claw.forms import TOOLS
from tasks_app.core.importers.claw.upstream import COMMANDS, LIVE_TOOLS, ROUTES

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


@dataclass(slots=True)
class Tools:
    """What is offered, and what is not."""

    aliases: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Their tools that are not offered here, as they were declared."""
    by_span: list[str] = field(default_factory=list)
    """Calendar tools that ask for a span where the service wants a date (D01)."""
    no_address: list[str] = field(default_factory=list)
    """Tools whose address does not exist upstream, with it (D02)."""
    ignored: list[str] = field(default_factory=list)
    """Arguments that the upstream service ignores, and what becomes of them here (D08)."""
    lacking: list[str] = field(default_factory=list)
    """Arguments that the upstream service requires and the schema lacks (D09)."""
    without_effect: list[str] = field(default_factory=list)
    """Arguments that have an effect upstream and none here."""

    @property
    def services(self) -> set[str]:
        """Our services whose tools are offered."""
        return {str(alias["tool"]).partition("_")[0] for alias in self.aliases.values()}


def read_tools(folder: Folder) -> Tools:
    """Read the declared tools. Raises ImportProblemError with the line."""
    tools = Tools()
    addresses = _addresses(folder)
    for entry in folder.entries("tools"):
        name = str(entry.data.get("name") or "")
        if name in tools.aliases or name in tools.left_out:
            folder.found(f"{entry.place}/name", f"the tool {name} stands there twice; left out")
            continue
        if name in COMMANDS or name in LIVE_TOOLS:
            tools.left_out[name] = dict(entry.data)
            _hold_against(tools, name, _schema(folder, entry, name), addresses, None)
            continue
        if name not in TOOLS:
            raise folder.refusal(
                f"{entry.place}/name", f"tool {name[:80]} has no counterpart in this studio"
            )
        ours, forms = TOOLS[name]
        schema = _schema(folder, entry, name)
        taken = _named_arguments(forms)
        _hold_against(tools, name, schema, addresses, taken)
        tools.aliases[name] = {
            "tool": ours,
            "arguments": forms,
            "description": _described(folder, entry),
            "parameters": _only(schema, taken),
        }
    return tools


def _addresses(folder: Folder) -> Mapping[str, str]:
    """Return tool → path of its declared address, `gmail/messages`."""
    found: dict[str, str] = {}
    for entry in folder.entries("tool_endpoints"):
        name, url = entry.data.get("tool_name"), entry.data.get("url")
        if not isinstance(name, str):
            folder.found(entry.place, "an endpoint names no tool; left out")
            continue
        path = url.partition("://")[2].partition("/")[2] if isinstance(url, str) else ""
        found[name] = path.strip("/")
    return found


def _described(folder: Folder, entry: Entry) -> str:
    said = entry.data.get("description")
    if said is not None and not isinstance(said, str):
        folder.found(f"{entry.place}/description", "the description is no text; left out")
        return ""
    return said or ""


def _schema(folder: Folder, entry: Entry, name: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments in one shape. Raises ImportProblemError."""
    place = f"{entry.place}/input_schema"
    schema = entry.data.get("input_schema")
    if not isinstance(schema, dict):
        raise folder.refusal(
            place if place in folder.lines else entry.place,
            f"tool {name}: input_schema is missing or no object",
        )
    properties = schema.get("properties") or {}
    if not isinstance(properties, dict):
        folder.found(f"{place}/properties", f"tool {name}: properties is no object; left out")
        properties = {}
    kept: dict[str, Any] = {}
    for argument, declared in properties.items():
        at = f"{place}/properties/{argument}"
        if not isinstance(declared, dict):
            folder.found(at, f"{name}.{argument} is described by no object; of any type here")
            declared = {}
        if "type" in declared and not _is_type(declared["type"]):
            folder.found(at, f"{name}.{argument}: the type is not one of JSON Schema; left out")
            declared = {key: value for key, value in declared.items() if key != "type"}
        kept[str(argument)] = declared
    required = schema.get("required") or []
    if not isinstance(required, list):
        folder.found(f"{place}/required", f"tool {name}: required is not a list; left out")
        required = []
    unknown = [str(argument)[:80] for argument in required if str(argument) not in kept]
    if unknown:
        folder.found(
            f"{place}/required", f"tool {name}: requires {', '.join(unknown)}, which is no argument"
        )
    required = [str(argument) for argument in required if str(argument) in kept]
    rest = {key: value for key, value in schema.items() if key not in ("properties", "required")}
    return {**rest, "type": "object", "properties": kept, "required": required}


def _is_type(said: Any) -> bool:
    several = said if isinstance(said, list) and said else [said]
    return all(isinstance(one, str) and one in _TYPES for one in several)


def _only(schema: Mapping[str, Any], taken: set[str]) -> dict[str, Any]:
    kept = {name: value for name, value in schema["properties"].items() if name in taken}
    return {
        **schema,
        "properties": kept,
        "required": [name for name in schema["required"] if name in kept],
    }


def _hold_against(
    tools: Tools,
    name: str,
    schema: Mapping[str, Any],
    addresses: Mapping[str, str],
    taken: set[str] | None,
) -> None:
    """Note what upstream's service does not bear out; ``taken`` is what works here, None if the
    tool is not offered.
    """
    if name in COMMANDS:
        return
    address = addresses.get(name)
    if addresses and not address:
        tools.no_address.append(f"{name} (none declared)")
    elif address and address not in ROUTES:
        tools.no_address.append(f"{name} ({address})")
    offered = set(schema["properties"])
    route = ROUTES.get(address or "")
    by_span = name == "calendar_list_events" and "date" not in offered
    if by_span:
        tools.by_span.append(f"{name} asks for {', '.join(sorted(offered)) or 'nothing'}")
    elif route is not None:
        tools.lacking += [f"{name}.{argument}" for argument in sorted(route.required - offered)]
    if taken is None:
        return
    for argument in sorted(offered):
        if route is not None and argument not in route.taken and not by_span:
            here = "works here" if argument in taken else "not advertised here"
            tools.ignored.append(f"{name}.{argument} ({here})")
        elif argument not in taken:
            tools.without_effect.append(f"{name}.{argument}")


def _named_arguments(form: Any) -> set[str]:
    if isinstance(form, Mapping):
        if isinstance(form.get("arg"), str):
            more = [_named_arguments(form[key]) for key in ("days", "else") if key in form]
            return {form["arg"]}.union(*more)
        return set().union(*(_named_arguments(item) for item in form.values()))
    if isinstance(form, list | tuple):
        return set().union(*(_named_arguments(item) for item in form))
    return set()
