"""Defects that were planted in sound tasks by somebody who had not read the gates.

Each file in ``defects`` is a list of them: what is wrong and why the task is no longer fair, the
sound task it was planted in, and the patch. All of them were written down before a proof was run;
none is changed because a gate overlooks it: those stand in ``missed.json``, and whoever mends a
gate takes off the list what it finds now.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tasks_app.core.editing import apply
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.spec import TaskSpec
from tests.factories.examples import example

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Source:
    """Where a sound task comes from: a hand-written example, or one draft of a family."""

    example: str = ""
    family: str = ""
    subtype: str = ""
    difficulty: int = 0
    seed: int = 0
    number: int = 0
    """Its place among the plans of the family and seed, from 0."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One defect."""

    name: str
    what: str
    source: Source
    patch: tuple[Mapping[str, Any], ...]
    warns: bool
    """Whether it is slight enough for a warning to do."""
    upstream: str
    """Its kind among the defects of published benchmarks, if it is one of these."""

    def spoiled(self) -> dict[str, Any]:
        """Return the written spec with the defect in it. Raises PatchError where the sound task
        is no longer the one that the patch was made for.
        """
        written: dict[str, Any] = apply(sound(self.source).written(), self.patch)
        return written


@functools.cache
def sound(source: Source) -> TaskSpec:
    """Return a task as it was before the defect."""
    if source.example:
        return example(source.example)
    family = FAMILIES[source.family]
    plan = list(plans(family, source.number + 1, source.seed))[-1]
    if (plan.subtype, plan.level) != (source.subtype, source.difficulty):
        raise LookupError(f"{source} is planned as {plan.subtype} {plan.level}")
    return draft(family, plan)


def defects() -> Iterator[Planted]:
    """Yield every defect in a fixed order."""
    for path in sorted((HERE / "defects").glob("*.json")):
        for entry in orjson.loads(path.read_bytes()):
            yield Planted(
                name=entry["name"],
                what=entry["what"],
                source=Source(**entry["task"]),
                patch=tuple(entry["patch"]),
                warns=entry.get("warns", False),
                upstream=entry.get("upstream", ""),
            )


@functools.cache
def missed() -> dict[str, str]:
    """Return the names of the defects that no gate finds, and why as far as anybody can tell."""
    names: dict[str, str] = orjson.loads((HERE / "missed.json").read_bytes())
    return names
