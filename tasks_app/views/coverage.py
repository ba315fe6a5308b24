"""The coverage page: what the library covers, every number a link to the tasks that it counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from studio.web.acts import Act
from studio.web.auth import may, principal, require
from studio.web.errors import BadRequest, NotFound
from studio.web.filter_line import FilterLine, filter_line, filter_text, list_url
from studio.web.htmx import see_other
from tasks_app.core.generation.families.catalog import FAMILIES, INVENTORIES
from tasks_app.core.inputs import INPUTS
from tasks_app.core.spec import CAPABILITIES
from tasks_app.coverage import PARTS, PROVEN, Coverage, coverage, office, rows_of
from tasks_app.enums import Track
from tasks_app.jobs import start_fill
from tasks_app.models import GenerationRun
from tasks_app.queries import TASKS
from tasks_app.sunbursts import rings, sunburst
from tasks_app.views.tables import csv_response

FILL: Final = 20
"""Tasks that the button makes."""
MOST_FAMILIES: Final = 40
LEVELS: Final = (1, 2, 3, 4, 5)
_STEPS: Final = (6, 12, 18, 24)
"""From which counts on a cell is darker."""
_BAR: Final = 60
_BOTH: Final = "inventories"
_STATES: Final = (("Proven", PROVEN), ("All but retired", "-state:retired"))


@dataclass(frozen=True)
class Number:
    """A count and the list behind it."""

    count: int
    url: str
    look: str = ""
    """Class of a cell: how full it is, a gap, the next one to be filled."""
    bar: str = ""
    """Length of its bar."""


@dataclass(frozen=True)
class Line:
    """A line of a table: its head and its numbers."""

    name: str
    words: str
    numbers: tuple[Number, ...]
    group: str = ""
    """Function of a service; only on the first line of it."""
    height: int = 1
    """Lines of the group."""
    total: Number | None = None


@dataclass(frozen=True)
class Choice:
    """One way to look at the matrix."""

    label: str
    url: str
    on: bool


@never_cache
@require_GET
@require(Act.READ)
def coverage_page(request: HttpRequest) -> HttpResponse:
    """Matrix, services, inputs, families; 400 with the good terms' counts where a term is wrong."""
    line, found = _asked(request)
    track = request.GET.get("track") or _BOTH
    level = request.GET.get("difficulty") or ""
    if track not in (_BOTH, *Track.values) or level not in ("", *map(str, LEVELS)):
        raise BadRequest("There is no such track or difficulty.")
    tracks = INVENTORIES if track == _BOTH else (track,)
    levels = (int(level),) if level else LEVELS
    shown, more = _families(found, tracks, levels, level)
    drawn = [one for one in INVENTORIES if found.tracks.get(one)]
    figures = [sunburst(found, one, _wedge_urls(found, one)) for one in drawn]
    context: dict[str, Any] = {
        "filter": line,
        "total": sum(
            n for (one, _, at), n in found.places.items() if one in tracks and at in levels
        ),
        "tracks": [
            Choice(label, _here(line, track=name, difficulty=level), name == track)
            for name, label in ((_BOTH, "Inventories"), *((one, one) for one in Track.values))
        ],
        "states": [
            Choice(
                label,
                list_url(reverse("coverage"), text, **_kept(track, level)),
                line.text == text,
            )
            for label, text in _STATES
        ],
        "levels": [
            Choice(label, _here(line, track=track, difficulty=name), name == level)
            for name, label in (("", "All"), *((str(n), str(n)) for n in LEVELS))
        ],
        "families": shown,
        "more": more,
        "matrix": _matrix(found, tracks, levels, level, [head.name for head in shown]),
        "services": _services(found),
        "inventories": [Number(found.tracks.get(t, 0), _list(found, track=t)) for t in INVENTORIES],
        "inventory_names": INVENTORIES,
        "inputs": [
            Line(name, words, _bars(found, "input", name, found.inputs))
            for name, words in INPUTS.items()
        ],
        "figures": figures,
        "bare": [one for one in INVENTORIES if one not in drawn],
        "rings": [(track_name, _rings(found, track_name)) for track_name in INVENTORIES],
        "may_fill": may(request, Act.GENERATE),
        "fill": FILL,
        "csv": [(part, _here(line, "coverage-csv", part)) for part in PARTS],
    }
    return render(request, "tasks/coverage.html", context, status=400 if line.problems else 200)


@require_GET
@require(Act.EXPORT)
def coverage_csv(request: HttpRequest, part: str) -> HttpResponse:
    """One part's table as CSV, each count beside the filter that lists its tasks."""
    if part not in PARTS:
        raise NotFound(f"There is no table {part[:20]}; there are {', '.join(PARTS)}.")
    line, found = _asked(request)
    if line.problems:
        raise BadRequest("This filter cannot be used.", line.problems)
    return csv_response(PARTS[part], rows_of(found, part), name=f"coverage-{part}")


@require_POST
@require(Act.GENERATE)
def coverage_fill(request: HttpRequest) -> HttpResponse:
    """Let a worker make tasks for the emptiest cells."""
    # A seed of its own for each press; the command takes any.
    seed = GenerationRun.objects.count() + 1
    run = start_fill(by=principal(request), count=FILL, seed=seed)
    return see_other(request, reverse("generation-run", args=[run.code]))


