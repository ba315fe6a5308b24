"""Finding a place in a written spec where a defect can be put. All in the order of the spec, so
that the same seed finds the same place.
"""

import itertools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from tasks_app.core.audit.planter import Written
from tasks_app.core.program import Act, ProgramRun, reference_run
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import SpecError, load_spec

T = TypeVar("T")
ID: Final = re.compile(r"^[A-Z]{1,5}-\d+$")
DAY: Final = re.compile(r"^\d{4}-\d{2}-\d{2}")


class Place(NamedTuple):
    """A record and where it lies."""

    service: str
    collection: str
    record: Written


def one(rng: random.Random, places: Sequence[T]) -> T | None:
    """Choose one of several places; None where there is none."""
    return rng.choice(places) if places else None


def records(data: Written, service: str = "", collection: str = "") -> Iterator[Place]:
    """Every record, or those of a service or a collection."""
    for own, tables in data["services"].items():
        for name, rows in tables.items():
            if service in ("", own) and collection in ("", name):
                for record in rows:
                    yield Place(own, name, record)


def fields(data: Written, fits: Callable[[str, Any], bool]) -> list[tuple[Place, str]]:
    """Every field of a record of which name and value fit."""
    return [
        (place, name)
        for place in records(data)
        for name, value in place.record.items()
        if fits(name, value)
    ]


def links(data: Written) -> list[tuple[Place, str, Place]]:
    """Every field that names another record by its id."""
    by_id = {str(place.record["id"]): place for place in records(data) if "id" in place.record}
    return [
        (place, name, by_id[value])
        for place in records(data)
        for name, value in place.record.items()
        if name.endswith("_id") and isinstance(value, str) and value in by_id
    ]


def checks(data: Written, kind: str = "", component: str = "") -> list[Written]:
    """The checks, or those of a kind or component."""
    return [
        check
        for check in data["checks"]
        if kind in ("", check["kind"]) and component in ("", check["component"])
    ]


def constraints(data: Written, kind: str = "") -> list[Written]:
    """The constraints, or those of a kind."""
    return [rule for rule in data.get("constraints", []) if kind in ("", rule["kind"])]


def steps(data: Written, kind: str = "") -> list[Written]:
    """The tool steps of the reference, or those whose tool is of a kind (read, write)."""
    known = tools()
    return [
        step
        for step in data["reference"]
        if "tool" in step and step["tool"] in known and kind in ("", known[step["tool"]].facts.kind)
    ]


def run(data: Written) -> ProgramRun | None:
    """What the reference does as it stands; None where this is no spec."""
    try:
        return reference_run(load_spec(data))[1]
    except SpecError:
        return None


def acts(data: Written) -> list[Act]:
    """The plain acts of the reference."""
    found = run(data)
    return list(found.acts) if found is not None else []


def reply_read(data: Written, check: Mapping[str, Any]) -> str:
    """The reference's reply that a check reads: of its stage, else the last one."""
    replies = [act.reply for act in acts(data) if act.tool is None]
    days = [stage["id"] for stage in data.get("timeline", [])]
    stage = check.get("stage")
    place = days.index(stage) if stage in days else len(replies) - 1
    return replies[place] if 0 <= place < len(replies) else ""


def leaves(value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Every value that is no container, with its container and its key or index."""
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from leaves(item)
            else:
                yield value, key, item
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from leaves(item)
            else:
                yield value, index, item


def expected(data: Written) -> list[tuple[Written, str, Any]]:
    """Every literal that a record check expects: check, field, value."""
    return [
        (check, name, value)
        for check in checks(data, "record_match")
        for name, value in check.get("expect", {}).items()
        if not isinstance(value, dict | list)
    ]


def reweigh(data: Written) -> None:
    """Let the weights sum to 1 again after a check came or went, outcome not below 0.4."""
    paying = [check for check in data["checks"] if check["kind"] != "rubric"]
    parts: dict[str, list[Written]] = {}
    for check in paying:
        parts.setdefault(check["component"], []).append(check)
    shares = {"outcome": 0.5, "process": 0.05, "report": 0.35, "collateral": 0.1}
    present = {name: shares[name] for name in parts}
    if "report" not in present:
        present["outcome"] = 0.6
    given = 0.0
    for name, own in parts.items():
        total = sum(check["weight"] for check in own)
        rest = sum(value for other, value in present.items() if other != "outcome")
        part = (
            present[name] if name == "outcome" else (1 - present["outcome"]) / rest * present[name]
        )
        for check in own:
            check["weight"] = round(check["weight"] / total * part, 6)
            given += check["weight"]
    last = paying[-1]
    last["weight"] = round(last["weight"] + 1 - given, 6)


def drop_check(data: Written, check: Written) -> None:
    """Take a check out: nobody requires it any more, and the others share its weight."""
    data["checks"].remove(check)
    for other in data["checks"]:
        wanted = [name for name in other.get("requires", []) if name != check["id"]]
        if wanted != other.get("requires", []):
            inherited = [name for name in check.get("requires", []) if name not in wanted]
            other["requires"] = wanted + inherited
    reweigh(data)


def anchor(data: Written) -> Written | None:
    """The first outcome check that requires nothing."""
    return next((c for c in checks(data, component="outcome") if not c.get("requires")), None)


def add_check(data: Written, check: Mapping[str, Any]) -> None:
    """Add a check and let the weights sum to 1 again."""
    data["checks"].append(dict(check))
    reweigh(data)


def home(data: Written) -> tuple[str, str]:
    """A service and a collection that hold records: where a rigged tool lives."""
    place = next(records(data))
    return place.service, place.collection


def altered(value: Any) -> Any:
    """Another value of the same kind: wrong, and not obviously so."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 10
    if isinstance(value, str) and ID.match(value):
        head, _, number = value.partition("-")
        return f"{head}-{int(number) + 7:0{len(number)}d}"
    return f"{value} x"


def literalise(data: Written) -> list[Written]:
    """The reference as the plain acts that it comes to, without bindings. A call that a fault
    answered and its repetition are one: whoever plays the program repeats it again.
    """
    own = acts(data)
    again = {number for number, (act, other) in enumerate(itertools.pairwise(own)) if act == other}
    return [
        {"reply": act.reply}
        if act.tool is None
        else {"id": f"s{number}", "tool": act.tool, "arguments": dict(act.arguments)}
        for number, act in enumerate(own)
        if number not in again
    ]
