"""Keeping what the gates found."""

from django.db import transaction
from django.utils import timezone

from studio.web import audit
from studio.web.errors import Conflict
from tasks_app.core.validation.card import ProofCard
from tasks_app.enums import Act, TaskState
from tasks_app.models import Proof, TaskVersion
from tasks_app.operations.actors import Actor
from tasks_app.operations.columns import PROOF_COLUMNS, describe_proof, verdict_of
from tasks_app.operations.review_items import follow
from tasks_app.operations.transitions import ensure_can, lock


@transaction.atomic
def record_proof(*, version: TaskVersion, card: ProofCard, by: Actor, kept: int = 0) -> Proof:
    """Keep a proof of one version; moves the task where that version is still the current one.

    A proof that fails takes an approval away. Conflict where the card is of other content, or
    the task is past proving.
    """
    if card.spec_hash != version.hash:
        raise Conflict("This proof is of other content than the version it was made for.")
    task = lock(version.task)
    is_current = task.current_id == version.pk
    if is_current:
        ensure_can(task, Act.PROVE)
    proof = Proof.objects.create(
        version=version,
        spec_hash=card.spec_hash,
        gates_version=card.gates_version,
        verdict=verdict_of(card),
        card=card.model_dump(mode="json"),
        kept=kept,
        milliseconds=card.milliseconds,
    )
    if is_current:
        task.proof = proof
        describe_proof(task, card)
        task.proven_at = timezone.now() if card.proven else None
        if task.state == TaskState.IMPORTED:
            pass
        elif not card.proven:
            task.state = TaskState.INVALID
            task.approved = None
        elif task.state in (TaskState.DRAFT, TaskState.INVALID):
            task.state = TaskState.PROVEN
        task.save(update_fields=[*PROOF_COLUMNS, "proof", "state", "approved"])
        follow(task)
    audit.record(
        by,
        "prove_task",
        task.code,
        {"version": version.number, "verdict": proof.verdict, "findings": len(card.findings)},
    )
    return proof
