"""Where a pointer leads, on the task page and in the editor: the part it belongs to and the element
there. The one place that knows the ids; the templates write them, and the tests of the task page
follow a link to every place of a spec.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.values import follow


class Spot(NamedTuple):
    """A part, and the id of an element of it."""

    part: str
    """The tab of the task page, or the part of the editor."""
    anchor: str


class _Holder(NamedTuple):
    part: str
    name: str
    each: bool = False
    """Whether every entry has an element of its own."""


_ON_PAGE: Final[Mapping[tuple[str, ...], _Holder]] = {
    ("request",): _Holder("request", "request"),
    ("workplace",): _Holder("request", "workplace"),
    ("workplace", "policies"): _Holder("request", "policies", each=True),
    ("workplace", "output_contract"): _Holder("request", "output_contract"),
    ("language",): _Holder("request", "workplace"),
    ("capabilities",): _Holder("request", "capabilities", each=True),
    ("difficulty",): _Holder("request", "difficulty"),
    ("services",): _Holder("records", "records"),
    ("tools",): _Holder("tools", "tools", each=True),
    ("tool_aliases",): _Holder("tools", "tools"),
    ("limits",): _Holder("tools", "limits"),
    ("constraints",): _Holder("constraints", "constraints", each=True),
    ("write_set",): _Holder("constraints", "write_set", each=True),
    ("free",): _Holder("constraints", "free", each=True),
    ("checks",): _Holder("checks", "checks", each=True),
    ("reference",): _Holder("reference", "reference", each=True),
    ("alternatives",): _Holder("reference", "alternatives", each=True),
    ("clock",): _Holder("timeline", "clock"),
    ("timeline",): _Holder("timeline", "timeline", each=True),
    ("user",): _Holder("timeline", "user"),
    ("faults",): _Holder("timeline", "faults", each=True),
}
_IN_EDITOR: Final[Mapping[tuple[str, ...], _Holder]] = {
    ("title",): _Holder("request", "title"),
    ("request", "text"): _Holder("request", "request"),
    ("workplace", "requester"): _Holder("request", "request"),
    ("workplace", "output_contract"): _Holder("request", "output_contract"),
    ("workplace", "policies"): _Holder("request", "policies", each=True),
    ("workplace", "organisation"): _Holder("request", "workplace"),
    ("workplace", "coworker"): _Holder("request", "workplace"),
    ("clock", "start"): _Holder("request", "workplace"),
    ("subtype",): _Holder("request", "workplace"),
    ("tags",): _Holder("request", "workplace"),
    ("language",): _Holder("request", "workplace"),
    ("difficulty", "level"): _Holder("request", "workplace"),
    ("services",): _Holder("records", "records"),
    ("tools",): _Holder("tools", "tools"),
    ("constraints",): _Holder("constraints", "constraints", each=True),
    ("write_set",): _Holder("constraints", "write_set"),
    ("checks",): _Holder("checks", "checks", each=True),
    ("reference",): _Holder("reference", "reference"),
    ("limits",): _Holder("reference", "limits"),
    ("timeline",): _Holder("timeline", "timeline"),
    ("user",): _Holder("timeline", "user"),
    ("faults",): _Holder("timeline", "faults"),
}
"""What is edited as one text has one place; what has no form is edited as JSON."""
RECORD: Final = "record"
"""Id of the record that is open, on both."""


def on_page(written: Mapping[str, Any], parts: Sequence[str]) -> Spot:
    """Where the task page shows it; what stands in no part of it, in its head."""
    return _spot(_ON_PAGE, written, parts) or Spot("request", "at-task")


def in_editor(written: Mapping[str, Any], parts: Sequence[str]) -> Spot:
    """Where the editor lets it be changed."""
    return _spot(_IN_EDITOR, written, parts) or Spot("json", "at-json")


def _spot(
    holders: Mapping[tuple[str, ...], _Holder], written: Mapping[str, Any], parts: Sequence[str]
) -> Spot | None:
    for length in (2, 1):
        holder = holders.get(tuple(parts[:length])) if len(parts) >= length else None
        if holder is not None:
            entry = f"-{parts[length]}" if holder.each and _is_entry(written, parts, length) else ""
            return Spot(holder.part, f"at-{holder.name}{entry}")
    return None


def _is_entry(written: Mapping[str, Any], parts: Sequence[str], length: int) -> bool:
    """Whether the pointer goes on to an entry that is there: what is to be added has no place."""
    held = follow(written, tuple(parts[:length]))
    number = parts[length] if len(parts) > length else ""
    return isinstance(held, list | tuple) and number.isdecimal() and int(number) < len(held)
