"""The gates and what they have done: repair yield and the newest audit."""

from django.http import HttpRequest
from ninja import Router

from studio.web.acts import Act
from studio.web.auth import require
from tasks_app.reports import gate_yields
from tasks_app.schemas.gates import GateAuditOut, GateOut

router = Router(tags=["gates"])


@router.get("", response=list[GateOut], summary="Gates, their repair yield and the newest audit")
@require(Act.READ)
def list_gates(request: HttpRequest) -> list[GateOut]:
    """Every gate in the order of a proof card."""
    return [
        GateOut(
            id=row.text.id,
            title=row.text.title,
            checks=row.text.checks,
            why=row.text.why,
            repair=row.text.repair,
            findings=row.findings,
            lost=row.lost,
            repairs=row.repaired,
            repairs_proven=row.mended,
            audit=None if row.audit is None else GateAuditOut(**row.audit),
        )
        for row in gate_yields()
    ]
