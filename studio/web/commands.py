"""Base classes of management commands: ``--json`` with one object last, jobs inline or on workers.

::

    class Command(JobCommand):
        kind = "prove_tasks"

        def add_own_arguments(self, parser): ...
        def job_arguments(self, options): return {"filter": options["filter"]}
        def last_line(self, job, seconds): return {**job.result, "seconds": seconds}

Progress is a bar on a terminal and JSON lines with ``--json``. The exit code is 0 only on success;
a ``StudioError`` is told in its own words, with its problems and places.
"""

import json
import sys
import time
from argparse import ArgumentParser
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from studio.lib.jsonvalue import JsonObject
from studio.web import jobs
from studio.web.errors import StudioError
from studio.web.models import Job

_BAR_WIDTH = 30
_DRAW_SECONDS = 0.1


class StudioCommand(BaseCommand):
    """A command whose result is one JSON object; override ``run``."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """``--json``, then the command's own."""
        parser.add_argument(
            "--json",
            action="store_true",
            dest="as_json",
            help="print JSON only; the last line is one object",
        )
        self.add_own_arguments(parser)

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """The command's own arguments."""

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Do the work and give the last line."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, print the result, turn errors into words and exit codes."""
        try:
            result = self.run(options)
        except StudioError as error:
            raise CommandError(error_words(error)) from error
        if options["as_json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        else:
            self.print_result(result)

    def print_result(self, result: JsonObject) -> None:
        """The result for a person: one line a key."""
        width = max((len(key) for key in result), default=0)
        for key, value in result.items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            self.stdout.write(f"{key.ljust(width)}  {shown}")


class JobCommand(StudioCommand):
    """A command that runs one job, here (``--inline``) or on the workers (``--wait``)."""

    kind: ClassVar[str]

    def add_arguments(self, parser: ArgumentParser) -> None:
        """``--inline`` and ``--wait``."""
        super().add_arguments(parser)
        where = parser.add_mutually_exclusive_group()
        where.add_argument(
            "--inline", action="store_true", help="run the job in this process (the default)"
        )
        where.add_argument(
            "--wait", action="store_true", help="let the workers run the job and wait for it"
        )

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """The job's arguments; a StudioError here ends the command before a job exists."""
        raise NotImplementedError

    def job_kind(self, options: dict[str, Any]) -> str:
        """The kind of job; asked after ``job_arguments``."""
        return self.kind

    def job_subject(self, options: dict[str, Any]) -> str:
        """The code of what the job is about, if there is one already."""
        return ""

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """The command's last JSON line; by default the job's result and the seconds."""
        result = job.result if isinstance(job.result, dict) else {}
        return {**result, "seconds": seconds}

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Run the job to its end."""
        arguments = self.job_arguments(options)
        kind, subject = self.job_kind(options), self.job_subject(options)
        show = Progress(self, as_json=options["as_json"])
        began = time.monotonic()
        try:
            if options["wait"]:
                job = jobs.start(kind, arguments, subject=subject)
                try:
                    job = jobs.wait(job, on_progress=show)
                except KeyboardInterrupt:
                    self.stderr.write(f"{job.code} goes on without this command.")
                    raise
            else:
                job = jobs.run_inline(kind, arguments, subject=subject, on_progress=show)
        finally:
            show.close()
        return self.last_line(job, round(time.monotonic() - began, 3))


class Progress:
    """A bar on a terminal, JSON lines with ``--json``, nothing into a pipe."""

    def __init__(self, command: BaseCommand, *, as_json: bool) -> None:
        self._command = command
        self._as_json = as_json
        self._terminal = not as_json and sys.stderr.isatty()
        self._drawn_at = -1e9
        self._drawn: tuple[int, int | None, str] | None = None
        self._open = False

    def __call__(self, done: int, total: int | None, note: str) -> None:
        """Show a report that is news; at most ten times a second, as JSON once, the last always."""
        now = time.monotonic()
        pause = 1.0 if self._as_json else _DRAW_SECONDS
        if (done, total, note) == self._drawn or (done != total and now - self._drawn_at < pause):
            return
        self._drawn_at, self._drawn = now, (done, total, note)
        if self._as_json:
            line = {"progress": {"done": done, "total": total, "note": note}}
            self._command.stdout.write(json.dumps(line, ensure_ascii=False))
            self._command.stdout.flush()
        elif self._terminal:
            self._open = True
            self._command.stderr.write(f"\r\x1b[K{_bar(done, total)} {note[:60]}", ending="")
            self._command.stderr.flush()

    def close(self) -> None:
        """End the line of the bar."""
        if self._open:
            self._command.stderr.write("")
            self._open = False


def error_words(error: StudioError) -> str:
    """The error and its problems as lines."""
    lines = [error.detail]
    for problem in error.problems:
        place = f"{problem.place}: " if problem.place else ""
        line = f"  {place}{problem.words}"
        if problem.message not in error.detail:
            lines.append(line)
    return "\n".join(lines)


def _bar(done: int, total: int | None) -> str:
    if not total:
        return f"{done}"
    filled = min(_BAR_WIDTH, _BAR_WIDTH * done // total)
    return f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {done}/{total}"
