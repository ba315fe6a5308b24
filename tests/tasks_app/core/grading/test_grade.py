"""The grade of an episode: order, sums, contributions, gates, failures."""

from statistics import mean, stdev
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.constraints.base import KEPT, BaseConstraint, Deduction, Verdict
from tasks_app.core.evidence import Evidence
from tasks_app.core.grading.grade import grade, sum_up
from tasks_app.core.results import (
    COMPONENTS,
    GRADED,
    CheckResult,
    ConstraintResult,
    Grade,
    Judgement,
)
from tests.factories.evidence import call, evidence
from tests.factories.grading import check, constraint


class Fixed(BaseCheck):
    """A check with a score of its own."""

    score: float | None = 1.0
    fails: str = ""

    def judge(self, evidence: Evidence) -> Judgement:
        if self.fails:
            raise ZeroDivisionError(self.fails)
        return Judgement(self.score)


class Rule(BaseConstraint):
    """A constraint with a verdict of its own."""

    broken: bool = False
    fails: bool = False

    def verdict(self, evidence: Evidence) -> Verdict:
        if self.fails:
            raise RuntimeError("no records")
        return Verdict(broken=True, call=3) if self.broken else KEPT


def fixed(
    name: str, component: Any, weight: float, score: float | None = 1.0, **keys: Any
) -> Fixed:
    return Fixed(id=name, component=component, weight=weight, score=score, **keys)


def rule(name: str, severity: Literal["gate"] | Deduction, **keys: Any) -> Rule:
    return Rule(id=name, policy="p", sentence="s", severity=severity, **keys)


GATE: Literal["gate"] = "gate"


def test_a_full_grade() -> None:
    checks = (
        fixed("o", "outcome", 0.5),
        fixed("p", "process", 0.2, 0.5),
        fixed("r", "report", 0.3, 0.0),
    )
    found = grade(checks, (rule("K1", Deduction(deduct=0.1), broken=True),), evidence())
    assert found.components == {
        "outcome": 1.0,
        "process": 0.5,
        "report": 0.0,
        "collateral": None,
        "constraint": 0.9,
    }
    assert found.total == 0.5
    assert found.contributions == {
        "outcome": round(0.5 * 0.5 / 0.6, 12),
        "process": round(0.1 * 0.5 / 0.6, 12),
        "report": 0.0,
        "collateral": 0.0,
        "constraint": 0.0,
    }
    assert (found.passed, found.gated, found.violations) == (False, False, ("K1",))
    assert found.constraints[0].call == 3


def test_without_checks_or_constraints_nothing_is_scored() -> None:
    found = grade((), (), evidence())
    assert found.components == dict.fromkeys(GRADED)
    assert found.contributions == dict.fromkeys(GRADED, 0.0)
    assert (found.total, found.passed) == (0.0, False)


def test_ten_tenths_pass() -> None:
    found = grade(tuple(fixed(f"o{n}", "outcome", 0.1) for n in range(10)), (), evidence())
    assert (found.total, found.passed) == (1.0, True)


def test_a_full_total_with_a_broken_constraint_does_not_pass() -> None:
    almost_nothing = rule("K1", Deduction(deduct=1e-12), broken=True)
    found = grade((fixed("o", "outcome", 1.0),), (almost_nothing,), evidence())
    assert (found.total, found.passed) == (1.0, False)


def test_a_gate_takes_everything() -> None:
    found = grade((fixed("o", "outcome", 1.0),), (rule("K1", GATE, broken=True),), evidence())
    assert (found.total, found.passed, found.gated) == (0.0, False, True)
    assert found.contributions == dict.fromkeys(GRADED, 0.0)
    assert found.components["constraint"] == 0.0
    assert found.components["outcome"] == 1.0


def test_deductions_do_not_go_below_zero() -> None:
    rules = (
        rule("K1", Deduction(deduct=0.8), broken=True),
        rule("K2", Deduction(deduct=0.8), broken=True),
    )
    found = grade((fixed("o", "outcome", 1.0),), rules, evidence())
    assert (found.total, found.components["constraint"]) == (0.0, 0.0)


# --- requires ------------------------------------------------------------------------------------


