"""wrong_zone: a shift by whole hours. A job of a site runs by the clock of head office."""

from collections.abc import Sequence
from typing import Any, Final

from tasks_app.core.generation.cast import ZONES
from tasks_app.core.generation.families.job_repair.facts import JobFacts
from tasks_app.core.generation.families.job_repair.repair import (
    RUNS,
    Repair,
    clock_pieces,
    find_named,
    list_place,
)
from tasks_app.core.generation.forms import Json, filled, fn, ref
from tasks_app.core.generation.paper import Paper
from tasks_app.core.generation.talk import listed
from tasks_app.core.zones import Zone, offset_hours

MOST: Final = 4
"""Hours by which sites are off at most."""


class Local:
    """Let a job of a site start by the clock of the site."""

    def __init__(self, facts: JobFacts):
        self.facts = facts
        rng = facts.rng
        while len(near := [z for z in ZONES if 0 < abs(self._ahead(z)) <= MOST]) < 2:
            facts.clock = facts.cast.clock()
        self.home = _city(facts.clock.zone)
        self.sites = facts.cast.sample(near, min(3, len(near)))
        facts.place, facts.elsewhere = _city(self.sites[0]), self.home
        self.due: int = rng.randrange(300, 425, 15)
        """Minute of the day at which the job is due, by the clock of the site."""
        self.lookalikes: list[Json] = []
        self.right = self._draw()
        facts.number_all(self.right, self.lookalikes)

    def _ahead(self, zone: Zone) -> int:
        """Hours by which a zone is ahead of head office today."""
        day = self.facts.clock.day
        return offset_hours(zone, day) - offset_hours(self.facts.clock.zone, day)

    @property
    def ahead(self) -> int:
        """Minutes by which the site is ahead of head office."""
        return 60 * self._ahead(self.sites[0])

    @property
    def start(self) -> int:
        """Minute of the day at which the job has to start, by the clock of head office."""
        return self.due - self.ahead

    def _job(self, number: int, due: int, starts: int, place: str = "", **more: Any) -> Json:
        facts = self.facts
        where = place or facts.place
        made = facts.job(
            facts.topics[number],
            _daily(starts),
            place=where,
            action=f"; due to start at {hour_of(due)} in {where}",
            **more,
        )
        if made["enabled"]:
            facts.nightly(made, starts, ["ok"] * facts.rng.randrange(3, 6))
        else:
            facts.ran(made, 51, starts, 130)
        return made

    def _draw(self) -> Json:
        facts, due = self.facts, self.due
        right = self._job(0, due, due)
        self._job(0, due, due, suffix="before the move", enabled=False)
        self.lookalikes.append(self._job(0, due, due, self.home, suffix=self.home))
        rightly = self._job(1, due + self.ahead, due)  # starts at that hour here, and rightly so
        self.lookalikes.append(rightly)
        self._job(2, due, self.start)  # is due at that hour there, and comes
        for number, site in enumerate(self.sites[1:], start=3):
            self._job(number, due, due - 60 * self._ahead(site), _city(site))
        for number in range(5, 6 + facts.level // 2):
            other = due + 15 * (number - 3)
            self._job(number, other, other - self.ahead)
        return right

    def article(self, *, former: bool = False) -> str:
        """How far the clocks of the sites are off."""
        extra = 60 if former else 0
        off = listed([_off(_city(z), 60 * self._ahead(z), extra) for z in self.sites])
        return f"Against the clock of head office in {self.home}, {off}."

    def rules(self) -> Sequence[str]:
        """By which clock a job starts, and by which its schedule is written."""
        off = "How far the clocks of the sites are off stands in the runbook."
        return (
            (
                "A job starts at the hour at which its action says that it is due, by the clock of "
                "the site; schedules are written by the clock of head office."
            ),
            off if self.facts.in_article else self.article(),
            "Half past seven every day is written 30 7 * * *.",
        )

    def write(self, paper: Paper) -> Repair:
        """Find the job that starts at the hour by the wrong clock."""
        facts = self.facts
        hour = hour_of(self.due)
        if facts.sought:
            list_place(facts, paper)
            ids = ref("jobs", "jobs", take="all", field="id")
            paper.do("runs", RUNS, ids, job_id=ref("item"), limit=1)
            begun = {"runs.0.started_at": {"regex": f"T{hour}"}}
            paper.do(
                "cards",
                "scheduler_get_job",
                ref("runs", where=begun, take="all", field="runs.0.job_id"),
                job_id=ref("item"),
            )
            due = {"action": {"contains_any": [f"due to start at {hour}"]}}
            job: Any = ref("cards", where=due, field="id")
            action: Any = ref("cards", where=due, field="action")
        else:
            paper.do("card", "scheduler_get_job", job_id=find_named(facts, paper))
            job, action = ref("card", "id"), ref("card", "action")
        time = fn("regex", action, r"start at (\d\d:\d\d)")
        there = filled("{day}T{time}:00Z", day=ref("clock", "today"), time=time)
        here = fn("add_minutes", there, -self.ahead)
        schedule = filled(
            "{minute} {hour} * * *",
            minute=fn("regex", here, r"T\d\d:0?(\d+):"),
            hour=fn("regex", here, r"T0?(\d+):"),
        )
        return Repair(
            job,
            {"schedule": schedule},
            {"schedule": _daily(self.start)},
            "the hour at which it starts from now on by the clock of head office",
            [clock_pieces(self.start // 60, self.start % 60)],
            "it starts at {hour}",
            {"hour": fn("regex", ref("fixed", "next_run"), r"T(\d\d:\d\d)")},
            f"from now on {hour_of(self.start)}",
        )


def _city(zone: Zone) -> str:
    return zone.name.partition("/")[2]


def hour_of(minute: int) -> str:
    """A minute of the day as a clock shows it."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _daily(minute: int) -> str:
    return f"{minute % 60} {minute // 60} * * *"


def _off(city: str, minutes: int, extra: int) -> str:
    word = "ahead" if minutes > 0 else "behind"
    return f"{city} is {abs(minutes) + extra} minutes {word}"
