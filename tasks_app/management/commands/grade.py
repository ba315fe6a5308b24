"""Grade any calls on any spec; nothing is stored, no database is needed."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import perform
from tasks_app.core.world.world import World
from tasks_app.management.commands._files import read_calls_file, read_spec_file


class Command(StudioCommand):
    """`grade --spec FILE --calls FILE`."""

    help = "Run a list of calls on a fresh world of a task spec and grade it; nothing is stored."
    requires_system_checks: list[str] = []

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """The two files."""
        parser.add_argument("--spec", type=Path, required=True, help="one task spec as JSON")
        parser.add_argument(
            "--calls",
            type=Path,
            required=True,
            help='a JSON list of {"tool", "arguments"} and {"reply"}; a reply ends a stage',
        )

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Perform the acts as they stand, without repetition, and grade what they left."""
        spec = read_spec_file(options["spec"])
        acts = read_calls_file(options["calls"])
        world = World(spec)
        perform(world, acts)
        found = grade(spec.checks, spec.constraints, world.evidence())
        return {
            "reward": found.total,
            "passed": found.passed,
            "components": dict(found.components),
            "violations": list(found.violations),
            "checks": {result.id: result.score for result in found.checks},
            "state_key": f"{world.store.state_key():032x}",
        }
