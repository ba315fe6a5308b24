"""Gate M1: wrong variants of the reference lose.

It runs every mutant of the reference as plain calls, without the runner's repetition. A mutant is
killed if it does not pass. Two runs are equivalent if all stages end in equal records (free
fields and free text masked, new ids not compared), with the same constraints broken; a text
mutant that removes or alters a piece named in a check, or adds a forbidden one, never is.
"""

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import Tables
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.text_match import TextAbsent
from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.program import Act
from tasks_app.core.samples import (
    DUMMY_ADDRESS,
    Argument,
    arguments_of,
    holders,
    likely,
)
from tasks_app.core.services.catalog import tools
from tasks_app.core.validation import near_misses, text_pieces, wide_pieces
from tasks_app.core.validation.card import Finding, MutantResult
from tasks_app.core.validation.equivalence import Masks, differences
from tasks_app.core.validation.gate import finding
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import NUMBERS

MARGIN: Final = 0.1
"""The mean reward of killed mutants lies this far below the reference."""
MOST_FORBIDDEN: Final = 6
_REPLY: Final = re.compile(r"\b(repl(y|ies)|answers?|report back|tell)\b", re.IGNORECASE)
"""What an output contract says that wants something said at the end."""

_WORDS: Final = (
    "I have looked at all of it with care, and everything is done as you asked. If you need "
    "anything else from my side, just tell me, and I will see to it at once."
)
"""A reply that would fit any task."""


class Mutant(NamedTuple):
    """A wrong program: the acts after its first differing one."""

    operator: str
    title: str
    at: int
    acts: Sequence[Act]
    telling: bool = False
    """It alters a text that a check names: never equivalent."""


class Judged(NamedTuple):
    """A mutant and what came of it. Its run isn't kept: a proof makes many."""

    mutant: Mutant
    result: MutantResult


# --- operators -----------------------------------------------------------------------------------


def mutants(trial: Trial) -> Iterator[Mutant]:
    """Yield all mutants of the reference, in a fixed order."""
    acts = trial.acts
    yield from _dropped(acts)
    yield from _doubled(acts)
    yield from _swapped(acts)
    yield from _truncated(acts)
    yield from _wrong_arguments(trial)
    yield from _omitted_arguments(acts)
    yield from _added_arguments(trial)
    yield from _extra_writes(trial)
    yield from _texts(trial)
    yield from _emptied(trial)


def _name(act: Act) -> str:
    return act.tool or "the reply"


def _writes(act: Act) -> bool:
    known = tools().get(act.tool or "")
    return known is not None and known.facts.writes


def _dropped(acts: Sequence[Act]) -> Iterator[Mutant]:
    for i, act in enumerate(acts):
        if act.tool is not None:
            yield Mutant("drop_step", f"leaves out {act.tool}", i, acts[i + 1 :])


def _doubled(acts: Sequence[Act]) -> Iterator[Mutant]:
    for i, act in enumerate(acts):
        if act.tool is not None:
            yield Mutant("duplicate_step", f"does {act.tool} twice", i + 1, acts[i:])


def _swapped(acts: Sequence[Act]) -> Iterator[Mutant]:
    for i in range(len(acts) - 1):
        first, second = acts[i], acts[i + 1]
        if first.tool is None or second.tool is None or first == second:
            continue
        if _writes(first) or _writes(second):
            title = f"does {second.tool} before {first.tool}"
            yield Mutant("swap_steps", title, i, (second, first, *acts[i + 2 :]))


def _truncated(acts: Sequence[Act]) -> Iterator[Mutant]:
    for i, act in enumerate(acts):
        if act.tool is None or _writes(act):
            yield Mutant("truncate", f"stops before {_name(act)}", i, ())
            if act.tool is not None and acts[-1].tool is None:
                title = f"stops before {_name(act)} and reports all done"
                yield Mutant("truncate", title, i, acts[-1:])


def _wrong_arguments(trial: Trial) -> Iterator[Mutant]:
    acts, tables = trial.acts, trial.reference.evidence.tables()
    homes = holders(tables)
    start = trial.seed.ground.start
    for i, act in enumerate(acts):
        if act.tool is None or act.tool not in tools():
            continue
        texts = tools()[act.tool].facts.text
        reading = not _writes(act)
        for argument in arguments_of(act.tool):
            value = act.arguments.get(argument.name)
            if value is None or (argument.name in texts and near_misses.is_wording(value)):
                continue
            if reading and not (isinstance(value, str) and value in homes):
                continue
            tried: list[Any] = [value]
            for miss in _misses(argument, value, tables, start, homes):
                if reading and miss.operator != "wrong_record":
                    continue
                if miss.value in tried:
                    continue
                tried.append(miss.value)
                wrong = act._replace(arguments={**act.arguments, argument.name: miss.value})
                title = f"{act.tool}: {argument.name} wrong, {miss.how}"
                yield Mutant(miss.operator, title, i, (wrong, *acts[i + 1 :]))
                if reading:
                    break


