"""What the library covers: live counts, each beside the filter whose list has as many tasks.

Counted is under a filter, by default what a proof holds for. One task counts in each cell whose
capability it claims, in each service it holds and each input it has, and in one subtype.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import Count, F, Func, QuerySet

from studio.lib.jsonvalue import JsonObject
from tasks_app.core.generation.coverage import Cell, Place, Share, possible, shares_of
from tasks_app.core.generation.families.catalog import FAMILIES, INVENTORIES
from tasks_app.core.inputs import INPUTS
from tasks_app.core.services.catalog import services
from tasks_app.core.services.colleague import Colleague
from tasks_app.enums import Track
from tasks_app.models import Task
from tasks_app.queries import matching

PROVEN: Final = "state:proven,in_review,approved"
"""What is covered unless another filter is asked for: tasks whose proof holds."""
PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "cells": ("track", "family", "difficulty", "capability", "tasks", "filter"),
    "families": ("track", "family", "subtype", "tasks", "filter"),
    "services": ("function", "service", "track", "tasks", "filter"),
    "inputs": ("input", "track", "tasks", "filter"),
}
"""Part of the coverage → the columns of its table."""


class Where(NamedTuple):
    """A cell of the matrix."""

    track: str
    family: str
    level: int
    capability: str


@dataclass(frozen=True)
class Coverage:
    """Counts under one filter."""

    filter_text: str
    tracks: Mapping[str, int]
    cells: Mapping[Where, int]
    places: Mapping[tuple[str, str, int], int]
    """Track, family and difficulty → tasks."""
    families: Mapping[tuple[str, str, str], int]
    """Track, family and subtype → tasks."""
    services: Mapping[tuple[str, str], int]
    """Track and service → tasks."""
    inputs: Mapping[tuple[str, str], int]
    """Track and input → tasks."""

    def filter(self, **terms: object) -> str:
        """Return the filter that lists what a count counts."""
        said = (f"{key}:{value}" for key, value in terms.items() if value not in (None, ""))
        return " ".join([*([self.filter_text] if self.filter_text else []), *said])

    def next_share(self) -> Share | None:
        """Return what is to be made next, None where no family is built in."""
        return next(iter(self.shares(1)), None)

    def shares(self, count: int, *, levels: tuple[int, ...] = ()) -> list[Share]:
        """Plan so many tasks, emptiest cells first."""
        cells = {Cell(w.family, w.level, w.capability): n for w, n in self.cells.items()}
        tasks = {Place(family, level): n for (_, family, level), n in self.places.items()}
        return shares_of(count, cells, tasks, levels=levels)


def coverage(filter_text: str = PROVEN) -> Coverage:
    """Count what a filter covers. Raises FilterError where it is broken."""
    rows = matching(filter_text).order_by()
    return Coverage(
        filter_text,
        dict(_counted(rows, "track")),
        {
            Where(*where): n
            for *where, n in _counted(rows, "track", "family", "difficulty", each="capabilities")
        },
        {(t, f, d): n for t, f, d, n in _counted(rows, "track", "family", "difficulty")},
        {(t, f, s): n for t, f, s, n in _counted(rows, "track", "family", "subtype")},
        {(t, s): n for t, s, n in _counted(rows, "track", each="services")},
        {(t, i): n for t, i, n in _counted(rows, "track", each="inputs")},
    )


def _counted(rows: QuerySet[Task], *columns: str, each: str = "") -> Iterator[Any]:
    """Count rows by columns, and by each element of a list column."""
    if each:
        rows = rows.annotate(one=Func(F(each), function="unnest"))
        columns = (*columns, "one")
    yield from rows.values_list(*columns).annotate(n=Count("pk"))


def rows_of(found: Coverage, part: str) -> Iterator[JsonObject]:
    """Yield the rows of a part's table: what is there, and what could be and is not."""
    if part == "cells":
        cells: dict[Where, int] = {
            Where(FAMILIES[c.family].track, c.family, c.level, c.capability): 0
            for c in possible(Track.values)
        }
        for where, n in {**cells, **found.cells}.items():
            yield {
                "track": where.track,
                "family": where.family,
                "difficulty": where.level,
                "capability": where.capability,
                "tasks": n,
                "filter": found.filter(
                    track=where.track,
                    family=where.family,
                    difficulty=where.level,
                    capability=where.capability,
                ),
            }
    elif part == "families":
        subtypes = {
            (family.track, family.name, subtype): 0
            for family in FAMILIES.values()
            for subtype in family.subtypes
        }
        for (track, family_name, subtype), n in {**subtypes, **found.families}.items():
            yield {
                "track": track,
                "family": family_name,
                "subtype": subtype,
                "tasks": n,
                "filter": found.filter(track=track, family=family_name, subtype=subtype),
            }
    elif part == "services":
        for function, name in office():
            for track in INVENTORIES:
                yield {
                    "function": function,
                    "service": name,
                    "track": track,
                    "tasks": found.services.get((track, name), 0),
                    "filter": found.filter(track=track, service=name),
                }
    else:
        for name in INPUTS:
            for track in INVENTORIES:
                yield {
                    "input": name,
                    "track": track,
                    "tasks": found.inputs.get((track, name), 0),
                    "filter": found.filter(track=track, input=name),
                }


def office() -> list[tuple[str, str]]:
    """Return function and name of every service, those of one function together; the colleague is
    an input, not a service.
    """
    known = [
        (service.function, name) for name, service in services().items() if name != Colleague.name
    ]
    functions = list(dict.fromkeys(function for function, _ in known))
    return sorted(known, key=lambda pair: functions.index(pair[0]))