def _asked(request: HttpRequest) -> tuple[FilterLine, Coverage]:
    if not filter_text(request):
        given = request.GET.copy()
        given["q"] = PROVEN
        request.GET = given  # type: ignore[assignment]  # the line shows what holds
    line = filter_line(request, TASKS, noun="tasks", keep=("track", "difficulty"))
    return line, coverage(line.good)


def _here(
    line: FilterLine, page: str = "coverage", *args: str, track: str = "", difficulty: str = ""
) -> str:
    return list_url(reverse(page, args=args), line.text, **_kept(track, difficulty))


def _kept(track: str, difficulty: str) -> dict[str, str]:
    return {"track": "" if track == _BOTH else track, "difficulty": difficulty}


def _list(found: Coverage, **terms: object) -> str:
    return list_url(reverse("tasks"), found.filter(**terms))


def _families(
    found: Coverage, tracks: Sequence[str], levels: Sequence[int], level: str
) -> tuple[list[Line], int]:
    """The columns of the matrix: built-in families, then others by their number of tasks."""
    counts: dict[str, int] = {}
    for (track, family, at), n in found.places.items():
        if track in tracks and at in levels:
            counts[family] = counts.get(family, 0) + n
    built_in = [name for name, family in FAMILIES.items() if family.track in tracks]
    others = sorted(set(counts) - set(built_in), key=lambda name: (-counts[name], name))
    names = [*built_in, *others]
    heads = [
        Line(
            name,
            name.replace("_", " "),
            (
                Number(
                    counts.get(name, 0),
                    _list(found, family=name, track=",".join(tracks), difficulty=level),
                ),
            ),
        )
        for name in names[:MOST_FAMILIES]
    ]
    return heads, len(names) - len(heads)


def _matrix(
    found: Coverage,
    tracks: Sequence[str],
    levels: Sequence[int],
    level: str,
    families: Sequence[str],
) -> list[Line]:
    counts: dict[tuple[str, str], int] = {}
    for where, n in found.cells.items():
        if where.track in tracks and where.level in levels:
            key = (where.capability, where.family)
            counts[key] = counts.get(key, 0) + n
    upcoming = _next(found, levels)
    lines = []
    for capability, words in CAPABILITIES.items():
        terms = {"track": ",".join(tracks), "difficulty": level, "capability": capability}
        cells = []
        for family in families:
            n = counts.get((capability, family), 0)
            look = _look(n, can_be=_can_be(family, capability, levels))
            if upcoming == (family, capability) and look != "na":
                look = "next"
            cells.append(Number(n, _list(found, **terms, family=family), look))
        total = sum(n for (one, _), n in counts.items() if one == capability)
        lines.append(
            Line(capability, words, tuple(cells), total=Number(total, _list(found, **terms)))
        )
    return lines


def _can_be(family: str, capability: str, levels: Sequence[int]) -> bool:
    known = FAMILIES.get(family)
    return (
        known is not None
        and capability in known.capabilities
        and any(level in known.levels for level in levels)
    )


def _look(count: int, *, can_be: bool) -> str:
    if not count:
        return "gap" if can_be else "na"
    step = sum(count >= least for least in _STEPS)
    return f"q{step + 1}"


def _next(found: Coverage, levels: Sequence[int]) -> tuple[str, str] | None:
    """Family and capability of the cell to be filled next, of those that are shown."""
    share = found.next_share()
    if share is None or share.level not in levels:
        return None
    inside: dict[str, int] = dict.fromkeys(FAMILIES[share.family].capabilities, 0)
    for where, n in found.cells.items():
        if where.family == share.family and where.level in levels:
            inside[where.capability] = inside.get(where.capability, 0) + n
    return share.family, min(inside, key=lambda name: inside[name])


def _services(found: Coverage) -> list[Line]:
    listed = office()
    heights: dict[str, int] = {}
    for function, _ in listed:
        heights[function] = heights.get(function, 0) + 1
    lines = []
    before = ""
    for function, name in listed:
        group = function if function != before else ""
        bars = _bars(found, "service", name, found.services)
        lines.append(Line(name, name, bars, group, heights[function]))
        before = function
    return lines


def _bars(
    found: Coverage, key: str, name: str, counts: dict[tuple[str, str], int] | Any
) -> tuple[Number, ...]:
    numbers = []
    for track in INVENTORIES:
        n = counts.get((track, name), 0)
        whole = found.tracks.get(track, 0)
        bar = f"{_BAR * n / whole:.1f}" if whole else "0"
        numbers.append(Number(n, _list(found, **{"track": track, key: name}), bar=bar))
    return tuple(numbers)


def _wedge_urls(found: Coverage, track: str) -> dict[str, str]:
    urls = {track: _list(found, track=track)}
    for family, (_, subtypes) in rings(found, track).items():
        urls[family] = _list(found, track=track, family=family)
        for subtype in subtypes:
            urls[f"{family}/{subtype}"] = _list(found, track=track, family=family, subtype=subtype)
    return urls


def _rings(found: Coverage, track: str) -> list[Line]:
    urls = _wedge_urls(found, track)
    return [
        Line(
            family,
            family.replace("_", " "),
            (
                Number(count, urls[family]),
                *(Number(n, urls[f"{family}/{name}"], look=name) for name, n in subtypes.items()),
            ),
        )
        for family, (count, subtypes) in rings(found, track).items()
    ]
