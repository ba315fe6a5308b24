"""Making tasks and versions. Each function is one transaction and leaves one audit entry.

Any change of content makes a new version and a draft, and takes proof and approval away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from studio.lib.jsonvalue import unstorable
from studio.web import audit
from studio.web.codes import new_codes
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.models import Draft
from tasks_app.core.editing import PatchError, apply, difference
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.card import ProofCard
from tasks_app.enums import Act, Origin, TaskState
from tasks_app.models import Proof, Task, TaskVersion
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.columns import (
    PROOF_COLUMNS,
    SPEC_COLUMNS,
    describe,
    describe_proof,
    forget_proof,
    state_without_proof,
    verdict_of,
)
from tasks_app.operations.review_items import follow
from tasks_app.operations.transitions import ensure_can, lock
from tasks_app.queries import draft_subject


@dataclass(frozen=True)
class NewTask:
    """A task to be stored, with the proof of exactly this content where there is one."""

    spec: TaskSpec
    card: ProofCard | None = None
    source_id: str = ""
    parent: TaskVersion | None = None
    reason: str = ""


@transaction.atomic
def create_task(
    *,
    spec: TaskSpec,
    by: Actor,
    origin: Origin = Origin.WRITTEN,
    card: ProofCard | None = None,
    parent: TaskVersion | None = None,
    reason: str = "",
) -> Task:
    """Store a spec as version 1 of a new task, a draft unless ``card`` proves it."""
    new = NewTask(spec, card, parent=parent, reason=reason)
    task = create_tasks(tasks=[new], by=by, origin=origin)[0]
    audit.record(by, "create_task", task.code, {"origin": origin.value, "hash": spec.hash})
    return task


@transaction.atomic
def create_tasks(*, tasks: Sequence[NewTask], by: Actor, origin: Origin) -> list[Task]:
    """Store many at once, in order; the caller writes the audit entry of the whole."""
    author = user_of(by)
    now = timezone.now()
    rows: list[Task] = []
    for new, code in zip(tasks, new_codes(Task, len(tasks)), strict=True):
        row = Task(code=code, origin=origin, author=author, source_id=new.source_id, edited_at=now)
        describe(row, new.spec)
        row.state = state_without_proof(new.spec)
        if new.card is not None:
            _settle(row, new.card)
        rows.append(row)
    rows = Task.objects.bulk_create(rows, batch_size=200)
    versions = TaskVersion.objects.bulk_create(
        (
            TaskVersion(
                task=row,
                number=1,
                spec=new.spec.written(),
                hash=new.spec.hash,
                origin=origin,
                parent=new.parent,
                author=author,
                reason=new.reason[:1000],
            )
            for row, new in zip(rows, tasks, strict=True)
        ),
        batch_size=100,
    )
    Proof.objects.bulk_create(
        (
            _proof(version, new.card)
            for version, new in zip(versions, tasks, strict=True)
            if new.card is not None
        ),
        batch_size=100,
    )
    mine = Task.objects.filter(pk__in=[row.pk for row in rows])
    first = TaskVersion.objects.filter(task=OuterRef("pk"), number=1)
    mine.update(
        current=Subquery(first.values("pk")[:1]),
        proof=Subquery(Proof.objects.filter(version__task=OuterRef("pk")).values("pk")[:1]),
    )
    by_pk = {row.pk: row for row in mine.select_related("current", "proof")}
    return [by_pk[row.pk] for row in rows]


@transaction.atomic
def save_version(
    *,
    task: Task,
    base: int,
    spec: TaskSpec,
    by: Actor,
    reason: str,
    origin: Origin = Origin.EDITED,
) -> Task:
    """Make ``spec`` the next version, provided that ``base`` is still the current one.

    Voids proof and approval and drops the writer's kept draft. StaleBase names the version that
    somebody else saved; Invalid where nothing changes or no reason is given.
    """
    row = lock(task, base=base)
    ensure_can(row, Act.EDIT)
    _ensure_saveable(row, spec, reason)
    parent = row.current
    if parent is None:
        raise Conflict(f"{row.code} has no version to build on.")
    author = user_of(by)
    written = spec.written()
    row.current = TaskVersion.objects.create(
        task=row,
        number=base + 1,
        spec=written,
        hash=spec.hash,
        origin=origin,
        parent=parent,
        author=author,
        reason=reason.strip()[:1000],
        patch=difference(parent.spec, written),
    )
    row.current_number = base + 1
    describe(row, spec)
    forget_proof(row)
    row.state = state_without_proof(spec)
    row.approved = None
    row.edited_at = timezone.now()
    row.save(
        update_fields=[
            *SPEC_COLUMNS,
            *PROOF_COLUMNS,
            "current",
            "current_number",
            "proof",
            "state",
            "approved",
            "edited_at",
        ]
    )
    follow(row)
    if author is not None:
        Draft.objects.filter(user=author, subject=draft_subject(row)).delete()
    audit.record(
        by,
        "save_version",
        row.code,
        {"version": row.current_number, "hash": spec.hash, "origin": origin.value},
    )
    return row


@transaction.atomic
def duplicate(*, task: Task, by: Actor) -> Task:
    """Copy the current content into a new task of its own, a draft without reviews."""
    source = lock(task)
    version = source.current
    if version is None:
        raise Conflict(f"{source.code} has no version to copy.")
    written = dict(version.spec)
    written["slug"] = f"{written['slug'][:93]}-copy"
    spec = load_spec(written)
    new = NewTask(spec, parent=version, reason=f"copy of {source.code} v{version.number}")
    copied = create_tasks(tasks=[new], by=by, origin=Origin.DUPLICATED)[0]
    audit.record(by, "duplicate_task", copied.code, {"from": source.code})
    return copied


@transaction.atomic
def apply_suggestion(*, task: Task, base: int, finding: int, by: Actor) -> Task:
    """Apply the repair that finding number ``finding`` of the current proof suggests: a version."""
    row = lock(task, base=base)
    proof, version = row.proof, row.current
    if proof is None or version is None or proof.spec_hash != row.spec_hash:
        raise Conflict(f"{row.code} has no proof of its present content; prove it first.")
    findings = proof.read().findings
    chosen = findings[finding] if 0 <= finding < len(findings) else None
    if chosen is None or chosen.suggestion is None:
        raise Conflict(f"Finding {finding} of {row.code} suggests no repair.")
    spec = patched(version.spec, chosen.suggestion.patch)
    return save_version(
        task=row,
        base=base,
        spec=spec,
        by=by,
        reason=f"{chosen.gate}: {chosen.suggestion.title}",
        origin=Origin.REPAIRED,
    )


def patched(written: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> TaskSpec:
    """Return the spec with a JSON Patch applied; Invalid where one of them does not fit."""
    try:
        return read_spec(apply(written, patch))
    except PatchError as error:
        raise Invalid(
            "The patch does not fit this version.", [Problem(error.place, error.message)]
        ) from error


def read_spec(source: bytes | str | Mapping[str, Any]) -> TaskSpec:
    """Read a spec that somebody handed in; Invalid names every place and fault."""
    try:
        return load_spec(storable(source) if isinstance(source, Mapping) else source)
    except SpecError as error:
        raise Invalid(
            f"This is not a task spec: {error}",
            [Problem(problem.path or "/", problem.message) for problem in error.problems],
        ) from error


def storable(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return JSON data that the database takes as it is; Invalid for NUL or half a pair, with
    the place.
    """
    if found := unstorable(data):
        place, why = found
        raise Invalid(f"This is not JSON that can be kept: {place} {why}.", [Problem(place, why)])
    return data


def _ensure_saveable(row: Task, spec: TaskSpec, reason: str) -> None:
    problems = []
    if not reason.strip():
        problems.append(Problem("reason", "say in a few words why you change it"))
    if spec.hash == row.spec_hash:
        problems.append(Problem("/", "nothing has changed since the last version"))
    if row.evaluation_only and not spec.evaluation_only:
        problems.append(
            Problem("/evaluation_only", "an imported benchmark task stays evaluation only")
        )
    if problems:
        raise Invalid("This version cannot be saved.", problems)


def _settle(row: Task, card: ProofCard) -> None:
    if card.spec_hash != row.spec_hash:
        raise ValueError(f"the proof is of {card.spec_hash}, the content is {row.spec_hash}")
    describe_proof(row, card)
    if card.proven:
        row.proven_at = timezone.now()
    if row.state != TaskState.IMPORTED:
        row.state = TaskState.PROVEN if card.proven else TaskState.INVALID


def _proof(version: TaskVersion, card: ProofCard) -> Proof:
    return Proof(
        version=version,
        spec_hash=card.spec_hash,
        gates_version=card.gates_version,
        verdict=verdict_of(card),
        card=card.model_dump(mode="json"),
        milliseconds=card.milliseconds,
    )
