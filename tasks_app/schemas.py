"""What the API takes and gives; also the rows of exports."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AfterValidator, Field

from studio.lib.jsonvalue import JsonObject
from studio.web.api.bodies import Body
from studio.web.api.paging import Paging
from tasks_app.enums import Decision, ImportOutcome, ImportSource, Origin, Outcome, Verdict
from tasks_app.models import (
    Attempt,
    Comment,
    GenerationRun,
    ImportItem,
    ImportRun,
    Proof,
    Review,
    Task,
    TaskVersion,
    WorkflowRequirement,
)
from tasks_app.operations.outside_gates import OutsideResult
from tasks_app.queries import TASK_ORDERS, Loss

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise ValueError("holds a character that cannot be stored (NUL or half of a pair)")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Reason = Annotated[Text, Field(max_length=2000)]
Spec = dict[str, Any]
VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]


class TaskFilter(Paging):
    """Which tasks, in which order."""

    q: str = Field("", max_length=2000, description="A filter: state:proven family:… refund")
    order: str = Field("newest", description=f"One of {', '.join(TASK_ORDERS)}.")


class ExportFilter(Schema):
    """Which tasks."""

    q: str = Field("", max_length=2000, description="A filter; empty for all tasks.")


class TaskOut(Schema):
    """A task as lists show it."""

    code: str
    title: str
    state: str
    track: str
    family: str
    subtype: str
    difficulty: int
    language: str
    split: str
    tags: list[str]
    capabilities: list[str]
    services: list[str]
    origin: str
    author: str | None
    evaluation_only: bool
    version: int
    hash: str
    tokens: int
    proven: bool
    findings: list[str]
    findings_count: int
    reference_reward: float | None
    best_probe: float | None
    mutants_killed: int | None
    mutants_counted: int | None
    created_at: dt.datetime
    edited_at: dt.datetime
    proven_at: dt.datetime | None

    @staticmethod
    def from_row(row: Task) -> "TaskOut":
        """The public form of a row."""
        return TaskOut(**_task(row))


class TaskDetail(TaskOut):
    """A task with the spec of its current version."""

    spec: Spec

    @staticmethod
    def from_task(row: Task) -> "TaskDetail":
        """The public form of a row with its current version."""
        return TaskDetail(**_task(row), spec=row.current.spec if row.current is not None else {})


def _task(row: Task) -> dict[str, Any]:
    return {
        "code": row.code,
        "title": row.title,
        "state": row.state,
        "track": row.track,
        "family": row.family,
        "subtype": row.subtype,
        "difficulty": row.difficulty,
        "language": row.language,
        "split": row.split,
        "tags": row.tags,
        "capabilities": row.capabilities,
        "services": row.services,
        "origin": row.origin,
        "author": row.author.username if row.author is not None else None,
        "evaluation_only": row.evaluation_only,
        "version": row.current_number,
        "hash": row.spec_hash,
        "tokens": row.tokens,
        "proven": row.proven_at is not None,
        "findings": row.findings,
        "findings_count": row.findings_count,
        "reference_reward": row.reference_reward,
        "best_probe": row.best_probe,
        "mutants_killed": row.mutants_killed,
        "mutants_counted": row.mutants_counted,
        "created_at": row.created_at,
        "edited_at": row.edited_at,
        "proven_at": row.proven_at,
    }


def export_row(row: Task) -> JsonObject:
    """Return a task with its current spec as exports write it; an import takes it back."""
    return {
        "code": row.code,
        "version": row.current_number,
        "hash": row.spec_hash,
        "state": row.state,
        "split": row.split,
        "origin": row.origin,
        "spec": row.current.spec if row.current is not None else None,
    }


class TaskIn(Body):
    """A new task."""

    spec: Spec


class VersionIn(Body):
    """A save: the version it was based on, the whole spec, and why."""

    base: VersionNumber
    spec: Spec
    reason: Reason


class RepairIn(Body):
    """Which finding's suggested repair to apply."""

    base: VersionNumber
    finding: int = Field(ge=0, le=10_000, description="Position in the findings of the proof.")


class VersionOut(Schema):
    """A version without its spec."""

    number: int
    hash: str
    origin: Origin
    author: str | None
    reason: str
    created_at: dt.datetime

    @staticmethod
    def from_row(row: TaskVersion) -> "VersionOut":
        """The public form of a row."""
        return VersionOut(**_version(row))


class VersionDetail(VersionOut):
    """A version with its spec and the patch from its parent."""

    spec: Spec
    patch: list[dict[str, Any]]

    @staticmethod
    def from_version(row: TaskVersion) -> "VersionDetail":
        """The public form of a row."""
        return VersionDetail(**_version(row), spec=row.spec, patch=row.patch)


def _version(row: TaskVersion) -> dict[str, Any]:
    return {
        "number": row.number,
        "hash": row.hash,
        "origin": row.origin,
        "author": row.author.username if row.author is not None else None,
        "reason": row.reason,
        "created_at": row.created_at,
    }


class OutsideOut(Schema):
    """What a gate over episodes says of the task as it is now."""

    id: str
    title: str
    state: Literal["held", "warned", "failed", "not_run"]
    reason: str
    lines: list[str]


