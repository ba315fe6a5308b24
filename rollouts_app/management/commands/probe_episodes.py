"""Look through stored episodes for rewards that were earned by a trick."""

from argparse import ArgumentParser
from typing import Any

from rollouts_app.jobs import PROBE_KIND
from rollouts_app.queries import EPISODES
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand


class Command(JobCommand):
    """`probe_episodes FILTER`."""

    help = "Flag episodes that pass without the work, or earn much beside a broken rule (gate P2)."
    kind = PROBE_KIND

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """The filter."""
        parser.add_argument("filter", help="such as 'policy:endpoint:mine passed:yes'; '' for all")

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Check the filter before a job exists."""
        EPISODES.compile(options["filter"])
        return {"filter": options["filter"]}
