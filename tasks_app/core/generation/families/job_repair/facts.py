"""The facts of a draft: jobs of a house, and how their runs went."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.job_repair import words
from tasks_app.core.generation.families.job_repair.words import Topic
from tasks_app.core.generation.forms import Json
from tasks_app.core.services.cron import next_run, parse_cron

FLAPPING: Final = "flapping"
OVERLAPPING: Final = "overlapping_runs"
WAITING: Final = "late_dependency"
ZONE: Final = "wrong_zone"


@dataclass
class JobFacts:
    """What is true in one draft. Drawn by the pattern of its subtype, then only read."""

    subtype: str
    level: int
    cast: Cast
    jobs: list[Json] = field(default_factory=list)
    runs: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        cast = self.cast
        self.rng = cast.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = self.rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = self.rng.choice(words.ROLES)
        self.colleague: Person = cast.person(self.house.domain)
        self.deputy: Person = cast.person(self.house.domain)
        self.owners = [cast.person(self.house.domain).name for _ in range(4)]
        self.keeper, self.old_keeper = cast.person().name, cast.person().name
        self.topics: list[Topic] = cast.sample(words.TOPICS, 12)
        self.topic = self.topics[0]
        self.place, self.elsewhere = cast.sample(words.MACHINES, 2)

    # --- which level brings what -----------------------------------------------------------------

    @property
    def sought(self) -> bool:
        """The job is found by its runs; before, the request names it."""
        return self.level >= 2

    @property
    def in_article(self) -> bool:
        """What decides stands in the current runbook."""
        return self.level >= 3

    @property
    def handed(self) -> bool:
        """The runbook says who answers for the job from then on."""
        return self.level >= 4

    # --- jobs and runs ---------------------------------------------------------------------------

    def job(
        self,
        topic: Topic,
        schedule: str,
        *,
        suffix: str = "",
        place: str = "",
        action: str = "",
        enabled: bool = True,
    ) -> Json:
        """Add a job; its last run is entered with its runs."""
        first = topic.action[0].upper() + topic.action[1:]
        made: Json = {
            "id": "",
            "name": f"{topic.name} {suffix}".strip(),
            "schedule": schedule,
            "action": f"{first}{action}.",
            "enabled": enabled,
            "owner": self.rng.choice(self.owners),
            "tags": [place or self.place],
            "last_run": None,
            "last_status": None,
            "next_run": next_run(parse_cron(schedule), self.clock.now) if enabled else None,
            "note": self.rng.choice(words.NOTES),
            "updated_at": self.clock.ago(self.rng.randrange(40, 300), self.rng.randrange(540, 960)),
            "topic": topic,
        }
        self.jobs.append(made)
        return made

    def ran(
        self,
        job: Json,
        days: int,
        minute: int,
        seconds: float,
        status: str = "ok",
        message: str = "",
    ) -> None:
        """Add a run that began so many days ago at a minute of that day."""
        day = self.clock.day - timedelta(days=days)
        running = status == "running"
        topic: Topic = job["topic"]
        if not message and not running:
            done = topic.done.format(n=self.rng.randrange(40, 2400))
            message = done if status == "ok" else self.rng.choice(topic.failures)
        started = self.clock.at(day, minute)
        self.runs.append(
            {
                "id": "",
                "job": job,
                "started_at": started,
                "ended_at": None if running else self.clock.at(day, minute + int(seconds / 60)),
                "seconds": 0 if running else seconds,
                "status": status,
                "message": "still running" if running else message,
            }
        )
        if job["last_run"] is None or started > job["last_run"]:
            job["last_run"], job["last_status"] = started, status

    def nightly(
        self,
        job: Json,
        minute: int,
        statuses: Sequence[str],
        seconds: Sequence[int] = (),
        since: int = 0,
    ) -> None:
        """Add a run a day, the latest first; the latest is today's where its hour has come."""
        first = since or (0 if minute + 150 < self.clock.minute else 1)
        for number, status in enumerate(statuses):
            lasted = seconds[number] if seconds else self.rng.randrange(40, 900)
            self.ran(job, first + number, minute, lasted, status)

    def number_all(self, right: Json, ahead: Sequence[Json]) -> None:
        """Give ids by lot, the right job after those that are listed with it and are not meant."""
        others = self.cast.shuffled([job for job in self.jobs if job is not right])
        listed = self.cast.in_the_middle(right, others)
        place = listed.index(right)
        late = [job for job in listed[place:] if any(job is other for other in ahead)]
        after = [j for j in listed[place + 1 :] if not any(j is other for other in late)]
        self.jobs = [*self.cast.shuffled([*listed[:place], *late]), right, *after]
        number = self.rng.randrange(102, 700)
        for job in self.jobs:
            number += self.rng.randrange(1, 9)
            job["id"] = f"JB-{number}"
            del job["topic"]
        self.runs.sort(key=lambda run: (run["started_at"], run["job"]["id"]))
        number = self.rng.randrange(1200, 8000)
        for run in self.runs:
            number += self.rng.randrange(1, 5)
            run["id"] = f"RN-{number}"
            run["job_id"] = run.pop("job")["id"]
