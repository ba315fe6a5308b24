"""Values, predicates and JSON pointers in words that a colleague reads."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from tasks_app.core.evidence import is_reference
from tasks_app.core.predicates import in_words
from tasks_app.core.predicates import shown as said

LONGEST: Final = 160
"""Characters of a value in a table cell; the whole stands where the record is opened."""


def plain(value: Any) -> str:
    """A value as text: texts as they are, everything else as JSON; nothing is cut."""
    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def shown(value: Any, longest: int = LONGEST) -> str:
    """A value on one line, exactly as it is written, cut where it is long."""
    return cut(plain(value), longest)


def cut(text: str, longest: int = LONGEST) -> str:
    """A text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def around(before: str, after: str, longest: int = LONGEST) -> tuple[str, str]:
    """Two texts on one line each, cut so that what differs is seen: a sentence that goes from the
    middle of a policy shows itself rather than the policy's beginning.
    """
    before, after = " ".join(before.split()), " ".join(after.split())
    if before == after or max(len(before), len(after)) <= longest:
        return cut(before, longest), cut(after, longest)
    first = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(0, first - longest // 4)
    if start:  # begin at a word
        start = before.find(" ", start, first) + 1 or start
    lead = "…" if start else ""
    return lead + cut(before[start:], longest), lead + cut(after[start:], longest)


def pretty(value: Any) -> str:
    """A value as indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def predicate(value: Any) -> str:
    """A predicate in the words of grading: ``{"ge": 5}`` is "at least 5"."""
    return in_words(value, reference)


def several(values: Sequence[Any]) -> str:
    """Alternatives: "a, b or c"."""
    words = [reference(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def reference(value: Any) -> str:
    """A value or a text piece as a person reads it: a literal, a number, what a record holds."""
    if isinstance(value, Mapping):
        if is_reference(value):
            condition = value.get("where")
            about = f" where {where(condition)}" if isinstance(condition, Mapping) else ""
            return f"the {value.get('field', 'id')} of the {value['record']} record{about}"
        if "number" in value and value.keys() <= {"number", "within"}:
            within = f" ± {plain(value['within'])}" if value.get("within") else ""
            return f"the number {plain(value['number'])}{within}"
        if value.keys() == {"regex"}:
            return in_words(value)
    return cut(said(value))


def where(conditions: Mapping[str, Any]) -> str:
    """All conditions of a ``where`` in one line."""
    return ", ".join(f"{path} {predicate(value)}" for path, value in conditions.items())


def binding(value: Any) -> str:
    """Where an argument of a reference step comes from; empty for a literal."""
    if not isinstance(value, Mapping):
        return ""
    if isinstance(value.get("from"), str):
        source = value["from"]
        at = value.get("field") or value.get("path") or ""
        narrowed = value.get("where")
        words = f"from {source}" + (f", {at}" if at else "")
        return f"{words} where {where(narrowed)}" if isinstance(narrowed, Mapping) else words
    if "fn" in value:
        return f"computed: {value['fn']}"
    if "text" in value:
        return "a filled text"
    return ""


def literals(value: Any) -> Iterator[str]:
    """Every text inside a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from literals(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from literals(item)