def _misses(
    argument: Argument,
    value: Any,
    tables: Tables,
    start: Tables,
    homes: Mapping[str, Sequence[str]],
) -> Iterator[near_misses.Miss]:
    yield from near_misses.of_value(argument, value, tables, homes)
    yield from _stale(argument.name, value, start)


def _stale(name: str, value: Any, start: Tables) -> Iterator[near_misses.Miss]:
    """Yield the nearest other figures or dates that a field of that name holds: an old or another
    one's.
    """
    figure = isinstance(value, NUMBERS) and not isinstance(value, bool)
    if not figure and not (isinstance(value, str) and (is_date(value) or is_instant(value))):
        return
    found: list[Any] = []
    for rows in start.values():
        for row in rows.values():
            other = row.get(name)
            if type(other) is bool or other is None or other == value:
                continue
            if isinstance(value, str) is isinstance(other, str) and other not in found:
                found.append(other)
    if figure:
        numbers = [n for n in found if isinstance(n, NUMBERS)]
        found = sorted(numbers, key=lambda n: (abs(n - value), n))
    else:
        found = sorted(s for s in found if isinstance(s, str) and len(s) == len(value))
    for other in found[:2]:
        yield near_misses.Miss("stale_value", other, f"{other} in place of {value}")


def _omitted_arguments(acts: Sequence[Act]) -> Iterator[Mutant]:
    for i, act in enumerate(acts):
        if act.tool is None or not _writes(act):
            continue
        for argument in arguments_of(act.tool):
            if argument.required or argument.name not in act.arguments:
                continue
            left = {k: v for k, v in act.arguments.items() if k != argument.name}
            title = f"{act.tool} without {argument.name}"
            wrong = act._replace(arguments=left)
            yield Mutant("omit_argument", title, i, (wrong, *acts[i + 1 :]))


def _added_arguments(trial: Trial) -> Iterator[Mutant]:
    """Yield letters with a copy to somebody who should not get one."""
    acts = trial.acts
    for i, act in enumerate(acts):
        if act.tool is None or not _writes(act):
            continue
        for argument in arguments_of(act.tool):
            if argument.name not in tools()[act.tool].facts.recipients:
                continue
            if argument.required or act.arguments.get(argument.name):
                continue
            stranger: Any = [DUMMY_ADDRESS] if argument.kind == "list" else DUMMY_ADDRESS
            more = act._replace(arguments={**act.arguments, argument.name: stranger})
            title = f"{act.tool}: {argument.name} also {DUMMY_ADDRESS}"
            yield Mutant("wrong_recipient", title, i, (more, *acts[i + 1 :]))


def _extra_writes(trial: Trial) -> Iterator[Mutant]:
    """Yield the reference with one write too many, just before its last reply."""
    acts, place = trial.acts, last_place(trial.acts)
    for act in extra_writes(trial):
        yield Mutant("extra_write", f"also does {shown(act)}", place, (act, *acts[place:]))


def last_place(acts: Sequence[Act]) -> int:
    """Return the position before the last reply, or the end."""
    return next((i for i in range(len(acts) - 1, -1, -1) if acts[i].tool is None), len(acts))


def extra_writes(trial: Trial) -> Sequence[Act]:
    """Return writes too many that succeed: those of the reference on other records, every other
    write tool once. They are looked for once a proof.
    """
    if trial.extra is None:
        trial.extra = tuple(_found_writes(trial))
    return trial.extra


def _found_writes(trial: Trial) -> Iterator[Act]:
    acts, place = trial.acts, last_place(trial.acts)
    tables = trial.reference.evidence.tables()
    homes = holders(tables)
    used: dict[str, int] = {}
    for act in acts:
        if act.tool is None or not _writes(act) or used.get(act.tool, 0) >= 2:
            continue
        used[act.tool] = used.get(act.tool, 0) + 1
        for name, value in act.arguments.items():
            if isinstance(value, str) and value in homes:
                for other in near_misses.lookalikes(tables, homes[value][0], value, most=2):
                    extra = Act(act.tool, {**act.arguments, name: other})
                    if extra not in acts and _succeeds(trial, place, extra):
                        yield extra
                        break
    named = _named(acts, homes)
    for name in trial.seed.offered:
        if not tools()[name].facts.writes or name in used:
            continue
        own = [a.name for a in arguments_of(name) if a.required and a.kind == "id"]
        fixed = {a: named[a] for a in own if a in named}
        for given in (fixed, {}) if fixed else ({},):  # on the records worked on, then on others
            for arguments in likely(name, tables, given, most=6):
                extra = Act(name, arguments)
                if _succeeds(trial, place, extra):
                    yield extra
                    break


