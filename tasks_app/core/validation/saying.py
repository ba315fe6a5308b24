"""Sentences that repairs write into a policy, so that a value is known which nothing else says.

A sentence says what the value does where it is used: what is set to it, what is reckoned with it,
by what is chosen. People word it anew; until then it makes sense to whoever reads it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks_app.core.spec import Step
from tasks_app.core.values import LISTS, NUMBERS, OBJECTS

_RECKONED: Final[Mapping[tuple[str, int], str]] = {
    ("add_days", 1): "lies {value} days {turn} the day that it counts from",
    ("add_minutes", 1): "lies {value} minutes {turn} the time that it counts from",
    ("mul", 0): "is reckoned with the factor {value}",
    ("mul", 1): "is reckoned with the factor {value}",
    ("next_weekday", 1): "falls on the next {value}",
    ("percent_off", 1): "is reckoned with {value} percent off",
    ("pick_at_least", 1): "hangs on whether {value} is reached",
    ("pick_at_least", 2): "is {value} where the limit is reached",
    ("pick_at_least", 3): "is {value} where the limit is not reached",
    ("round_up", 1): "is rounded up to a multiple of {value}",
}
"""Function and place of the argument → what it does with the value."""
_OPERATED: Final[Mapping[str, str]] = {
    "eq": "{value}",
    "ge": "{value} or more",
    "gt": "more than {value}",
    "le": "{value} or less",
    "lt": "less than {value}",
    "ne": "anything but {value}",
}
_UNFINISHED: Final = frozenset({"at", "by", "from", "on", "to", "until"})
"""Last words of a field that is called by when or where something happens."""
_INNER: Final = frozenset({"args", "with", "text", "arguments", "each"})
"""Parts of a place in a step that name nothing."""


def field_is(field: str, value: Any) -> str:
    """Return the sentence that a field has a value."""
    return _sentence(field, f"is {_shown(value)}")


def why_used(step: Step, path: Sequence[str | int], value: Any) -> str:
    """Return a sentence that says a value, and what a step does with it.

    Args:
        step: A step of the reference.
        path: Where in the step the value is used.
        value: The value, a figure without its sign.
    """
    field, does, chosen = "", "states {value}" if path[-1] == "text" else "is {value}", ""
    holder: Any = step.model_dump(mode="json")
    for part, following in zip(path, (*path[1:], ""), strict=True):
        if part == "where":
            chosen = "{value}"
        elif part == "args" and isinstance(following, int):
            does = _RECKONED.get((holder["fn"], following), "is reckoned with {value}")
            chosen = ""
        elif chosen and part in _OPERATED:
            chosen = _OPERATED[str(part)]
        elif isinstance(part, str) and part not in _INNER:
            field = part
        holder = _inside(holder, part)
    if field == "reply":
        does = "states {value}"
    turn = "before" if isinstance(holder, NUMBERS) and holder < 0 else "after"
    if chosen:
        return f"What counts has {chosen.format(value=_shown(value))} as {_words(field)}."
    return _sentence(field, does.format(value=_shown(value), turn=turn))


def _inside(holder: Any, part: str | int) -> Any:
    if isinstance(part, int):
        return holder[part] if isinstance(holder, LISTS) and part < len(holder) else None
    return holder.get(part) if isinstance(holder, OBJECTS) else None


def _sentence(field: str, rest: str) -> str:
    words = _words(field)
    named = f"“{words.capitalize()}”" if words.rpartition(" ")[2] in _UNFINISHED else f"The {words}"
    return f"{named} {rest}."


def _words(field: str) -> str:
    return field.rpartition(".")[2].replace("_", " ").strip() or "value"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if round(value, 2) == value != int(value) else f"{value:g}"
    return str(value)
