"""Runs beside each other: the paper's figure 3, an overlay, what they came to, how they differ."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.web.acts import Act
from studio.web.auth import require
from studio.web.choices import FINISHED
from studio.web.codes import is_code, normalise
from studio.web.errors import BadRequest, NotFound
from studio.web.htmx import etag, render_page, unchanged
from training_app.charts.grid import Drawn, overlay_figure, paper_cells
from training_app.charts.looks import AXIS_WORDS, Look, look_of, name_of, recipe_of
from training_app.charts.sheet import paper_sheet
from training_app.enums import Algorithm
from training_app.models import TrainingRun
from training_app.queries import curves, runs
from training_app.queries.curve_families import PAPER, Family, families_of
from training_app.queries.curves import Axis
from training_app.queries.results import Change, Measured, change, part
from training_app.views.recipes import Difference, differences
from training_app.views.run_curves import Choice, is_smooth
from training_app.views.tables import csv_response

MOST: Final = 12
"""Runs of a comparison: more lines are not told apart."""
OFFERED: Final = 60


class Named(NamedTuple):
    """A run with its look and name."""

    run: TrainingRun
    look: Look
    name: str
    control: bool


class GridRow(NamedTuple):
    """One row of the grid: an algorithm, its runs, three cells."""

    algorithm: Algorithm
    look: Look
    runs: tuple[Named, ...]
    cells: tuple[dict[str, Any], ...]


class Line(NamedTuple):
    """What a run came to, in one way of writing."""

    named: Named
    way: str
    before: Measured | None
    after: Measured | None
    gain: Change | None
    other: Measured | None
    """After the run, on new families."""


@never_cache
@require_GET
@require(Act.READ)
def run_compare(request: HttpRequest) -> HttpResponse:
    """The page; without ``runs`` it compares the newest run of each algorithm and a control."""
    chosen = _chosen(request)
    named = [_named(run) for run in chosen]
    drawn = _drawn(request, chosen)
    grid = _grid(request, drawn)
    families = _families(drawn)
    family = _family(request, families)
    found, equal = _differences(chosen)
    axis = curves.axis_of(request.GET.get("x"))
    overlay = (
        overlay_figure(drawn, family.id, axis=axis, smooth=is_smooth(request)) if family else None
    )
    context = {
        "named": named,
        "codes": ",".join(run.code for run in chosen),
        "title": _title(request, named, grid),
        "grid": grid,
        "columns": PAPER,
        "controls": [one for one in named if one.control],
        "overlay": overlay,
        "families": [
            Choice("family", f.id, f.title, _url(request, family=f.id), f == family)
            for f in families
        ],
        "axes": [
            Choice("x", a, words, _url(request, x=a), a == axis)
            for a, words in (("samples", "Samples"), ("step", "Steps"), ("seconds", "Time"))
        ],
        "smoothing": [
            Choice("smooth", "on", "Smoothed", _url(request, smooth="on"), is_smooth(request)),
            Choice("smooth", "off", "Every step", _url(request, smooth="off"),
                   not is_smooth(request)),
        ],
        "axis_words": AXIS_WORDS[axis],
        "lines": list(_lines(named)),
        "differences": found,
        "equal": equal,
        "offered": _offered(chosen),
        "going_on": any(run.state not in FINISHED for run in chosen),
        "query": _query(request, chosen),
        "most": MOST,
        "one_seed": len({run.algorithm for run in chosen}) == len(chosen),
    }  # fmt: skip
    return render_page(request, "training/compare_runs.html", {}, context)


_COUNTS: Final = ("No", "One", "Two", "Three", "Four")


def _title(request: HttpRequest, named: Sequence[Named], grid: Sequence[GridRow]) -> str:
    if not named:
        return "Compare runs"
    if request.GET.get("runs") or not grid:
        return f"{len(named)} runs, side by side" if len(named) > 1 else named[0].run.code
    return f"{_COUNTS[len(grid)]} algorithm{'s' * (len(grid) > 1)}, the newest run of each"


def _chosen(request: HttpRequest) -> list[TrainingRun]:
    """The runs of the address, in its order; the newest of each algorithm where it names none."""
    asked = [
        code.strip()
        for part in request.GET.getlist("runs")
        for code in part.split(",")
        if code.strip()
    ]
    if not asked:
        return curves.newest_of_each()
    codes = list(dict.fromkeys(normalise(code) for code in asked))
    wrong = [code for code in codes if not is_code(code, TrainingRun.code_prefix)]
    if wrong:
        raise BadRequest(f"“{wrong[0][:40]}” is no code of a run, such as RUN-4K7Q.")
    if len(codes) > MOST:
        raise BadRequest(f"At most {MOST} runs are compared at once, not {len(codes)}.")
    found = {run.code: run for run in runs.all_runs().filter(code__in=codes)}
    missing = [code for code in codes if code not in found]
    if missing:
        raise NotFound(f"There is no training run {missing[0]}.")
    return [found[code] for code in codes]


def _named(run: TrainingRun) -> Named:
    return Named(run, look_of(run), name_of(run), curves.is_control(run))


def _drawn(request: HttpRequest, chosen: Sequence[TrainingRun]) -> list[Drawn]:
    axis = curves.axis_of(request.GET.get("x"))
    return [Drawn(run, curves.read(run, families_of(run.algorithm), axis=axis)) for run in chosen]


def _grid(request: HttpRequest, drawn: Sequence[Drawn]) -> list[GridRow]:
    axis: Axis = curves.axis_of(request.GET.get("x"))
    cells = paper_cells(_online(drawn), axis=axis, smooth=is_smooth(request))
    rows = dict.fromkeys(cell.row for cell in cells)
    return [
        GridRow(
            algorithm,
            look_of(own[0].run),
            tuple(own),
            tuple(cell.figure for cell in cells if cell.row == algorithm),
        )
        for algorithm in rows
        if (
            own := [
                _named(one.run)
                for one in drawn
                if one.run.algorithm == algorithm and not curves.is_control(one.run)
            ]
        )
    ]


def _online(drawn: Sequence[Drawn]) -> list[Drawn]:
    return [one for one in drawn if one.run.algorithm != Algorithm.SFT]


def _families(drawn: Sequence[Drawn]) -> list[Family]:
    """What at least one run shows as a single line, by the words of its chart."""
    found: dict[str, Family] = {}
    for one in drawn:
        for chart in one.charts:
            if len(chart.curves) == 1 and chart.curves[0].points:
                found.setdefault(chart.family.id, chart.family)
    return list(found.values())


def _family(request: HttpRequest, families: Sequence[Family]) -> Family | None:
    asked = request.GET.get("family")
    return next((f for f in families if f.id == asked), families[0] if families else None)


def _lines(named: Sequence[Named]) -> Iterator[Line]:
    for one in named:
        for way in ("greedy", "sampled"):
            before, after, other = (
                part(one.run, name, way) for name in ("before", "after", "after_new_families")
            )
            if before or after or other:
                yield Line(one, way, before, after, change(one.run, way), other)


def _differences(chosen: Sequence[TrainingRun]) -> tuple[list[Difference], int]:
    recipes = [recipe for run in chosen if (recipe := recipe_of(run)) is not None]
    if len(recipes) != len(chosen) or len(recipes) < 2:
        return [], 0
    return differences(recipes)


def _offered(chosen: Sequence[TrainingRun]) -> list[tuple[Named, bool]]:
    """Runs to choose from: the chosen ones, then the newest that logged something."""
    rest = [run for run in curves.with_curves()[:OFFERED] if run not in chosen]
    return [(_named(run), True) for run in chosen] + [(_named(run), False) for run in rest]


def _query(request: HttpRequest, chosen: Sequence[TrainingRun]) -> str:
    kept = {name: request.GET[name] for name in ("x", "smooth", "family") if name in request.GET}
    return urlencode({"runs": ",".join(run.code for run in chosen), **kept})


def _url(request: HttpRequest, **changes: str) -> str:
    kept = {name: request.GET[name] for name in ("x", "smooth", "family") if request.GET.get(name)}
    named = ",".join(request.GET.getlist("runs"))
    return "?" + urlencode({**({"runs": named} if named else {}), **kept, **changes})


@never_cache
@require_GET
@require(Act.READ)
def compare_curves(request: HttpRequest) -> HttpResponse:
    """The grid and the overlay as JSON; 304 where nothing was added."""
    chosen = _chosen(request)
    token = [
        [run.code, (row := curves.newest_row(run)) and [row.step, row.seconds, len(row.values)]]
        for run in chosen
    ]
    view = [request.GET.get(name) for name in ("x", "smooth", "family")]
    same = unchanged(request, [token, view])
    if same is not None:
        return same
    drawn = _drawn(request, chosen)
    figures = [cell for row in _grid(request, drawn) for cell in row.cells]
    family = _family(request, _families(drawn))
    if family is not None:
        axis = curves.axis_of(request.GET.get("x"))
        figures.append(overlay_figure(drawn, family.id, axis=axis, smooth=is_smooth(request)))
    response = JsonResponse({"again": True, "cursor": "", "figures": figures})
    response["ETag"] = etag([token, view])
    return response


@require_GET
@require(Act.EXPORT)
def compare_sheet(request: HttpRequest) -> HttpResponse:
    """The whole grid as one figure, which the page saves as SVG."""
    drawn = _drawn(request, _chosen(request))
    axis = curves.axis_of(request.GET.get("x"))
    cells = paper_cells(_online(drawn), axis=axis, smooth=is_smooth(request))
    if not cells:
        raise NotFound("None of these runs learnt by RL and logged a step.")
    return JsonResponse(paper_sheet(cells, axis=axis))


@require_GET
@require(Act.EXPORT)
def compare_csv(request: HttpRequest) -> HttpResponseBase:
    """What the grid draws, every step of it: one row a run and step."""
    chosen = _chosen(request)
    columns = [(family.id, family.curves[0].metrics) for family in PAPER]
    return csv_response(
        ["run", "algorithm", "control", "seed", "step", "samples", "seconds",
         "reward", "policy_loss", "response_length"],
        (
            [
                run.code, run.algorithm, "yes" if curves.is_control(run) else "no", run.seed,
                row.step, row.samples, row.seconds,
                *(_first(row.values, metrics) for _, metrics in columns),
            ]
            for run in chosen
            for row in curves.all_rows(run)
        ),
        name="compare-runs",
    )  # fmt: skip


def _first(values: dict[str, Any], metrics: Sequence[str]) -> Any:
    return next((values[name] for name in metrics if name in values), "")


def compare_url(*codes: str) -> str:
    """The page that compares these runs."""
    return f"{reverse('run-compare')}?{urlencode({'runs': ','.join(codes)})}"
