"""Tasks and their versions."""

import datetime as dt
from typing import Any

from ninja import Schema
from pydantic import Field

from studio.lib.jsonvalue import JsonObject
from studio.web.api.bodies import Body
from studio.web.api.paging import Paging
from tasks_app.enums import Origin
from tasks_app.models import (
    Task,
    TaskVersion,
)
from tasks_app.queries import TASK_ORDERS
from tasks_app.schemas.fields import Reason, Spec, VersionNumber


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


class ProveIn(Body):
    """Which tasks to prove."""

    q: str = Field("", max_length=2000)


class StartedOut(Schema):
    """Work that a worker does: follow it at /jobs/{job}."""

    job: str
