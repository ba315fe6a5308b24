"""``manage.py train --preset P [--dataset DS] [--init CODE] [--seed S]``: train a model."""

from argparse import ArgumentParser
from typing import Any

from studio.lib.jsonvalue import JsonObject, written_value
from studio.web.choices import JobState
from studio.web.commands import JobCommand
from studio.web.errors import Invalid, Problem
from studio.web.jobs import JobEnded
from studio.web.models import Job
from training_app.core.recipe import PRESETS
from training_app.jobs.runs import KIND, result_of
from training_app.models import TrainingRun
from training_app.operations.runs import open_run
from training_app.queries.datasets import get_dataset
from training_app.queries.results import measured
from training_app.queries.runs import get_checkpoint, get_run, run_dir


class Command(JobCommand):
    """Start a run, watch it to its end and print what it came to."""

    help = (
        "Train a model. Ctrl-C stops it with a checkpoint; it can be resumed on its page. "
        f"Presets: {', '.join(PRESETS)}."
    )
    kind = KIND
    training: TrainingRun | None = None

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Recipe, data, start."""
        parser.add_argument("--preset", required=True, help="a recipe by name")
        parser.add_argument(
            "--dataset", default="", metavar="DS", help="a frozen dataset; default: pocket tasks"
        )
        parser.add_argument(
            "--init", default="", metavar="CODE", help="a checkpoint to start from, such as CK-81ZZ"
        )
        parser.add_argument("--seed", type=int, help="default: the recipe's own")
        parser.add_argument("--steps", type=int, help="optimizer steps; default: the recipe's own")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="PLACE=VALUE",
            help="another value of the recipe, such as rollouts.group=4; may be repeated",
        )

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the run; whatever cannot be ends the command here."""
        changes = dict(_change(text) for text in options["set"])
        if options["steps"] is not None:
            changes["steps"] = options["steps"]
        self.training = open_run(
            preset=options["preset"],
            changes=changes,
            dataset=get_dataset(options["dataset"]) if options["dataset"] else None,
            parent=get_checkpoint(options["init"]) if options["init"] else None,
            seed=options["seed"],
            by=None,
        )
        return {"run": self.training.code}

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Bring the run to its end; of one that was stopped say where, and how it goes on."""
        try:
            return super().run(options)
        except JobEnded as ended:
            run = get_run("" if self.training is None else self.training.code)
            if run.state != JobState.STOPPED:
                raise
            raise JobEnded(ended.job, [_stopped(run)]) from ended

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """What it came to, in the order in which it is documented."""
        body = result_of(get_run("" if self.training is None else self.training.code))
        checkpoint = body.pop("checkpoint")
        return {**body, "seconds": seconds, "checkpoint": checkpoint}

    def print_result(self, result: JsonObject) -> None:
        """The result, and each measurement behind it with its interval and its tasks."""
        super().print_result(result)
        run = get_run("" if self.training is None else self.training.code)
        for one in measured(run):
            if one.shares.success is not None:
                self.stdout.write(
                    f"{one.when.lower()}, {one.way}, {one.split}: {one.shares.success:.2f} "
                    f"({one.shares.interval}, {one.shares.n} tasks)"
                )

    def job_subject(self, options: dict[str, Any]) -> str:
        """The run's code, so that its page finds the job."""
        return "" if self.training is None else self.training.code


def _stopped(run: TrainingRun) -> Problem:
    kept = run_dir(run).list_checkpoints()
    since = f"from step {kept[-1].step}, which is kept" if kept else "from its beginning"
    return Problem(
        run.code,
        f"stopped at step {run.step} of {run.steps}",
        f"Resume (R) on its page, /runs/{run.code}/, goes on {since}; over the API it is "
        f"POST /api/v1/training-runs/{run.code}/resume.",
    )


def _change(text: str) -> tuple[str, Any]:
    place, sign, value = text.partition("=")
    if not sign or not place:
        raise Invalid(
            "This run cannot be started.", [Problem("--set", f"“{text[:80]}” is not PLACE=VALUE")]
        )
    return place, written_value(value)
