"""Hold tasks back from training, with all that hang together with them."""

import time
from argparse import ArgumentParser
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from tasks_app.enums import Split
from tasks_app.management.commands._filters import TakesFilter
from tasks_app.operations.splits import move


class Command(TakesFilter, StudioCommand):
    """`hold_back FILTER [--undo] [--dry-run]`."""

    help = (
        "Move tasks to the held-out instances: whole clusters, so that no name, id or value is "
        "left on the other side (gate V4). Whole families are held back by a table in the code."
    )

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Which tasks, and which way."""
        parser.add_argument("filter", help="such as 'family:support_resolution created:>=2031-01'")
        parser.add_argument("--undo", action="store_true", help="move them back to training")
        parser.add_argument("--dry-run", action="store_true", help="say what would move")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Move and count."""
        began = time.monotonic()
        to = Split.TRAIN if options["undo"] else Split.NEW_INSTANCES
        found = move(filter_text=options["filter"], to=to, by=None, dry=options["dry_run"])
        return {
            "split_kind": Split.NEW_INSTANCES.value,
            "moved": found.asked + len(found.along),
            "along": list(found.along),
            "leaks": found.leaks,
            "seconds": round(time.monotonic() - began, 3),
        }
