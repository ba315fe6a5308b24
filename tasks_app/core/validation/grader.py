"""Grades the many runs of one proof: the same results as grading, without judging the same twice.

Runs of a proof share most of what they leave behind. A check or constraint whose tables, reply and
calls were judged before has the same result. Tables are told by the digests of their records, calls
by what was said and what came of it; so the number of a call that a result cites may be that of the
run in which it was judged first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import Call, Tables
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
from tasks_app.core.evidence import Evidence, EvidenceError
from tasks_app.core.grading.grade import grade, judge_check, judge_constraint, sum_up
from tasks_app.core.patterns import CallPattern
from tasks_app.core.results import FULL, CheckResult, ConstraintResult, Grade
from tasks_app.core.services.catalog import collections
from tasks_app.core.values import Record
from tasks_app.core.world.world import Seed

Table = Mapping[str, Record]
Key = tuple[Any, ...]
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
        self._tables: dict[int, tuple[Table, int]] = {}
        self._unstable = frozenset(p for p, facts in collections().items() if facts.unstable)
        self._keys = {check.id: self._key_of(check) for check in spec.checks}
        self._known: dict[str, dict[Key, CheckResult]] = {check.id: {} for check in spec.checks}
        self._unmet = {
            (check.id, name): _unmet(check, name)
            for check in spec.checks
            for name in check.requires
        }
        self._ids = [check.id for check in spec.checks]
        self._paying = [check.id for check in spec.checks if check.pays]
        self._near: dict[str, dict[int, tuple[Tables, CheckResult]]] = {
            check.id: {}
            for check in spec.checks
            if isinstance(check, RecordMatch | MessageMatch | Unchanged)
        }
        """Results of what reads records alone, by the very tables at the end of a single stage:
        worlds that end alike share them."""
        self._rules = [
            _Rule(rule, _tools_of(rule, seed), _reads_before(rule), {}) for rule in spec.constraints
        ]
        self._order = _order(spec.checks)

    def grade(self, evidence: Evidence) -> Grade:
        """Grade one episode."""
        if self._order is None:
            return grade(self.spec.checks, self.spec.constraints, evidence)
        broken = tuple([self._verdict(rule, evidence) for rule in self._rules])
        results: dict[str, CheckResult] = {}
        for check in self._order:
            for name in check.requires:
                required = results.get(name)
                if required is None or required.score is None or required.score < FULL:
                    results[check.id] = self._unmet[check.id, name]
                    break
            else:
                results[check.id] = self._judged(check, evidence)
        ordered = tuple([results[name] for name in self._ids])
        return sum_up(ordered, [results[name] for name in self._paying], broken, evidence)

    def _verdict(self, judge: "_Rule", evidence: Evidence) -> ConstraintResult:
        rule, tools, place, known = judge
        calls = [call for call in evidence.calls if call.tool in tools]
        if place is None:
            key: Key = tuple([_said(call) for call in calls])
        else:
            key = tuple(
                [(_said(c), self._content(place, c.before.get(place, _NO_ROWS))) for c in calls]
            )
        found = known.get(key)
        if found is None:
            found = known[key] = judge_constraint(rule, evidence)
        return found

    def _judged(self, check: BaseCheck, evidence: Evidence) -> CheckResult:
        near = self._near.get(check.id) if len(evidence.stages) == 1 else None
        if near is None:
            return self._judged_by_content(check, evidence)
        closed = evidence.stages[0].closed
        met = near.get(id(closed))
        if met is None:
            met = near[id(closed)] = (closed, self._judged_by_content(check, evidence))
        return met[1]

    def _judged_by_content(self, check: BaseCheck, evidence: Evidence) -> CheckResult:
        find = self._keys[check.id]
        if find is None:
            return judge_check(check, evidence)
        try:
            key = find(evidence)
        except EvidenceError:
            return judge_check(check, evidence)
        known = self._known[check.id]
        found = known.get(key)
        if found is None:
            found = known[key] = judge_check(check, evidence)
        return found

    # --- what a check reads ----------------------------------------------------------------------

    def _content(self, place: str, table: Table) -> int:
        """Return a number that tells the table's content; equal for equal records."""
        found = self._tables.get(id(table))
        if found is not None and found[0] is table:
            return found[1]
        number = id(table)
        if len(table) <= _LARGEST and place not in self._unstable:
            number = sum([row.digest for row in table.values()])
        self._tables[id(table)] = (table, number)
        return number

    def _key_of(self, check: BaseCheck) -> Callable[[Evidence], Key] | None:
        """Return a function from evidence to what a check reads of it; None if that is unknown."""
        stage, places, content = check.stage, check.reads(), self._content

        def tables(evidence: Evidence) -> Key:
            closed = evidence.tables(stage)
            return tuple([content(p, closed.get(p, _NO_ROWS)) for p in places])

        def reply(evidence: Evidence) -> Key:
            return (evidence.reply(stage), *tables(evidence))

        def everything(evidence: Evidence) -> Key:
            return tuple(
                [content(p, table) for s in evidence.stages for p, table in s.closed.items()]
            )

        if isinstance(check, RecordMatch | MessageMatch):
            return tables
        if isinstance(check, Answer):
            return reply
        if isinstance(check, Unchanged):
            return everything
        if isinstance(check, CallOrder):
            steps = [s if isinstance(s, tuple) else (s,) for s in check.order]
            return _calls_to(frozenset(n for step in steps for p in step for n in p.tools), stage)
        if isinstance(check, ToolCalled):
            return _calls_to(check.pattern.names, None)
        return None


class _Rule(NamedTuple):
    """A constraint as the grader asks it."""

    rule: BaseConstraint
    tools: frozenset[str]
    """The tools whose calls it judges."""
    place: str | None
    """The collection that it reads as it was before a call."""
    known: dict[Key, ConstraintResult]


def _calls_to(tools: frozenset[str], stage: str | None) -> Callable[[Evidence], Key]:
    def calls(evidence: Evidence) -> Key:
        return tuple([_said(c) for c in evidence.calls_of(stage) if c.tool in tools])

    return calls


def _said(call: Call) -> Key:
    """Return what a rule may look at in a call, its number and the records before it apart."""
    return call.tool, call.raw, call.error, call.valid, bool(call.changes), call.stage


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
