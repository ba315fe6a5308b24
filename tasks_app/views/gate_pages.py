"""The gates: what each checks, why, how it repairs, its yield so far, and the newest audit."""

from collections import Counter
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from studio.web.acts import Act
from studio.web.auth import may, principal, require
from studio.web.errors import NotFound
from studio.web.htmx import see_other
from tasks_app import reports
from tasks_app.jobs import start_audit, start_renewal
from tasks_app.models import Attempt, AuditMiss, GateAudit, Task
from tasks_app.views.tables import csv_response

AUDIT_COUNT: Final = 20
"""Defects of each gate that the button plants; the command takes more."""
AUDIT_SEED: Final = 1
RULES_COUNTED: Final = 2000
MISSES_SHOWN: Final = 100
TASKS_SHOWN: Final = 10


@require_GET
@require(Act.READ)
def gate_list(request: HttpRequest) -> HttpResponse:
    """Every gate, its yield, and what the newest audit says of it."""
    audit = reports.newest_audit()
    running = GateAudit.objects.filter(result={}).select_related("job").first()
    context = {
        "gates": reports.gate_yields(),
        "audit": audit,
        "misses": list(_misses(audit)[:MISSES_SHOWN]) if audit is not None else [],
        "running": running if running is not None and _moves(running) else None,
        "stale": reports.stale_count(),
        "may_start": may(request, Act.GENERATE),
        "count": AUDIT_COUNT,
    }
    return render(request, "gates/list.html", context)


@require_GET
@require(Act.READ)
def gate_page(request: HttpRequest, gate: str) -> HttpResponse:
    """One gate: its words, its yield, its planters and what was missed."""
    wanted = gate.upper()
    row = next((row for row in reports.gate_yields() if row.text.id == wanted), None)
    if row is None:
        raise NotFound(f"There is no gate {gate[:20]}.")
    audit = reports.newest_audit()
    found = Task.objects.filter(findings__contains=[wanted]).exclude(state="retired")
    context = {
        "row": row,
        "audit": audit,
        "planters": [p for p in audit.planters if p["gate"] == wanted] if audit else [],
        "misses": list(_misses(audit).filter(gate=wanted)[:MISSES_SHOWN]) if audit else [],
        "rules": _rules(wanted),
        "tasks": list(found.order_by("-edited_at", "-id")[:TASKS_SHOWN]),
        "tasks_url": f"{reverse('tasks')}?{urlencode({'q': f'finding:{wanted}'})}",
    }
    return render(request, "gates/gate.html", context)


@require_GET
@require(Act.EXPORT)
def audit_csv(request: HttpRequest) -> HttpResponse:
    """The table of the newest audit as CSV."""
    audit = reports.newest_audit()
    if audit is None:
        raise NotFound("No audit is over yet: run manage.py audit_gates.")
    return csv_response(
        reports.AUDIT_COLUMNS, reports.audit_rows(audit), name=f"gates-{audit.code}"
    )


@require_GET
@require(Act.READ)
def miss(request: HttpRequest, number: int) -> HttpResponse:
    """One miss with the spec that was looked at."""
    row = AuditMiss.objects.select_related("audit").filter(pk=number).first()
    if row is None:
        raise NotFound("This miss is gone; a newer audit has its own.")
    written = orjson.dumps(row.spec, option=orjson.OPT_INDENT_2).decode() if row.spec else ""
    return render(request, "gates/miss.html", {"miss": row, "written": written})


@require_POST
@require(Act.GENERATE)
def audit_start(request: HttpRequest) -> HttpResponse:
    """Let a worker audit the gates."""
    start_audit(by=principal(request), count=AUDIT_COUNT, seed=AUDIT_SEED)
    return see_other(request, reverse("gates"))


@require_POST
@require(Act.GENERATE)
def renew_start(request: HttpRequest) -> HttpResponse:
    """Let the workers prove anew what older gates have proven."""
    start_renewal(by=principal(request))
    return see_other(request, reverse("gates"))


def _moves(audit: GateAudit) -> bool:
    return audit.job is not None and not audit.job.is_finished


def _misses(audit: GateAudit) -> Any:
    """What went wrong in an audit, without the specs."""
    return AuditMiss.objects.filter(audit=audit).defer("spec").order_by("position")


def _rules(gate: str) -> list[tuple[str, int, int]]:
    """Repair rules of a gate: how often one was applied, and how often a proof came of it."""
    applied: Counter[str] = Counter()
    proven: Counter[str] = Counter()
    rows = Attempt.objects.filter(~Q(repairs=[])).order_by("-id")
    for repairs, done in rows.values_list("repairs", "proven")[:RULES_COUNTED]:
        for rule in {str(one["rule"]) for one in repairs if one.get("gate") == gate}:
            applied[rule] += 1
            proven[rule] += done
    return [(rule, times, proven[rule]) for rule, times in applied.most_common()]
