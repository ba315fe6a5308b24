"""``manage.py adopt_run PATH``: take in a run that ran elsewhere, also while it grows."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from training_app.operations.run_archives import adopt_run


class Command(StudioCommand):
    """Import curve, samples and checkpoints of a run directory or a zip of one."""

    help = (
        "Take in a run directory, where it lies, or a zip of one. The same again, grown or not, "
        "is the same run; a folder is read on by itself while its run goes on."
    )

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Where it is."""
        parser.add_argument("path", type=Path, help="a run directory, or a zip of one")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Read it and say how many files, with a hash over what does not change any more."""
        made = adopt_run(path=options["path"], by=None)
        return {"run": made.run.code, "files": made.files, "sha256": made.sha256}
