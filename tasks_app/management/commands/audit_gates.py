"""Plant known defects and see whether the gates find them."""

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from studio.web.errors import Invalid
from studio.web.models import Job
from tasks_app.core.audit.audit import Report
from tasks_app.core.audit.catalog import gate_order, planters
from tasks_app.jobs import AUDIT
from tasks_app.models import GateAudit
from tasks_app.operations.audits import link_audit, open_audit
from tasks_app.reports import AUDIT_COLUMNS, audit_rows


class Command(JobCommand):
    """`audit_gates --count N`."""

    help = (
        "Plant known defects in sound tasks: how many does each gate find, how many do the rules "
        "mend, how often is a sound task blamed? Ends with 1 if anything was missed or blamed."
    )
    kind = AUDIT

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """How much is planted, and where the table goes."""
        parser.add_argument(
            "--count", type=int, default=20, help="defects of each gate; two and a half times as "
            "many sound tasks are looked at"
        )  # fmt: skip
        parser.add_argument("--seed", type=int, default=1, help="the same seed, the same defects")
        parser.add_argument(
            "--gate", action="append", default=[], dest="gates", metavar="GATE",
            help="only this gate, such as M1; may be given several times",
        )  # fmt: skip
        parser.add_argument("--processes", type=int, help="how many; one a core where none is said")
        parser.add_argument("--csv", type=Path, help="write the table, a row a gate, to this file")

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Open the audit that the job fills."""
        known = sorted({planter.gate for planter in planters()}, key=gate_order)
        unknown = [gate for gate in options["gates"] if gate not in known]
        if unknown:
            raise Invalid(f"There is no gate {unknown[0]} to audit. Known are {', '.join(known)}.")
        processes = options["processes"]
        if processes is not None and not 1 <= processes <= 64:
            raise Invalid("--processes must be between 1 and 64.")
        self._audit = open_audit(by=None, count=options["count"], seed=options["seed"])
        return {"audit": self._audit.code, "gates": options["gates"], "processes": processes}

    def job_subject(self, options: dict[str, Any]) -> str:
        """The audit's code."""
        return self._audit.code

    def last_line(self, job: Job, seconds: float) -> JsonObject:
        """Write the table, name every miss on stderr, and return the report."""
        audit = GateAudit.objects.get(pk=self._audit.pk)
        link_audit(audit=audit, job=job)
        for miss in audit.found.all():
            name = f"{miss.gate}.{miss.planter}" if miss.planter else miss.gate
            words = miss.get_kind_display()
            self.stderr.write(f"{words}: {name} in {miss.subject}: {miss.words[:200]}")
        found = super().last_line(job, seconds)
        # The job's result comes out of jsonb, which orders keys by length.
        gates = audit.result["gates"]
        found["gates"] = {gate: gates[gate] for gate in sorted(gates, key=gate_order)}
        self._sound = audit.sound
        return {key: found[key] for key in (*Report().result(), "audit") if key in found} | {
            "seconds": seconds
        }

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the result; end with 1 where something was missed or blamed."""
        table: Path | None = options["csv"]
        if table is not None and not table.parent.is_dir():
            raise SystemExit(f"{table.parent} is no folder to write a table in.")
        super().handle(*args, **options)
        if table is not None:
            with table.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, AUDIT_COLUMNS)
                writer.writeheader()
                writer.writerows(audit_rows(GateAudit.objects.get(pk=self._audit.pk)))
        if not self._sound:
            raise SystemExit(1)
