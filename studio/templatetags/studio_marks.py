"""Small pieces of the pages as tags: icons, status marks, states, difficulty, gates.

Tags and not only fragments, because a list draws hundreds of them and an include costs about
thirty times as much. ``{% load studio_marks %}``, then ``{% icon "plus" %}``, ``{% mark "ok" %}``,
``{% state task.state %}``, ``{% level task.difficulty %}``, ``{% strip gates label %}``.
"""

from collections.abc import Iterable
from typing import Protocol

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

MARKS = frozenset({"ok", "bad", "warn", "none", "run", "wait", "void", "half"})
#: These three also carry a colour; the others speak by their silhouette alone.
_COLOURED = frozenset({"ok", "bad", "warn"})
#: States of tasks, jobs, episodes and proofs. An unknown one gets the empty ring.
STATE_MARKS = {
    "alive": "ok",
    "approved": "ok",
    "finished": "ok",
    "passed": "ok",
    "proven": "ok",
    "succeeded": "ok",
    "broken": "bad",
    "failed": "bad",
    "invalid": "bad",
    "rejected": "bad",
    "violated": "bad",
    "disputed": "warn",
    "lost": "warn",
    "in_review": "wait",
    "paused": "wait",
    "queued": "wait",
    "running": "run",
    "starting": "run",
    "stopping": "run",
    "draft": "void",
    "imported": "void",
    "void": "void",
}
# Ready-made pieces, so that a list of fifty rows stays within its milliseconds; nothing in them
# comes from outside.
_CELLS = {
    "ok": "<i></i>",
    "warn": '<i class="w"></i>',
    "bad": '<i class="x"></i>',
    "none": '<i class="o"></i>',
}
_LEVELS = tuple(SafeString('<i class="f"></i>' * n + "<i></i>" * (5 - n)) for n in range(6))


class Gate(Protocol):
    """A group of gates on a card: its letter, name and how it stands."""

    letter: str
    name: str
    state: str
    """ "ok", "warn", "bad", or "none" where it was not run."""


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """An icon beside a word; size "t" is 12 pixels, "l" 20."""
    return format_html(
        '<svg class="i {}" aria-hidden="true"><use href="{}#i-{}"/></svg>',
        size,
        static("icons.svg"),
        name,
    )


@register.simple_tag
def mark(name: str) -> SafeString:
    """A status mark, always beside its word."""
    shown = name if name in MARKS else "none"
    return format_html(
        '<svg class="m {}" aria-hidden="true"><use href="{}#m-{}"/></svg>',
        shown if shown in _COLOURED else "",
        static("icons.svg"),
        shown,
    )


@register.simple_tag
def state(value: str, label: str = "") -> SafeString:
    """A state as mark and word."""
    name = str(value)
    return format_html(
        '<span class="st">{}{}</span>',
        mark(STATE_MARKS.get(name, "none")),
        label or name.replace("_", " "),
    )


@register.simple_tag
def level(value: int | None) -> SafeString:
    """Difficulty, 1 to 5, as five cells."""
    filled = min(max(int(value or 0), 0), 5)
    words = f"difficulty {filled} of 5" if filled else "difficulty not set"
    return format_html(
        '<span class="lvl" role="img" aria-label="{}" title="{}">{}</span>',
        words,
        words,
        _LEVELS[filled],
    )


@register.simple_tag
def strip(gates: Iterable[Gate], label: str = "") -> SafeString:
    """The gate groups in a list row: full holds, half warns, split broken, line not run."""
    groups = list(gates or ())
    words = label or gates_in_words(groups)
    cells = SafeString("".join(_CELLS.get(gate.state, _CELLS["none"]) for gate in groups))
    return format_html(
        '<span class="strip" role="img" aria-label="{}" title="{}">{}</span>', words, words, cells
    )


def gates_in_words(gates: Iterable[Gate]) -> str:
    """ "9 of 10 gates hold, broken: constraints" for who cannot see the strip."""
    groups = list(gates)
    run = [gate for gate in groups if gate.state != "none"]
    if not run:
        return "not proven yet"
    holding = sum(gate.state in {"ok", "warn"} for gate in groups)
    said = f"{holding} of {len(groups)} gates hold"
    for state_, words in (("bad", "broken"), ("warn", "warning")):
        names = [gate.name for gate in groups if gate.state == state_]
        if names:
            said += f", {words}: {', '.join(names)}"
    return said
