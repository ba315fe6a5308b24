"""Tools under another name: an imported task's arguments become ours.

A form is a literal, a list or object of forms, or `{"arg": theirs, …}`:
- `values`: their value → ours (null: leave the argument out); values not listed stay;
- `as`: `list` (one text, or several by comma → a list), `json` (any value → its JSON text),
  `days_ago` (a number of days → that day before the clock), `day` (a date or timestamp → its day),
  `day_start` (a day → its first moment), `day_end` (a day → the first moment after it, or after
  the number of days that the form `days` gives), `instant` (a time without offset → in the
  clock's), `name` (a path → its last part);
- `default`: their default, where they left the argument out;
- `else`: the form that holds where they left the argument out.
An argument that was left out, and has neither, leaves ours out.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from tasks_app.core.calls import ToolError
from tasks_app.core.instants import add_days, day_of, is_instant
from tasks_app.core.spec import ToolAlias

_OUT: Final = object()
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def translate(raw: bytes, alias: ToolAlias, now: str) -> bytes:
    """Return our arguments for theirs. Raises ToolError in their names if theirs do not fit their
    schema.
    """
    given = _checked(raw, alias.parameters)
    ours = {name: _form(form, given, now) for name, form in alias.arguments.items()}
    return orjson.dumps({name: value for name, value in ours.items() if value is not _OUT})


def _checked(raw: bytes, schema: Mapping[str, Any]) -> dict[str, Any]:
    try:
        given = orjson.loads(raw)
    except orjson.JSONDecodeError as problem:
        raise ToolError("wrong_type", "arguments are not valid JSON") from problem
    if not isinstance(given, dict):
        raise ToolError("wrong_type", "arguments are not an object")
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in given]
    if missing:
        raise ToolError("missing_argument", f"{missing[0]}: field required")
    unknown = [name for name in given if name not in properties]
    if unknown:
        raise ToolError("unknown_argument", f"{unknown[0][:100]}: no such argument")
    for name, value in given.items():
        wanted = _TYPES.get(str(properties[name].get("type")))
        if value is None and name not in schema.get("required", ()):
            continue
        if wanted is not None and (
            not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)
        ):
            raise ToolError("wrong_type", f"{name}: should be {properties[name]['type']}")
    return given


def _form(form: Any, given: Mapping[str, Any], now: str) -> Any:
    if isinstance(form, Mapping):
        if isinstance(form.get("arg"), str):
            return _argument(form, given, now)
        inner = {key: _form(item, given, now) for key, item in form.items()}
        return {key: value for key, value in inner.items() if value is not _OUT}
    if isinstance(form, list | tuple):
        items = [_form(item, given, now) for item in form]
        return [item for item in items if item is not _OUT]
    return form


def _argument(form: Mapping[str, Any], given: Mapping[str, Any], now: str) -> Any:
    value = given.get(form["arg"])
    if value is None:
        value = form.get("default")
    if value is None:
        return _form(form["else"], given, now) if "else" in form else _OUT
    values = form.get("values", {})
    if isinstance(value, str) and value in values:
        value = values[value]
        if value is None:
            return _OUT
    match form.get("as"):
        case "list":
            if isinstance(value, str):
                return [part.strip() for part in value.replace(";", ",").split(",") if part.strip()]
            return value
        case "json":
            return value if isinstance(value, str) else orjson.dumps(value).decode()
        case "days_ago":
            days = min(int(value), 36_500) if isinstance(value, int | float) else 0
            return add_days(now[:10], -max(days, 0))
        case "day":
            return day_of(value) or value[:10] if isinstance(value, str) else value
        case "day_start" | "day_end" as edge:
            return _edge(value, edge, _form(form.get("days", 1), given, now), now)
        case "instant":
            return _instant(value, now)
        case "name":
            return str(value).replace("\\", "/").rstrip("/").rpartition("/")[2] or value
        case _:
            return value


def _edge(value: Any, edge: str, days: Any, now: str) -> Any:
    """A day's first moment, or the one after it; what is no day stays for the tool to refuse."""
    day = day_of(value) if isinstance(value, str) else None
    if day is None:
        return value
    count = days if isinstance(days, int) and not isinstance(days, bool) and days > 0 else 1
    try:
        at = day if edge == "day_start" else add_days(day, min(count, 36_500))
    except OverflowError:
        return value
    return f"{at}T00:00:00{_offset(now)}"


def _instant(value: Any, now: str) -> Any:
    if not isinstance(value, str) or is_instant(value):
        return value
    written = value.strip().replace(" ", "T", 1)
    with_offset = f"{written}{_offset(now)}"
    return with_offset if is_instant(with_offset) else value


def _offset(now: str) -> str:
    return "Z" if now.endswith("Z") else now[-6:]
