"""What failed first in the episodes of a filter: a page, and a part of the batch page."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from rollouts_app import queries, reports
from studio.lib.jsonvalue import JsonValue
from studio.web.acts import Act
from studio.web.auth import require
from studio.web.errors import BadRequest
from studio.web.filter_line import filter_line, list_url
from studio.web.htmx import render_page

ROWS_SHOWN: Final = 200
POLICIES_SHOWN: Final = 8
VERSIONS_READ: Final = 40
"""Task versions that are opened to say what a check asks for."""
_KINDS: Final[dict[reports.FailureKind, tuple[str, str]]] = {
    "constraint": ("violated", "rule broken"),
    "check": ("none", "check not met"),
    "boundary": ("lost", "not scored"),
}
"""Kind → state of the mark, and its words."""
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Cell:
    """How many episodes of one policy failed here; the address shows them."""

    policy: str
    episodes: int
    share: float | None
    """Of the graded ones of this policy and family; of all for those without a result."""
    url: str


@dataclass(frozen=True)
class FailureRow:
    """One place where episodes fail first."""

    failed: str
    state: str
    words: str
    example: str
    """What it asks for in one of the tasks; others may name other records."""
    cells: tuple[Cell | None, ...]
    """One a policy, in the order of the columns."""
    episodes: int


@dataclass(frozen=True)
class FamilyPart:
    """The rows of a family."""

    family: str
    runs: reports.Runs
    rows: Sequence[FailureRow]


@dataclass(frozen=True)
class FailureTable:
    """What a page draws."""

    policies: tuple[str, ...]
    parts: tuple[FamilyPart, ...]
    runs: reports.Runs
    shown: int
    """Rows that are drawn, of so many."""
    total: int
    counted: int
    partial: bool
    """Whether only the newest episodes were counted."""
    other_policies: int
    """Policies without a column: too many for one table."""


def failure_table(filter_text: str) -> FailureTable:
    """The table of a filter, families with most failures first. Raises FilterError."""
    found = reports.failures(filter_text)
    policies = _policies(found)
    places: dict[_Place, dict[str, reports.Failure]] = {}
    for each in found.rows:
        place = _Place(each.kind == "boundary", each.family, each.kind, each.failed)
        places.setdefault(place, {})[each.policy] = each
    counts = {place: sum(f.episodes for f in by.values()) for place, by in places.items()}
    # Failures of the policies come first: what broke outside them is not their doing.
    shown = sorted(places, key=lambda place: (place.unscored, -counts[place], place))[:ROWS_SHOWN]
    rows: dict[str, list[FailureRow]] = {}
    read: set[int] = set()
    for place in shown:
        state, words = _KINDS[place.kind]
        version = max(each.example for each in places[place].values())
        example = ""
        if place.kind != "boundary" and (version in read or len(read) < VERSIONS_READ):
            read.add(version)
            example = reports.sentences_of(version).get((place.kind, place.failed), "")
        cells = tuple(_cell(found, places[place].get(policy)) for policy in policies)
        rows.setdefault(place.family, []).append(
            FailureRow(place.failed, state, words, example, cells, counts[place])
        )
    parts = [
        FamilyPart(family, _sum(r for (name, _), r in found.runs.items() if name == family), part)
        for family, part in rows.items()
    ]
    return FailureTable(
        policies=policies,
        parts=tuple(sorted(parts, key=lambda part: -part.runs.failed)),
        runs=_sum(found.runs.values()),
        shown=len(shown),
        total=len(places),
        counted=found.counted,
        partial=found.partial,
        other_policies=len({each.policy for each in found.rows}) - len(policies),
    )


class _Place(NamedTuple):
    unscored: bool
    family: str
    kind: reports.FailureKind
    failed: str


def _policies(found: reports.Failures) -> tuple[str, ...]:
    """The policies with most failures, by name."""
    counts: Counter[str] = Counter()
    for each in found.rows:
        counts[each.policy] += each.episodes
    return tuple(sorted(name for name, _ in counts.most_common(POLICIES_SHOWN)))


def _cell(found: reports.Failures, failure: reports.Failure | None) -> Cell | None:
    if failure is None:
        return None
    runs = found.runs[failure.family, failure.policy]
    of = runs.graded + runs.unscored if failure.kind == "boundary" else runs.graded
    return Cell(
        failure.policy,
        failure.episodes,
        failure.episodes / of if of else None,
        list_url(reverse("episodes"), failure.filter),
    )


def _sum(runs: Iterable[reports.Runs]) -> reports.Runs:
    graded = failed = unscored = 0
    for each in runs:
        graded += each.graded
        failed += each.failed
        unscored += each.unscored
    return reports.Runs(graded, failed, unscored)


@never_cache
@require_GET
@require(Act.READ)
def failure_page(request: HttpRequest) -> HttpResponse:
    """What failed first under a filter; 400 with the good terms' rows where a term is wrong."""
    line = filter_line(request, queries.EPISODES, noun="episodes")
    context = {
        "filter": line,
        "table": failure_table(line.good),
        "episodes_url": list_url(reverse("episodes"), line.good),
        "csv_url": list_url(reverse("failures-csv"), line.good),
    }
    return render_page(
        request,
        "rollouts/failures.html",
        {"failures": "rollouts/_failures.html"},
        context,
        status=400 if line.problems else 200,
    )


@require_GET
@require(Act.EXPORT)
def failure_csv(request: HttpRequest) -> HttpResponse:
    """The same table as CSV, all rows of it; a wrong filter is refused."""
    line = filter_line(request, queries.EPISODES, noun="episodes")
    if line.problems:
        raise BadRequest("This filter cannot be used.", line.problems)
    text = io.StringIO()
    writer = csv.DictWriter(text, reports.FAILURE_COLUMNS)
    writer.writeheader()
    for row in reports.failure_rows(reports.failures(line.good)):
        writer.writerow({name: _harmless(value) for name, value in row.items()})
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="failures.csv"'
    return response


def _harmless(value: JsonValue) -> JsonValue:
    """A text that a spreadsheet would take for a formula, made a text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULA else value
