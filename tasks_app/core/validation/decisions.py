"""Witnesses of deciding: computing from records (C4), a whole set (C6), a rule that decides (C7),
saying no with a reason (C13), the right owner (C14), the clock (C20).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import orjson

from tasks_app.core.instants import is_date, is_instant, parse_instant
from tasks_app.core.predicates import contains_number, contains_piece, fold
from tasks_app.core.program import Act, is_binding, run_program
from tasks_app.core.records import diff
from tasks_app.core.results import FULL
from tasks_app.core.samples import arguments_of, holders, likely
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import Step
from tasks_app.core.validation import origins, surfaces
from tasks_app.core.validation.altered_ends import perturbed, with_field
from tasks_app.core.validation.trace import (
    Held,
    Shown,
    argument_of,
    asked,
    bindings,
    ends_otherwise,
    is_choice,
    is_number,
    leaves,
    listings,
    positions_of_writes,
    says,
    scope_of,
    texts_of,
    writes,
)
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import LISTS, OBJECTS, Change
from tasks_app.core.world.world import Seed, World

# --- C4 ------------------------------------------------------------------------------------------


def compute(shown: Shown) -> Held:
    """C4: an argument is a function of two records or more and stands in none of them."""
    trial = shown.trial
    homes = holders(trial.reference.evidence.tables())
    scope = scope_of(trial)
    steps = {step.id: step for step in trial.spec.reference}
    for position in positions_of_writes(trial):
        step = steps.get(trial.acts[position].step)
        if step is None or step.tool is None:
            continue
        for name, written in step.arguments.items():
            if name in texts_of(step.tool):
                continue
            made = [b for b in bindings([written]) if "fn" in b]
            behind = origins.records_behind(made, _within(step, trial, scope), homes)
            for leaf in leaves(trial.acts[position].arguments.get(name)):
                if not _is_figure(leaf) or is_choice(step.tool, name, leaf):
                    continue
                sources = sorted(behind | _rules_behind(trial, made))
                if not made:
                    sources = list(_pair(trial, position, leaf, written) or ())
                if len(sources) > 1 and not _stands(trial, position, leaf):
                    return Held(
                        True, f"{step.tool}.{name} = {leaf} is made of {', '.join(sources[:3])}"
                    )
    return Held(False, "no written figure is made of two records")


def _rules_behind(trial: Trial, made: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the rule documents that state a number of the reckoning: they are read as well."""
    plain = [a for b in made for a in leaves(_literals(b.get("args"))) if is_number(a) and a]
    return {
        f"rule {document.id}"
        for document in trial.spec.workplace.policies
        if any(contains_number(fold(document.text), abs(float(n))) for n in plain)
    }


def _literals(value: Any) -> Any:
    if isinstance(value, LISTS):
        return [_literals(item) for item in value if not is_binding(item)]
    return value if not isinstance(value, OBJECTS) else list(value.values())


