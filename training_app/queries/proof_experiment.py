"""Does proof matter? The same RL on proven tasks, and on the same tasks with loose checks put back.

An *arm* is one kind of checks with a run a seed. Both arms start from one checkpoint, see the same
tasks in the same order and take as many steps; only what is paid differs. Held-out tasks are proven
ones in both, so held-out success means the same.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, get_args

from studio.lib.jsonvalue import JsonObject
from studio.lib.stats import Interval, wilson
from training_app.models import TrainingRun
from training_app.queries.curve_families import REWARD, CurveName, Family
from training_app.queries.curves import read
from training_app.queries.results import measured

Checks = Literal["proven", "unproven"]
ARMS: Final[tuple[Checks, ...]] = get_args(Checks)
SOLVED: Final = Family(
    "passed", "Solved", "share of rollouts that earn all there is and break no rule",
    (CurveName("passed", "solved", ("passed",)),), "generation", "share",
)  # fmt: skip
_LAST_SHARE: Final = 0.2


class Spot(NamedTuple):
    """One place of a line over all seeds of an arm."""

    samples: float
    """Training samples processed so far, of one run."""
    mean: float
    low: float
    """Of the lowest seed."""
    high: float


class HeldOut(NamedTuple):
    """Success on proven held-out tasks, the seeds taken together."""

    when: str
    """before or after."""
    way: str
    """greedy or sampled."""
    tasks: int
    success: float
    interval: Interval


class Arm(NamedTuple):
    """What one kind of checks came to."""

    checks: Checks
    runs: tuple[str, ...]
    """Codes, in the order of seeds."""
    seeds: tuple[int, ...]
    reward: tuple[Spot, ...]
    """As it was paid: by other checks in each arm."""
    solved: tuple[Spot, ...]
    """Share that earned 1.0: the whole task was done, by either arm's checks."""
    held_out: tuple[HeldOut, ...]

    def as_json(self) -> JsonObject:
        """The numbers of a table; lines are in the CSV."""
        return {
            "checks": self.checks,
            "runs": list(self.runs),
            "seeds": list(self.seeds),
            "reward_last_fifth": _rounded(last_fifth(self.reward)),
            "solved_last_fifth": _rounded(last_fifth(self.solved)),
            "held_out": [
                {
                    "when": one.when,
                    "way": one.way,
                    "tasks": one.tasks,
                    "success": round(one.success, 4),
                    "low": round(one.interval.low, 4),
                    "high": round(one.interval.high, 4),
                }
                for one in self.held_out
            ],
        }


def last_fifth(spots: Sequence[Spot]) -> float | None:
    """Mean of the last fifth of a line; None of an empty one."""
    tail = spots[-max(1, round(len(spots) * _LAST_SHARE)) :]
    return math.fsum(spot.mean for spot in tail) / len(tail) if tail else None


def arms_of(runs: Mapping[Checks, Sequence[TrainingRun]]) -> tuple[Arm, ...]:
    """Return both arms, from runs in the order of seeds."""
    return tuple(
        Arm(
            checks,
            tuple(run.code for run in chosen),
            tuple(run.seed for run in chosen),
            _line(chosen, REWARD),
            _line(chosen, SOLVED),
            tuple(_held_out(chosen)),
        )
        for checks, chosen in runs.items()
    )


def _line(runs: Sequence[TrainingRun], family: Family) -> tuple[Spot, ...]:
    """The smoothed line of each run, joined where every run has a value."""
    found: list[dict[int, tuple[float, float]]] = []
    for run in runs:
        charts = read(run, (family,))
        points = charts[0].curves[0].points if charts else ()
        found.append({point.step: (point.x, point.smooth) for point in points})
    shared = sorted(set.intersection(*map(set, found))) if found else []
    spots = []
    for step in shared:
        values = [each[step][1] for each in found]
        spots.append(
            Spot(found[0][step][0], math.fsum(values) / len(values), min(values), max(values))
        )
    return tuple(spots)


def _held_out(runs: Sequence[TrainingRun]) -> list[HeldOut]:
    table: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for run in runs:
        for one in measured(run):
            shares = one.shares
            if one.part in ("before", "after") and shares.success is not None and shares.n:
                table.setdefault((one.part, one.way), []).append((shares.success, shares.n))
    found = []
    for (when, way), scored in table.items():
        tasks = sum(n for _, n in scored)
        passed = math.fsum(success * n for success, n in scored)
        interval = wilson(min(passed, tasks), tasks)
        if interval is not None:
            found.append(HeldOut(when, way, tasks, passed / tasks, interval))
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def csv_rows(arms: Sequence[Arm]) -> list[tuple[str, ...]]:
    """Every point of every line, with a head."""
    rows: list[tuple[str, ...]] = [("checks", "line", "samples", "mean", "lowest", "highest")]
    for arm in arms:
        rows += [
            (
                arm.checks,
                name,
                f"{spot.samples:.0f}",
                f"{spot.mean:.4f}",
                f"{spot.low:.4f}",
                f"{spot.high:.4f}",
            )
            for name, spots in (("reward", arm.reward), ("solved", arm.solved))
            for spot in spots
        ]
        rows += [
            (
                arm.checks,
                f"held_out_{one.way}_{one.when}",
                "",
                f"{one.success:.4f}",
                f"{one.interval.low:.4f}",
                f"{one.interval.high:.4f}",
            )
            for one in arm.held_out
        ]
    return rows
