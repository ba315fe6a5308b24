"""What the fields of a record mean: one cell, a record as JSON, a new one, a copy, none."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.http import QueryDict

from studio.web.errors import Problem
from tasks_app.core.drafting import (
    ABSENT,
    Document,
    FieldError,
    blank_record,
    find_record,
    parse,
    records,
    typed,
)
from tasks_app.core.presenting.records import columns_of
from tasks_app.core.services.catalog import collections

Change = Callable[[QueryDict, Document], list[Problem]]
"""Applies what was posted to a draft; what could not be comes back by its field."""


def _keep_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    row = rows[find_record(rows, id_field, data.get("key", ""))]
    kinds = {column.name: column.kind for column in columns_of(rows, id_field)}
    problems = []
    for key in data:
        field = key.removeprefix("cell:")
        if field == key:
            continue
        was = row.get(field, ABSENT)
        kind = kinds.get(field, "text")
        if was is not ABSENT and was is not None:
            kind = columns_of([row], id_field)[_position(row, field, id_field)].kind
        try:
            value = typed(data.get(key, ""), kind, was)
        except FieldError as error:
            problems.append(Problem(key, str(error)))
            continue
        if field == id_field and not _free(rows, id_field, row, value):
            problems.append(Problem(key, f"{value or 'an empty id'} cannot be its id"))
        elif value is not ABSENT:
            row[field] = value
    return problems


def _position(row: Mapping[str, Any], field: str, id_field: str) -> int:
    return list(dict.fromkeys([id_field, *row])).index(field)


def _free(rows: list[Any], id_field: str, row: Any, value: Any) -> bool:
    others = (other.get(id_field) for other in rows if other is not row)
    return isinstance(value, str) and bool(value.strip()) and value not in others


def _keep_record_json(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    value = parse(data.get("json", ""))
    if not isinstance(value, dict):
        raise FieldError("a record is a JSON object")
    rows[find_record(rows, id_field, data.get("key", ""))] = value
    return []


def _add_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    declared = collections().get(f"{service}/{name}")
    rows.append(blank_record(rows, id_field, declared.prefix if declared is not None else ""))
    return []


def _copy_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    index = find_record(rows, id_field, data.get("key", ""))
    declared = collections().get(f"{service}/{name}")
    fresh = blank_record(rows, id_field, declared.prefix if declared is not None else "")
    rows.insert(index + 1, {**rows[index], id_field: fresh[id_field]})
    return []


def _delete_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    del rows[find_record(rows, id_field, data.get("key", ""))]
    return []


def _collection(data: QueryDict) -> tuple[str, str, str]:
    service, _, name = data.get("collection", "").partition("/")
    if not service or not name:
        raise FieldError("which collection?")
    declared = collections().get(f"{service}/{name}")
    return service, name, declared.id_field if declared is not None else "id"


RECORD_CHANGES: Final[Mapping[str, Change]] = {
    "keep_record": _keep_record,
    "keep_record_json": _keep_record_json,
    "add_record": _add_record,
    "copy_record": _copy_record,
    "delete_record": _delete_record,
}
