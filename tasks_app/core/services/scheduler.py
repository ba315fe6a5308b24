"""The scheduler: jobs that run by themselves, and how their runs ended.

A job's `next_run` is what its schedule says after the last change; a disabled job has none.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, cast

from pydantic import Field, StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Limit, Query, RecordId, Service, Text, collection, tool
from tasks_app.core.services.cron import CronError, next_run, parse_cron
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    by_time,
    given,
    page,
    search,
    select,
)

Schedule = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[Sequence[Word], Field(max_length=20)]

_SUMMARY: Final = ("id", "name", "schedule", "enabled", "owner", "tags", "next_run", "last_status")


class Job(TypedDict, total=False):
    """Work that runs by itself."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    schedule: ReadOnly[str]
    action: ReadOnly[str | None]
    enabled: ReadOnly[bool]
    owner: ReadOnly[str | None]
    tags: ReadOnly[Sequence[str]]
    last_run: ReadOnly[str | None]
    last_status: ReadOnly[str | None]
    next_run: ReadOnly[str | None]
    note: ReadOnly[str | None]
    updated_at: ReadOnly[str]


class Run(TypedDict, total=False):
    """One run of a job."""

    id: ReadOnly[str]
    job_id: ReadOnly[str]
    started_at: ReadOnly[str]
    ended_at: ReadOnly[str | None]
    seconds: ReadOnly[float]
    status: ReadOnly[str]
    message: ReadOnly[str | None]


class Scheduler(Service):
    """Jobs and their runs."""

    name = "scheduler"
    function = "scheduling"
    purpose = "See which jobs run when and how they ended; create, change, stop them."

    jobs = collection(Job, prefix="JB", width=3)
    runs = collection(Run, prefix="RN")

    @tool()
    def list_jobs(
        self,
        enabled: bool | None = None,  # noqa: FBT001 (a tool's argument, always passed by name)
        owner: Word | None = None,
        tag: Word | None = None,
        last_status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List jobs in the order of their ids.

        Args:
            enabled: Only jobs that run, or only those that do not.
            owner: Only jobs of this person or team.
            tag: Only jobs with this tag.
            last_status: Only jobs whose last run ended like this.
            limit: How many to show at most.
        """
        rows = select(self.jobs, owner=owner, tags=tag, last_status=last_status)
        if enabled is not None:
            rows = [job for job in rows if (job.get("enabled") is True) == enabled]
        return page("jobs", rows, limit, _SUMMARY)

    @tool()
    def search_jobs(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find jobs in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the job.
            limit: How many to show at most.
        """
        return page("jobs", search(self.jobs, query), limit, _SUMMARY)

    @tool()
    def get_job(self, job_id: RecordId) -> Job:
        """Show one job.

        Args:
            job_id: The job to show.
        """
        return self.jobs[job_id]

    @tool()
    def list_runs(
        self, job_id: RecordId, status: Word | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """List the runs of a job, latest first.

        Args:
            job_id: The job whose runs are shown.
            status: Only runs that ended like this.
            limit: How many to show at most.
        """
        _ = self.jobs[job_id]
        rows = by_time(select(self.runs, job_id=job_id, status=status), "started_at")
        return page("runs", rows[::-1], limit)

    @tool(
        writes=True,
        text=("note",),
        inside=True,
        fills=("jobs#next_run", "jobs#updated_at"),
    )
    def create_job(
        self,
        name: Word,
        schedule: Schedule,
        action: Text,
        enabled: bool = True,  # noqa: FBT001, FBT002 (a tool's argument, always passed by name)
        owner: Word | None = None,
        tags: Tags = (),
        note: Text | None = None,
    ) -> Job:
        """Add a job.

        Args:
            name: What it is called.
            schedule: When it runs: minute hour day month weekday, as cron writes it.
            action: What it does.
            enabled: Whether it runs from now on.
            owner: Who answers for it.
            tags: Words to find it by.
            note: What others should know about it.
        """
        following = self._next(schedule)
        if any(str(job.get("name")).casefold() == name.casefold() for job in self.jobs):
            raise ToolError("conflict", f"there is a job called {name} already")
        return self.jobs.put(
            {
                "id": self.jobs.new_id(),
                "name": name,
                "schedule": schedule,
                "action": action,
                "enabled": enabled,
                "owner": owner,
                "tags": list(tags),
                "last_run": None,
                "last_status": None,
                "next_run": following if enabled else None,
                "note": note,
                "updated_at": self.now,
            }
        )

    @tool(
        writes=True,
        text=("note",),
        inside=True,
        fills=("jobs#next_run", "jobs#updated_at"),
    )
    def update_job(
        self,
        job_id: RecordId,
        name: Word | None = None,
        schedule: Schedule | None = None,
        action: Text | None = None,
        enabled: bool | None = None,  # noqa: FBT001 (a tool's argument, always passed by name)
        owner: Word | None = None,
        tags: Tags | None = None,
        note: Text | None = None,
    ) -> Job:
        """Change a job, or switch it on or off.

        Args:
            job_id: The job to change.
            name: What it is called.
            schedule: When it runs: minute hour day month weekday, as cron writes it.
            action: What it does.
            enabled: Whether it runs from now on.
            owner: Who answers for it.
            tags: Words to find it by, instead of those it had.
            note: What others should know about it.
        """
        job = self.jobs[job_id]
        changes = given(
            name=name,
            schedule=schedule,
            action=action,
            enabled=enabled,
            owner=owner,
            tags=None if tags is None else list(tags),
            note=note,
        )
        if all(job.get(field) == value for field, value in changes.items()):
            raise ToolError("conflict", f"{job_id} is like this already")
        if schedule is not None or enabled is not None:
            changed = {**job, **changes}
            following = self._next(str(changed.get("schedule")))
            changes["next_run"] = following if changed.get("enabled") is True else None
        return self.jobs.put(cast(Job, {**job, **changes, "updated_at": self.now}))

    @tool(writes=True)
    def delete_job(self, job_id: RecordId) -> Mapping[str, Any]:
        """Delete a job; its past runs stay.

        Args:
            job_id: The job to delete.
        """
        job = self.jobs[job_id]
        self.jobs.remove(job_id)
        return job

    def _next(self, schedule: str) -> str | None:
        try:
            return next_run(parse_cron(schedule), self.now)
        except CronError as problem:
            raise ToolError("invalid_value", f"schedule: {problem}") from problem
