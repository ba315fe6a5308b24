"""Grades the many runs of one proof: the same results as grading, without judging the same twice.

Runs of a proof share most of what they leave behind. A check or constraint whose tables, reply and
calls were judged before has the same result. Tables are told by the digests of their records, calls
by what was said and what came of it; so the number of a call that a result cites may be that of the
run in which it was judged first. The profiles of other benchmarks are left out: no gate reads them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import Call
from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.call_order import CallOrder
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.tool_called import ToolCalled
from tasks_app.core.checks.unchanged import Unchanged
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.constraints.no_disclosure import NoDisclosure
from tasks_app.core.constraints.only_when import OnlyWhen
from tasks_app.core.constraints.require_before import RequireBefore
from tasks_app.core.evidence import Evidence, EvidenceError, StageEvidence
from tasks_app.core.grading.grade import grade, judge_check, judge_constraint, sum_up
from tasks_app.core.patterns import CallPattern
from tasks_app.core.results import FULL, CheckResult, ConstraintResult, Grade
from tasks_app.core.services.catalog import collections
from tasks_app.core.values import Record
from tasks_app.core.world.world import Seed

Table = Mapping[str, Record]
Key = tuple[Any, ...]
Results = dict[str, CheckResult]
_NO_ROWS: Final[Table] = {}
_READERS: Final = "contacts/people"
"""Where no_disclosure looks up whom a recipient's id means."""
_LARGEST: Final = 400
"""Records of a table from which on its digests are not summed."""


class Grader:
    """Grades evidence of one spec."""

    def __init__(self, seed: Seed):
        spec = seed.spec
        self.spec = spec
        self._contents = _Contents()
        self._calls = _Calls(spec.constraints, seed, self._contents)
        self._ids = [check.id for check in spec.checks]
        self._paying = [check.id for check in spec.checks if check.pays]
        self._order = _order(spec.checks)
        of_records, others = _parted(self._order or ())
        self._of_records = [self._asked(check) for check in of_records]
        self._others = [self._asked(check) for check in others]
        self._ends: dict[Key, tuple[tuple[StageEvidence, ...], Results]] = {}
        """Results of the checks that read records alone, by the very tables at the ends of the
        stages: worlds that end alike share them."""
        self._grades: dict[Key, Grade] = {}
        """Grades by the very results they sum up; those are kept by the grade."""
        self._sums: dict[Key, Grade] = {}
        """A grade by its scores and broken rules: its figures follow from them."""

    def grade(self, evidence: Evidence) -> Grade:
        """Grade one episode."""
        if self._order is None:
            return grade(self.spec.checks, self.spec.constraints, evidence)
        broken = self._calls.verdicts(evidence)
        of_records = self._of_ends(evidence)
        if not self._others:
            return self._summed((id(broken), id(of_records)), of_records, broken)
        results = of_records.copy()
        key = [id(broken), id(of_records)]
        for asked in self._others:
            found = results[asked.id] = _result(asked, evidence, results)
            key.append(id(found))
        return self._summed(tuple(key), results, broken)

    def _summed(self, key: Key, results: Results, broken: tuple[ConstraintResult, ...]) -> Grade:
        found = self._grades.get(key)
        if found is None:
            ordered = tuple([results[name] for name in self._ids])
            paying = [results[name] for name in self._paying]
            sums = tuple([r.score for r in paying]), tuple([c.broken for c in broken])
            alike = self._sums.get(sums)
            if alike is None:
                found = self._sums[sums] = sum_up(ordered, paying, broken)
            else:
                found = Grade(
                    ordered,
                    broken,
                    alike.components,
                    alike.contributions,
                    alike.total,
                    alike.passed,
                    alike.gated,
                )
            self._grades[key] = found
        return found

    def _of_ends(self, evidence: Evidence) -> Results:
        key = tuple([id(stage.closed) for stage in evidence.stages])
        met = self._ends.get(key)
        if met is None:
            results: Results = {}
            for asked in self._of_records:
                results[asked.id] = _result(asked, evidence, results)
            met = self._ends[key] = (evidence.stages, results)
        return met[1]

    def _asked(self, check: BaseCheck) -> "_Asked":
        unmet = tuple([(name, _unmet(check, name)) for name in check.requires])
        return _Asked(check.id, check, unmet, _key_of(check, self._contents, self._calls), {})


