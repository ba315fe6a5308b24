"""job_repair: the pattern in the runs decides, and each subtype's wrong turn loses."""

from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.violations import prove_constraints
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted, played

FAMILY = "job_repair"


def _failed_now_and_then(steps: Steps) -> None:
    where = steps["fixed"]["arguments"]["job_id"]["where"]
    first = min(where)
    where[first] = "ok"


def _day_of_the_last_run(steps: Steps) -> None:
    del steps["good"]["arguments"]["status"]


def _failed_runs_count(steps: Steps) -> None:
    del steps["history"]["arguments"]["status"]


def _latest_run_decides(steps: Steps) -> None:
    steps["history"]["arguments"]["limit"] = 1


def _more_runs_than_count(steps: Steps) -> None:
    steps["history"]["arguments"]["limit"] = 20


def _right_by_its_own_clock(steps: Steps) -> None:
    choice = steps["fixed"]["arguments"]["job_id"]
    del choice["where"]
    choice["take"] = "first"


def _as_it_stands(steps: Steps) -> None:
    hour = steps["fixed"]["arguments"]["schedule"]["with"]["hour"]
    hour["args"][0]["args"][1] = 0


def _runbook_of_last_year(steps: Steps) -> None:
    steps["book"]["arguments"]["article_id"]["where"]["status"] = "archived"


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("flapping", 1, _failed_now_and_then),
        ("flapping", 3, _day_of_the_last_run),
        ("flapping", 4, _runbook_of_last_year),
        ("overlapping_runs", 1, _failed_runs_count),
        ("overlapping_runs", 2, _latest_run_decides),
        ("overlapping_runs", 4, _runbook_of_last_year),
        ("late_dependency", 1, _more_runs_than_count),
        ("late_dependency", 3, _as_it_stands),
        ("late_dependency", 5, _runbook_of_last_year),
        ("wrong_zone", 1, _as_it_stands),
        ("wrong_zone", 2, _right_by_its_own_clock),
        ("wrong_zone", 5, _runbook_of_last_year),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


def _runs_of(spec: TaskSpec, job: str) -> list[dict[str, Any]]:
    rows = spec.written()["services"]["scheduler"]["runs"]
    return sorted((r for r in rows if r["job_id"] == job), key=lambda r: r["started_at"])[::-1]


@pytest.mark.parametrize("seed", range(8))
def test_the_longest_run_that_counts_is_neither_the_latest_nor_the_longest_of_all(
    seed: int,
) -> None:
    spec = drafted(FAMILY, "overlapping_runs", 2, seed)
    runs = _runs_of(spec, spec.checks[0].plain["where"]["id"])
    good = [r["seconds"] for r in runs if r["status"] == "ok"]
    longest = max(good[:5])
    assert good[0] < longest < max(good)
    assert longest < max(r["seconds"] for r in runs if r["status"] == "failed")


@pytest.mark.parametrize("subtype", ["flapping", "overlapping_runs", "late_dependency"])
def test_no_run_has_ended_after_now_and_only_running_ones_have_no_end(subtype: str) -> None:
    spec = drafted(FAMILY, subtype, 5)
    for run in spec.written()["services"]["scheduler"]["runs"]:
        assert (run["ended_at"] is None) == (run["status"] == "running")
        assert (run["ended_at"] or run["started_at"]) <= spec.clock.start


def test_a_second_job_changed_costs_everything() -> None:
    spec = drafted(FAMILY, "wrong_zone", 4)

    def other_job(steps: Steps) -> None:
        ids = [job["id"] for job in spec.written()["services"]["scheduler"]["jobs"]]
        steps["cards"]["each"] = ids
        fixed = steps["fixed"]
        fixed["each"] = ids
        fixed["arguments"] = {"job_id": {"from": "item"}, "note": "changed"}

    grade = played(spec, other_job)
    assert grade.total == 0.0
    assert {"k_one", "k_own"} <= {c.id for c in grade.constraints if c.broken}


def test_a_limit_on_changes_bites_where_the_same_change_twice_is_refused() -> None:
    spec = drafted(FAMILY, "flapping", 1)

    found = next(p for p in prove_constraints(Trial(spec)) if p.id == "k_one")
    assert found.bites
    assert "scheduler_update_job on 3 records more" in found.violating
