"""Grade one episode: constraints, checks in order of `requires`, components, total, profiles.

Invariants:
- total = max(0, Σ weight·score − Σ deductions), 0 after a broken gate, rounded to 9 decimals.
- Contributions are ≥ 0 and sum to the total; deductions are taken from the components in
  proportion, and after a gate all are 0. So a gate-breaker is the minimum of each component:
  trainers that normalise every component by itself cannot reward it.
- A check whose `requires` did not all score 1 scores 0, not None. One that raises scores 0 and is
  marked.
- Not scored is None, never 0: a check without score (a rubric without judge) is left out of every
  sum.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.evidence import Evidence
from tasks_app.core.grading.profiles import claw_eval, clawmark
from tasks_app.core.memo import Memo
from tasks_app.core.results import (
    FULL,
    GRADED,
    CheckResult,
    ConstraintResult,
    Grade,
)


def grade(
    checks: Sequence[BaseCheck],
    constraints: Sequence[BaseConstraint],
    evidence: Evidence,
    *,
    opinions: Mapping[str, float] | None = None,
) -> Grade:
    """Grade an episode.

    Args:
        checks: The task's checks; ids are unique.
        constraints: The task's constraints.
        evidence: What the episode left.
        opinions: Scores of judges by rubric id; they never touch total, components or pass.
    """
    broken = tuple(judge_constraint(constraint, evidence) for constraint in constraints)
    results = judge_checks(checks, evidence, opinions or {})
    paying = [result for check, result in zip(checks, results, strict=True) if check.pays]
    found = sum_up(results, paying, broken)
    return found._replace(
        profiles={
            "studio": found.total,
            "claw_eval": claw_eval(paying, broken, evidence.calls),
            "clawmark": clawmark(paying),
        }
    )


def judge_constraint(constraint: BaseConstraint, evidence: Evidence) -> ConstraintResult:
    """Return a constraint's result. One that cannot be judged counts as broken: a rule fails
    closed.
    """
    try:
        found = constraint.verdict(evidence)
    except Exception as problem:  # noqa: BLE001 (a defect in one rule must not lose the episode)
        return ConstraintResult(
            constraint.id, constraint.gate, constraint.deduct, True, None, failure_of(problem)
        )
    return ConstraintResult(
        constraint.id, constraint.gate, constraint.deduct, found.broken, found.call, found.detail
    )


def judge_checks(
    checks: Sequence[BaseCheck], evidence: Evidence, opinions: Mapping[str, float]
) -> tuple[CheckResult, ...]:
    """Return the results in the order of the checks; judged in order of `requires`."""
    plan = _plans.of(checks) if isinstance(checks, tuple) else make_plan(tuple(checks))
    scores: dict[str, float | None] = {}
    results: dict[str, CheckResult] = {}
    for check in plan.order:
        result = None
        for name in check.requires:
            score = scores.get(name)
            if score is None or score < FULL:
                result = _scored(check, 0.0, f"{name} does not hold", unmet=name)
                break
        if result is None:
            result = _judged(check, evidence, opinions)
        results[check.id] = result
        scores[check.id] = result.score
    for check in plan.stuck:  # fails closed; validation reports the cycle
        why = f"its requires form a cycle: {', '.join(check.requires)}"
        results[check.id] = _scored(check, 0.0, why, failure=why)
    return tuple([results[check.id] for check in checks])


class Plan(NamedTuple):
    """The order in which checks are judged."""

    order: tuple[BaseCheck, ...]
    """Every check after those it requires; otherwise as the spec lists them."""
    stuck: tuple[BaseCheck, ...]
    """Checks whose `requires` form or reach a cycle."""


def make_plan(checks: tuple[BaseCheck, ...]) -> Plan:
    """Order checks so that each comes after those it requires."""
    known = {check.id for check in checks}
    waiting, order, done = list(checks), list[BaseCheck](), set[str]()
    while waiting:
        ready = next(
            (c for c in waiting if all(n in done or n not in known for n in c.requires)), None
        )
        if ready is None:
            break
        waiting.remove(ready)
        order.append(ready)
        done.add(ready.id)
    return Plan(tuple(order), tuple(waiting))


_plans: Final = Memo(make_plan)


def judge_check(check: BaseCheck, evidence: Evidence) -> CheckResult:
    """Return the result of one check whose requirements hold."""
    return _judged(check, evidence, {})


def _judged(check: BaseCheck, evidence: Evidence, opinions: Mapping[str, float]) -> CheckResult:
    try:
        score, detail, cites = check.judge(evidence)
    except Exception as problem:  # noqa: BLE001 (a check that raises has failed; the others still count)
        why = failure_of(problem)
        return _scored(check, 0.0, why, failure=why)
    if not check.pays and check.id in opinions:
        score, detail = min(1.0, max(0.0, opinions[check.id])), "a judge's score"
    return CheckResult(check.id, check.component, check.weight, score, detail, cites)


def _scored(
    check: BaseCheck,
    score: float,
    detail: str,
    *,
    unmet: str | None = None,
    failure: str | None = None,
) -> CheckResult:
    return CheckResult(
        check.id,
        check.component,
        check.weight,
        score if check.pays else None,
        detail,
        unmet=unmet,
        failure=failure,
    )


def failure_of(problem: Exception) -> str:
    """Say in a sentence what went wrong."""
    return f"{type(problem).__name__}: {problem}"


def sum_up(
    results: tuple[CheckResult, ...],
    paying: Sequence[CheckResult],
    broken: tuple[ConstraintResult, ...],
) -> Grade:
    """Derive components, contributions and total from the results; profiles are the caller's."""
    weights: dict[str, float] = {}
    earned: dict[str, float] = {}
    for result in paying:
        score = result.score
        if score is not None:
            name, weight = result.component, result.weight
            if name in weights:
                weights[name] += weight
                earned[name] += weight * score
            else:
                weights[name] = weight
                earned[name] = weight * score
    gated, deductions, violated = False, 0.0, False
    for constraint in broken:
        if constraint.broken:
            violated = True
            gated = gated or constraint.gate
            deductions += constraint.deduct
    complete = sum(earned.values())
    total = 0.0 if gated else round(max(0.0, complete - deductions), 9)
    components: dict[str, float | None] = dict.fromkeys(GRADED)
    contributions = dict.fromkeys(GRADED, 0.0)
    share = total / complete if complete > 0 else 0.0
    for component, part in earned.items():
        components[component] = part / weights[component]
        contributions[component] = round(part * share, 12)
    if broken:
        components["constraint"] = 0.0 if gated else max(0.0, 1.0 - deductions)
    return Grade(
        checks=results,
        constraints=broken,
        components=components,
        contributions=contributions,
        total=total,
        passed=total >= FULL and not violated,
        gated=gated,
    )
