"""Two evaluations beside each other: the difference, what became worse, what became better."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.lib.jsonvalue import JsonObject
from studio.web.acts import Act
from studio.web.auth import require
from studio.web.codes import is_code
from studio.web.errors import BadRequest, NotFound
from studio.web.filter_line import list_url
from studio.web.htmx import render_page
from training_app.forms.evaluations import model_of, way_of
from training_app.models import Evaluation
from training_app.queries import evaluations as queries
from training_app.queries.comparisons import comparison_of, different_suites, others_of


@dataclass(frozen=True)
class Side:
    """One of the two."""

    row: Evaluation
    model: str
    way: str
    episodes: str
    """The filter of its episodes."""

    @property
    def others(self) -> list[tuple[Evaluation, str]]:
        """What it can be compared with, and the model of each."""
        return [(row, model_of(row)) for row in others_of(self.row)]


@dataclass(frozen=True)
class Line:
    """All tasks, or a family."""

    label: str
    split: str
    before_url: str
    after_url: str
    change: JsonObject


@never_cache
@require_GET
@require(Act.READ)
def evaluation_compare(request: HttpRequest, code: str, other: str) -> HttpResponse:
    """The first as it was before, the second as it is now; what became worse comes first."""
    for each in (code, other):
        if not is_code(each, Evaluation.code_prefix):
            raise NotFound(f"“{each[:40]}” is no code of an evaluation, such as EV-4K7Q.")
    before, after = queries.get_evaluation(code), queries.get_evaluation(other)
    if before == after:
        raise BadRequest(f"{before.code} is compared with itself. Name two evaluations.")
    found = comparison_of(before, after)
    sides = _side(before), _side(after)
    same: Any = found.difference or dict.fromkeys(("same", "same_passed", "same_failed"), 0)
    context: dict[str, Any] = {
        "before": sides[0],
        "after": sides[1],
        "change": found.difference,
        "between": same["same"] - same["same_passed"] - same["same_failed"],
        "unlike": found.unlike,
        "why_not": "" if found.difference is not None else different_suites(before, after),
        "sides": sides,
        "lines": list(_lines(found.difference, *sides)) if found.difference is not None else [],
        "other_way": reverse("evaluation-compare", args=[after.code, before.code]),
    }
    return render_page(request, "training/compare_evaluations.html", None, context)


def _side(row: Evaluation) -> Side:
    episodes = f"batch:{row.batch.code}" if row.batch is not None else ""
    return Side(row, model_of(row), way_of(row), episodes)


def _lines(change: JsonObject, before: Side, after: Side) -> Iterator[Line]:
    families: Any = change["families"]
    kinds = {one["split_kind"] for one in families}
    yield _line("All tasks", kinds.pop() if len(kinds) == 1 else "mixed", "", before, after, change)
    for one in families:
        term = f" family:{one['family']}"
        yield _line(one["family"], one["split_kind"], term, before, after, one)


def _line(label: str, kind: str, term: str, before: Side, after: Side, change: JsonObject) -> Line:
    url = reverse("episodes")
    return Line(
        label,
        queries.SPLIT_WORDS.get(kind, "–"),
        list_url(url, f"{before.episodes}{term}"),
        list_url(url, f"{after.episodes}{term}"),
        change,
    )
