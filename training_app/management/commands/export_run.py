"""``manage.py export_run RUN PATH``: a run as a folder or zip that the engine runs anywhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from training_app.operations.run_archives import export_run
from training_app.queries.runs import get_run


class Command(StudioCommand):
    """Write a run to take it to another machine; `adopt_run` brings it home."""

    help = (
        "Write a run as a folder, or as a zip where PATH ends in .zip: recipe, dataset, start, and "
        "of a run that is over its curve and last checkpoint. The engine runs it on any machine."
    )

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Run and place."""
        parser.add_argument("run_code", metavar="RUN", help="such as RUN-4K7Q")
        parser.add_argument("path", type=Path, help="a new folder, or a file that ends in .zip")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Write it and say how many files, with a hash over all of them."""
        made = export_run(run=get_run(options["run_code"]), path=options["path"])
        return {"run": made.run.code, "files": made.files, "sha256": made.sha256}
