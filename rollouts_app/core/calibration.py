"""Gate P1: how hard a task version is for whoever tried it, from the counts of its episodes.

Every figure has its number of attempts and an interval; a policy that was run too seldom has no
verdict. A group is the episodes of one policy on one version in one batch: where all earn the same
there is nothing to learn from it.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from studio.lib.stats import Interval, wilson

BAND: Final = (0.1, 0.9)
"""Pass rates from which a policy can learn, both ends within."""
LEAST: Final = 4
"""Attempts without which a pass rate says nothing."""

Label = Literal["too few", "too hard", "in band", "too easy"]


class Group(NamedTuple):
    """The graded episodes of one policy in one batch."""

    policy: str
    graded: int
    passed: int
    lowest: float
    highest: float
    """Rewards."""


class Rate(NamedTuple):
    """How one policy did."""

    policy: str
    graded: int
    passed: int
    interval: Interval | None
    groups: int
    """Groups of two episodes or more."""
    uniform: int
    """Those in which all earned the same."""

    @property
    def label(self) -> Label:
        """What its pass rate says of the task."""
        if self.graded < LEAST:
            return "too few"
        share = self.passed / self.graded
        if share < BAND[0]:
            return "too hard"
        return "too easy" if share > BAND[1] else "in band"

    @property
    def words(self) -> str:
        """The rate as a line."""
        shown = (
            "" if self.interval is None else f" ({self.interval.low:.2f}–{self.interval.high:.2f})"
        )
        flat = f"; {self.uniform} of {self.groups} groups without variance" if self.groups else ""
        return f"{self.policy}: {self.passed} of {self.graded} pass{shown}, {self.label}{flat}"


def rates(groups: Iterable[Group]) -> tuple[Rate, ...]:
    """Return the rate of each policy, by name."""
    by_policy: dict[str, list[Group]] = {}
    for group in groups:
        by_policy.setdefault(group.policy, []).append(group)
    found = []
    for policy, held in sorted(by_policy.items()):
        graded, passed = sum(g.graded for g in held), sum(g.passed for g in held)
        several = [g for g in held if g.graded > 1]
        uniform = sum(g.highest - g.lowest < 1e-9 for g in several)
        interval = wilson(passed, graded)
        found.append(Rate(policy, graded, passed, interval, len(several), uniform))
    return tuple(found)


def state_of(found: Sequence[Rate]) -> tuple[Literal["held", "warned", "not_run"], str]:
    """Return the gate's state and why: it labels, it never blocks."""
    judged = [rate for rate in found if rate.label != "too few"]
    if not judged:
        tried = sum(rate.graded for rate in found)
        return "not_run", f"{tried} attempts of a policy that learns or teaches; {LEAST} are asked"
    inside = [rate for rate in judged if rate.label == "in band"]
    if inside:
        return (
            "held",
            f"{len(inside)} of {len(judged)} policies pass between {BAND[0]:.0%} and {BAND[1]:.0%}",
        )
    return "warned", f"{judged[0].label} for {judged[0].policy}"


def overturned_words(overturned: int, judged: int) -> str:
    """Return how many failed episodes people called right, of those that they judged."""
    interval = wilson(overturned, judged)
    if interval is None:
        return "no failed episode was judged by a person"
    return (
        f"false rejections: {overturned} of {judged} failed episodes that people judged "
        f"({interval.low:.2f}–{interval.high:.2f})"
    )
