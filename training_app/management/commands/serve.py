"""``manage.py serve --checkpoint CODE``: a checkpoint behind an address, until Ctrl-C."""

import json
from argparse import ArgumentParser
from typing import Any, Final

from studio.lib.jsonvalue import JsonObject
from studio.web import jobs
from studio.web.choices import JobState
from studio.web.commands import StudioCommand
from studio.web.errors import Invalid, Problem
from studio.web.jobs import JobEnded
from training_app.jobs.evaluations import IDLE
from training_app.jobs.serving import READY, ensure_servable
from training_app.queries.runs import get_checkpoint
from training_app.queries.servings import SERVE

LONGEST_IDLE: Final = 7 * 24 * 3600


class Command(StudioCommand):
    """Serve a checkpoint on this machine and print its address once it answers."""

    help = (
        "Serve a checkpoint as an OpenAI-compatible endpoint on this machine, until Ctrl-C or "
        "until nobody asks any more. It waits for its device like a training run."
    )
    told = ""
    """The last note that was shown."""
    url = ""
    """Of the server, once it answers."""

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Which one, and how long it stays without a question."""
        parser.add_argument("--checkpoint", required=True, help="its code: CK-81ZZ")
        parser.add_argument(
            "--idle",
            type=float,
            default=IDLE,
            help=f"seconds without a question after which it ends (default {IDLE:.0f})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the address as soon as there is one; Ctrl-C after that is the usual end."""
        self.as_json: bool = options["as_json"]
        try:
            super().handle(*args, **options)
        except KeyboardInterrupt:
            if not self.url:
                raise

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Serve in this process; a script that reads the last line finds the address there too."""
        checkpoint = get_checkpoint(options["checkpoint"])
        ensure_servable(checkpoint)
        if not 0 < options["idle"] <= LONGEST_IDLE:  # not a number is refused by this, too
            raise Invalid(
                "This cannot be served.",
                [Problem("--idle", f"must be above 0 and at most {LONGEST_IDLE:,} seconds")],
            )
        try:
            jobs.run_inline(
                SERVE,
                {"checkpoint": checkpoint.code, "idle": options["idle"]},
                subject=checkpoint.code,
                on_progress=self.show,
            )
        except JobEnded as ended:
            if ended.job.state != JobState.STOPPED or not self.url:
                raise
        return {"url": self.url}

    def show(self, done: int, total: int | None, note: str) -> None:
        """Print the address once; what comes before it is told on the error channel."""
        if note == self.told or self.url:
            return
        self.told = note
        if not note.startswith(READY):
            self.stderr.write(note)
            return
        self.url = note.removeprefix(READY)
        self.stdout.write(json.dumps({"url": self.url}) if self.as_json else self.url)
        self.stdout.flush()

    def print_result(self, result: JsonObject) -> None:
        """Nothing more: the address was the result."""