class ProofOut(Schema):
    """A proof with its card."""

    verdict: Verdict
    hash: str
    gates_version: str
    milliseconds: float
    kept: int = Field(
        0, description="Gates taken from the proof before an edit that cannot affect them."
    )
    created_at: dt.datetime
    card: dict[str, Any]
    episodes: list[OutsideOut] = Field([], description="Gates P1 and P2; no part of the proof.")

    @staticmethod
    def from_row(row: Proof, outside: Sequence[OutsideResult] = ()) -> "ProofOut":
        """The public form of a row."""
        return ProofOut(
            verdict=Verdict(row.verdict),
            hash=row.spec_hash,
            gates_version=row.gates_version,
            milliseconds=row.milliseconds,
            kept=row.kept,
            created_at=row.created_at,
            card=row.card,
            episodes=[
                OutsideOut(
                    id=gate.id,
                    title=gate.title,
                    state=gate.state,
                    reason=gate.reason,
                    lines=list(gate.lines),
                )
                for gate in outside
            ],
        )


class VerdictIn(Body):
    """A verdict on one version."""

    base: VersionNumber = Field(description="The version that was looked at.")
    reason: Reason = ""
    cites: list[Annotated[Text, Field(max_length=200)]] = Field([], max_length=50)
    seconds: int | None = Field(None, ge=0, le=86_400)


class RetireIn(Body):
    """Why a task goes out of use."""

    reason: Reason = ""


class ReviewOut(Schema):
    """A verdict that was given."""

    version: int
    reviewer: str | None
    decision: Decision
    reason: str
    cites: list[str]
    created_at: dt.datetime

    @staticmethod
    def from_row(row: Review) -> "ReviewOut":
        """The public form of a row."""
        return ReviewOut(
            version=row.version.number,
            reviewer=row.reviewer.username if row.reviewer is not None else None,
            decision=Decision(row.decision),
            reason=row.reason,
            cites=row.cites,
            created_at=row.created_at,
        )


class CommentIn(Body):
    """A note, perhaps on a place."""

    text: Text = Field(min_length=1, max_length=5000)
    anchor: Text = Field("", max_length=200, description="A JSON pointer, turn:4 or check:k1.")


class CommentOut(Schema):
    """A note on a task."""

    author: str | None
    version: int | None
    anchor: str
    text: str
    created_at: dt.datetime

    @staticmethod
    def from_row(row: Comment) -> "CommentOut":
        """The public form of a row."""
        return CommentOut(
            author=row.author.username if row.author is not None else None,
            version=row.version.number if row.version is not None else None,
            anchor=row.anchor,
            text=row.text,
            created_at=row.created_at,
        )


# Specs and services


class SpecIn(Body):
    """A spec to look at; nothing is stored."""

    spec: Spec


class PlaceOut(Schema):
    """A fault and its place."""

    place: str
    message: str


class CheckedOut(Schema):
    """Whether a text is a task spec, and what its proof says."""

    valid: bool
    problems: list[PlaceOut]
    hash: str | None
    proven: bool | None
    card: dict[str, Any] | None


class GradeIn(Body):
    """A spec and a list of acts: {"tool", "arguments"} or {"reply"}."""

    spec: Spec
    calls: list[dict[str, Any]] = Field(max_length=5000)


class GradeOut(Schema):
    """What the acts earned."""

    reward: float
    passed: bool
    components: dict[str, float | None]
    violations: list[str]
    checks: dict[str, float | None]
    state_key: str


class ToolOut(Schema):
    """A tool: whether it reads, writes or speaks, and its JSON Schema."""

    name: str
    kind: str
    description: str
    parameters: dict[str, Any]


class ServiceOut(Schema):
    """A simulated office service."""

    name: str
    function: str
    purpose: str
    collections: list[str]
    tools: list[ToolOut]


class GateAuditOut(Schema):
    """What the newest audit says of a gate: shares of the defects planted for it."""

    planted: int
    detected: float | None
    repaired: float | None
    """None where nothing that was planted is meant to be mended by rule."""
    false_alarms: int


class GateOut(Schema):
    """A gate in words, and what it has done so far."""

    id: str
    title: str
    checks: str
    why: str
    repair: str
    findings: int
    """Tasks whose current proof has a finding of it."""
    lost: int
    """Attempts of generation that fell at it, of the newest 20,000."""
    repairs: int
    """Repairs that it asked for in these."""
    repairs_proven: int
    audit: GateAuditOut | None


# Generation


class RequirementIn(Body):
    """A researcher's wish."""

    title: Text = Field(min_length=1, max_length=200)
    text: Text = Field("", max_length=20_000)
    families: list[str] = Field(min_length=1, max_length=50)
    capabilities: list[str] = Field([], max_length=20)
    services: list[str] = Field([], max_length=50)
    difficulty: list[int] = Field([], max_length=5)
    count: int = Field(20, ge=1, le=10_000)
    seed: int = Field(1, ge=0, le=2**53)


