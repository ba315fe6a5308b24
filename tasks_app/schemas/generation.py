"""Requirements, runs of generation, and their attempts."""

import datetime as dt
from typing import Any

from ninja import Schema
from pydantic import Field

from studio.web.api.bodies import Body
from tasks_app.enums import Outcome
from tasks_app.models import (
    Attempt,
    GenerationRun,
    WorkflowRequirement,
)
from tasks_app.queries import Loss
from tasks_app.schemas.fields import Text


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


class GenerationRunIn(Body):
    """A generation to start: of a requirement, or of families and numbers."""

    requirement: str | None = Field(None, max_length=20, description="REQ-…; the rest may be left")
    families: list[str] | None = Field(None, min_length=1, max_length=50)
    fill: bool = Field(
        False,
        description="The emptiest cells of capability, family and difficulty first; without "
        "requirement and families",
    )
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


class GenerationRunOut(Schema):
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
    def from_row(row: GenerationRun) -> "GenerationRunOut":
        """The public form of a row."""
        return GenerationRunOut(**_run(row))


class GenerationRunDetail(GenerationRunOut):
    """A run with the reasons behind its losses."""

    losses: list[LossOut]

    @staticmethod
    def from_run(row: GenerationRun, losses: list[Loss]) -> "GenerationRunDetail":
        """The public form of a row and its losses."""
        return GenerationRunDetail(**_run(row), losses=[LossOut.from_loss(loss) for loss in losses])


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
