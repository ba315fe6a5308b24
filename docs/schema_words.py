"""JSON Schema in words, for the tables of the generated pages."""

from collections.abc import Collection, Mapping
from typing import Any, Final

NAMED_PATTERNS: Final[Mapping[str, str]] = {
    r"^[a-z0-9][a-z0-9_-]{0,99}$": "slug",
    r"^[a-z][a-z0-9_]{0,63}$": "name",
    r"^[A-Za-z][A-Za-z0-9_]{0,63}$": "id",
}
"""Pattern → what the page calls a text of that form."""


FORMATS: Final[Mapping[str, str]] = {
    "date": "date",
    "date-time": "timestamp with offset",
    "email": "mail address",
}


def type_words(schema: Mapping[str, Any], linked: Collection[str] = ()) -> str:
    """Return the type of a schema in a few words; models of `linked` become links on the page."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if name in linked else name
    if "discriminator" in schema:
        return "an object, see its `kind`"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            parts = (type_words(part, linked) for part in schema[union])
            return " or ".join(dict.fromkeys(parts))
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return ", ".join(_literal(value) for value in schema["enum"])
    match schema.get("type"):
        case "string":
            return _text(schema)
        case "integer":
            return _bounded("whole number", schema)
        case "number":
            return _bounded("number", schema)
        case "boolean":
            return "true or false"
        case "array":
            return _list(schema, linked)
        case "object":
            inner = schema.get("additionalProperties")
            if isinstance(inner, Mapping) and inner:
                return f"object of {type_words(inner, linked)}"
            patterns = schema.get("patternProperties")
            if patterns:
                return f"object of {type_words(next(iter(patterns.values())), linked)}"
            return "object"
        case "null":
            return "null"
    return "any JSON value"


def _text(schema: Mapping[str, Any]) -> str:
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    pattern = schema.get("pattern")
    if pattern is not None:
        return NAMED_PATTERNS.get(pattern, f"text like `{pattern}`".replace("|", r"\|"))
    least, most = schema.get("minLength"), schema.get("maxLength")
    if most is not None:
        return f"text of {least or 0:,} to {most:,} characters"
    return "text, not empty" if least else "text"


def _bounded(word: str, schema: Mapping[str, Any]) -> str:
    bounds = [
        f"{said} {schema[key]:g}" if schema[key] < 10_000 else f"{said} {schema[key]:,}"
        for key, said in (
            ("exclusiveMinimum", "above"),
            ("minimum", "from"),
            ("maximum", "to"),
            ("exclusiveMaximum", "below"),
        )
        if key in schema
    ]
    return " ".join([word, *bounds])


def _list(schema: Mapping[str, Any], linked: Collection[str]) -> str:
    if "prefixItems" in schema:
        return f"list of {len(schema['prefixItems'])}: " + ", ".join(
            type_words(part, linked) for part in schema["prefixItems"]
        )
    inner = schema.get("items", {})
    said = f"list of {type_words(inner, linked)}"
    least = schema.get("minItems")
    return f"{said}, at least {least}" if least else said


def default_words(schema: Mapping[str, Any], *, required: bool) -> str:
    """Return what a field is where it is left out."""
    if required:
        return "**needed**"
    if "default" not in schema:
        return "empty"
    value = schema["default"]
    if value is None:
        return "null"
    if value in ("", [], {}):
        return "empty"
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return _literal(value)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f"`{value}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
