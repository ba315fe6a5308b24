"""What can be named inside a spec: collections and their fields, ids, tools and their arguments;
near names.
"""

import difflib
import functools
import types
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from typing_extensions import ReadOnly

from tasks_app.core.samples import singular
from tasks_app.core.services.catalog import collections, record_types, tools
from tasks_app.core.spec import TaskSpec

_SLIP: Final = 0.8
"""Names so much alike differ by a slip of the pen."""


@functools.cache
def record_fields() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Collection address → known field → the values its type allows (empty: any)."""
    return {
        place: {
            name: literals(hint)
            for name, hint in get_type_hints(record, include_extras=True).items()
        }
        for place, record in record_types().items()
    }


def literals(hint: Any) -> tuple[str, ...]:
    """Return the texts a type allows, empty if it allows any."""
    origin = get_origin(hint)
    if origin is Literal:
        return tuple(value for value in get_args(hint) if isinstance(value, str))
    if origin is ReadOnly or (
        origin is not None and getattr(origin, "__name__", "") == "NotRequired"
    ):
        return literals(get_args(hint)[0])
    if hasattr(hint, "__metadata__"):
        return literals(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        parts = [literals(part) for part in get_args(hint) if part is not type(None)]
        return tuple(v for part in parts for v in part) if all(parts) else ()
    return ()


_PARTS: Final[Mapping[str, str]] = {
    "deputy_id": "contacts/people",
    "manager_id": "contacts/people",
    "thread_id": "chat/posts",
}
"""Fields that are called by the part that a record plays, and not by its noun."""


@functools.cache
def noun_homes() -> Mapping[str, tuple[str, ...]]:
    """Foreign key field (`customer_id`) → the collections it may point into."""
    homes: dict[str, list[str]] = {field: [place] for field, place in _PARTS.items()}
    for place in collections():
        noun = singular(place.partition("/")[2])
        homes.setdefault(f"{noun}_id", []).append(place)
    return {field: tuple(places) for field, places in homes.items()}


def arguments_of(tool: str) -> Mapping[str, Any]:
    """Argument name → its schema; empty for an unknown tool."""
    found = tools().get(tool)
    if found is None or found.facts.parameters is None:
        return {}
    properties = found.facts.parameters.get("properties", {})
    return properties if isinstance(properties, Mapping) else {}


def record_ids(spec: TaskSpec, place: str) -> tuple[str, ...]:
    """Ids of a collection at the start, or added by the timeline, in order."""
    service, _, name = place.partition("/")
    facts = collections().get(place)
    id_field = facts.id_field if facts is not None else "id"
    seeded = spec.services.get(service, {}).get(name, ())
    added = (
        mutation.values
        for stage in spec.timeline
        for mutation in stage.mutations
        if mutation.op == "add" and (mutation.service, mutation.collection) == (service, name)
    )
    return tuple(str(r[id_field]) for r in (*seeded, *added) if id_field in r)


def nearest(name: str, options: Iterable[str]) -> str | None:
    """Return the option most like a name, None if none is near."""
    known = sorted(options)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if found and difflib.SequenceMatcher(None, found[0], name).ratio() >= _SLIP:
        return found[0]
    # One of which the name is a longer form: `mail_result` for `mail`, `start_part` for `part`.
    shorter = [
        option
        for option in known
        if len(option) > 2 and (name.startswith(f"{option}_") or name.endswith(f"_{option}"))
    ]
    return max(shorter, key=len, default=found[0] if found else None)
