"""The three hand-written example specs, whole or with one thing broken."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from tasks_app.core.spec import TaskSpec, load_spec

SPECS = Path(__file__).parent.parent / "specs"
SUPPORT, PAYMENT = "support_resolution", "payment_change_investigation"
MONTH_END = "month_end_close_handover"
EXAMPLES = (SUPPORT, PAYMENT)
Written = dict[str, Any]


def written(name: str) -> Written:
    """Return an example as plain data of its own."""
    data: Written = orjson.loads((SPECS / f"{name}.json").read_bytes())
    return data


@functools.cache
def example(name: str) -> TaskSpec:
    """Return an example."""
    return load_spec(written(name))


def broken(name: str, change: Callable[[Written], object]) -> TaskSpec:
    """Return an example after a change of its data."""
    data = written(name)
    change(data)
    return load_spec(data)


def entry(rows: list[Written], wanted: str) -> Written:
    """Return the row of a list with that id."""
    return next(row for row in rows if row["id"] == wanted)


def check(data: Written, wanted: str) -> Written:
    """Return a written check."""
    return entry(data["checks"], wanted)


def order(data: Written, wanted: str) -> Written:
    """Return an order of the support example."""
    return entry(data["services"]["orders"]["orders"], wanted)


def invoice(data: Written, wanted: str) -> Written:
    """Return an invoice of the payment example."""
    return entry(data["services"]["finance"]["invoices"], wanted)
