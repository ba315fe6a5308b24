"""``manage.py run_rollouts --policy reference --tasks FILTER --n N``: roll a policy out."""

from argparse import ArgumentParser
from typing import Any

from rollouts_app.core.scripted import POLICIES
from rollouts_app.jobs import KIND, kind_of, result_of
from rollouts_app.models import RolloutBatch
from rollouts_app.operations.batches import CONCURRENCY, MOST_AT_ONCE, open_batch
from rollouts_app.queries import get_batch, selected
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from studio.web.models import Job


class Command(JobCommand):
    """Run n episodes of a policy on every task of a filter and print what they earned."""

    help = (
        "Roll a policy out on tasks. Without a state: term only current versions with a green "
        "proof are run. Policies: endpoint:NAME, checkpoint:CODE, " + ", ".join(POLICIES)
    )
    kind = KIND
    batch: RolloutBatch | None = None

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Policy, tasks, size of a group, seed."""
        parser.add_argument(
            "--policy", required=True, help="a built-in policy, endpoint:NAME or checkpoint:CODE"
        )
        parser.add_argument("--tasks", default="", help="a task filter; empty: all")
        parser.add_argument("--n", type=int, default=1, help="episodes a task (default 1)")
        parser.add_argument("--seed", type=int, default=0, help="of the first episode of a group")
        parser.add_argument(
            "--concurrency",
            type=int,
            default=CONCURRENCY,
            help=f"episodes of an endpoint at once (default {CONCURRENCY}, at most {MOST_AT_ONCE})",
        )
        parser.add_argument("--budget-calls", type=int, help="stop after so many calls")
        parser.add_argument("--budget-tokens", type=int, help="stop after so many tokens")

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the batch; a wrong policy or filter ends the command here."""
        self.batch = open_batch(
            policy=options["policy"],
            chosen=selected(options["tasks"]),
            filter_text=options["tasks"],
            group_size=options["n"],
            seed=options["seed"],
            by=None,
            concurrency=options["concurrency"],
            budget_calls=options["budget_calls"],
            budget_tokens=options["budget_tokens"],
        )
        return {"batch": self.batch.code}

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """What was earned, in the order in which it is documented."""
        batch = get_batch("" if self.batch is None else self.batch.code)
        return {**result_of(batch), "seconds": seconds}

    def job_kind(self, options: dict[str, Any]) -> str:
        """Models wait on workers of their own."""
        return kind_of(options["policy"])

    def job_subject(self, options: dict[str, Any]) -> str:
        """The batch's code, so that its page finds the job."""
        return "" if self.batch is None else self.batch.code
