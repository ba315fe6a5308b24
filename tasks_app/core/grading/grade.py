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
from typing import Final

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.evidence import Evidence
from tasks_app.core.grading.profiles import claw_eval, clawmark
from tasks_app.core.results import (
    COMPONENTS,
    GRADED,
    CheckResult,
    ConstraintResult,
    Grade,
    Judgement,
)

PASS: Final = 1 - 1e-9
"""The score from which on a check or a total counts as full."""


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
    return sum_up(results, paying, broken, evidence)


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
    if not any(check.requires for check in checks):
        return tuple(_judged(check, evidence, opinions) for check in checks)
    by_id = {check.id: check for check in checks}
    done: dict[str, CheckResult] = {}
    for check in checks:
        if check.id in done:
            continue
        waiting = [check]
        open_ids = {check.id}
        while waiting:
            current = waiting[-1]
            need = next((n for n in current.requires if n in by_id and n not in done), None)
            if need is None:
                done[current.id] = _after_requires(current, evidence, opinions, done)
                waiting.pop()
                open_ids.discard(current.id)
            elif need in open_ids:
                for stuck in waiting:  # fails closed; validation reports the cycle
                    done[stuck.id] = _failed(stuck, f"requires forms a cycle through {need}")
                waiting.clear()
            else:
                waiting.append(by_id[need])
                open_ids.add(need)
    return tuple(done[check.id] for check in checks)


def _after_requires(
    check: BaseCheck,
    evidence: Evidence,
    opinions: Mapping[str, float],
    done: Mapping[str, CheckResult],
) -> CheckResult:
    for name in check.requires:
        required = done.get(name)
        if required is None or required.score is None or required.score < PASS:
            return CheckResult(
                check.id,
                check.component,
                check.weight,
                0.0 if check.pays else None,
                f"{name} does not hold",
                unmet=name,
            )
    return _judged(check, evidence, opinions)


def _judged(
    check: BaseCheck, evidence: Evidence, opinions: Mapping[str, float]
) -> CheckResult:
    try:
        found = check.judge(evidence)
    except Exception as problem:  # noqa: BLE001 (a check that raises has failed; the others still count)
        return _failed(check, failure_of(problem))
    if not check.pays and check.id in opinions:
        found = Judgement(min(1.0, max(0.0, opinions[check.id])), "a judge's score", found.cites)
    return CheckResult(
        check.id, check.component, check.weight, found.score, found.detail, found.cites
    )


def _failed(check: BaseCheck, why: str) -> CheckResult:
    return CheckResult(
        check.id, check.component, check.weight, 0.0 if check.pays else None, why, failure=why
    )


def failure_of(problem: Exception) -> str:
    """Say in a sentence what went wrong."""
    return f"{type(problem).__name__}: {problem}"


def sum_up(
    results: tuple[CheckResult, ...],
    paying: Sequence[CheckResult],
    broken: tuple[ConstraintResult, ...],
    evidence: Evidence,
) -> Grade:
    """Derive components, contributions, total and profiles from the results."""
    weights: dict[str, float] = {}
    earned: dict[str, float] = {}
    for result in paying:
        if result.score is not None:
            name = result.component
            weights[name] = weights.get(name, 0.0) + result.weight
            earned[name] = earned.get(name, 0.0) + result.weight * result.score
    gated, deductions, violated = False, 0.0, False
    for constraint in broken:
        if constraint.broken:
            violated = True
            gated = gated or constraint.gate
            deductions += constraint.deduct
    complete = sum(earned.values())
    total = 0.0 if gated else round(max(0.0, complete - deductions), 9)
    components: dict[str, float | None] = {
        name: earned[name] / weights[name] if weights.get(name) else None for name in COMPONENTS
    }
    components["constraint"] = (
        None if not broken else 0.0 if gated else max(0.0, 1.0 - deductions)
    )
    share = total / complete if complete > 0 else 0.0
    return Grade(
        checks=results,
        constraints=broken,
        components=components,
        contributions={name: round(earned.get(name, 0.0) * share, 12) for name in GRADED},
        total=total,
        passed=total >= PASS and not violated,
        gated=gated,
        profiles={
            "studio": total,
            "claw_eval": claw_eval(paying, broken, evidence.calls),
            "clawmark": clawmark(paying),
        },
    )
