"""Hypothesis strategies for tool arguments, made from a tool's JSON Schema."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tasks_app.core.calls import ToolFacts

Schema = Mapping[str, Any]

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


def arguments(facts: ToolFacts, ids: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that pass the schema; ids are often those of records."""
    assert facts.parameters is not None
    return _object(facts.parameters, facts.parameters.get("$defs", {}), ids)


def _object(
    schema: Schema, definitions: Schema, ids: Sequence[str]
) -> st.SearchStrategy[dict[str, Any]]:
    if "properties" not in schema:
        extra = schema.get("additionalProperties")
        inner = value(extra, definitions, ids) if isinstance(extra, Mapping) else ANYTHING
        names = st.sampled_from(["amount", "body", "zz"])
        return st.dictionaries(names, inner, min_size=schema.get("minProperties", 0), max_size=3)
    made = {name: value(inner, definitions, ids) for name, inner in schema["properties"].items()}
    required = schema.get("required", [])
    return st.fixed_dictionaries(
        {name: made[name] for name in required},
        optional={name: made[name] for name in made if name not in required},
    )


def value(schema: Schema, definitions: Schema, ids: Sequence[str]) -> st.SearchStrategy[Any]:
    """Return values that a schema allows."""
    if "$ref" in schema:
        return value(definitions[schema["$ref"].rpartition("/")[2]], definitions, ids)
    if "anyOf" in schema:
        return st.one_of([value(inner, definitions, ids) for inner in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    kind = schema["type"]
    if kind == "object":
        return _object(schema, definitions, ids)
    if kind == "array":
        return st.lists(
            value(schema["items"], definitions, ids), min_size=schema.get("minItems", 0), max_size=3
        )
    if kind == "string":
        return _text(schema, ids)
    if kind == "integer":
        low, high = schema.get("minimum", -50), schema.get("maximum", 50)
        return st.integers(low, min(high, low + 100)) | st.integers(low, high)
    if kind == "number":
        low, high = schema.get("minimum", -1e12), schema.get("maximum", 1e12)
        return st.floats(low, high, allow_nan=False)
    return st.booleans() if kind == "boolean" else st.none()


def _text(schema: Schema, ids: Sequence[str]) -> st.SearchStrategy[str]:
    form = schema.get("format")
    if form == "date":
        return st.dates().map(str)
    if form == "date-time":
        return st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='seconds')}+02:00")
    if form == "email":
        return st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.example", fullmatch=True)
    if "pattern" in schema:
        return st.from_regex(schema["pattern"].removeprefix("^").removesuffix("$"), fullmatch=True)
    low = schema.get("minLength", 0)
    free = st.text(st.characters(codec="utf-8"), min_size=low, max_size=20)
    return st.sampled_from(list(ids)) | free if ids else free
