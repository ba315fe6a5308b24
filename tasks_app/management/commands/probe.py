"""Run the cheap policies, the mutants and the violating policies of any spec; nothing is stored."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import StudioCommand
from studio.web.errors import Invalid, Problem
from tasks_app.core.validation.proof import prove
from tasks_app.management.commands._files import read_spec_file


class Command(StudioCommand):
    """`probe --spec FILE`."""

    help = "Prove a task spec and print what each cheap policy, mutant and violator earns."
    requires_system_checks: list[str] = []

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """The spec."""
        parser.add_argument("--spec", type=Path, required=True, help="one task spec as JSON")

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Prove the spec as it stands, without repairs."""
        card = prove(read_spec_file(options["spec"]))
        if card.null is None:
            raise Invalid(
                "This spec cannot be run.",
                [
                    Problem(finding.path or "/", finding.message, finding.hint, code=finding.gate)
                    for finding in card.findings
                ],
            )
        for finding in card.findings:
            self.stderr.write(f"{finding.gate} {finding.path or '/'}: {finding.message}")
        return {
            "reference": card.reference.reward if card.reference is not None else None,
            "null": card.null.reward,
            "probes": {run.name: run.reward for run in card.probes},
            "mutants": {
                "killed": card.count("killed"),
                "equivalent": card.count("equivalent"),
                "survived": card.count("survived"),
            },
            "constraints": {proof.id: proof.reward for proof in card.constraints},
        }