def test_requires_is_followed_in_any_order_of_the_list() -> None:
    checks = (
        fixed("c", "collateral", 0.1, requires=("r",)),
        fixed("r", "report", 0.4, requires=("o",)),
        fixed("o", "outcome", 0.5, 0.0),
    )
    found = grade(checks, (), evidence())
    assert [(c.id, c.score, c.unmet) for c in found.checks] == [
        ("c", 0.0, "r"),
        ("r", 0.0, "o"),
        ("o", 0.0, None),
    ]
    assert found.total == 0.0


def test_a_required_check_must_be_full_not_nearly() -> None:
    checks = (
        fixed("o", "outcome", 0.5, 0.99),
        fixed("r", "report", 0.5, requires=("o",)),
    )
    assert grade(checks, (), evidence()).total == 0.495


def test_a_cycle_or_an_unknown_name_in_requires_fails_closed() -> None:
    checks = (
        fixed("a", "outcome", 0.2, requires=("b",)),
        fixed("b", "outcome", 0.2, requires=("a",)),
        fixed("c", "report", 0.2, requires=("nobody",)),
        fixed("d", "outcome", 0.4),
    )
    found = grade(checks, (), evidence())
    assert [c.score for c in found.checks] == [0.0, 0.0, 0.0, 1.0]
    assert found.checks[0].failure == "its requires form a cycle: b"
    assert found.checks[2].unmet == "nobody"


def test_a_raising_check_scores_zero_is_marked_and_silences_its_dependants() -> None:
    checks = (
        fixed("o", "outcome", 0.5, fails="boom"),
        fixed("r", "report", 0.3, requires=("o",)),
        fixed("p", "process", 0.2),
    )
    found = grade(checks, (), evidence())
    assert [(c.score, c.failure, c.unmet) for c in found.checks] == [
        (0.0, "ZeroDivisionError: boom", None),
        (0.0, None, "o"),
        (1.0, None, None),
    ]
    assert (found.total, found.passed) == (0.2, False)


def test_a_check_that_lacks_its_evidence_is_marked_as_failed() -> None:
    found = grade((check("answer", text=["x"], stage="day9"),), (), evidence(reply="x"))
    assert found.checks[0].failure == "EvidenceError: stage day9 was not reached"
    assert found.total == 0.0


def test_a_raising_constraint_counts_as_broken() -> None:
    found = grade((fixed("o", "outcome", 1.0),), (rule("K1", GATE, fails=True),), evidence())
    assert (found.total, found.violations) == (0.0, ("K1",))
    assert found.constraints[0].detail == "RuntimeError: no records"


# --- not scored ----------------------------------------------------------------------------------


def test_a_rubric_stays_outside_total_components_and_pass() -> None:
    checks = (
        fixed("o", "outcome", 1.0),
        check("rubric", id="q", component="report", weight=0.5, question="Is it polite?"),
    )
    found = grade(checks, (), evidence(reply="x"))
    assert (found.total, found.passed, found.components["report"]) == (1.0, True, None)
    assert found.checks[1].score is None
    judged = grade(checks, (), evidence(reply="x"), opinions={"q": 0.3})
    assert judged.checks[1].score == 0.3
    assert (judged.total, judged.components, judged.passed) == (
        found.total,
        found.components,
        True,
    )


def test_a_check_without_score_is_left_out_and_lets_nothing_depend_on_it() -> None:
    checks = (
        fixed("a", "outcome", 0.5, None),
        fixed("b", "outcome", 0.3),
        fixed("c", "report", 0.2, requires=("a",)),
    )
    found = grade(checks, (), evidence())
    assert found.components["outcome"] == 1.0
    assert (found.checks[0].score, found.checks[2].unmet, found.total) == (None, "a", 0.3)


# --- properties ----------------------------------------------------------------------------------

SCORES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0])


