"""What people decide about a task: approve, reject, retire, comment."""

from collections.abc import Mapping, Sequence
from typing import Final

from django.db import transaction

from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.choices import Role
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.models import User
from tasks_app.core.validation.card import GATES_VERSION
from tasks_app.enums import Act, Decision, Origin, TaskState
from tasks_app.models import Comment, Review, Task
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.outside_gates import blind_pass
from tasks_app.operations.review_items import leave_queue, settle_elsewhere
from tasks_app.operations.transitions import ensure_can, lock

_SHOWN_FINDINGS = 20


@transaction.atomic
def approve(
    *,
    task: Task,
    base: int,
    by: Actor,
    reason: str = "",
    cites: Sequence[str] = (),
    seconds: int | None = None,
) -> Task:
    """Approve version ``base``: needs a green proof of exactly this content by the present gates.

    Where a model wrote the task, or a person changed its request or checks, it also needs one full
    pass by a policy that had not seen the reference; a lead may do without, and says why.
    StaleBase where somebody saved meanwhile; Conflict where the task is for evaluation only, not
    proven, with the findings that stand against it, or not passed by anybody yet.
    """
    row = lock(task, base=base)
    passed = ensure_approvable(row, by=by, reason=reason)
    settle_elsewhere(row, Decision.APPROVE, by=by)
    add_review(row, Decision.APPROVE, by=user_of(by), reason=reason, cites=cites, seconds=seconds)
    conclude(row, Decision.APPROVE, by=by, detail=passed)
    return row


@transaction.atomic
def reject(
    *,
    task: Task,
    base: int,
    by: Actor,
    reason: str,
    cites: Sequence[str] = (),
    seconds: int | None = None,
) -> Task:
    """Reject version ``base``; a reason is needed, so that the next author knows what to mend."""
    if not reason.strip():
        raise Invalid("Say why it is rejected.", [Problem("reason", "is missing")])
    row = lock(task, base=base)
    ensure_can(row, Act.REJECT)
    settle_elsewhere(row, Decision.REJECT, by=by)
    add_review(row, Decision.REJECT, by=user_of(by), reason=reason, cites=cites, seconds=seconds)
    conclude(row, Decision.REJECT, by=by)
    return row


@transaction.atomic
def retire(*, task: Task, by: Actor, reason: str = "") -> Task:
    """Take a judged task out of use; its versions, episodes and datasets stay."""
    row = lock(task)
    ensure_can(row, Act.RETIRE)
    before = row.state
    row.state = TaskState.RETIRED
    row.approved = None
    row.save(update_fields=["state", "approved"])
    leave_queue(row)
    audit.record(by, "retire_task", row.code, {"was": before, "reason": reason.strip()[:200]})
    return row


@transaction.atomic
def comment(*, task: Task, by: Actor, text: str, anchor: str = "") -> Comment:
    """Add a note to the current version, or to a place of it."""
    if not text.strip():
        raise Invalid("Write something first.", [Problem("text", "is missing")])
    note = Comment.objects.create(
        task=task,
        version_id=task.current_id,
        author=user_of(by),
        anchor=anchor[:200],
        text=text.strip()[:5000],
    )
    audit.record(by, "comment", task.code, {"anchor": note.anchor})
    return note


def ensure_approvable(row: Task, *, by: Actor, reason: str) -> JsonObject:
    """Return what the audit entry says of the pass that an approval needed; Conflict with what
    stands against one.
    """
    if row.evaluation_only:
        raise Conflict(
            f"{row.code} is for evaluation only: it comes from a benchmark and is never approved "
            "for training."
        )
    ensure_can(row, Act.APPROVE)
    _ensure_proven(row)
    return _ensure_passed(row, by, reason)


def conclude(row: Task, decision: Decision, *, by: Actor, detail: JsonObject | None = None) -> None:
    """Move a locked task to where a verdict leads, with the audit entry; reviews are kept apart."""
    said: JsonObject = {"version": row.current_number}
    if decision == Decision.APPROVE:
        row.state = TaskState.APPROVED
        row.approved = row.current
        said["hash"] = row.spec_hash
    else:
        row.state = TaskState.REJECTED
    row.save(update_fields=["state", "approved"])
    audit.record(by, f"{decision.value}_task", row.code, {**said, **(detail or {})})


def add_review(
    row: Task,
    decision: Decision,
    *,
    by: User | None,
    reason: str,
    cites: Sequence[str] = (),
    seconds: int | None = None,
) -> Review:
    """Keep a verdict on the current version; it moves nothing by itself."""
    if row.current is None:
        raise Conflict(f"{row.code} has no version to judge.")
    return Review.objects.create(
        version=row.current,
        reviewer=by,
        decision=decision,
        reason=reason.strip()[:2000],
        cites=[cite[:200] for cite in cites],
        seconds=seconds,
    )


def _ensure_proven(row: Task) -> None:
    if row.is_proven:
        return
    proof = row.proof
    if proof is None or proof.spec_hash != row.spec_hash:
        raise Conflict(f"{row.code} has no proof of its present content; prove it first.")
    if proof.gates_version != GATES_VERSION:
        raise Conflict(f"{row.code} was proven by older gates; prove it again.")
    raise Conflict(
        f"The proof of {row.code} does not hold.",
        [
            Problem(finding.path or "/", finding.message, finding.hint, code=finding.gate)
            for finding in proof.read().findings[:_SHOWN_FINDINGS]
        ],
    )


def wants_blind_pass(row: Task) -> str:
    """Return why a task has to be passed by somebody who had not seen the reference; empty where
    rules alone made its request and checks.
    """
    current, proof = row.current, row.proof
    if current is None:
        return ""
    provenance = current.spec.get("provenance")
    if isinstance(provenance, Mapping) and provenance.get("origin") in _BY_MODEL:
        return "a model wrote it"
    if proof is not None and any(repair.actor == "model" for repair in proof.read().repairs):
        return "a model repaired it"
    versions = row.versions.filter(number__lte=current.number).order_by("number")
    first = versions.first()
    for name in _JUDGING:
        if first is None or first.spec.get(name) == current.spec.get(name):
            continue
        for version in versions.filter(origin=Origin.EDITED).defer("spec"):
            if any(str(o.get("path", "")).split("/")[1:2] == [name] for o in version.patch):
                return f"a person changed its {name} in v{version.number}"
    return ""


_BY_MODEL: Final = ("model", "writer")
_JUDGING: Final = ("request", "checks")
"""What decides whether a pass is right; changed by hand, the proof alone does not tell."""


def _ensure_passed(row: Task, by: Actor, reason: str) -> JsonObject:
    """Return what the audit entry says of the pass that was needed."""
    why = wants_blind_pass(row)
    if not why:
        return {}
    episode = blind_pass(row)
    if episode is not None:
        return {"passed_by": episode}
    user = user_of(by)
    if user is not None and Role(user.role).includes(Role.LEAD) and reason.strip():
        return {"without_pass": why}
    raise Conflict(
        f"{row.code} has not been passed yet by anybody who had not seen the reference, and {why}. "
        "Roll out an endpoint or let a colleague play it; a lead may approve without, with a "
        "reason.",
    )
