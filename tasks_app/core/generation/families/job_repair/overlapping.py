"""overlapping_runs: a gap that is too small. The longest run of the last decides the interval."""

from collections.abc import Sequence
from typing import Any, Final

from tasks_app.core.generation.families.job_repair.facts import JobFacts
from tasks_app.core.generation.families.job_repair.repair import (
    LAST,
    RULES,
    RUNS,
    Repair,
    find_named,
    list_place,
)
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.paper import Paper

OFTEN: Final = "*/10 * * * *"
INTERVALS: Final = ("*/20 * * * *", "*/30 * * * *", "0 * * * *")
GAP: Final = 600
"""Seconds between two runs of a job that runs every ten minutes."""


class Overlapping:
    """Give a job that runs into itself the interval that its longest run asks for."""

    def __init__(self, facts: JobFacts):
        self.facts = facts
        rng = facts.rng
        self.limits = [rng.randrange(1020, 1150, 10), rng.randrange(1580, 1750, 10)]
        self.band: int = rng.randrange(3)
        low = (760, self.limits[0] + 20, self.limits[1] + 20)[self.band]
        high = (self.limits[0] - 20, self.limits[1] - 20, 2380)[self.band]
        self.longest: int = rng.randrange(low, high)
        self.lookalikes: list[Json] = []
        self.right = self._draw()
        facts.number_all(self.right, self.lookalikes)

    def _often(self, job: Json, seconds: Sequence[int], failed: Sequence[int] = ()) -> None:
        """Add runs every ten minutes, the latest first; what cannot have ended is running."""
        facts = self.facts
        minute = facts.clock.minute // 10 * 10
        for place, lasted in enumerate(seconds):
            while minute + lasted // 60 + 1 >= facts.clock.minute:
                facts.ran(job, 0, minute, 0, "running")
                minute -= 10
            facts.ran(job, 0, minute, lasted, "failed" if place in failed else "ok")
            minute -= 10

    def _overlapping(self, longest: int) -> list[int]:
        """Seconds of runs, the latest first; the third failed, and long ago one took longer."""
        rng = self.facts.rng
        rest = [rng.randrange(GAP + 20, longest - 60) for _ in range(LAST)]
        rest[rng.randrange(1, LAST)] = longest
        failed = longest + rng.randrange(200, 500)
        return [*rest[:2], failed, *rest[2:], longest + rng.randrange(40, 160), rest[0]]

    def _draw(self) -> Json:
        facts, rng = self.facts, self.facts.rng
        right = facts.job(facts.topic, OFTEN)
        self._often(right, self._overlapping(self.longest), (2,))
        old = facts.job(facts.topic, OFTEN, suffix="before the move", enabled=False)
        for number in range(4):
            facts.ran(old, 30, 700 - 10 * number, rng.randrange(640, 1500))
        twin = facts.job(facts.topic, OFTEN, suffix=facts.elsewhere, place=facts.elsewhere)
        self._often(twin, self._overlapping(rng.randrange(900, 1500)), (2,))
        was_long = facts.job(facts.topics[1], OFTEN)
        self._often(was_long, [rng.randrange(90, 500), *self._overlapping(self.longest + 90)], (3,))
        self.lookalikes += [twin, was_long]
        hourly = facts.job(facts.topics[2], INTERVALS[2])
        first = facts.clock.minute // 60 - 1
        for hour in range(first, first - 6, -1):
            facts.ran(hourly, 0, 60 * hour, rng.randrange(900, 2400))
        for topic in facts.topics[3 : 4 + facts.level // 2]:
            calm = facts.job(topic, OFTEN)
            self._often(calm, [rng.randrange(40, 560) for _ in range(LAST)], (1,))
        return right

    def article(self, *, former: bool = False) -> str:
        """Up to which length of its longest run a job keeps which interval."""
        first, second = self.limits
        if former and self.band == 0:
            first = self.longest - self.longest % 10 - 20
        elif former and self.band == 1:
            first = self.longest - self.longest % 10 + 20
        elif former:
            second = self.longest - self.longest % 10 + 20
        return (
            f"The interval follows from the longest of the last {LAST} runs that went well: up to "
            f"{first} seconds every 20 minutes, up to {second} seconds every 30 minutes, beyond "
            "that every hour."
        )

    def rules(self) -> Sequence[str]:
        """When a job overlaps, and what it gets."""
        in_article = self.facts.in_article
        return (
            (
                "A job that starts every 10 minutes overlaps when the latest of its runs that went "
                f"well took longer than {GAP} seconds; it gets a longer interval."
            ),
            "Which one stands in the runbook." if in_article else self.article(),
            f"Every 10 minutes is written {OFTEN}.",
        )

    def write(self, paper: Paper) -> Repair:
        """Look at the last runs that went well."""
        facts = self.facts
        paper.bind(
            "k_interval",
            "argument_policy",
            RULES,
            f"Longer intervals are every 20 minutes, written {INTERVALS[0]}, every 30 minutes, "
            f"written {INTERVALS[1]}, and every hour, written {INTERVALS[2]}; there are no others.",
            tool="scheduler_update_job",
            argument="schedule",
            allow=list(INTERVALS),
        )
        if facts.sought:
            list_place(facts, paper)
            often = ref("jobs", "jobs", where={"schedule": OFTEN}, take="all", field="id")
            paper.do("runs", RUNS, often, job_id=ref("item"), status="ok", limit=1)
            job: Any = ref("runs", where={"runs.0.seconds": {"gt": GAP}}, field="runs.0.job_id")
        else:
            job = find_named(facts, paper)
        paper.do("history", RUNS, job_id=job, status="ok", limit=LAST)
        longest = ref("history", "runs", sort="-seconds", take="first", field="seconds")
        first, second = self.limits
        beyond = fn("pick_at_least", longest, second, INTERVALS[2], INTERVALS[1])
        return Repair(
            job,
            {"schedule": fn("pick_at_least", longest, first, beyond, INTERVALS[0])},
            {"schedule": INTERVALS[self.band]},
            f"the seconds of the longest of its last {LAST} runs that went well",
            [[{"number": self.longest}]],
            "its longest run took {longest} seconds",
            {"longest": longest},
            f"{self.longest} s at most",
        )
