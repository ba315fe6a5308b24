"""Tools as forms: JSON Schema to fields, and what was typed back to arguments.

What cannot be read as its type goes on as text: the tool itself says what is wrong with it, as it
would to any policy.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson
from django.http import QueryDict

from tasks_app.core.calls import ToolFacts

Kind = Literal["text", "long", "choice", "number", "flag", "lines", "json"]
PREFIX: Final = "arg-"
_LONG: Final = frozenset(
    {"body", "text", "note", "description", "content", "message", "reason_text"}
)


@dataclass(frozen=True, slots=True)
class Field:
    """One argument as a field."""

    name: str
    kind: Kind
    required: bool
    options: tuple[str, ...]
    hint: str
    integer: bool

    @property
    def input_name(self) -> str:
        """The field's name in the form."""
        return f"{PREFIX}{self.name}"


@dataclass(frozen=True, slots=True)
class ToolForm:
    """One tool as a form."""

    name: str
    description: str
    writes: bool
    kind: str
    fields: tuple[Field, ...]

    def arguments(self, typed: QueryDict) -> dict[str, Any]:
        """Read the arguments that were typed; empty optional fields are left out."""
        found: dict[str, Any] = {}
        for field in self.fields:
            text = typed.get(field.input_name, "")
            if text.strip() or (field.required and field.kind in ("text", "long")):
                found[field.name] = _read(field, text)
        return found


def _read(field: Field, text: str) -> Any:
    match field.kind:
        case "number":
            return _number(text.strip(), integer=field.integer)
        case "flag":
            return {"true": True, "false": False}.get(text, text)
        case "lines":
            return [line.strip() for line in text.splitlines() if line.strip()]
        case "json":
            try:
                return orjson.loads(text)
            except orjson.JSONDecodeError:
                return text
        case "text":
            return text.strip()
        case _:
            return text.replace("\r\n", "\n")


def _number(text: str, *, integer: bool) -> Any:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return text
    return int(value) if value.is_integer() and (integer or "." not in text) else value


def tool_forms(
    schemas: Iterable[Mapping[str, Any]], declared: Mapping[str, ToolFacts]
) -> tuple[ToolForm, ...]:
    """The offered tools as forms, in the task's order.

    Args:
        schemas: Tools in the form of function calling.
        declared: Name as the policy sees it → what the tool declares.
    """
    forms = []
    for schema in schemas:
        body = schema["function"]
        parameters = body["parameters"]
        required = frozenset(parameters.get("required", ()))
        facts = declared.get(body["name"])
        forms.append(
            ToolForm(
                name=body["name"],
                description=body["description"],
                writes=facts is not None and facts.writes,
                kind=facts.kind if facts is not None else "read",
                fields=tuple(
                    _field(name, prop, parameters.get("$defs", {}), required=name in required)
                    for name, prop in parameters.get("properties", {}).items()
                ),
            )
        )
    return tuple(forms)


def _field(
    name: str, prop: Mapping[str, Any], definitions: Mapping[str, Any], *, required: bool
) -> Field:
    resolved = _resolve(prop, definitions)
    options = tuple(str(option) for option in resolved.get("enum", ()))
    kind = resolved.get("type")
    chosen: Kind
    if options:
        chosen = "choice"
    elif kind in ("integer", "number"):
        chosen = "number"
    elif kind == "boolean":
        chosen = "flag"
    elif (
        kind == "array" and _resolve(resolved.get("items", {}), definitions).get("type") == "string"
    ):
        chosen = "lines"
    elif kind in ("array", "object"):
        chosen = "json"
    else:
        chosen = "long" if name in _LONG else "text"
    hint = str(prop.get("description") or resolved.get("description") or "")
    return Field(name, chosen, required, options, hint, kind == "integer")


def _resolve(prop: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference, and take the first real type of a choice with null."""
    reference = prop.get("$ref")
    if isinstance(reference, str):
        return _resolve(definitions.get(reference.rpartition("/")[2], {}), definitions)
    for option in prop.get("anyOf", ()):
        if option.get("type") != "null":
            return _resolve(option, definitions)
    if "const" in prop:
        return {**prop, "enum": [prop["const"]]}
    return prop
