"""The tasks that are measured: drafts of both families of the first release, always the same."""

from collections.abc import Iterator

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec, load_spec

MEASURED = ("support_resolution", "payment_change_investigation")


def drafts(count: int, seed: int, level: int | None = None) -> list[TaskSpec]:
    """Return so many drafts of each measured family, of one difficulty or of all in turn."""
    return [
        draft(FAMILIES[name], plan)
        for name in MEASURED
        for plan in plans(FAMILIES[name], count, seed, level)
    ]


def office(records: int = 200) -> TaskSpec:
    """Return a support task with all tools, its records copied under new ids until there are
    enough.
    """
    written = drafts(1, 7, 5)[0].written()
    written["tools"] = list(tools())
    written["reference"], written["faults"] = [], []
    tables = [rows for place in written["services"].values() for rows in place.values() if rows]
    originals = [list(rows) for rows in tables]
    copies = _numbers()
    while sum(map(len, tables)) < records:
        number = next(copies)
        for rows, own in zip(tables, originals, strict=True):
            for row in own:
                name = next((key for key in ("id", "sku") if key in row), None)
                if name is not None:
                    rows.append({**row, name: f"{row[name]}-{number}"})
    return load_spec(written)


def _numbers() -> Iterator[int]:
    number = 1
    while True:
        yield number
        number += 1
