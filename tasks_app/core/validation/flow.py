"""Gate O3 by data flow: no step of the reference uses a value that came from nowhere.

`reachable` (solvability.py) looks at the plain values that are written. Here the rest of the flow
is followed: what a read asks for, what a function reckons with, which record a choice names, and
the codes and figures inside letters and replies. Each was said at the desk, told by the colleague,
or shown by an earlier call. Values that a binding takes from an earlier step, or a function from
such values, are derived; words are wording.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tasks_app.core.instants import is_instant
from tasks_app.core.predicates import is_operators
from tasks_app.core.program import Act, holds_binding, is_binding
from tasks_app.core.samples import arguments_of, holders, likely
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import Step
from tasks_app.core.validation import surfaces
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, pointer
from tasks_app.core.validation.near_misses import is_wording
from tasks_app.core.validation.saying import why_used
from tasks_app.core.validation.solvability import literals, reachable
from tasks_app.core.validation.told import Told, passages, shown_by
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair, as_suggestion, tried_out
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS

_STRUCTURE: Final[Mapping[str, frozenset[int]]] = {
    "regex": frozenset({1}),
    "column": frozenset({1}),
    "join": frozenset({1}),
    "lines": frozenset({1, 2}),
    "rows": frozenset({1}),
    "differing": frozenset({2, 3}),
}
"""Function → arguments that say how, not what: patterns, names of fields, separators."""
_MANNERS: Final = frozenset(
    {
        "category", "cells", "folder", "kind", "label", "last_status", "order_by", "priority",
        "query", "queue", "severity", "status", "tag",
    }
)  # fmt: skip
"""Arguments of reads that say what kind of records is looked at, told by looking, or are free words
to search by. All others (a team, a site, an owner) say which record is meant.
"""
_NAMED: Final = re.compile(r"\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)+|\S+@\S+")
"""A name within a value: words that are written large, or a mail address."""
_CODE: Final = re.compile(r"\b[A-Za-z]{1,6}-?\d[\w-]*\b|\d+(?:[.,]\d+)*")
_PLACE: Final = re.compile(r"\{[^{}]*\}")
_YEARS: Final = range(1900, 2101)
MOST_READS: Final = 40


class Use(NamedTuple):
    """A value that a step uses as it stands."""

    step: int
    path: tuple[str | int, ...]
    value: Any
    beside: str | None = None
    """The step whose list it chooses from: that list does not count as having said it."""
    tells: bool = False
    """Whether it tells which record is meant: no read of ours can make that known."""


class Shown(NamedTuple):
    """What a call brought up, and what it asked for."""

    step: str
    asked: Mapping[str, Any]
    told: Told

    def tells(self, use: Use) -> bool:
        """Say whether it makes a value known. Who asks by a name is not told that it is meant."""
        if self.step == use.beside or not self.told.says(use.value):
            return False
        return not use.tells or not self._asked_words().names(str(use.value))

    def _asked_words(self) -> Told:
        return Told(f"{value} " for value in literals(self.asked))


def grounded(trial: Trial, *, repairs: bool = True) -> Iterator[Finding]:
    """O3: what is written, asked for, reckoned with and stated came from somewhere.

    Args:
        trial: The proof's runs.
        repairs: Whether repairs are looked for.
    """
    for item in reachable(trial):
        repair = _reached(trial, item) if repairs else None
        yield item.model_copy(update={"suggestion": as_suggestion(trial, repair)})
    for use in unsaid(trial):
        step = trial.spec.reference[use.step]
        who = f"step {step.id} uses" if step.id is not None else "the reply states"
        yield finding(
            "O3",
            pointer("reference", use.step, *use.path),
            f"{who} {use.value!r}, which neither the request, the rules nor an earlier read says",
            hint="bind it to a read that shows it, or say it in the request",
        ).model_copy(
            update={"suggestion": as_suggestion(trial, made_known(trial, use) if repairs else None)}
        )


def unsaid(trial: Trial) -> Iterator[Use]:
    """Yield the uses of values that nothing before them says."""
    desk = desk_of(trial)
    shown: list[Shown] = []
    homes = holders(trial.seed.ground.start)
    calls: dict[str, list[int]] = {}
    for position, act in enumerate(trial.acts):
        if act.tool is not None:
            calls.setdefault(act.step, []).append(position)
    for number, step in enumerate(trial.spec.reference):
        for use in uses(number, step, homes):
            if desk.says(use.value):
                continue
            if isinstance(use.value, str) and _hinted(desk, use):
                continue
            if _said_in_words(trial, use.value):
                continue
            if not any(one.tells(use) for one in shown):
                yield use
        if step.tool is not None:
            for position in calls.get(step.id or "", ()):
                call = trial.call(position)
                if call.ok:
                    asked = trial.acts[position].arguments
                    shown.append(Shown(step.id or "", asked, shown_by(call)))


def _hinted(desk: Told, use: Use) -> bool:
    """Say whether a word of a value is told; of a name one as it stands, not just its beginning."""
    names = _NAMED.findall(use.value) if use.tells else ()
    return any(map(desk.names, names)) if names else desk.hints(use.value)


def _said_in_words(trial: Trial, value: Any) -> bool:
    """Say whether the request or a notification means a value: “tomorrow at 9:00”, “half an hour”.

    A moment needs both its day and its time.
    """
    texts = [(stage.at, stage.notification or "") for stage in trial.spec.stages]
    texts[0] = (texts[0][0], trial.spec.request.text)
    for at, text in texts:
        heard = surfaces.Heard.of(text, at)
        if not isinstance(value, str) or not is_instant(value):
            if heard.means(value) is not None:
                return True
            continue
        minute = int(value[11:13]) * 60 + int(value[14:16])
        if heard.means(value[:10]) is not None and minute in heard.minutes:
            return True
    return False


def desk_of(trial: Trial) -> Told:
    """Return what is said at the desk, and what attachments show to whoever looks at them."""
    spec = trial.spec
    told = Told(f"{passage.text} " for passage in passages(spec))
    told.add([f"{attached.sidecar} " for attached in spec.request.attachments])
    told.add(spec.clock.start)
    return told


def uses(number: int, step: Step, homes: Mapping[str, Any]) -> Iterator[Use]:
    """Yield the values that a step uses as they stand."""
    if step.tool is None:
        yield from _within(number, ("reply",), step.reply, homes, words=True)
        return
    yield from _within(number, ("each",), step.each, homes, words=False)
    known = tools().get(step.tool)
    if known is None:
        return
    for argument in arguments_of(step.tool):
        value = step.arguments.get(argument.name)
        item = argument.item if argument.kind == "list" and argument.item else argument
        path = ("arguments", argument.name)
        reads = known.facts.kind == "read"
        if item.kind == "choice" and not (reads or holds_binding(value)):
            continue
        words = argument.name in known.facts.text or (item.kind == "text" and not reads)
        wording = argument.name in known.facts.text and is_wording(value)
        if known.facts.writes and not wording and not holds_binding(value):
            continue  # plain values that are written: `reachable` looks at those
        if reads and item.kind in ("choice", "text"):
            if isinstance(value, str) and argument.name not in _MANNERS:
                yield Use(number, path, value, tells=True)
                continue
            words = True
        for use in _within(number, path, value, homes, words=words):
            if use.value not in item.choices:
                yield use


def _within(
    number: int,
    path: tuple[str | int, ...],
    value: Any,
    homes: Mapping[str, Any],
    *,
    words: bool,
    beside: str | None = None,
) -> Iterator[Use]:
    if isinstance(value, str):
        if words:
            for code in codes(value):
                yield Use(number, path, code, beside)
        elif value:
            yield Use(number, path, value, beside)
    elif isinstance(value, LEAVES):
        if isinstance(value, NUMBERS) and not isinstance(value, bool):
            yield Use(number, path, abs(value), beside)
    elif isinstance(value, OBJECTS):
        yield from _in_object(number, path, value, homes, words=words, beside=beside)
    elif isinstance(value, LISTS):
        for place, item in enumerate(value):
            yield from _within(number, (*path, place), item, homes, words=words, beside=beside)


def _in_object(
    number: int,
    path: tuple[str | int, ...],
    value: Mapping[str, Any],
    homes: Mapping[str, Any],
    *,
    words: bool,
    beside: str | None,
) -> Iterator[Use]:
    if not is_binding(value):
        for key, item in value.items():
            yield from _within(number, (*path, key), item, homes, words=words, beside=beside)
    elif "from" in value:
        where = value.get("where")
        for key, predicate in where.items() if isinstance(where, Mapping) else ():
            place = (*path, "where", key)
            for use in _operands(number, place, predicate, homes, value["from"]):
                if not isinstance(use.value, str) or use.value in homes:
                    yield use
                elif _NAMED.search(use.value):
                    yield use._replace(tells=True)
                # Any other word is a state, told by looking at the list.
    elif "fn" in value:
        name = str(value["fn"])
        for order, item in enumerate(value["args"]):
            if order in _STRUCTURE.get(name, ()):
                continue
            if name == "lookup" and order == 1 and isinstance(item, Mapping):
                item = list(item.values())
            inner = (*path, "args", order)
            yield from _within(number, inner, item, homes, words=False, beside=beside)
    else:
        for code in codes(_PLACE.sub(" ", str(value["text"]))):
            yield Use(number, (*path, "text"), code, beside)
        for key, item in value["with"].items():
            yield from _within(number, (*path, "with", key), item, homes, words=True, beside=beside)


def _operands(
    number: int,
    path: tuple[str | int, ...],
    predicate: Any,
    homes: Mapping[str, Any],
    source: str,
) -> Iterator[Use]:
    if isinstance(predicate, Mapping) and is_operators(predicate):
        for operator, operand in predicate.items():
            place = (*path, operator)
            yield from _within(number, place, operand, homes, words=False, beside=source)
    else:
        yield from _within(number, path, predicate, homes, words=False, beside=source)


def codes(text: str) -> list[Any]:
    """Return the codes and figures of a text; small counts, years and clock times are wording."""
    found: list[Any] = []
    for match in _CODE.findall(text):
        if match[0].isdigit():
            plain = match.replace(",", "")
            try:
                number = float(plain)
            except ValueError:
                continue
            if not (number.is_integer() and int(number) in _YEARS):
                found.append(number)
        else:
            found.append(match)
    return list(dict.fromkeys(found))


# --- add_read, say_in_policy ---------------------------------------------------------------------


def _reached(trial: Trial, item: Finding) -> Repair | None:
    """Return the spec in which a plain value that is written comes from somewhere."""
    parts = item.path.split("/")
    number, name = int(parts[2]), parts[-1]
    for value in literals(trial.spec.reference[number].arguments.get(name)):
        use = Use(number, ("arguments", name), value)
        for repair in (*_reads(trial, use), *_said(trial, use)):
            tried = tried_out(repair.written)
            if tried is None or not tried.reference.grade.passed or tried.program.problems:
                continue
            if item.message not in [left.message for left in reachable(tried)]:
                return repair
    return None


def made_known(trial: Trial, use: Use) -> Repair | None:
    """Return the spec in which a read shows a value before it is used, or a policy says it. None
    where it tells which record is meant: people have to say that.
    """
    if use.tells:
        return None
    for repair in (*_reads(trial, use), *_said(trial, use)):
        tried = tried_out(repair.written)
        if tried is None or not tried.reference.grade.passed or tried.program.problems:
            continue
        if not any(left.value == use.value for left in unsaid(tried)):
            return repair
    return None


def _reads(trial: Trial, use: Use) -> Iterator[Repair]:
    """Yield specs with a read more that shows a value."""
    step = trial.spec.reference[use.step]
    at = next((i for i, act in enumerate(trial.acts) if act.step == (step.id or "")), None)
    if at is None:
        return
    tables = trial.seed.ground.start
    tried = 0
    for name, tool in trial.seed.offered.items():
        if tool.facts.kind != "read":
            continue
        for arguments in likely(name, tables, most=6):
            tried += 1
            if tried > MOST_READS:
                return
            call = trial.tries(at, Act(name, arguments))
            if call is None or not call.ok or not Told((call.outcome,)).says(use.value):
                continue
            written = copy.deepcopy(trial.spec.written())
            new = {"id": _free_id(trial), "tool": name, "arguments": arguments}
            written["reference"].insert(use.step, new)
            yield Repair("add_read", f"look {use.value} up with {name} first", written)


def _free_id(trial: Trial) -> str:
    taken = {step.id for step in trial.spec.reference}
    return next(n for n in ("looked", *(f"looked_{i}" for i in range(2, 99))) if n not in taken)


def _said(trial: Trial, use: Use) -> Iterator[Repair]:
    """Yield the spec whose first policy says a value."""
    if not trial.spec.workplace.policies:
        return
    written = copy.deepcopy(trial.spec.written())
    policy = written["workplace"]["policies"][0]
    sentence = why_used(trial.spec.reference[use.step], use.path, use.value)
    policy["text"] = f"{policy['text'].rstrip()} {sentence}"
    yield Repair("say_in_policy", f"say in {policy['id']}: {sentence}", written)
