"""What runs came to: success before and after, with interval and what was new in the tasks.

A result comes out of a run directory, maybe of another machine: nothing in it is believed. What is
not a number of the right kind is not scored, and not scored is None, never 0.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from studio.lib.stats import Interval
from training_app.enums import SplitKind
from training_app.models import Checkpoint, TrainingRun

_PARTS: Final = (
    ("before", "Before"),
    ("after", "After"),
    ("after_new_families", "After"),
)
_WAYS: Final = ("greedy", "sampled")


class Shares(NamedTuple):
    """Success on some tasks."""

    name: str
    n: int | None
    success: float | None
    low: float | None
    high: float | None
    reward: float | None

    @property
    def interval(self) -> str:
        """``61–77 %``; empty where it is not known."""
        if self.low is None or self.high is None:
            return ""
        return f"{self.low * 100:.0f}–{self.high * 100:.0f} %"


class Measured(NamedTuple):
    """One measurement of a model: when, on what kind of tasks, how it wrote."""

    part: str
    """before, after or after_new_families."""
    when: str
    split: str
    """What was new in the tasks, in words."""
    way: str
    """greedy or sampled."""
    shares: Shares
    families: tuple[Shares, ...]


class Change(NamedTuple):
    """After less before, as an interval of two independent shares."""

    value: float
    interval: Interval


class Pair(NamedTuple):
    """One kind of tasks and one way of writing, before and after."""

    name: str
    """Of the family; empty for all of them."""
    split: str
    way: str
    before: Shares | None
    """None where it was not measured."""
    after: Shares | None
    change: Change | None


def measured(run: TrainingRun) -> tuple[Measured, ...]:
    """Everything a run measured before its first and after its last step."""
    return tuple(_measured(run.result or {}))


def _measured(result: Mapping[str, Any]) -> Iterator[Measured]:
    for part, when in _PARTS:
        body = result.get(part)
        if not isinstance(body, Mapping):
            continue
        split = split_words(body.get("split_kind"))
        for way in _WAYS:
            found = body.get(way)
            if isinstance(found, Mapping):
                yield Measured(part, when, split, way, _shares("", found), _families(found))


def _families(found: Mapping[str, Any]) -> tuple[Shares, ...]:
    families = found.get("families")
    if not isinstance(families, Mapping):
        return ()
    return tuple(
        _shares(str(name), body) for name, body in families.items() if isinstance(body, Mapping)
    )


def _shares(name: str, body: Mapping[str, Any]) -> Shares:
    count = body.get("n")
    return Shares(
        name,
        count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None,
        _share(body.get("success")),
        _share(body.get("low")),
        _share(body.get("high")),
        _share(body.get("reward")),
    )


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 <= value <= 1 else None


def split_words(kind: Any) -> str:
    """What was new in the tasks; printed beside every number."""
    return SplitKind(kind).label.lower() if kind in SplitKind.values else "tasks of no named kind"


def part(run: TrainingRun, name: str, way: str = "greedy") -> Measured | None:
    """One measurement of a run; None where it was not made."""
    return next((m for m in measured(run) if (m.part, m.way) == (name, way)), None)


def change(run: TrainingRun, way: str = "greedy") -> Change | None:
    """How much more often it succeeds on new instances after the run than before.

    Newcombe's interval out of the two Wilson intervals, as if the tasks were not the same: they
    are, so the truth is narrower.
    """
    before, after = part(run, "before", way), part(run, "after", way)
    return _change(before and before.shares, after and after.shares)


def pairs(run: TrainingRun) -> tuple[Pair, ...]:
    """What was measured of a run, before beside after, by kind of tasks and way of writing."""
    return tuple(_pairs(measured(run), lambda one: (("", one.shares),)))


def family_pairs(run: TrainingRun) -> tuple[Pair, ...]:
    """The same family by family."""
    return tuple(
        _pairs(measured(run), lambda one: tuple((each.name, each) for each in one.families))
    )


def _pairs(
    found: Sequence[Measured], parts: Callable[[Measured], Sequence[tuple[str, Shares]]]
) -> Iterator[Pair]:
    table: dict[tuple[str, str, str], dict[str, Shares]] = {}
    for one in found:
        for name, shares in parts(one):
            table.setdefault((one.split, one.way, name), {})[one.when] = shares
    for (split, way, name), both in table.items():
        before, after = both.get("Before"), both.get("After")
        yield Pair(name, split, way, before, after, _change(before, after))


def _change(was: Shares | None, is_: Shares | None) -> Change | None:
    if was is None or is_ is None:
        return None
    if None in (was.success, was.low, was.high, is_.success, is_.low, is_.high):
        return None
    p, low, high = was.success or 0.0, was.low or 0.0, was.high or 0.0
    q, below, above = is_.success or 0.0, is_.low or 0.0, is_.high or 0.0
    value = q - p
    return Change(
        value,
        Interval(
            max(-1.0, value - math.hypot(q - below, high - p)),
            min(1.0, value + math.hypot(above - q, p - low)),
        ),
    )


def success_of(checkpoint: Checkpoint) -> tuple[Measured, ...]:
    """What the engine measured when it saved a checkpoint."""
    return tuple(_measured({"after": checkpoint.evaluation}))


def reward_fifths(run: TrainingRun) -> tuple[float, float] | None:
    """Mean training reward of the first and the last fifth, as the run's own result states it."""
    result = run.result or {}
    first = _share(result.get("reward_first_fifth"))
    last = _share(result.get("reward_last_fifth"))
    return None if first is None or last is None else (first, last)
