"""Imports and what became of each item."""

from ninja import Schema

from tasks_app.enums import ImportOutcome, ImportSource
from tasks_app.models import (
    ImportItem,
    ImportRun,
)


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
