"""The records of a draft: a collection as a grid of typed cells, a record opened below it."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from tasks_app.core.drafting import listed
from tasks_app.core.presenting.records import Column, Table, columns_of, tables
from tasks_app.core.presenting.words import plain, pretty, shown
from tasks_app.core.services.catalog import collections
from tasks_app.core.spec import SpecError, load_spec
from tasks_app.views.editor.desk import Desk

ROWS_SHOWN: Final = 100


def records(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    """The chosen collection as a grid of typed cells; a record opened below it."""
    document = desk.document
    held = document.get("services", {})
    offered = [
        f"{service}/{name}"
        for service, rows in (held.items() if isinstance(held, Mapping) else ())
        for name in (rows if isinstance(rows, Mapping) else ())
    ]
    roles = _roles(document)
    wanted = request.GET.get("collection", "")
    place = wanted if wanted in offered else _first_place(offered, roles, held)
    service, _, name = place.partition("/")
    rows = listed(held.get(service, {}), name) if place else []
    declared = collections().get(place)
    id_field = declared.id_field if declared is not None else "id"
    columns = columns_of([row for row in rows if isinstance(row, Mapping)], id_field)
    opened = request.GET.get("record", "")
    grid = [
        _grid_row(index, row, columns, id_field, roles.get(place))
        for index, row in enumerate(rows)
        if isinstance(row, Mapping)
    ]
    chosen = next((row for row in grid if row["id"] == opened), None) if opened else None
    page = _page_of(request, grid, chosen)
    base = reverse("task-edit", args=[desk.task.code])
    other = [address for address in collections() if address not in offered]
    return {
        "places": [
            (
                address,
                len(listed(held.get(address.partition("/")[0], {}), address.partition("/")[2])),
                f"{base}?{urlencode({'part': 'records', 'collection': address})}",
                address == place,
            )
            for address in offered
        ],
        "other_places": other,
        "place": place,
        "columns": [column for column in columns if not column.long or column.name == id_field],
        "grid": grid[page : page + ROWS_SHOWN],
        "grid_total": len(grid),
        "grid_from": page,
        "grid_to": min(len(grid), page + ROWS_SHOWN),
        "next_from": page + ROWS_SHOWN if page + ROWS_SHOWN < len(grid) else None,
        "previous_from": max(0, page - ROWS_SHOWN) if page else None,
        "chosen": chosen,
        "raw": request.GET.get("raw", ""),
        "place_base": f"{base}?{urlencode({'part': 'records', 'collection': place})}",
    }


def _page_of(request: HttpRequest, grid: list[dict[str, Any]], chosen: Any) -> int:
    text = request.GET.get("from", "")
    if text.isdigit() and len(text) < 7:
        return min(int(text), max(0, len(grid) - 1))
    position = grid.index(chosen) if chosen is not None else 0
    return position - position % ROWS_SHOWN


def _roles(document: Mapping[str, Any]) -> dict[str, Table]:
    try:
        return {table.place: table for table in tables(load_spec(document))}
    except SpecError:
        return {}


def _first_place(offered: list[str], roles: Mapping[str, Table], held: Any) -> str:
    for place in offered:
        table = roles.get(place)
        if table is not None and any(row.role == "target" for row in table.rows):
            return place
    for place in offered:
        service, _, name = place.partition("/")
        if listed(held.get(service, {}), name):
            return place
    return offered[0] if offered else ""


def _grid_row(
    index: int,
    row: Mapping[str, Any],
    columns: tuple[Column, ...],
    id_field: str,
    table: Table | None,
) -> dict[str, Any]:
    record_id = str(row.get(id_field, ""))
    seen = table.row(record_id) if table is not None else None
    cells = []
    for column in columns:
        value = row.get(column.name)
        kind = column.kind if value is None else _kind_of(value)
        text = "" if value is None else plain(value)
        cells.append(
            {
                "name": column.name,
                "kind": kind,
                "text": text,
                "nested": _counted(value) if isinstance(value, list | Mapping) else "–",
                "absent": column.name not in row,
                "null": column.name in row and value is None,
                "long": column.long or kind == "nested",
                "hidden": column.long and column.name != id_field,
                "key": column.name == id_field,
                "rows": min(12, max(2, text.count("\n") + len(text) // 90 + 1)),
            }
        )
    return {
        "index": index,
        "id": record_id,
        "role": seen.role if seen is not None else "",
        "named_by": seen.named_by if seen is not None else (),
        "cells": cells,
        "json": pretty(dict(row)),
    }


def _counted(value: Any) -> str:
    """A list or an object in a cell, in words: the record's own form shows it whole."""
    if isinstance(value, Mapping):
        return shown(", ".join(f"{key} {plain(held)}" for key, held in value.items()), 40)
    if all(not isinstance(item, list | Mapping) for item in value):
        return shown(", ".join(map(str, value)), 40) or "none"
    return f"{len(value)} entries" if len(value) != 1 else "1 entry"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes_no"
    if isinstance(value, int | float):
        return "number"
    return "nested" if isinstance(value, list | Mapping) else "text"