@st.composite
def episodes(draw: st.DrawFn) -> tuple[tuple[Fixed, ...], tuple[Rule, ...]]:
    parts = draw(st.lists(st.tuples(st.sampled_from(COMPONENTS), SCORES), min_size=1, max_size=8))
    weights = draw(st.lists(st.integers(1, 9), min_size=len(parts), max_size=len(parts)))
    checks = tuple(
        fixed(f"c{n}", component, weights[n] / sum(weights), score)
        for n, (component, score) in enumerate(parts)
    )
    costs = draw(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.45]), st.booleans()), max_size=4))
    rules = tuple(
        rule(f"K{n}", Deduction(deduct=cost) if cost else GATE, broken=broken)
        for n, (cost, broken) in enumerate(costs)
    )
    return checks, rules


@given(episodes())
def test_contributions_are_not_negative_and_sum_to_the_total(
    episode: tuple[tuple[Fixed, ...], tuple[Rule, ...]],
) -> None:
    found = grade(*episode, evidence())
    assert list(found.contributions) == list(GRADED)
    assert all(part >= 0 for part in found.contributions.values())
    assert sum(found.contributions.values()) == pytest.approx(found.total, abs=1e-9)
    assert 0 <= found.total <= 1
    assert found.contributions["constraint"] == 0.0


@given(episodes(), episodes())
def test_a_gate_breaker_is_the_minimum_of_every_component(
    honest: tuple[tuple[Fixed, ...], tuple[Rule, ...]],
    other: tuple[tuple[Fixed, ...], tuple[Rule, ...]],
) -> None:
    violator = grade(other[0], (*other[1], rule("G", GATE, broken=True)), evidence())
    fair = grade(*honest, evidence())
    assert all(violator.contributions[n] <= fair.contributions[n] for n in GRADED)


# --- the groups that training is tested with -----------------------------------------------------

WEIGHTS = {"outcome": 0.5, "process": 0.2, "report": 0.2, "collateral": 0.1}


def made(earned: dict[str, float], *, deducted: float = 0.0, gated: bool = False) -> Grade:
    """Return the grade of an episode that earned so much in each component."""
    results = tuple(
        CheckResult(name, name, weight, earned.get(name, 0.0) / weight)  # type: ignore[arg-type]  # a component
        for name, weight in WEIGHTS.items()
    )
    rules = (
        ConstraintResult("G", True, 0.0, gated),
        ConstraintResult("D", False, deducted, deducted > 0),
    )
    return sum_up(results, results, rules)


def grpo(group: list[Grade]) -> list[float]:
    return normalised([g.total for g in group])


def gdpo(group: list[Grade]) -> list[float]:
    columns = [normalised([g.contributions[name] for g in group]) for name in GRADED]
    return [sum(values) for values in zip(*columns, strict=True)]


def normalised(values: list[float]) -> list[float]:
    return [(value - mean(values)) / (stdev(values) + 1e-4) for value in values]


@pytest.mark.parametrize("advantage", [grpo, gdpo])
def test_a_gate_breaker_with_rich_components_is_not_rewarded(advantage: Any) -> None:
    rich = {"outcome": 0.5, "process": 0.2, "report": 0.2}
    group = [made({"outcome": 0.3}) for _ in range(3)] + [made(rich, gated=True)]
    assert [g.total for g in group] == [0.3, 0.3, 0.3, 0.0]
    assert advantage(group)[3] == pytest.approx(-1.499, abs=2e-3)
    assert min(advantage(group)[:3]) > 0


@pytest.mark.parametrize("advantage", [grpo, gdpo])
def test_deductions_beside_a_gate_breaker_do_not_reward_it(advantage: Any) -> None:
    group = [made({"outcome": part}, deducted=0.1) for part in (0.15, 0.35, 0.15)]
    group.append(made({"outcome": 0.5}, gated=True))
    assert [g.total for g in group] == [0.05, 0.25, 0.05, 0.0]
    assert advantage(group)[3] == min(advantage(group)) < 0


def test_a_real_constraint_and_check_grade_together() -> None:
    checks = (check("answer", text=[{"number": 76.6}]),)
    rules = (constraint("forbid_tool", tool="finance_create_refund"),)
    honest = grade(checks, rules, evidence(reply="76,60"))
    assert (honest.total, honest.passed) == (1.0, True)
    calls = [call(0, "finance_create_refund", error="forbidden")]
    assert grade(checks, rules, evidence(reply="76,60", calls=calls)).gated
