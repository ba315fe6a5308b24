"""Datasets: preview, freeze, read, take away."""

from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.errors import Invalid, Problem
from training_app.core.curation import RulesError, read_rules
from training_app.enums import Portion
from training_app.jobs.datasets import start_dataset
from training_app.operations.dataset_deletion import LONGEST_REASON, delete_dataset
from training_app.operations.dataset_downloads import download
from training_app.operations.datasets import Mix
from training_app.queries import datasets as queries
from training_app.schemas.datasets import (
    DatasetDetail,
    DatasetIn,
    DatasetOut,
    PreviewOut,
    RowOut,
    RowsOut,
    SelectionIn,
)

router = Router(tags=["datasets"])


class RowsAsked(Schema):
    """Which rows, from 0."""

    portion: Portion = Portion.TRAIN
    first: int = Field(0, ge=0, le=2**31 - 1)
    size: int = Field(20, ge=1, le=100)


class Going(Schema):
    """What somebody says who deletes a dataset."""

    name: str = Field(max_length=80, description="Its name, once more.")
    reason: str = Field(max_length=LONGEST_REASON, description="Why; the audit log keeps it.")


@router.get("", response=PageOut[DatasetOut], summary="Datasets, newest first")
@require(Act.READ)
def list_datasets(request: HttpRequest, paging: Query[Paging]) -> PageOut[DatasetOut]:
    """All datasets, frozen or not."""
    return page_out(queries.dataset_page(paging.cursor, paging.size), DatasetOut.from_row)


@router.post("", response={201: DatasetOut}, summary="Freeze a dataset")
@require(Act.FREEZE_DATASETS)
def create(request: HttpRequest, body: DatasetIn) -> Status[DatasetOut]:
    """Queue the job that fills and freezes it; 422 names everything that is wrong."""
    dataset = start_dataset(
        kind=body.kind,
        name=body.name,
        by=principal(request),
        filter_text=body.filter,
        rules=body.rules,
        held_families=body.held_families,
        mixes=[Mix(mix.source, mix.rows.encode(), mix.weight, mix.license) for mix in body.mix],
    )
    return Status(201, DatasetOut.from_row(dataset))


@router.post("/preview", response=PreviewOut, summary="What freezing would drop")
@require(Act.FREEZE_DATASETS)
def preview(request: HttpRequest, body: SelectionIn) -> PreviewOut:
    """Judge the first rows of the filter; nothing is kept."""
    try:
        rules = read_rules(body.rules)
    except RulesError as error:
        raise Invalid(
            "These rules cannot be.", [Problem(f"rules.{error.place}", error.message, error.hint)]
        ) from error
    found = queries.preview(body.kind, body.filter, rules, body.held_families)
    return PreviewOut.from_preview(found)


@router.get("/{code}", response=DatasetDetail, summary="One dataset with its manifest")
@require(Act.READ)
def read(request: HttpRequest, code: str) -> DatasetDetail:
    """Poll it until ``frozen_at`` is set, or ``state`` says that the job ended otherwise."""
    return DatasetDetail.from_dataset(queries.get_dataset(code))


@router.delete("/{code}", response={204: None}, summary="Delete a dataset")
@require(Act.FREEZE_DATASETS)
def delete(request: HttpRequest, code: str, asked: Query[Going]) -> Status[None]:
    """With its name and a reason; 409 names the runs that were trained on it, which keep it."""
    row = queries.get_dataset(code)
    delete_dataset(dataset=row, name=asked.name, reason=asked.reason, by=principal(request))
    return Status(204, None)


@router.get("/{code}/rows", response=RowsOut, summary="Some rows with their origin")
@require(Act.READ)
def rows(request: HttpRequest, code: str, asked: Query[RowsAsked]) -> RowsOut:
    """Each row once, whatever its weight."""
    dataset = queries.get_dataset(code)
    found = queries.rows_shown(dataset, asked.portion, first=asked.first, size=asked.size + 1)
    end = asked.first + asked.size
    return RowsOut(
        items=[RowOut.from_row(one) for one in found[: asked.size]],
        next_first=end if len(found) > asked.size else None,
    )


@router.get("/{code}/download/{form}", summary="jsonl, held_out.jsonl, parquet or zip")
@require(Act.EXPORT)
def take(request: HttpRequest, code: str, form: str) -> StreamingHttpResponse | FileResponse:
    """The data as frozen; an answer shorter than its Content-Length is damaged. 409 before that."""
    return download(code, form)