def _within(step: Step, trial: Trial, scope: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the scope of a step's arguments: what it runs over counts as the item."""
    if step.each is None or not is_binding(step.each) or "from" not in step.each:
        return scope
    return {**scope, "item": scope.get(step.each["from"])}


def _is_figure(value: Any) -> bool:
    return is_number(value) or (isinstance(value, str) and (is_date(value) or is_instant(value)))


def _pair(trial: Trial, position: int, leaf: Any, written: Any) -> tuple[str, str] | None:
    """Return two records that give a literal figure; None for what a binding takes as it is."""
    if not is_number(leaf) or any(True for _ in bindings([written])):
        return None
    read: list[tuple[str, Any]] = []
    for earlier in range(position):
        if trial.acts[earlier].tool is None:
            continue
        outcome = trial.call(earlier).outcome
        rows = [row for _, found in listings(outcome) for row in found]
        read += [
            (str(row.get("id", row.get("sku", earlier))), row)
            for row in rows or [outcome]
            if isinstance(row, Mapping)
        ]
    return origins.reckoned(float(leaf), list({key: (key, row) for key, row in read}.values()))


def _stands(trial: Trial, position: int, leaf: Any) -> bool:
    """Say whether a figure stands in a record as it was before the write."""
    tables = trial.call(position).before
    held = [leaf for rows in tables.values() for row in rows.values() for leaf in leaves(row)]
    if not is_number(leaf):
        return any(type(value) is str and value == leaf for value in held)
    if any(type(value) is not str and abs(value - leaf) < 0.005 for value in held):
        return True
    texts = "\n".join([value for value in held if type(value) is str and not value.isalpha()])
    return contains_number(texts, float(leaf))


# --- C6 ------------------------------------------------------------------------------------------

BULK: Final = 3


def bulk(shown: Shown) -> Held:
    """C6: three writes of one tool or more over a filtered set; the filter leaves one out."""
    trial = shown.trial
    by_tool: dict[str, list[Any]] = {}
    for call in writes(trial):
        by_tool.setdefault(call.tool, []).append(call)
    best = "no tool writes three times"
    for tool, calls in by_tool.items():
        if len(calls) < BULK:
            continue
        tables = calls[0].before
        homes = holders(tables)
        names = {name for call in calls for name in call.arguments}
        for name in sorted(names):
            chosen = {
                leaf
                for call in calls
                for leaf in leaves(call.arguments.get(name))
                if isinstance(leaf, str) and leaf in homes
            }
            if len(chosen) < BULK:
                continue
            place = homes[min(chosen)][0]
            left = [i for i in tables[place] if i not in chosen]
            if left:
                return Held(True, f"{len(calls)} × {tool}; {len(left)} of {place} are left out")
            best = f"{len(calls)} × {tool}, but nothing of {place} is left out"
    return Held(False, best)


# --- C7 ------------------------------------------------------------------------------------------

_GENERIC: Final = frozenset(
    {"create", "update", "add", "set", "submit", "make", "write", "get", "list", "search", "send"}
)
_MOST_FLIPS: Final = 8


def follow_rule(shown: Shown) -> Held:
    """C7: with a rule deleted or turned round, the reference ends in other records."""
    trial = shown.trial
    rule = fold("\n".join(document.text for document in trial.spec.workplace.policies))
    if not rule:
        return Held(False, "there is no policy document")
    for number, (words, position, step) in enumerate(_turned(trial, rule)):
        if number >= _MOST_FLIPS:
            break
        own = trial.spec.reference
        steps = [*own[:position], step, *own[position + 1 :]]
        play = trial.run_from_step(f"C7:{position}", steps, position)
        if not play.grade.passed and ends_otherwise(trial, play):
            return Held(True, f"{words}, the reference ends in other records")
    return _other_act(trial, rule)


def _turned(trial: Trial, rule: str) -> Iterator[tuple[str, int, Step]]:
    """Yield steps with what a rule says turned round: a limit, a condition, a word."""
    said = asked(trial.spec)
    for position, step in enumerate(trial.spec.reference):
        if step.tool is None:
            continue
        for name, value in step.arguments.items():
            if isinstance(value, str) and is_choice(step.tool, name, value):
                spelled = {fold(value), fold(value).replace("_", " ")}
                in_rule = any(contains_piece(rule, s) for s in spelled)
                if in_rule and not any(contains_piece(said, s) for s in spelled):
                    argument = argument_of(step.tool, name)
                    choices = argument.choices if argument is not None else ()
                    for other in (c for c in choices if c != value):
                        changed = {**step.arguments, name: other}
                        yield (
                            f"with {other} in place of the rule’s {value}",
                            position,
                            step.model_copy(update={"arguments": changed}),
                        )
                        break
        for old, new in _limits([step.arguments, step.each], rule):
            arguments = _put(step.arguments, old, new)
            each = _put(step.each, old, new)
            yield (
                f"with {new} in place of the rule’s {old}",
                position,
                step.model_copy(update={"arguments": arguments, "each": each}),
            )


def _limits(value: Any, rule: str) -> Iterator[tuple[Any, Any]]:
    """Yield what the bindings of a step compare with or count, where a rule says it, turned."""
    seen: list[Any] = []
    for binding in bindings(value):
        operands = binding.get("where") if "from" in binding else binding.get("args")
        for leaf in leaves(operands):
            if leaf in seen:
                continue
            seen.append(leaf)
            if is_number(leaf) and leaf and contains_number(rule, abs(float(leaf))):
                yield leaf, leaf * 1000 + 1
                yield leaf, 0
            elif isinstance(leaf, str) and len(leaf) > 2 and "from" in binding:
                spelled = fold(leaf).replace("_", " ")
                if contains_piece(rule, spelled) or contains_piece(rule, fold(leaf)):
                    yield leaf, f"not {leaf}"


def _put(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, OBJECTS):
        return {k: _put(v, old, new) for k, v in value.items()}
    if isinstance(value, LISTS):
        return [_put(v, old, new) for v in value]
    return new if type(value) is type(old) and value == old else value


def _other_act(trial: Trial, rule: str) -> Held:
    """Look for two acts that the rules name both: the other one in place of the reference's."""
    acts = trial.acts
    for position in positions_of_writes(trial):
        act = acts[position]
        tool = act.tool or ""
        if not _speaks_of(rule, tool):
            continue
        tables = trial.call(position).before
        for other in trial.seed.offered:
            if other == tool or not tools()[other].facts.writes or not _speaks_of(rule, other):
                continue
            shared = {a.name for a in arguments_of(other)} - {*texts_of(other)}
            named = {k: v for k, v in act.arguments.items() if k in shared}
            same_matter = any(name.endswith("_id") for name in named)
            if not same_matter and tools()[other].facts.service != tools()[tool].facts.service:
                continue
            for arguments in likely(other, tables, named, most=6):
                changed = [Act(other, arguments), *acts[position + 1 :]]
                play = trial.run(f"C7:{other}", changed, position)
                done = play.calls[trial.call_of[position]]
                if done.ok and done.changes and not play.grade.passed:
                    return Held(True, f"turned round, the rule asks for {other} in place of {tool}")
    return Held(False, "no rule was found that decides the final records")


def _speaks_of(rule: str, tool: str) -> bool:
    words = [w for w in tool.split("_")[1:] if w not in _GENERIC]
    return any(re.search(rf"\b{re.escape(stem)}", rule) for w in words for stem in _stems(w))


def _stems(word: str) -> tuple[str, ...]:
    return (word[: max(4, len(word) - 2)], *_MEANT.get(word, ()))


_MEANT: Final[Mapping[str, tuple[str, ...]]] = {
    "reship": ("replace", "send", "sent", "new parcel", "ersatz"),
    "refund": ("erstatt", "pay back"),
    "hold": ("held", "zurückhalt"),
    "escalate": ("hand over", "weitergeb"),
    "assign": ("give", "zuweis"),
    "cancel": ("absag", "storn"),
    "move": ("verschieb", "reschedul"),
    "close": ("schließ", "settled"),
}
"""Word of a tool's name → how rules say it too."""


# --- C13 -----------------------------------------------------------------------------------------

_REFUSALS: Final = ("decline", "refuse", "reject", "deny", "escalate", "hold", "report")
_REASONS: Final = ("reason", "resolution", "note", "comment", "body", "text", "verdict")


def abstain(shown: Shown) -> Held:
    """C13: nothing is changed, or a refusal is put on record, and a reason is asked for."""
    trial = shown.trial
    for call in writes(trial):
        tells = _tells(trial, call.tool, call.arguments) and all(
            change.before is None for change in call.changes
        )
        if not tells and not any(word in call.tool.split("_") for word in _REFUSALS):
            return Held(False, f"{call.tool} does more than refuse")
    wanted = _reason(shown)
    if wanted is None:
        return Held(False, "no check asks for a reason")
    made = len(writes(trial))
    return Held(True, f"{made or 'no'} record{'s' * (made != 1)} of refusal; {wanted}")


def _tells(trial: Trial, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Say whether a write only says something, on a record or to whoever asked: no day, sum or
    list is settled by it, and nobody else is put to work.
    """
    if not says_only(tool, arguments):
        return False
    asker = trial.spec.workplace.requester
    own = {fold(asker.mailbox), fold(asker.name)}
    people = trial.seed.ground.start.get("contacts/people", {})
    for name in tools()[tool].facts.recipients:
        for reader in leaves(arguments.get(name)):
            row: Mapping[str, Any] = people.get(str(reader), {})
            if own.isdisjoint({fold(str(v)) for v in (reader, row.get("email"), row.get("name"))}):
                return False
    return True


def says_only(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Say whether a call carries a text, and beside it only what it is about and who reads it."""
    facts = tools()[tool].facts
    spoken = {*facts.text, *facts.recipients}
    kinds = {a.name: a.kind for a in arguments_of(tool)}
    return bool(facts.text) and all(
        name in spoken or kinds.get(name) in ("id", "choice", "boolean") for name in arguments
    )


def _reason(shown: Shown) -> str | None:
    """Return the check that loses where the reason is left out."""
    for mutant, result in shown.judged:
        if mutant.operator == "omit_item" and result.verdict == "killed":
            return f"without its words it loses ({result.title})"
    for check in shown.trial.spec.checks:
        expected = getattr(check, "expect", None)
        if isinstance(expected, Mapping):
            named = [f for f in expected if any(word in f for word in _REASONS)]
            if named:
                return f"check {check.id} expects {named[0]}"
    return None


# --- C14 -----------------------------------------------------------------------------------------

_OWNERS: Final = frozenset(
    {"queue", "owner", "owner_id", "assignee", "assignee_id", "assigned_to", "handler", "on_call"}
)


def hand_off(shown: Shown) -> Held:
    """C14: a record ends with the right owner, and says or is told what it is about."""
    trial = shown.trial
    evidence = trial.reference.evidence
    last = evidence.stages[-1]
    for change in diff(trial.seed.ground.start, last.closed):
        after = change.after
        if after is None:
            continue
        for name in sorted(_OWNERS & set(change.fields())):
            wrong = perturbed(after.get(name))
            if not after.get(name) or wrong is None:
                continue
            altered = with_field(evidence, change.collection, change.id, name, wrong)
            if trial.judged("C14:owner", altered).total < FULL and _referred(trial, change):
                return Held(True, f"{change.address} ends with {after[name]}")
    return _told_inside(shown)


def _referred(trial: Trial, change: Change) -> bool:
    """Say whether a hand-over carries its reference: a field of its own, or a word to somebody."""
    after = change.after
    if after is not None and after.get("reference"):
        return True
    spoken = [act.reply for act in trial.acts if act.tool is None]
    for call in writes(trial):
        spoken += [str(call.arguments.get(name, "")) for name in texts_of(call.tool)]
    return any(contains_piece(fold(text), change.id) for text in spoken)


def _told_inside(shown: Shown) -> Held:
    """Look for a message to a colleague that loses where its reader or its matter is wrong."""
    trial = shown.trial
    house = trial.spec.workplace.coworker.mailbox.rpartition("@")[2].casefold()
    lost = {
        (mutant.at, mutant.operator)
        for mutant, result in shown.judged
        if result.verdict == "killed"
    }
    for position in positions_of_writes(trial):
        act = trial.acts[position]
        facts = tools()[act.tool or ""].facts
        if not says_only(act.tool or "", act.arguments):
            continue  # an invitation asks for time, and hands nothing over
        readers = [v for name in facts.recipients for v in leaves(act.arguments.get(name))]
        inside = readers and all(
            "@" not in str(r) or str(r).rpartition("@")[2].casefold() == house for r in readers
        )
        wrong = {(position, "wrong_recipient"), (position, "wrong_record")} & lost
        if inside and wrong and (position, "omit_item") in lost:
            return Held(True, f"{act.tool} to {readers[0]}; another reader or matter loses")
    return Held(False, "no record ends with an owner that a check asks for")


# --- C20 -----------------------------------------------------------------------------------------

_SHIFTS: Final = (7, -7, 1, -1, 30, -30, 365, -365)
"""Days by which the clock is moved."""


class _OtherDay(World):
    """A world whose clock is some days off."""

    __slots__ = ("_days",)

    def __init__(self, seed: Seed, days: int):
        self._days = days
        super().__init__(seed)
        self.now = _moved(self.now, days)

    def _set_clock(self) -> None:
        now = _moved(self.seed.spec.stages[self.context.stage].at, self._days)
        if now != self.now:
            self.now = now
            for service in self._services.values():
                service.now = now


def _moved(at: str, days: int) -> str:
    moment = parse_instant(at)
    if moment is None:
        return at
    return (moment + timedelta(days=days)).isoformat()


def reckon_time(shown: Shown) -> Held:
    """C20: with the clock on another day the reference does something else."""
    trial = shown.trial
    own = [(act.tool, _plain(act.arguments)) for act in trial.acts if act.tool is not None]
    for days in _SHIFTS:
        run = run_program(_OtherDay(trial.seed, days), trial.spec.reference)
        other = [(act.tool, _plain(act.arguments)) for act in run.acts if act.tool is not None]
        if other != own:
            what = next(
                (a for a, b in zip(own, other, strict=False) if a != b),
                own[min(len(own), len(other)) - 1],
            )
            words = f"with the clock {days:+d} days {what[0]} is called otherwise"
            return Held(True, words)
    return _said_in_days(trial)


def _plain(arguments: Mapping[str, Any]) -> bytes:
    return orjson.dumps(arguments, default=str, option=orjson.OPT_SORT_KEYS)


def _said_in_days(trial: Trial) -> Held:
    """Look for a date that a reference without bindings takes from words such as “Friday”."""
    spec = trial.spec
    texts = [(spec.stages[0].at, spec.request.text)]
    texts += [(stage.at, stage.notification) for stage in spec.timeline if stage.notification]
    plain = asked(spec)
    for position in positions_of_writes(trial):
        for leaf in leaves(trial.acts[position].arguments):
            if not isinstance(leaf, str) or not (is_date(leaf) or is_instant(leaf)):
                continue
            if says(plain, leaf[:10]) or _read_before(trial, position, leaf[:10]):
                continue
            for at, text in texts:
                said = surfaces.Heard.of(text, at).means(leaf[:10])
                later = surfaces.Heard.of(text, _moved(at, 1)).means(leaf[:10])
                if said is not None and later is None:
                    return Held(True, f"“{said}” is {leaf[:10]} on this day alone")
    return Held(False, "with the clock on another day the reference does the same")


def _read_before(trial: Trial, position: int, day: str) -> bool:
    seen: Sequence[Any] = [
        trial.call(earlier).observation
        for earlier in range(position)
        if trial.acts[earlier].tool is not None
    ]
    return any(day.encode() in observation for observation in seen)
