"""late_dependency: a drift. What one job leaves comes later than the job begins that reads it."""

from collections.abc import Sequence
from typing import Any, Final

from tasks_app.core.generation.families.job_repair.facts import JobFacts
from tasks_app.core.generation.families.job_repair.repair import (
    LAST,
    RUNS,
    SEARCH,
    Repair,
    clock_pieces,
    find_named,
)
from tasks_app.core.generation.forms import Json, filled, fn, ref
from tasks_app.core.generation.paper import Paper

MARGINS: Final = (60, 75, 90, 100, 120)
READS: Final = "reads what"


class Waiting:
    """Let a job begin when what it reads is there."""

    def __init__(self, facts: JobFacts):
        self.facts = facts
        rng = facts.rng
        self.margin: int = rng.choice(MARGINS)
        self.start: int = rng.randrange(60, 125, 15)
        self.longest: int = rng.randrange(75, 140)
        """Minutes of the longest run that counts."""
        self.end = self.start + self.longest
        self.source_topic = facts.topics[1]
        self.lookalikes: list[Json] = []
        self.right = self._draw()
        facts.number_all(self.right, self.lookalikes)

    @property
    def hour(self) -> int:
        """The hour at which the job has to begin."""
        return (self.end + self.margin) // 60

    @property
    def source_name(self) -> str:
        """The job that is waited for."""
        return self.source_topic.name

    def _draw(self) -> Json:
        facts, rng = self.facts, self.facts.rng
        source = facts.job(self.source_topic, _daily(self.start))
        minutes = [rng.randrange(48, self.longest - 5) for _ in range(LAST)]
        minutes[rng.randrange(1, LAST)] = self.longest
        failed = self.longest + rng.randrange(60, 100)
        minutes = [*minutes[:1], failed, *minutes[1:], self.longest + rng.randrange(40, 70), 44, 41]
        statuses = ["ok", "failed", *["ok"] * (len(minutes) - 2)]
        facts.nightly(source, self.start, statuses, [60 * m for m in minutes])
        reads = f"; {READS} {self.source_name} leaves"
        early = rng.randrange(self.start + 30, self.end - 10, 5)
        right = facts.job(facts.topic, _daily(early), action=reads)
        facts.nightly(right, early, ["ok"] * 5)
        old = facts.job(
            facts.topic, _daily(early - 15), suffix="before the move", action=reads, enabled=False
        )
        facts.ran(old, 44, early - 15, 320)
        twin = facts.job(
            facts.topic, _daily(early), suffix=facts.elsewhere, place=facts.elsewhere,
            action=f"; {READS} {self.source_name} {facts.elsewhere} leaves",
        )  # fmt: skip
        facts.nightly(twin, early, ["ok"] * 3)
        other = facts.job(
            self.source_topic, _daily(self.start), suffix=facts.elsewhere, place=facts.elsewhere
        )
        facts.nightly(other, self.start, ["ok"] * 4, [60 * rng.randrange(150, 200)] * 4)
        watcher = facts.job(
            facts.topics[2], _daily(early + 20), action=f"; says whether {self.source_name} failed"
        )
        facts.nightly(watcher, early + 20, ["ok"] * 4)
        self.lookalikes += [twin, source]
        for topic in facts.topics[3 : 4 + facts.level // 2]:
            leaves = facts.topics[5 + rng.randrange(4)].name
            bystander = facts.job(topic, _daily(early + 45), action=f"; {READS} {leaves} leaves")
            facts.nightly(bystander, early + 45, ["ok", "failed", "ok"])
        return right

    def article(self, *, former: bool = False) -> str:
        """How an hour follows from the runs of the job that is waited for."""
        margin = self.margin
        if former:
            hours = {m: (self.end + m) // 60 for m in MARGINS}
            margin = next((m for m in MARGINS if hours[m] != self.hour), self.margin + 60)
        return (
            f"Take the latest end of the last {LAST} runs of the other job that went well, add "
            f"{margin} minutes and drop the minutes past the hour: at that full hour it begins."
        )

    def rules(self) -> Sequence[str]:
        """What must not begin before what, and when it begins instead."""
        in_article = self.facts.in_article
        return (
            (
                f"A job whose action says that it {READS} another leaves must not begin before "
                "that other has ended; it gets a later hour."
            ),
            "How that hour is found stands in the runbook." if in_article else self.article(),
            "Seven o'clock every day is written 0 7 * * *.",
        )

    def write(self, paper: Paper) -> Repair:
        """Find the job that waits, or the one that it waits for."""
        facts = self.facts
        if facts.sought:
            paper.do("found", SEARCH, query=self.source_name)
            on_place = {"enabled": True, "tags": {"contains_any": [facts.place]}}
            chosen = ref("found", "jobs", where=on_place, take="all", field="id")
            paper.do("cards", "scheduler_get_job", chosen, job_id=ref("item"))
            job: Any = ref("cards", where={"action": {"contains_any": [READS]}}, field="id")
            source: Any = ref("cards", where={"name": self.source_name}, field="id")
        else:
            paper.do("card", "scheduler_get_job", job_id=find_named(facts, paper))
            job = ref("card", "id")
            name = fn("regex", ref("card", "action"), rf"{READS} (.+) leaves")
            paper.do("others", SEARCH, query=name)
            source = ref("others", "jobs", where={"name": name}, field="id")
        paper.do("history", RUNS, job_id=source, status="ok", limit=LAST)
        end = ref("history", "runs", sort="-seconds", take="first", field="ended_at")
        hour = fn("regex", fn("add_minutes", end, self.margin), r"T0?(\d+):")
        return Repair(
            job,
            {"schedule": filled("0 {hour} * * *", hour=hour)},
            {"schedule": f"0 {self.hour} * * *"},
            "the hour at which it begins from now on",
            [clock_pieces(self.hour, 0)],
            "it begins at {hour}",
            {"hour": fn("regex", ref("fixed", "next_run"), r"T(\d\d:\d\d)")},
            f"from now on {self.hour:02d}:00",
        )


def _daily(minute: int) -> str:
    return f"{minute % 60} {minute // 60} * * *"
