"""``manage.py evaluate --checkpoint CODE | --endpoint NAME --suite S``: measure a model."""

from argparse import ArgumentParser
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from studio.web.models import Job
from training_app.jobs.evaluations import EVALUATE, arguments_of, result_of
from training_app.models import Evaluation
from training_app.operations.evaluations import BUILT_IN, find_suite, open_evaluation
from training_app.queries.evaluations import get_evaluation
from training_app.queries.runs import get_checkpoint


class Command(JobCommand):
    """Roll a model out on a frozen suite and print its score with the interval."""

    help = (
        "Measure a checkpoint or an endpoint on a suite: the share of passed tasks with a 95 % "
        "bootstrap interval over tasks, Pass^3, and what is new in the tasks. A checkpoint is "
        f"served for as long as that takes. Built-in suites: {', '.join(BUILT_IN)}."
    )
    kind = EVALUATE
    evaluation: Evaluation | None = None

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """The model, the suite, how it draws, what it is compared with."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--checkpoint", default="", help="the code of a checkpoint: CK-81ZZ")
        which.add_argument("--endpoint", default="", help="the name of an endpoint")
        parser.add_argument("--suite", required=True, help="name or code of a suite")
        parser.add_argument(
            "--sampled",
            action="store_true",
            help="draw at temperature 1 (an endpoint: as it is set); without it greedy",
        )
        parser.add_argument(
            "--n", type=int, default=1, help="episodes a task (default 1); Pass^3 needs 3"
        )
        parser.add_argument("--seed", type=int, default=0, help="of the first episode of a task")
        parser.add_argument(
            "--baseline",
            default="",
            help="code of the evaluation to compare with (default: of the checkpoint that the run "
            "started from, else of its earliest step), or none",
        )

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the evaluation; what cannot be ends the command here."""
        named, baseline = options["baseline"], None
        if named and named != "none":
            baseline = get_evaluation(named)
        code = options["checkpoint"]
        self.evaluation = open_evaluation(
            suite=find_suite(options["suite"]),
            checkpoint=get_checkpoint(code) if code else None,
            endpoint=options["endpoint"],
            greedy=not options["sampled"],
            group_size=options["n"],
            seed=options["seed"],
            baseline=baseline,
            compare=named != "none",
            by=None,
        )
        return arguments_of(self.evaluation)

    def job_subject(self, options: dict[str, Any]) -> str:
        """The evaluation's code, so that its page finds the job."""
        return "" if self.evaluation is None else self.evaluation.code

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """The score, in the order in which it is documented."""
        return result_of(get_evaluation("" if self.evaluation is None else self.evaluation.code))
