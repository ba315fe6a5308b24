"""Generate tasks of built-in families, proven and without near duplicates."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studio.lib.jsonl import write_file
from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand, Progress
from studio.web.errors import Invalid
from studio.web.models import Job
from tasks_app.core.generation.families.catalog import FAMILIES, INVENTORIES, families_of
from tasks_app.core.generation.tally import Tally
from tasks_app.jobs import GENERATE
from tasks_app.making import outcomes, processes_for
from tasks_app.models import GenerationRun
from tasks_app.operations.generation import open_fill, open_run, plan_fill, run_problems


class Command(JobCommand):
    """`generate_tasks --family F|--inventory I|--fill --count N --seed S`."""

    help = "Generate tasks of a built-in family: drafted, mended, proven, unlike any other."
    kind = GENERATE

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """What to make, and whether to keep it."""
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "--family",
            action="append",
            dest="families",
            metavar="FAMILY",
            help=f"one of {', '.join(FAMILIES)}; may be given several times",
        )
        what.add_argument(
            "--inventory",
            choices=INVENTORIES,
            help="all families of a track; at most 5 %% of the tasks are built alike",
        )
        what.add_argument(
            "--fill",
            action="store_true",
            help="the emptiest cells of capability, family and difficulty first",
        )
        parser.add_argument("--count", type=int, required=True, help="how many tasks")
        parser.add_argument("--seed", type=int, default=1, help="the same seed, the same tasks")
        parser.add_argument(
            "--difficulty",
            type=int,
            action="append",
            default=[],
            help="1 to 5, may be given several times; without it all levels in turn",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="keep nothing; needs no database but for --fill"
        )
        parser.add_argument("--out", type=Path, help="with --dry-run: write the specs, one a line")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Run the job, or only draft."""
        if options["inventory"] is not None:
            options["families"] = list(families_of(options["inventory"]))
            if not options["families"]:
                raise Invalid(f"No family of {options['inventory']} is built in yet.")
        if options["dry_run"]:
            return self._draft(options)
        if options["out"] is not None:
            raise Invalid("--out goes with --dry-run; use export_tasks for tasks that are kept.")
        return super().run(options)

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the run that the job fills."""
        asked = {key: options[key] for key in ("count", "seed", "difficulty")}
        self._run = (
            open_fill(by=None, **asked)
            if options["fill"]
            else open_run(by=None, families=options["families"], **asked)
        )
        return {"run": self._run.code}

    def job_subject(self, options: dict[str, Any]) -> str:
        """The run's code, so that its page finds the job."""
        return self._run.code

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """Say on stderr what was lost, and return the counts."""
        run = GenerationRun.objects.get(pk=self._run.pk)
        self.stderr.write(
            f"{run.code}: {run.drafted} drafts for {run.asked} tasks, {run.unique} kept, "
            f"{run.quarantined} quarantined, {run.proven - run.unique} near duplicates"
        )
        found = super().last_line(job, seconds)
        # The job's result comes out of jsonb, which orders keys by length.
        return {key: found[key] for key in Tally().result() if key in found} | {"seconds": seconds}

    def _draft(self, options: dict[str, Any]) -> JsonObject:
        asked = {key: options[key] for key in ("count", "seed", "difficulty")}
        if options["fill"]:
            options["shares"] = plan_fill(**asked)
            options["families"] = list(dict.fromkeys(s.family for s in options["shares"]))
        problems = run_problems(options["families"], **asked)
        if problems:
            raise Invalid("Nothing was generated.", problems)
        began = time.monotonic()
        tally = Tally()
        specs = self._specs(options, tally)
        out: Path | None = options["out"]
        try:
            if out is None:
                for _ in specs:
                    pass
            else:
                # The file is opened first: what cannot be written is known before the work.
                write_file(out, specs)
        except OSError as error:
            raise Invalid(f"{out} cannot be written: {error.strerror}.") from error
        return {**tally.result(), "seconds": round(time.monotonic() - began, 3)}

    def _specs(self, options: dict[str, Any], tally: Tally) -> Iterator[JsonObject]:
        """Draft, count into ``tally``, and give the specs that would be kept."""
        count = options["count"]
        show = Progress(self, as_json=options["as_json"])
        try:
            for outcome in outcomes(
                options["families"],
                count,
                options["seed"],
                options["difficulty"],
                shares=options.get("shares", ()),
                library=False,
                processes=processes_for(count),
            ):
                tally.add(outcome)
                show(tally.unique, count, "drafting")
                if outcome.fate == "unique" and outcome.made.spec is not None:
                    yield outcome.made.spec.written()
                else:
                    self.stderr.write(f"{outcome.made.plan.key}: {outcome.fate}, {outcome.reason}")
        finally:
            show.close()
