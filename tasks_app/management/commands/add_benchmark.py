"""Add, list and remove benchmarks that no task may repeat (gate V2)."""

import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from studio.web.errors import Conflict, Invalid, NotFound
from tasks_app.jobs import ADD_BENCHMARK, REMOVE_BENCHMARK
from tasks_app.queries import benchmarks


class Command(JobCommand):
    """`add_benchmark PATH [--name NAME]`, `--list`, `--remove NAME`."""

    help = (
        "Compare tasks with a benchmark from now on. Only hashes and titles are kept; tasks that "
        "repeat it are proven again at once."
    )
    kind = ADD_BENCHMARK

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """What to add, or what else to do."""
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "path",
            nargs="?",
            type=Path,
            help="folders of Claw-Eval tasks, .txt or .jsonl files, or a folder of them",
        )
        what.add_argument("--list", action="store_true", help="the benchmarks that were added")
        what.add_argument("--remove", metavar="NAME", help="forget a benchmark")
        parser.add_argument("--name", help="what it is called here; the path's own name without it")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """List, or run the job."""
        if options["list"]:
            return {row.name: row.items_count for row in benchmarks()}
        return super().run(options)

    def job_kind(self, options: dict[str, Any]) -> str:
        """Adding or removing."""
        return REMOVE_BENCHMARK if options["remove"] is not None else ADD_BENCHMARK

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Look whether it can be done before a job exists."""
        names = set(benchmarks().values_list("name", flat=True))
        if options["remove"] is not None:
            if options["remove"] not in names:
                known = ", ".join(sorted(names)) or "none"
                raise NotFound(f"There is no benchmark {options['remove']}; known: {known}.")
            return {"name": options["remove"]}
        path: Path = options["path"].expanduser().resolve()
        if not path.exists():
            raise NotFound(f"{options['path']} does not exist.")
        name = options["name"] or re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_")[:80]
        if not name:
            raise Invalid(f"{path.name} makes no name; give one with --name.")
        if name in names:
            raise Conflict(f"There is a benchmark {name} already; remove it first, or use --name.")
        return {"path": str(path), "name": name}

    def job_subject(self, options: dict[str, Any]) -> str:
        """Nothing: a benchmark has no code."""
        return ""

    def print_result(self, result: JsonObject) -> None:
        """The result for a person; an empty list says so."""
        if result:
            super().print_result(result)
        else:
            self.stdout.write("No benchmark was added yet.")
