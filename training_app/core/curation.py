"""Curation: which episodes become demonstrations, and which tasks become prompts.

Rules are asked in the order of `RULES`; what a rule drops is counted under the first that does,
and beside it stands what each rule would drop alone. `duplicates` comes last and compares what is
left, so that a good episode never falls for a bad one with the same calls.

Invariants:
- The same facts and settings give the same verdicts, whatever the order of dictionaries.
- Dropped by hand always drops. Kept by hand overrides the rules that are matters of taste (passed,
  length, errors, duplicates …): a person may know that a check was too strict. It never overrides
  a hard rule: what was not graded, broke a constraint, or belongs to an evaluation is learnt from
  by nobody.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, NamedTuple

import orjson

from rollouts_app.core.trajectory import RecordedTurn, Trajectory
from studio.lib.hashing import bytes_hash, canonical_json
from tasks_app.core.validation.splits import moved

Errors = Literal["recovered", "none", "any"]
Duplicates = Literal["shortest", "first", "all"]
ERRORS: Final[Mapping[str, str]] = {
    "recovered": "keep an episode whose errors were recovered from",
    "none": "drop every episode with an error",
    "any": "keep whatever went wrong on the way",
}
DUPLICATES: Final[Mapping[str, str]] = {
    "shortest": "keep the shortest of those with the same calls",
    "first": "keep the first of those with the same calls",
    "all": "keep them all",
}
LARGEST: Final = 1_000_000
UNUSABLE_STATES: Final = frozenset({"rejected", "invalid", "retired"})


class RulesError(ValueError):
    """A rule that does not exist, or a setting it cannot have."""

    def __init__(self, place: str, message: str, hint: str = "") -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings of curation."""

    passed: bool = True
    """Only episodes that passed."""
    finished: bool = True
    """Only episodes that ended by themselves, not at a limit."""
    usable_tasks: bool = True
    """Not those of tasks that were rejected, found invalid, or retired."""
    turns: int | None = None
    """At most so many; None: any length."""
    tokens: int | None = None
    """At most so many written by the policy; episodes whose tokens nobody counted stay."""
    errors: Errors = "recovered"
    duplicates: Duplicates = "shortest"
    quote: bool = False
    """Not a rule: whether turns that decide first say what they found, for very small models."""

    def written(self) -> dict[str, Any]:
        """The settings as JSON."""
        return asdict(self)


def read_rules(written: Mapping[str, Any]) -> Rules:
    """Read settings; what is missing has its default. Raises RulesError that names the rule."""
    known = {field.name: field for field in fields(Rules)}
    settings: dict[str, Any] = {}
    for name, value in written.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"Did you mean “{near[0]}”? " if near else ""
            raise RulesError(
                str(name)[:40], "there is no such rule", f"{hint}Rules: {', '.join(known)}."
            )
        settings[name] = _setting(name, value)
    return Rules(**settings)


def _setting(name: str, value: Any) -> Any:
    choices = {"errors": ERRORS, "duplicates": DUPLICATES}.get(name)
    if choices is not None:
        if not isinstance(value, str) or value not in choices:
            raise RulesError(
                name, f"“{value!s:.40}” is no choice", f"Choices: {', '.join(choices)}."
            )
        return value
    if name in ("turns", "tokens"):
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
            raise RulesError(name, f"must be a whole number from 1 to {LARGEST:,}, or nothing")
        return value
    if not isinstance(value, bool):
        raise RulesError(name, "must be true or false")
    return value


# Facts


class EpisodeFacts(NamedTuple):
    """What curation knows of an episode."""

    id: int
    spec_hash: str
    """Of the version it was played on."""
    graded: bool
    passed: bool
    violations: int
    by_hand: Literal["open", "kept", "dropped"]
    finished: bool
    """Whether it ended by itself."""
    turns: int
    tokens: int | None
    errors: int
    unrecovered: int
    """Errors after which no call worked any more."""
    signature: str
    """The same for the same calls; see `call_signature`."""
    task_state: str
    split: str
    """What the task may be used for; see `tasks_app.enums.Split`."""


class CallFacts(NamedTuple):
    """What only the trajectory tells."""

    signature: str
    unrecovered: int