class RequirementOut(Schema):
    """A requirement."""

    code: str
    title: str
    text: str
    families: list[str]
    capabilities: list[str]
    services: list[str]
    difficulty: list[int]
    count: int
    seed: int
    writer: str
    shipped: bool
    author: str | None
    created_at: dt.datetime

    @staticmethod
    def from_row(row: WorkflowRequirement) -> "RequirementOut":
        """The public form of a row."""
        return RequirementOut(
            code=row.code,
            title=row.title,
            text=row.text,
            families=row.families,
            capabilities=row.capabilities,
            services=row.services,
            difficulty=row.difficulty,
            count=row.count,
            seed=row.seed,
            writer=row.writer,
            shipped=row.shipped,
            author=row.author.username if row.author is not None else None,
            created_at=row.created_at,
        )


class RunIn(Body):
    """A generation to start: of a requirement, or of families and numbers."""

    requirement: str | None = Field(None, max_length=20, description="REQ-…; the rest may be left")
    families: list[str] | None = Field(None, min_length=1, max_length=50)
    count: int | None = Field(None, ge=1, le=10_000)
    seed: int | None = Field(None, ge=0, le=2**53)
    difficulty: list[int] | None = Field(None, max_length=5)


class LossOut(Schema):
    """Why attempts were lost."""

    outcome: Outcome
    gate: str
    reason: str
    count: int

    @staticmethod
    def from_loss(loss: Loss) -> "LossOut":
        """The public form of a loss."""
        return LossOut(
            outcome=Outcome(loss.outcome), gate=loss.gate, reason=loss.reason, count=loss.count
        )


class RunOut(Schema):
    """A generation run with its funnel."""

    code: str
    requirement: str | None
    state: str
    job: str | None
    families: list[str]
    difficulty: list[int]
    seed: int
    asked: int
    drafted: int
    valid: int
    proven: int
    unique: int
    quarantined: int
    repairs: int
    seconds: float
    created_at: dt.datetime

    @staticmethod
    def from_row(row: GenerationRun) -> "RunOut":
        """The public form of a row."""
        return RunOut(**_run(row))


class RunDetail(RunOut):
    """A run with the reasons behind its losses."""

    losses: list[LossOut]

    @staticmethod
    def from_run(row: GenerationRun, losses: list[Loss]) -> "RunDetail":
        """The public form of a row and its losses."""
        return RunDetail(**_run(row), losses=[LossOut.from_loss(loss) for loss in losses])


def _run(row: GenerationRun) -> dict[str, Any]:
    return {
        "code": row.code,
        "requirement": row.requirement.code if row.requirement is not None else None,
        "state": row.state,
        "job": row.job.code if row.job is not None else None,
        "families": row.families,
        "difficulty": row.difficulty,
        "seed": row.seed,
        "asked": row.asked,
        "drafted": row.drafted,
        "valid": row.valid,
        "proven": row.proven,
        "unique": row.unique,
        "quarantined": row.quarantined,
        "repairs": row.repairs,
        "seconds": row.seconds,
        "created_at": row.created_at,
    }


class AttemptOut(Schema):
    """One draft and what became of it."""

    index: int
    outcome: Outcome
    task: str | None
    title: str
    family: str
    subtype: str
    difficulty: int
    gate: str
    reason: str
    repairs: int
    similarity: float | None

    @staticmethod
    def from_row(row: Attempt) -> "AttemptOut":
        """The public form of a row."""
        return AttemptOut(
            index=row.index,
            outcome=Outcome(row.outcome),
            task=row.version.task.code if row.version is not None else None,
            title=row.title,
            family=row.family,
            subtype=row.subtype,
            difficulty=row.difficulty,
            gate=row.gate,
            reason=row.reason,
            repairs=len(row.repairs),
            similarity=row.similarity,
        )


# Imports


class ImportItemOut(Schema):
    """One item of an import."""

    name: str
    outcome: ImportOutcome
    task: str | None
    tier: str
    reason: str
    defects: dict[str, str]

    @staticmethod
    def from_row(row: ImportItem) -> "ImportItemOut":
        """The public form of a row."""
        return ImportItemOut(
            name=row.name,
            outcome=ImportOutcome(row.outcome),
            task=row.task.code if row.task is not None else None,
            tier=row.tier,
            reason=row.reason,
            defects=row.defects,
        )


class ImportOut(Schema):
    """An import and what became of its items."""

    code: str
    source: ImportSource
    name: str
    state: str
    job: str | None
    created: int
    known: int
    refused: int
    items: list[ImportItemOut]

    @staticmethod
    def from_row(row: ImportRun, items: list[ImportItem]) -> "ImportOut":
        """The public form of a row and its items."""
        return ImportOut(
            code=row.code,
            source=ImportSource(row.source),
            name=row.name,
            state=row.job.state if row.job is not None else "queued",
            job=row.job.code if row.job is not None else None,
            created=row.created,
            known=row.known,
            refused=row.refused,
            items=[ImportItemOut.from_row(item) for item in items],
        )


class JobOut(Schema):
    """Work that a worker does: follow it at /jobs/{job}."""

    job: str


class ProveIn(Body):
    """Which tasks to prove."""

    q: str = Field("", max_length=2000)
