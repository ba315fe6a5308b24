"""Prove all tasks of a filter."""

from argparse import ArgumentParser
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from tasks_app.jobs import PROVE
from tasks_app.management.commands._filters import TakesFilter
from tasks_app.queries import TASKS


class Command(TakesFilter, JobCommand):
    """`prove_tasks FILTER`."""

    help = "Run every gate on all tasks of a filter and keep the proofs."
    kind = PROVE

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """The filter."""
        parser.add_argument("filter", help="such as 'state:draft family:support_resolution'")

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Check the filter before a job exists."""
        TASKS.compile(options["filter"])
        return {"filter": options["filter"]}