def call_facts(trajectory: Trajectory) -> CallFacts:
    """Read the calls of a trajectory; damaged turns count as what their bytes are."""
    digest: list[str] = []
    trailing = 0
    for turn in trajectory.turns:
        if not isinstance(turn, RecordedTurn):
            digest.append(bytes_hash(turn.raw))
            continue
        for call in turn.calls:
            digest.append(f"{call.name} {_normal(call.arguments)}")
            trailing = trailing + 1 if call.error is not None else 0
    return CallFacts(bytes_hash("\n".join(digest).encode()), trailing)


def _normal(arguments: bytes) -> str:
    """Arguments whatever their spacing and order; what is no JSON as it was written."""
    try:
        return canonical_json(orjson.loads(arguments)).decode()
    except ValueError:
        return repr(arguments)


# Rules


class Rule(NamedTuple):
    """One rule."""

    name: str
    reason: str
    """Why it drops: “a constraint was broken”."""
    hard: bool
    """Whether kept by hand does not override it."""
    drops: Callable[[EpisodeFacts, Rules], bool]


def _not_recovered(facts: EpisodeFacts, rules: Rules) -> bool:
    if rules.errors == "any":
        return False
    return facts.unrecovered > 0 if rules.errors == "recovered" else facts.errors > 0


DUPLICATE: Final = "duplicates"
RULES: Final[tuple[Rule, ...]] = (
    Rule("dropped_by_hand", "a person dropped it", True, lambda f, _: f.by_hand == "dropped"),
    Rule("not_graded", "it was never graded", True, lambda f, _: not f.graded),
    Rule(
        "evaluation_only",
        "its task is for evaluation alone",
        True,
        lambda f, _: f.split == "evaluation",
    ),
    Rule("violation", "a constraint was broken", True, lambda f, _: f.violations > 0),
    Rule("passed", "it did not pass", False, lambda f, r: r.passed and not f.passed),
    Rule(
        "finished",
        "it ended at a limit, not by itself",
        False,
        lambda f, r: r.finished and not f.finished,
    ),
    Rule(
        "usable_tasks",
        "its task was rejected, found invalid, or retired",
        False,
        lambda f, r: r.usable_tasks and f.task_state in UNUSABLE_STATES,
    ),
    Rule(
        "turns",
        "it has too many turns",
        False,
        lambda f, r: r.turns is not None and f.turns > r.turns,
    ),
    Rule(
        "tokens",
        "it has too many tokens",
        False,
        lambda f, r: r.tokens is not None and f.tokens is not None and f.tokens > r.tokens,
    ),
    Rule("errors", "an error was not recovered from", False, _not_recovered),
)
REASONS: Final[Mapping[str, str]] = {
    **{rule.name: rule.reason for rule in RULES},
    DUPLICATE: "another one of the same task makes the same calls",
    "held_instances": "held-out names, while whole families are held back here",
    "unreplayable": "its recording is damaged, or does not come out as it was recorded",
    "E1": "it fails the lint of demonstrations",
    "state": "the task is neither approved nor proven",
    "not_for_rl": "a trainer's loop cannot play the task",
    "E2": "it fails the lint of prompts",
    "weight": "left out by the weight of its file",
}
"""Everything a row can be dropped for, in words."""


class Judgement(NamedTuple):
    """What curation decided."""

    kept: tuple[int, ...]
    """Ids, in the order of the facts."""
    dropped: Mapping[str, int]
    """Rule → how many it was the first to drop; rules that dropped none are not in it."""
    alone: Mapping[str, int]
    """Rule → how many it would drop if it were the only one."""
    reasons: Mapping[int, str]
    """Id → the rule that dropped it."""


def judge(facts: Sequence[EpisodeFacts], rules: Rules) -> Judgement:
    """Ask all rules about all episodes."""
    reasons: dict[int, str] = {}
    alone = dict.fromkeys((*(rule.name for rule in RULES), DUPLICATE), 0)
    for one in facts:
        for rule in RULES:
            if not _drops(rule, one, rules):
                continue
            alone[rule.name] += 1
            reasons.setdefault(one.id, rule.name)
    left = [one for one in facts if one.id not in reasons]
    for goner in _duplicates(left, rules):
        reasons[goner] = DUPLICATE
    alone[DUPLICATE] = sum(1 for _ in _duplicates(facts, rules))
    dropped = _counted(reasons, (*(rule.name for rule in RULES), DUPLICATE))
    kept = tuple(one.id for one in facts if one.id not in reasons)
    return Judgement(kept, dropped, {name: n for name, n in alone.items() if n}, reasons)


