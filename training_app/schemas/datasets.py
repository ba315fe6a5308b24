"""What the API takes and gives for datasets."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, JsonValue

from studio.web.api.bodies import Body
from studio.web.choices import JobState
from training_app.core.dataset import LARGEST_WEIGHT
from training_app.enums import DatasetKind, Portion, SplitKind
from training_app.models import Dataset
from training_app.operations.datasets import MOST_MIXES
from training_app.queries.datasets import Preview, RowShown

Family = Annotated[str, Field(max_length=64)]


class MixIn(Body):
    """Rows from outside, as the text of a JSON Lines file."""

    source: Annotated[str, Field(min_length=1, max_length=80)] = Field(
        description="What the rows are called: a file's name."
    )
    rows: str = Field(description="JSON Lines, each {messages, tools}.")
    weight: Annotated[Decimal, Field(gt=0, le=LARGEST_WEIGHT)] = Field(
        Decimal(1), description="How often each row counts."
    )
    license: Annotated[str, Field(max_length=500)] = Field(
        "", description="Under which terms, and where it comes from."
    )


class SelectionIn(Body):
    """What is to be frozen."""

    kind: DatasetKind
    filter: Annotated[str, Field(max_length=2000)] = Field(
        "", description="Of episodes, or of tasks (without state: approved ones)."
    )
    rules: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Rule of curation → setting; what is missing has its default.",
    )
    held_families: Annotated[list[Family], Field(max_length=100)] = Field(
        default_factory=list, description="Families to hold back: the split kind new_families."
    )


class DatasetIn(SelectionIn):
    """A dataset to freeze."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    mix: Annotated[list[MixIn], Field(max_length=MOST_MIXES)] = Field(default_factory=list)


class PreviewOut(Schema):
    """What freezing would do, as far as the rules can tell."""

    selected: int
    more: bool = Field(description="Whether the filter selects more than were looked at.")
    train: int
    held_out: int
    dropped: dict[str, int] = Field(description="Rule → how many it is the first to drop.")
    alone: dict[str, int] = Field(description="Rule → how many it would drop by itself.")

    @staticmethod
    def from_preview(found: Preview) -> "PreviewOut":
        """The public form."""
        return PreviewOut(
            selected=found.selected,
            more=found.more,
            train=found.train,
            held_out=found.held_out,
            dropped=dict(found.dropped),
            alone=dict(found.alone),
        )


class DatasetOut(Schema):
    """A dataset; ``frozen_at`` is null while its job runs, and stays so where the job failed."""

    code: str
    name: str
    kind: DatasetKind
    filter: str
    rules: dict[str, JsonValue]
    held_families: list[str]
    split_kind: SplitKind
    rows: int = Field(description="Lines to train on.")
    held_out: int
    dropped: dict[str, int]
    sha256: str
    job: str | None
    state: JobState | None
    error: str
    author: str | None
    created_at: dt.datetime
    frozen_at: dt.datetime | None

    @staticmethod
    def from_row(row: Dataset) -> "DatasetOut":
        """The public form of a row."""
        return DatasetOut(**_columns(row))


class DatasetDetail(DatasetOut):
    """A dataset with its manifest."""

    manifest: dict[str, JsonValue]
    composition: dict[str, dict[str, int]]
    lint: list[dict[str, JsonValue]]
    mixes: list[dict[str, JsonValue]]

    @staticmethod
    def from_dataset(row: Dataset) -> "DatasetDetail":
        """The public form of a row, whole."""
        return DatasetDetail(
            **_columns(row),
            manifest=row.manifest,
            composition=row.composition,
            lint=row.lint,
            mixes=row.mixes,
        )


def _columns(row: Dataset) -> dict[str, Any]:
    return {
        "code": row.code,
        "name": row.name,
        "kind": row.kind,
        "filter": row.filter,
        "rules": row.rules,
        "held_families": row.held_families,
        "split_kind": row.split_kind,
        "rows": row.rows,
        "held_out": row.composition.get("portion", {}).get(Portion.HELD_OUT, 0),
        "dropped": row.dropped,
        "sha256": row.sha256,
        "job": row.job.code if row.job else None,
        "state": row.job.state if row.job else None,
        "error": row.job.error if row.job and row.frozen_at is None else "",
        "author": row.author.username if row.author else None,
        "created_at": row.created_at,
        "frozen_at": row.frozen_at,
    }


class RowOut(Schema):
    """One row and where it comes from."""

    position: int
    copies: int = Field(description="How often it stands in the file.")
    origin: dict[str, JsonValue]
    row: dict[str, JsonValue]

    @staticmethod
    def from_row(shown: RowShown) -> "RowOut":
        """The public form."""
        return RowOut(
            position=shown.item.position,
            copies=shown.item.copies,
            origin=shown.item.origin,
            row=dict(shown.row),
        )


class RowsOut(Schema):
    """Some rows of a portion; ``next_first`` is null behind the last."""

    items: list[RowOut]
    next_first: int | None
