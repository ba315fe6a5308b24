"""flapping: a streak of failed runs. One run that went well among the last breaks it."""

from collections.abc import Sequence
from datetime import date

from tasks_app.core.generation.days import spellings
from tasks_app.core.generation.families.job_repair.facts import JobFacts
from tasks_app.core.generation.families.job_repair.repair import RULES, RUNS, Repair
from tasks_app.core.generation.forms import Json, filled, fn, ref
from tasks_app.core.generation.paper import Paper

SCHEDULES = (100, 125, 140, 155, 190, 205, 230)
"""Minutes of the night at which jobs start."""


class Flapping:
    """Switch off the one job of a place whose last runs all failed."""

    def __init__(self, facts: JobFacts):
        self.facts = facts
        self.streak: int = facts.rng.choice((3, 4) if facts.level < 3 else (3, 4, 5))
        self.good_day = ""
        self.lookalikes: list[Json] = []
        self.right = self._draw()
        facts.number_all(self.right, self.lookalikes)

    def _job(self, number: int, statuses: Sequence[str], **more: str | bool) -> Json:
        facts = self.facts
        minute = facts.rng.choice(SCHEDULES)
        made = facts.job(
            facts.topics[number],
            f"{minute % 60} {minute // 60} * * *",
            suffix=str(more.get("suffix", "")),
            place=str(more.get("place", "")),
            enabled=bool(more.get("enabled", True)),
        )
        facts.nightly(made, minute, statuses, since=0 if made["enabled"] else 37)
        return made

    def _draw(self) -> Json:
        facts, rng, streak = self.facts, self.facts.rng, self.streak
        length = streak + rng.randrange(0, 3)
        before = ["ok", "ok", "failed", "ok"]
        right = self._job(0, ["failed"] * length + before)
        good = [r["started_at"] for r in facts.runs if r["status"] == "ok"]
        self.good_day = max(good)[:10]
        for place in range(1, streak):  # one run that went well among the last
            statuses = ["failed"] * (streak + 2)
            statuses[place] = "ok"
            self.lookalikes.append(self._job(place, [*statuses, "ok"]))
        self._job(streak, ["ok"] + ["failed"] * (streak + 1) + ["ok"])  # has recovered
        self._job(streak + 1, ["ok"] * (streak + 3))
        self._job(streak + 2, ["failed"] * streak + before, place=facts.elsewhere)
        self._job(
            streak + 3, ["failed"] * (streak + 1) + before, enabled=False, suffix="before the move"
        )
        if facts.level >= 4:
            self._job(streak + 4, ["failed"] * 2 + ["ok"] * 4, place=facts.elsewhere)
        return right

    def article(self, *, former: bool = False) -> str:
        """How many failed runs in a row are too many."""
        number = self.streak - 1 if former else self.streak
        return (
            f"A job whose last {number} runs all failed is switched off; one of them that went "
            "well, and the job stays as it is."
        )

    def rules(self) -> Sequence[str]:
        """What is switched off."""
        if not self.facts.in_article:
            return (self.article(),)
        return (
            "A job that failed too often in a row is switched off.",
            "How often that is stands in the runbook.",
        )

    def write(self, paper: Paper) -> Repair:
        """Look at the last runs of all that failed last."""
        facts = self.facts
        paper.do("jobs", "scheduler_list_jobs", tag=facts.place, enabled=True, last_status="failed")
        paper.do(
            "runs",
            RUNS,
            ref("jobs", "jobs", take="all", field="id"),
            job_id=ref("item"),
            limit=self.streak,
        )
        where = {f"runs.{n}.status": "failed" for n in range(1, self.streak)}
        job = ref("runs", where=where, field="runs.0.job_id")
        if facts.level == 1:
            return Repair(job, {"enabled": False}, {"enabled": False})
        paper.say(
            RULES,
            "The note of a job that is switched off is written anew: it gives the day of its last "
            "run that went well, written as 2030-11-30.",
        )
        paper.do("good", RUNS, job_id=job, status="ok")
        day = fn("date", ref("good", "runs", sort="-started_at", take="first", field="started_at"))
        return Repair(
            job,
            {"enabled": False, "note": filled("Last good run: {day}.", day=day)},
            {"enabled": False, "note": self.good_day},
            "the day of its last run that went well",
            [spellings(date.fromisoformat(self.good_day))],
            "the last good run was on {day}",
            {"day": day},
            f"nothing went well after {self.good_day}",
        )
