"""Grades the many runs of one proof: the same results as grading, without judging the same twice.

Runs of a proof share most of their tables, and a table is never changed in place: a check that
reads tables already judged has the same result. Tables are kept with the result, so that no address
in memory is taken for another table.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.unchanged import Unchanged
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.constraints.no_disclosure import NoDisclosure
from tasks_app.core.constraints.require_before import RequireBefore
from tasks_app.core.evidence import Evidence, EvidenceError
from tasks_app.core.grading.grade import PASS, grade, judge_checks, judge_constraint, sum_up
from tasks_app.core.results import CheckResult, ConstraintResult, Grade
from tasks_app.core.world.world import Seed

Key = tuple[Any, ...]
_NOTHING: Final[Mapping[str, Any]] = {}


class Grader:
    """Grades evidence of one spec."""

    def __init__(self, seed: Seed):
        spec = seed.spec
        self.spec = spec
        self._keys: dict[str, Callable[[Evidence], Key]] = {
            check.id: found for check in spec.checks if (found := _key_of(check)) is not None
        }
        self._known: dict[str, dict[Key, tuple[Key, CheckResult]]] = {
            name: {} for name in self._keys
        }
        self._alone: dict[str, tuple[BaseCheck, ...]] = {
            check.id: (check.model_copy(update={"requires": ()}),) for check in spec.checks
        }
        """Each check as if nothing were required: that is looked at here."""
        self._ids = [check.id for check in spec.checks]
        self._paying = [check.id for check in spec.checks if check.pays]
        self._rules = [
            (rule, _tools_of(rule, seed), ConstraintResult(rule.id, rule.gate, rule.deduct, False))
            for rule in spec.constraints
        ]
        """Each constraint, the tools it judges, its result where none of them was called."""
        self._order = _order(spec.checks)

    def grade(self, evidence: Evidence) -> Grade:
        """Grade one episode."""
        spec = self.spec
        if self._order is None:
            return grade(spec.checks, spec.constraints, evidence)
        called = {call.tool for call in evidence.calls}
        broken = tuple(
            [
                judge_constraint(rule, evidence) if called & tools else kept
                for rule, tools, kept in self._rules
            ]
        )
        results: dict[str, CheckResult] = {}
        for check in self._order:
            unmet = None
            for name in check.requires:
                required = results.get(name)
                if required is None or required.score is None or required.score < PASS:
                    unmet = name
                    break
            results[check.id] = (
                self._judged(check, evidence) if unmet is None else _unmet(check, unmet)
            )
        ordered = tuple([results[name] for name in self._ids])
        return sum_up(ordered, [results[name] for name in self._paying], broken, evidence)

    def _judged(self, check: BaseCheck, evidence: Evidence) -> CheckResult:
        find = self._keys.get(check.id)
        alone = self._alone[check.id]
        if find is None:
            return judge_checks(alone, evidence, _NOTHING)[0]
        try:
            read = find(evidence)
        except EvidenceError:
            return judge_checks(alone, evidence, _NOTHING)[0]
        key = tuple([part if type(part) is str else id(part) for part in read])
        known = self._known[check.id].get(key)
        if known is not None:
            return known[1]
        result = judge_checks(alone, evidence, _NOTHING)[0]
        self._known[check.id][key] = (read, result)
        return result


def _tools_of(rule: BaseConstraint, seed: Seed) -> frozenset[str]:
    """Return the tools whose calls a constraint judges."""
    if isinstance(rule, RequireBefore):
        return frozenset(rule.write.tools)
    if isinstance(rule, NoDisclosure):
        known = seed.ground.tools.items()
        return frozenset(rule.tools or [name for name, facts in known if facts.text])
    return frozenset(seed.ground.tools) if not hasattr(rule, "pattern") else rule.pattern.names


def _unmet(check: BaseCheck, name: str) -> CheckResult:
    return CheckResult(
        check.id,
        check.component,
        check.weight,
        0.0 if check.pays else None,
        f"{name} does not hold",
        unmet=name,
    )


def _key_of(check: BaseCheck) -> Callable[[Evidence], Key] | None:
    """Return what a check reads, as a function of the evidence; None if it also reads calls."""
    stage, places = check.stage, check.reads()

    def tables(evidence: Evidence) -> Key:
        closed = evidence.tables(stage)
        return tuple([closed.get(place, _NOTHING) for place in places])

    def reply(evidence: Evidence) -> Key:
        return (evidence.reply(stage), *tables(evidence))

    def everything(evidence: Evidence) -> Key:
        return tuple([stage.closed for stage in evidence.stages])

    if isinstance(check, RecordMatch | MessageMatch):
        return tables
    if isinstance(check, Answer):
        return reply
    if isinstance(check, Unchanged):
        return everything
    return None


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
