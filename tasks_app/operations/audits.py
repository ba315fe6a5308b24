"""Keeping what an audit of the gates found."""

from collections.abc import Iterable
from typing import Any, Final

from django.db import transaction

from studio.web import audit as trail
from studio.web.errors import Invalid, Problem
from studio.web.models import Job
from tasks_app.core.audit.audit import MOST_KEPT, Done, Report
from tasks_app.core.audit.catalog import planters
from tasks_app.core.validation.card import GATES_VERSION
from tasks_app.models import AuditMiss, GateAudit
from tasks_app.operations.actors import Actor

LARGEST_AUDIT: Final = 2000
"""Defects of each gate."""
LARGEST_SEED: Final = 2**53


@transaction.atomic
def open_audit(*, by: Actor, count: int, seed: int) -> GateAudit:
    """Open an audit; starts nothing. Invalid names every wrong parameter."""
    problems = []
    if not 1 <= count <= LARGEST_AUDIT:
        problems.append(Problem("count", f"must be between 1 and {LARGEST_AUDIT:,}"))
    if not 0 <= seed <= LARGEST_SEED:
        problems.append(Problem("seed", f"must be between 0 and {LARGEST_SEED:,}"))
    if problems:
        raise Invalid("This audit cannot be started.", problems)
    row = GateAudit.objects.create(count=count, seed=seed, gates_version=GATES_VERSION)
    trail.record(by, "audit_gates", row.code, {"count": count, "seed": seed})
    return row


@transaction.atomic
def store_audit(*, audit: GateAudit, report: Report, seconds: float) -> GateAudit:
    """Keep what an audit came to, in place of what an earlier try of the same audit left."""
    row = GateAudit.objects.select_for_update().get(pk=audit.pk)
    row.found.all().delete()
    kinds = (
        (AuditMiss.Kind.MISSED, report.misses),
        (AuditMiss.Kind.ALARM, report.alarms),
        (AuditMiss.Kind.UNMENDED, report.unmended),
    )
    titles = {(planter.gate, planter.name): planter.title for planter in planters()}
    found = [(kind, done) for kind, several in kinds for done in several][:MOST_KEPT]
    AuditMiss.objects.bulk_create(
        _miss(row, position, kind, done, titles) for position, (kind, done) in enumerate(found)
    )
    row.result = {**report.result(), "seconds": seconds}
    row.planters = list(_planter_rows(report))
    row.sound = report.sound
    row.seconds = seconds
    row.save(update_fields=["result", "planters", "sound", "seconds"])
    return row


def link_audit(*, audit: GateAudit, job: Job | None) -> None:
    """Note the job that does it."""
    GateAudit.objects.filter(pk=audit.pk).update(job=job)


def _miss(
    row: GateAudit, position: int, kind: str, done: Done, titles: dict[tuple[str, str], str]
) -> AuditMiss:
    chore = done.chore
    return AuditMiss(
        audit=row,
        position=position,
        kind=kind,
        gate=chore.gate or (done.found[0] if done.found else ""),
        planter=chore.name,
        title=titles.get((chore.gate, chore.name), ""),
        subject=done.subject[:200],
        words=done.words[:2000],
        spec=None if done.spec is None else dict(done.spec),
    )


def _planter_rows(report: Report) -> Iterable[dict[str, Any]]:
    for planter in planters():
        counted = report.gates.get(planter.gate)
        planted, detected, to_repair, repaired = (
            counted.planters.get(planter.name, (0, 0, 0, 0)) if counted else (0, 0, 0, 0)
        )
        yield {
            "gate": planter.gate,
            "name": planter.name,
            "title": planter.title,
            "kind": planter.kind,
            "upstream": planter.upstream,
            "planted": planted,
            "detected": detected,
            "to_repair": to_repair,
            "repaired": repaired,
        }
