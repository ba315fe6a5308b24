"""Where the pieces that checks look for stand in the letters and replies of a run, and how to take
them out.

A text mutant removes or alters a piece everywhere in what its check reads (a word left in the
subject would survive), or adds a forbidden one. It is never equivalent: the check names the
piece.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.number_close import NumberClose
from tasks_app.core.checks.scopes import Scope
from tasks_app.core.checks.text_match import TextAbsent, TextMatch
from tasks_app.core.evidence import Evidence, EvidenceError
from tasks_app.core.predicates import (
    compile_piece,
    compile_regex,
    contains_number,
    fold,
    is_whole,
)
from tasks_app.core.program import Act
from tasks_app.core.services.catalog import tools
from tasks_app.core.values import LISTS, NUMBERS, OBJECTS

_NUMBER: Final = re.compile(r"[-+−]?\d(?:[\d.,'\u00a0\u202f]*\d)?")
_SPACED: Final = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?")


class Reading(NamedTuple):
    """What one check reads in one program: acts with the arguments that carry text, and pieces."""

    check: BaseCheck
    acts: Mapping[int, tuple[str, ...]]
    """Act → its text arguments; none for a reply."""
    groups: tuple[tuple[Any, ...], ...]
    """Pieces with references resolved."""
    forbidden: tuple[Any, ...]


def readings(
    checks: Sequence[BaseCheck], acts: Sequence[Act], stages: Sequence[str], evidence: Evidence
) -> Iterator[Reading]:
    """Yield what each check reads of the texts in a program's acts."""
    reply_of: dict[str, int] = {}
    stage = 0
    for position, act in enumerate(acts):
        if act.tool is None and stage < len(stages):
            reply_of[stages[stage]] = position
            stage += 1
    for check in checks:
        found = _asked(check)
        if found is None:
            continue
        scope, groups, forbidden = found
        read: dict[int, tuple[str, ...]] = {}
        if scope in ("message", "all"):
            read.update({p: n for p, n in _messages(acts) if goes_to(acts[p], check)})
        if scope == "final" and (check.stage or stages[-1]) in reply_of:
            read[reply_of[check.stage or stages[-1]]] = ()
        elif scope == "all":
            read.update({p: () for s, p in reply_of.items() if check.stage in (None, s)})
        if read:
            yield Reading(
                check,
                dict(sorted(read.items())),
                tuple(tuple(_known(p, evidence, check.stage) for p in group) for group in groups),
                tuple(_known(p, evidence, check.stage) for p in forbidden),
            )


def _asked(
    check: BaseCheck,
) -> tuple[Scope, Sequence[Sequence[Any]], Sequence[Any]] | None:
    """Return where a check reads, its groups and its forbidden pieces; None if it reads no text."""
    if isinstance(check, MessageMatch):
        return "message", check.text, check.forbidden
    if isinstance(check, Answer):
        return "final", check.text, check.forbidden
    if isinstance(check, TextMatch):
        return check.place, check.text, check.forbidden
    if isinstance(check, TextAbsent):
        return check.place, (), check.text
    if isinstance(check, NumberClose) and check.place is None:
        return check.scope, ((check.target,),), ()
    return None


def _messages(acts: Sequence[Act]) -> Iterator[tuple[int, tuple[str, ...]]]:
    known = tools()
    for position, act in enumerate(acts):
        if act.tool is not None and act.tool in known:
            facts = known[act.tool].facts
            if facts.writes and facts.text and facts.recipients:
                yield position, facts.text


def goes_to(act: Act, check: BaseCheck) -> bool:
    """Say whether a letter goes to whom a check of letters asks for."""
    if not isinstance(check, MessageMatch) or not check.to:
        return True
    facts = tools()[act.tool or ""].facts
    names: list[str] = []
    for argument in facts.recipients:
        value = act.arguments.get(argument)
        names.extend(v for v in (value if isinstance(value, LISTS) else (value,)) if v)
    return {n.casefold() for n in names if isinstance(n, str)} == {t.casefold() for t in check.to}


def _known(piece: Any, evidence: Evidence, stage: str | None) -> Any:
    try:
        return evidence.resolve(piece, stage)
    except EvidenceError:
        return None


def holds(text: str, piece: Any) -> bool:
    """Say whether a text states a piece."""
    return piece is not None and compile_piece(piece)(fold(text))


def said(act: Act, names: Sequence[str]) -> str:
    """Return what an act says: a reply's text, or its text arguments."""
    if act.tool is None:
        return act.reply
    return "\n".join(v for n in names if isinstance(v := act.arguments.get(n), str))


def rewritten(act: Act, names: Sequence[str], change: Callable[[str], str]) -> Act:
    """Return an act whose texts went through a change; the very act if that changed nothing."""
    if act.tool is None:
        reply = change(act.reply)
        return act if reply == act.reply else act._replace(reply=reply)
    changed: dict[str, str] = {}
    for name in names:
        text = act.arguments.get(name)
        if isinstance(text, str):
            new = change(text)
            if new != text:
                changed[name] = new
    return act._replace(arguments={**act.arguments, **changed}) if changed else act


def spans(text: str, piece: Any) -> list[tuple[int, int]]:
    """Return where a text states a piece, in order and apart from each other."""
    if isinstance(piece, str):
        if not holds(text, piece):
            return []
        if text.isascii() and piece.isascii() and len(piece.split()) == 1:
            return _found(text.lower(), piece.strip().lower())  # ten times faster than a new regex
        words = r"\s+".join(re.escape(word) for word in piece.split())
        found = [m.span() for m in re.finditer(words, text, re.IGNORECASE) if m.end() > m.start()]
        lower = text.lower()
        if len(lower) != len(text):  # some letter has two as its small one: places have moved
            return found
        return [span for span in found if is_whole(lower, *span)]
    if isinstance(piece, Mapping) and "regex" in piece:
        return [
            m.span() for m in compile_regex(piece["regex"]).finditer(text) if m.end() > m.start()
        ]
    target, within = _number(piece)
    if target is None:
        return []
    found = []
    for expression in (_SPACED, _NUMBER):
        for match in expression.finditer(text):
            if contains_number(match.group(), target, within) and not any(
                a < match.end() and match.start() < b for a, b in found
            ):
                found.append(match.span())
    return sorted(found)


def _found(text: str, word: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = text.find(word)
    while at >= 0:
        if is_whole(text, at, at + len(word)):
            spans.append((at, at + len(word)))
        at = text.find(word, at + 1)
    return spans


def _number(piece: Any) -> tuple[float | None, float]:
    if isinstance(piece, str):
        return None, 0.0
    if isinstance(piece, OBJECTS) and "number" in piece:
        return float(piece["number"]), float(piece.get("within", 0))
    if isinstance(piece, NUMBERS) and not isinstance(piece, bool):
        return float(piece), 0.0
    return None, 0.0


def replaced(text: str, piece: Any, by: Callable[[str], str]) -> str:
    """Return a text with every statement of a piece replaced."""
    for start, end in reversed(spans(text, piece)):
        text = text[:start] + by(text[start:end]) + text[end:]
    return text


def written(piece: Any) -> str | None:
    """Return a text that states a piece; None for a regular expression."""
    if isinstance(piece, str):
        return piece
    target, _ = _number(piece)
    if target is None:
        return None
    return str(int(target)) if target.is_integer() else f"{target:.2f}"


def number_of(piece: Any) -> float | None:
    """Return the number that a piece asks for, None if it asks for a text."""
    return _number(piece)[0]