def _named(acts: Sequence[Act], homes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return id argument → the record that the reference names there last."""
    return {
        name: value
        for act in acts
        for name, value in act.arguments.items()
        if isinstance(value, str) and value in homes
    }


def _succeeds(trial: Trial, place: int, act: Act) -> bool:
    call = trial.tries(place, act)
    return call is not None and call.ok and bool(call.changes)


def shown(act: Act) -> str:
    """Return an act as a person reads it."""
    if act.tool is None:
        return f"reply {act.reply[:60]!r}"
    parts = ", ".join(f"{k}={str(v)[:40]}" for k, v in list(act.arguments.items())[:3])
    return f"{act.tool}({parts})"


def _texts(trial: Trial) -> Iterator[Mutant]:
    acts = trial.acts
    for reading in trial.readings_of(acts):
        name = reading.check.id
        for group in reading.groups:
            pieces = [p for p in group if p is not None]
            there = [
                p for p in pieces if any(_states(acts[a], n, p) for a, n in reading.acts.items())
            ]
            if not there:
                continue
            label = text_pieces.written(there[0]) or "an expression"
            yield from _text_mutant(
                acts, reading, pieces, "omit_item", f"{name}: leaves {label} out", lambda _: ""
            )
            if any(map(_has_digits, there)):
                yield from _text_mutant(
                    acts,
                    reading,
                    pieces,
                    "wrong_text",
                    f"{name}: {label} with two digits swapped",
                    lambda found: near_misses.swapped_digits(found) or "",
                )
            yield from _near_pieces(acts, reading, there)
        for piece in reading.forbidden[:MOST_FORBIDDEN]:
            wording = text_pieces.written(piece) if piece is not None else None
            if wording is None:
                continue
            last = max(reading.acts)
            yield _appended(acts, last, reading.acts[last], wording, name)


def _near_pieces(
    acts: Sequence[Act], reading: text_pieces.Reading, pieces: Sequence[Any]
) -> Iterator[Mutant]:
    """Yield texts with a near miss of a value that a tolerance or an expression may let pass."""
    for piece in filter(wide_pieces.is_wide, pieces):
        for position, names in reading.acts.items():
            text = text_pieces.said(acts[position], names)
            for word, wrong in wide_pieces.near_words(text, piece):
                act = text_pieces.rewritten(
                    acts[position], names, functools.partial(_exchanged, word, wrong)
                )
                title = f"{reading.check.id}: {wrong} for {word}"
                rest = (act, *acts[position + 1 :])
                yield Mutant("wrong_text", title, position, rest, telling=True)


def _exchanged(word: str, wrong: str, text: str) -> str:
    """Return a text with a word exchanged, and not where it is part of another."""
    whole = rf"(?<!\S){re.escape(word)}(?=[{re.escape(wide_pieces.MARKS)}]*(?:\s|$))"
    return re.sub(whole, lambda _: wrong, text)


def _has_digits(piece: Any) -> bool:
    return near_misses.swapped_digits(text_pieces.written(piece) or "") is not None


def _states(act: Act, names: Sequence[str], piece: Any) -> bool:
    return text_pieces.holds(text_pieces.said(act, names), piece)


def _text_mutant(
    acts: Sequence[Act],
    reading: text_pieces.Reading,
    pieces: Sequence[Any],
    operator: str,
    title: str,
    by: Any,
) -> Iterator[Mutant]:
    def change(text: str) -> str:
        for piece in pieces:
            text = text_pieces.replaced(text, piece, by)
        return text

    changed = list(acts)
    for position, names in reading.acts.items():
        changed[position] = text_pieces.rewritten(acts[position], names, change)
    left = any(
        _states(changed[position], names, piece)
        for position, names in reading.acts.items()
        for piece in pieces
    )
    if not left:
        first = min(p for p in reading.acts if changed[p] != acts[p])
        yield Mutant(operator, title, first, changed[first:], telling=True)


def _appended(
    acts: Sequence[Act], at: int, names: Sequence[str], wording: str, check: str
) -> Mutant:
    act = acts[at]
    if act.tool is None:
        wrong = act._replace(reply=f"{act.reply} {wording}")
    else:
        last = names[-1]
        wrong = act._replace(
            arguments={**act.arguments, last: f"{act.arguments.get(last, '')} {wording}"}
        )
    title = f"{check}: also names {wording}"
    return Mutant("forbidden_item", title, at, (wrong, *acts[at + 1 :]), telling=True)


def _emptied(trial: Trial) -> Iterator[Mutant]:
    acts = trial.acts
    read: set[int] = set()
    heard: set[int] = set()
    for reading in trial.readings_of(acts):
        replies = [p for p in reading.acts if acts[p].tool is None]
        if reading.groups:
            read.update(replies)
        if not isinstance(reading.check, TextAbsent):
            heard.update(replies)
    if not read and _REPLY.search(trial.spec.workplace.output_contract):
        # The contract asks for a reply and no check hears any: a checked letter says it to others.
        read.update(i for i, act in enumerate(acts) if act.tool is None)
    for i, act in enumerate(acts):
        if act.tool is None and act.reply:
            empty = act._replace(reply="")
            yield Mutant(
                "empty_reply", "says nothing at the end", i, (empty, *acts[i + 1 :]), i in read
            )
    yield from _idle_replies(trial, heard)
    yield from _empty_letters(trial)


def _idle_replies(trial: Trial, heard: Collection[int]) -> Iterator[Mutant]:
    """Yield replies that say nothing of their own after all the work: what was asked, and words.
    A check that hears them wants them for what they say.
    """
    asked = [trial.spec.request.text, *(s.notification or "" for s in trial.spec.stages[1:])]
    day = 0
    for i, act in enumerate(trial.acts):
        if act.tool is not None:
            continue
        if i in heard:
            rest = trial.acts[i + 1 :]
            text = asked[day] if day < len(asked) else ""
            for title, idle in (("gives back what was asked", text), ("is mere words", _WORDS)):
                if idle and idle != act.reply:
                    yield Mutant(
                        "idle_reply",
                        f"a reply that {title}",
                        i,
                        (act._replace(reply=idle), *rest),
                        telling=True,
                    )
        day += 1


def _empty_letters(trial: Trial) -> Iterator[Mutant]:
    """Yield letters that say nothing. A check of letters wants them for what they say."""
    acts = trial.acts
    wanted = [check for check in trial.spec.checks if isinstance(check, MessageMatch)]
    for i, act in enumerate(acts):
        known = tools().get(act.tool or "")
        if known is None or not (known.facts.writes and known.facts.recipients):
            continue
        names = [n for n in known.facts.text if isinstance(act.arguments.get(n), str)]
        if not names:
            continue
        blank = act._replace(arguments={**act.arguments, **dict.fromkeys(names, "-")})
        read = any(text_pieces.goes_to(act, check) for check in wanted)
        yield Mutant("empty_letter", f"{act.tool} says nothing", i, (blank, *acts[i + 1 :]), read)


# --- M1 ------------------------------------------------------------------------------------------


def prove_mutants(trial: Trial) -> list[Judged]:
    """Run every mutant and judge it; survivors carry what differs from the reference."""
    masks = Masks(trial)
    broken = trial.reference.grade.violations
    found: list[Judged] = []
    for number, mutant in enumerate(mutants(trial)):
        play = trial.run(mutant.operator, mutant.acts, mutant.at)
        verdict, where = verdict_of(trial, masks, mutant, play, broken)
        result = MutantResult(
            id=f"{mutant.operator}-{number}",
            operator=mutant.operator,
            title=mutant.title,
            reward=play.reward,
            verdict=verdict,
            difference=tuple(where[:8]),
        )
        found.append(Judged(mutant, result))
    return found


def verdict_of(
    trial: Trial, masks: Masks, mutant: Mutant, play: Play, broken: tuple[str, ...]
) -> tuple[Any, list[str]]:
    """Return killed, equivalent or survived, and for a survivor what differs."""
    if not play.grade.passed:
        return "killed", []
    if mutant.telling:
        return "survived", [f"text: {mutant.title}"]
    where = differences(masks, trial.reference.evidence, play.evidence)
    if play.grade.violations != broken:
        return "survived", [*where, f"constraints: {', '.join(play.grade.violations)}"]
    return ("survived", where) if where else ("equivalent", [])


def survivors(trial: Trial, found: Sequence[Judged]) -> Iterator[Finding]:
    """M1: every mutant that changes the outcome loses."""
    killed = [result.reward for _, result in found if result.verdict == "killed"]
    for _, result in found:
        if result.verdict == "survived":
            yield finding(
                "M1",
                "/checks",
                f"a wrong solution still earns {result.reward:g} ({result.title}): "
                f"no check sees {', '.join(result.difference[:3])}",
                hint="add a check for what differs, close the write set, or declare the field free",
            )
    reference = trial.reference.reward
    if killed and sum(killed) / len(killed) >= reference - MARGIN + 1e-9:
        yield finding(
            "M1",
            "/checks",
            f"wrong solutions lose only {reference - sum(killed) / len(killed):.2f} on average; "
            f"at least {MARGIN} is asked",
            hint="give the checks that catch them more weight, or let others require them",
        )