class _Asked(NamedTuple):
    """A check as the grader asks it."""

    id: str
    check: BaseCheck
    unmet: tuple[tuple[str, CheckResult], ...]
    """What it requires, with its own result where that does not hold."""
    key: Callable[[Evidence], Key] | None
    """From evidence to what it reads of it."""
    known: dict[Key, CheckResult]


def _result(asked: _Asked, evidence: Evidence, results: Results) -> CheckResult:
    for name, unmet in asked.unmet:
        required = results.get(name)
        if required is None or required.score is None or required.score < FULL:
            return unmet
    if asked.key is None:
        return judge_check(asked.check, evidence)
    try:
        key = asked.key(evidence)
    except EvidenceError:
        return judge_check(asked.check, evidence)
    found = asked.known.get(key)
    if found is None:
        found = asked.known[key] = judge_check(asked.check, evidence)
    return found


class _Contents:
    """Numbers that tell the content of tables; equal for equal records."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[Table, int]] = {}
        self._unstable = frozenset(p for p, facts in collections().items() if facts.unstable)

    def of(self, place: str, table: Table) -> int:
        """Return the number of a table."""
        found = self._tables.get(id(table))
        if found is not None:  # the table is kept beside its number, so its address stays its own
            return found[1]
        number = id(table)
        if len(table) <= _LARGEST and place not in self._unstable:
            number = sum([row.digest for row in table.values()])
        self._tables[id(table)] = (table, number)
        return number


class _Calls:
    """Judges the constraints, which look at calls: each call is told by a number.

    Equal numbers mean that no rule could tell the calls apart, their position aside: the same was
    said, the same came of it, and what rules read of the records before it was the same. 0 is a
    call that no rule judges.
    """

    def __init__(self, constraints: Sequence[BaseConstraint], seed: Seed, contents: "_Contents"):
        self._contents = contents
        self._rules = [_Rule(rule, _tools_of(rule, seed), {}) for rule in constraints]
        self._places: dict[str, list[str]] = {}
        """Tool → the collections that rules read as they were before its calls."""
        for rule in self._rules:
            place = _reads_before(rule.rule)
            for tool in rule.tools:
                self._places.setdefault(tool, []).extend(() if place is None else (place,))
        self._number_of: dict[int, tuple[Call, int]] = {}
        self._numbers: dict[Key, int] = {}
        self._asked: tuple[Sequence[Call], Key] = ((), ())
        """The calls that were asked for last, and their numbers: each judge asks for the same."""
        self._tools = [""]
        """Number → the tool that was called."""
        self._verdicts: dict[Key, tuple[ConstraintResult, ...]] = {}

    def also(self, tools: frozenset[str]) -> None:
        """Tell calls of these tools apart as well."""
        for tool in tools:
            self._places.setdefault(tool, [])

    def verdicts(self, evidence: Evidence) -> tuple[ConstraintResult, ...]:
        """Return the results of all constraints."""
        if not self._rules:
            return ()
        numbers = self.numbers(evidence.calls)
        found = self._verdicts.get(numbers)
        if found is None:
            verdicts = [self._verdict(rule, numbers, evidence) for rule in self._rules]
            found = self._verdicts[numbers] = tuple(verdicts)
        return found

    def _verdict(self, judge: "_Rule", numbers: Key, evidence: Evidence) -> ConstraintResult:
        rule, tools, known = judge
        key = self.only(numbers, tools)
        found = known.get(key)
        if found is None:
            found = known[key] = judge_constraint(rule, evidence)
        return found

    def only(self, numbers: Key, tools: frozenset[str]) -> Key:
        """Return the numbers of the calls of some tools."""
        called = self._tools
        return tuple([number for number in numbers if called[number] in tools])

    def numbers(self, calls: Sequence[Call]) -> Key:
        """Return the numbers of the calls that anything judges, in order."""
        if calls is self._asked[0]:
            return self._asked[1]
        known, found = self._number_of, []
        for call in calls:
            met = known.get(id(call))
            number = met[1] if met is not None else self._new(call)
            if number:
                found.append(number)
        self._asked = calls, tuple(found)
        return self._asked[1]

    def _new(self, call: Call) -> int:
        places = self._places.get(call.tool)
        number = 0
        if places is not None:
            of, before = self._contents.of, call.before
            key = (
                call.tool,
                call.raw,
                call.error,
                call.valid,
                bool(call.changes),
                call.stage,
                *[of(place, before.get(place, _NO_ROWS)) for place in places],
            )
            number = self._numbers.setdefault(key, len(self._tools))
            if number == len(self._tools):
                self._tools.append(call.tool)
        self._number_of[id(call)] = (call, number)
        return number


class _Rule(NamedTuple):
    """A constraint as the grader asks it."""

    rule: BaseConstraint
    tools: frozenset[str]
    """The tools whose calls it judges."""
    known: dict[Key, ConstraintResult]


def _parted(order: Sequence[BaseCheck]) -> tuple[list[BaseCheck], list[BaseCheck]]:
    """Return the checks that depend on records alone, also through what they require, and the
    others; both in the order in which they are judged.
    """
    others: dict[str, BaseCheck] = {}
    of_records: list[BaseCheck] = []
    for check in order:
        plain = isinstance(check, RecordMatch | MessageMatch | Unchanged)
        if plain and not any(name in others for name in check.requires):
            of_records.append(check)
        else:
            others[check.id] = check
    return of_records, list(others.values())


def _key_of(
    check: BaseCheck, contents: _Contents, judged: _Calls
) -> Callable[[Evidence], Key] | None:
    """Return a function from evidence to what a check reads of it; None if that is unknown, or
    dearer to tell than to judge (`unchanged` reads every table).
    """
    stage, places, content = check.stage, check.reads(), contents.of

    def tables(evidence: Evidence) -> Key:
        closed = evidence.tables(stage)
        return tuple([content(p, closed.get(p, _NO_ROWS)) for p in places])

    def reply(evidence: Evidence) -> Key:
        return (evidence.reply(stage), *tables(evidence))

    if isinstance(check, RecordMatch | MessageMatch):
        return tables
    if isinstance(check, Answer):
        return reply
    if isinstance(check, CallOrder):
        steps = [s if isinstance(s, tuple) else (s,) for s in check.order]
        tools = frozenset(n for step in steps for p in step for n in p.tools)
        return _calls_to(judged, tools, stage)
    if isinstance(check, ToolCalled):
        return _calls_to(judged, check.pattern.names, None)
    return None


def _calls_to(
    judged: _Calls, tools: frozenset[str], stage: str | None
) -> Callable[[Evidence], Key]:
    judged.also(tools)

    def calls(evidence: Evidence) -> Key:
        return judged.only(judged.numbers(evidence.calls_of(stage)), tools)

    return calls


def _reads_before(rule: BaseConstraint) -> str | None:
    """Return the collection that a constraint reads as it was before a call."""
    if isinstance(rule, OnlyWhen):
        return rule.place
    return _READERS if isinstance(rule, NoDisclosure) else None


def _tools_of(rule: BaseConstraint, seed: Seed) -> frozenset[str]:
    """Return the tools whose calls a constraint judges."""
    known = seed.ground.tools
    if isinstance(rule, RequireBefore):
        return frozenset((*rule.write.tools, *rule.needs.tools))
    if isinstance(rule, NoDisclosure):
        return frozenset(rule.tools or [name for name, facts in known.items() if facts.text])
    pattern = getattr(rule, "pattern", None)
    return pattern.names if isinstance(pattern, CallPattern) else frozenset(known)


def _unmet(check: BaseCheck, name: str) -> CheckResult:
    return CheckResult(
        check.id,
        check.component,
        check.weight,
        0.0 if check.pays else None,
        f"{name} does not hold",
        unmet=name,
    )


def _order(checks: Sequence[BaseCheck]) -> tuple[BaseCheck, ...] | None:
    """Return the checks so that each follows what it requires; None if that is impossible."""
    known = {check.id for check in checks}
    done: set[str] = set()
    waiting, ordered = list(checks), list[BaseCheck]()
    if len(known) != len(waiting):
        return None
    while waiting:
        ready = [c for c in waiting if all(n in done or n not in known for n in c.requires)]
        if not ready:
            return None
        ordered.extend(ready)
        done.update(c.id for c in ready)
        waiting = [c for c in waiting if c.id not in done]
    return tuple(ordered)
