"""What the library covers, in numbers."""

from django.http import HttpRequest
from ninja import Query, Router

from studio.web.acts import Act
from studio.web.auth import require
from tasks_app.coverage import coverage, rows_of
from tasks_app.schemas.coverage import CoverageFilter, CoverageOut

router = Router(tags=["coverage"])


@router.get("", response=CoverageOut, summary="Tasks per cell, subtype, service and input")
@require(Act.READ)
def read_coverage(request: HttpRequest, asked: Query[CoverageFilter]) -> CoverageOut:
    """Each number stands beside the task filter that lists as many tasks."""
    found = coverage(asked.q)
    return CoverageOut.model_validate(
        {
            "filter": found.filter_text,
            "tracks": dict(found.tracks),
            **{part: list(rows_of(found, part)) for part in CoverageOut.PARTS},
        }
    )
