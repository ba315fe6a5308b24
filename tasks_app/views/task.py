"""One task: its parts behind tabs, its proof, and what one can do with it."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from studio.web.acts import Act
from studio.web.auth import may, principal, require
from studio.web.errors import BadRequest, Conflict, Invalid
from studio.web.htmx import render_page, see_other
from tasks_app import queries
from tasks_app.core.briefing import offered_names
from tasks_app.core.spec import SpecError, TaskSpec
from tasks_app.enums import Act as TaskAct
from tasks_app.jobs import prove_now
from tasks_app.models import Proof, Task, TaskVersion
from tasks_app.operations.tasks import apply_suggestion, duplicate, read_spec, save_version
from tasks_app.operations.transitions import can
from tasks_app.operations.verdicts import approve, comment, reject, retire
from tasks_app.views import parts
from tasks_app.views.posted import words
from tasks_app.views.proof import ProofView, proof_view

TABS: Final = (
    ("request", "Request"),
    ("records", "Records"),
    ("tools", "Tools"),
    ("constraints", "Constraints"),
    ("checks", "Checks"),
    ("reference", "Reference"),
    ("timeline", "Timeline"),
    ("model", "As the model sees it"),
)
_OTHER_TABS: Final = ("history",)


@dataclass(frozen=True)
class Tab:
    """One tab."""

    name: str
    label: str
    url: str
    current: bool
    count: int | None
    key: str


@dataclass(frozen=True)
class Allowed:
    """What the reader may do now: role and state both allow it."""

    edit: bool
    prove: bool
    approve: bool
    reject: bool
    retire: bool
    roll_out: bool
    play: bool
    comment: bool
    undo: int
    """The version whose edit may be taken back; 0: none."""


@never_cache
@require_GET
@require(Act.READ)
def task(request: HttpRequest, code: str) -> HttpResponse:
    """The page of one task; ``?v=2`` an older version, ``?tab=records`` a part."""
    row = queries.get_task(code)
    version = queries.get_version(row, _number(request.GET.get("v")))
    tab = request.GET.get("tab") or "request"
    if tab not in dict(TABS) and tab not in _OTHER_TABS:
        known = ", ".join(name for name, _ in TABS)
        raise BadRequest(f"There is no tab “{tab}”; known are {known}, history.")
    spec, unreadable = _load(version)
    newer, older = queries.neighbours(row)
    proof = proof_view(row, version)
    is_current = version.pk == row.current_id
    context: dict[str, Any] = {
        "task": row,
        "version": version,
        "is_current": is_current,
        "spec": spec,
        "unreadable": unreadable,
        "tab": tab,
        "tab_template": f"tasks/tabs/{tab}.html",
        "tabs": _tabs(row, version, spec, tab),
        "proof": proof,
        "newer": newer,
        "older": older,
        "may_do": _allowed(request, row, version, proof, is_current=is_current),
        "last_changes": parts.last_changes(version) if proof.state == "broken" else (),
        "versions": queries.versions_of(row)[:5],
        "reviews": queries.reviews_of(row)[:5],
        "comments": queries.comments_of(row)[:20],
        "episodes_url": f"/episodes/?{urlencode({'q': f'task:{row.code}'})}",
    }
    if spec is not None:
        context |= parts.part(request, row, version, spec, tab)
    elif tab == "history":
        context |= parts.history(row)
    return render_page(request, "tasks/task.html", None, context)


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise BadRequest(f"“{text[:20]}” is no number of a version.")
    return int(text)


def _load(version: TaskVersion) -> tuple[TaskSpec | None, str]:
    try:
        return version.load(), ""
    except SpecError as error:
        return None, str(error)


def _tabs(row: Task, version: TaskVersion, spec: TaskSpec | None, current: str) -> tuple[Tab, ...]:
    counts: dict[str, int] = {}
    if spec is not None:
        counts = {
            "records": sum(len(r) for held in spec.services.values() for r in held.values()),
            "tools": len(offered_names(spec)),
            "constraints": len(spec.constraints),
            "checks": len(spec.checks),
            "reference": len(spec.reference),
        }
        if spec.timeline:
            counts["timeline"] = len(spec.timeline)
    base = reverse("task", args=[row.code])
    older = {} if version.pk == row.current_id else {"v": str(version.number)}
    return tuple(
        Tab(
            name,
            label,
            f"{base}?{urlencode({**older, 'tab': name})}",
            name == current,
            counts.get(name),
            str(number),
        )
        for number, (name, label) in enumerate(TABS, start=1)
    )


def _allowed(
    request: HttpRequest, row: Task, version: TaskVersion, proof: ProofView, *, is_current: bool
) -> Allowed:
    edit = is_current and may(request, Act.EDIT)
    review = is_current and may(request, Act.REVIEW)
    return Allowed(
        edit=edit,
        prove=edit and can(row, TaskAct.PROVE),
        approve=review
        and can(row, TaskAct.APPROVE)
        and proof.state == "proven"
        and not row.evaluation_only,
        reject=review and can(row, TaskAct.REJECT),
        retire=edit and can(row, TaskAct.RETIRE),
        roll_out=is_current and may(request, Act.ROLL_OUT) and proof.state == "proven",
        play=is_current and may(request, Act.ROLL_OUT),
        comment=may(request, Act.COMMENT),
        undo=taken.number if edit and (taken := queries.last_edit(version)) is not None else 0,
    )


# Acts


@require_POST
@require(Act.EDIT)
def task_prove(request: HttpRequest, code: str) -> HttpResponse:
    """Prove the current version now: it takes tens of milliseconds."""
    row = queries.get_task(code)
    _say(request, prove_now(task=row, by=principal(request)))
    return see_other(request, f"{reverse('task', args=[row.code])}#proof")


@require_POST
@require(Act.EDIT)
def task_repair(request: HttpRequest, code: str) -> HttpResponse:
    """Take the repair that a finding suggests, as a version, and prove that."""
    row = queries.get_task(code)
    number = _number(request.POST.get("finding"))
    if number is None:
        raise BadRequest("Say which finding is to be repaired.")
    saved = apply_suggestion(task=row, base=_base(request), finding=number, by=principal(request))
    _say(request, prove_now(task=saved, by=principal(request), after_edit=True))
    return see_other(request, f"{reverse('task', args=[row.code])}#proof")


@require_POST
@require(Act.EDIT)
def task_undo(request: HttpRequest, code: str) -> HttpResponse:
    """Take the last edit back: the content before it becomes the next version. Done again, it
    takes back the edit before that.
    """
    row = queries.get_task(code)
    edit = queries.last_edit(row.current) if row.current is not None else None
    if edit is None or edit.parent is None:
        raise Conflict(f"{row.code} has no edit to take back.")
    saved = save_version(
        task=row,
        base=_base(request),
        spec=read_spec(edit.parent.spec),
        by=principal(request),
        reason=f"takes v{edit.number} back",
    )
    _say(request, prove_now(task=saved, by=principal(request), after_edit=True))
    return see_other(request, f"{reverse('task', args=[row.code])}#proof")


@require_POST
@require(Act.REVIEW)
def task_approve(request: HttpRequest, code: str) -> HttpResponse:
    """Approve the version that was on the page."""
    row = queries.get_task(code)
    approve(
        task=row,
        base=_base(request),
        by=principal(request),
        reason=words(request, "reason"),
    )
    messages.success(request, f"{row.code} is approved.")
    return see_other(request, reverse("task", args=[row.code]))


@require_POST
@require(Act.REVIEW)
def task_reject(request: HttpRequest, code: str) -> HttpResponse:
    """Reject the version that was on the page; without a reason the page comes back with 422."""
    row = queries.get_task(code)
    try:
        reject(
            task=row,
            base=_base(request),
            by=principal(request),
            reason=words(request, "reason"),
        )
    except Invalid as error:
        context = {"task": row, "base": _base(request), "error": error.detail}
        return render_page(request, "tasks/reject.html", None, context, status=422)
    messages.success(request, f"{row.code} is rejected.")
    return see_other(request, reverse("task", args=[row.code]))


@require_POST
@require(Act.EDIT)
def task_retire(request: HttpRequest, code: str) -> HttpResponse:
    """Take a judged task out of use."""
    row = queries.get_task(code)
    retire(task=row, by=principal(request), reason=words(request, "reason"))
    messages.success(request, f"{row.code} is retired. Its episodes and datasets stay.")
    return see_other(request, reverse("task", args=[row.code]))


@require_POST
@require(Act.EDIT)
def task_duplicate(request: HttpRequest, code: str) -> HttpResponse:
    """Copy into a new draft and open its editor."""
    copied = duplicate(task=queries.get_task(code), by=principal(request))
    messages.success(request, f"{copied.code} is a copy of {code.upper()}.")
    return see_other(request, reverse("task-edit", args=[copied.code]))


@require_POST
@require(Act.COMMENT)
def task_comment(request: HttpRequest, code: str) -> HttpResponse:
    """Add a note."""
    row = queries.get_task(code)
    comment(
        task=row,
        by=principal(request),
        text=words(request, "text"),
        anchor=words(request, "anchor"),
    )
    return see_other(request, f"{reverse('task', args=[row.code])}#comments")


def _base(request: HttpRequest) -> int:
    number = _number(request.POST.get("base"))
    if number is None:
        raise BadRequest("Say which version this is about.")
    return number


def _say(request: HttpRequest, proof: Proof) -> None:
    card = proof.read()
    if card.proven:
        messages.success(request, f"Proven: {card.runs} runs, every gate that blocks holds.")
    elif card.unproven_reason:
        messages.success(request, f"Looked at: {card.unproven_reason}.")
    else:
        blocking = sum(found.severity == "block" for found in card.findings)
        messages.error(request, f"Not proven: {blocking} finding{'s' if blocking != 1 else ''}.")