def _drops(rule: Rule, facts: EpisodeFacts, rules: Rules) -> bool:
    if facts.by_hand == "kept" and not rule.hard:
        return False
    return rule.drops(facts, rules)


def _duplicates(facts: Iterable[EpisodeFacts], rules: Rules) -> Iterable[int]:
    """Ids of those that another one makes superfluous; kept by hand stays, and is preferred."""
    if rules.duplicates == "all":
        return
    alike: dict[tuple[str, str], list[tuple[int, EpisodeFacts]]] = {}
    for place, one in enumerate(facts):
        alike.setdefault((one.spec_hash, one.signature), []).append((place, one))
    for group in alike.values():
        best = min(group, key=lambda pair: _rank(pair[0], pair[1], rules))
        for pair in group:
            if pair is not best and pair[1].by_hand != "kept":
                yield pair[1].id


def _rank(place: int, facts: EpisodeFacts, rules: Rules) -> tuple[int, ...]:
    by_hand = 0 if facts.by_hand == "kept" else 1
    if rules.duplicates == "first":
        return (by_hand, place)
    return (by_hand, facts.turns, facts.tokens or 0, place)


def _counted(reasons: Mapping[int, str], order: Iterable[str]) -> dict[str, int]:
    counts = dict.fromkeys(order, 0)
    for rule in reasons.values():
        counts[rule] += 1
    return {rule: n for rule, n in counts.items() if n}


# Tasks


class TaskFacts(NamedTuple):
    """What curation knows of a task."""

    id: int
    spec_hash: str
    state: str
    proven: bool
    """Whether a green proof exists for exactly its content."""
    split: str


TASK_RULES: Final = ("evaluation_only", "state", DUPLICATE)


def judge_tasks(facts: Sequence[TaskFacts]) -> Judgement:
    """Which tasks become prompts: approved or proven ones, each content once."""
    reasons: dict[int, str] = {}
    alone = dict.fromkeys(TASK_RULES, 0)
    seen: set[str] = set()
    known: set[str] = set()
    for one in facts:
        found = []
        if one.split == "evaluation":
            found.append("evaluation_only")
        if not (one.state == "approved" or (one.state == "proven" and one.proven)):
            found.append("state")
        if one.spec_hash in known:
            alone[DUPLICATE] += 1
        known.add(one.spec_hash)
        for rule in found:
            alone[rule] += 1
        if not found and one.spec_hash in seen:
            found.append(DUPLICATE)
        if found:
            reasons[one.id] = found[0]
        else:
            seen.add(one.spec_hash)
    kept = tuple(one.id for one in facts if one.id not in reasons)
    return Judgement(
        kept, _counted(reasons, TASK_RULES), {k: n for k, n in alone.items() if n}, reasons
    )


# Portions


class Side(NamedTuple):
    """What decides whether rows of a task may be trained on."""

    id: int
    """Of the task."""
    family: str
    fingerprint: str
    """Of its structure; empty where it was never proven."""
    split: str
    identity: frozenset[str] = frozenset()
    """Names, ids and values that it is about."""


HELD_INSTANCES: Final = "held_instances"


def portions(
    tasks: Iterable[Side], held_families: Iterable[str]
) -> dict[int, Literal["train", "held_out", "neither"]]:
    """Return where rows of each task belong (gate V4).

    Without held families: what the split column holds back is held out, and with it every task
    that hangs together with one by a name, id or value; the rest is trained on. With them, their
    tasks are held out, and with them every task of the same structural fingerprint; held-out
    instances of the other families are then neither trained on nor measured.
    """
    held = frozenset(held_families)
    sides = list(tasks)
    structures = {side.fingerprint for side in sides if side.family in held} - {""}
    found: dict[int, Literal["train", "held_out", "neither"]] = {}
    back = {side.id for side in sides if side.split != "train"}
    whole, _ = moved({side.id: side.identity for side in sides}, back)
    for side in sides:
        if not held:
            found[side.id] = "held_out" if side.id in whole else "train"
        elif side.family in held or side.fingerprint in structures:
            found[side.id] = "held_out"
        else:
            found[side.id] = "train" if side.split == "train" else "neither"
    return found
