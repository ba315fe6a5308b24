"""Defects that show beside other tasks only: what repeats a task of the library (gate V1)."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from studio.lib.similarity import signature, similarity
from tasks_app.core.audit.planter import Kind, Planted, Written
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.proof import Neighbour, Neighbours, prove

_WORTH_NAMING: Final = 0.3


def library_of(written: Written) -> Neighbours:
    """Return a library that holds one task."""
    text = load_spec(written).request.text

    def nearest(spec: TaskSpec) -> Neighbour | None:
        alike = similarity(signature(text), signature(spec.request.text))
        return Neighbour("T-AUDT", alike) if alike >= _WORTH_NAMING else None

    return nearest


@dataclass(frozen=True, slots=True)
class LibraryPlanter:
    """A defect that the sound task's own presence in the library makes."""

    gate: str
    name: str
    title: str
    change: Callable[[Written, random.Random], None]
    """What the copy has of its own."""
    kind: Kind = "library"
    repairable: bool = False
    also: tuple[str, ...] = ()
    upstream: str = ""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Prove the copy beside the task that it was made from."""
        data = subject.copy()
        self.change(data, rng)
        try:
            spec = load_spec(data)
        except SpecError:
            return None
        found = prove(spec, neighbours=library_of(subject.copy())).findings
        gates = tuple(dict.fromkeys(one.gate for one in found))
        words = "; ".join(f"{one.gate} {one.message}" for one in found[:3])
        return Planted(self.gate in gates, gates, None, words, data)


def _other_slug(data: Written, _rng: random.Random) -> None:
    data["slug"] = f"{data['slug'][:90]}-again"
    data["title"] = f"Once more: {data['title']}"[:300]


def _other_seed(data: Written, rng: random.Random) -> None:
    data["seed"] = rng.randrange(2**50)
    data["limits"] = {**data.get("limits", {}), "seconds": 900}


def _one_word(data: Written, _rng: random.Random) -> None:
    data["request"]["text"] = f"{data['request']['text']} Please."


def _capitals(data: Written, _rng: random.Random) -> None:
    data["request"]["text"] = data["request"]["text"].upper()


def _reordered(data: Written, _rng: random.Random) -> None:
    for tables in data["services"].values():
        for rows in tables.values():
            rows.reverse()
    data["tools"] = data["tools"][::-1]


LIBRARY: Final = (
    LibraryPlanter("V1", "other_slug", "The same task under another name", _other_slug),
    LibraryPlanter("V1", "other_seed", "The same task with another seed", _other_seed),
    LibraryPlanter("V1", "one_word", "The same request with a word more", _one_word),
    LibraryPlanter("V1", "capitals", "The same request in capitals", _capitals),
    LibraryPlanter("V1", "reordered", "The same task in another order", _reordered),
)
"""All beside the task that they repeat."""
