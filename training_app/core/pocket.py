"""The pocket suite as a source of training and held-out tasks, by index alone.

Invariant: training tasks draw their names from the larger pool, held-out tasks from the pool kept
apart; the two never share a seed. So no demonstration contains a held-out task's names.
"""

import itertools
from collections.abc import Iterator
from typing import Final, Literal

from studio.lib.hashing import bytes_hash
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import Family, Plan, draft, plans
from tasks_app.core.spec import TaskSpec

HELD_OUT_TAG: Final = "held_out_names"
TRACK: Final = "pocket"
Part = Literal["train", "held_out"]


def families() -> tuple[Family, ...]:
    """The pocket families, in the order of the catalogue."""
    return tuple(family for family in FAMILIES.values() if family.track == TRACK)


def other_families(count: int, seed: int) -> list[TaskSpec]:
    """Return tasks of families that are not pocket ones: nothing of their shape was trained on."""
    others = [family for family in FAMILIES.values() if family.track != TRACK]
    turns = itertools.cycle(others)
    return [
        draft(family, Plan(family.name, family.subtypes[0], family.levels[0], seed, index))
        for index, family in zip(range(count), turns, strict=False)
    ]


def tasks(part: Part, count: int, seed: int, *, family: str | None = None) -> list[TaskSpec]:
    """Return so many tasks of a part, the families in turn, every subtype equally often.

    Args:
        part: `train`, or `held_out` (names that no training task has).
        count: Over all families.
        seed: Another seed gives other tasks of the same kind.
        family: Only this one.
    """
    chosen = [f for f in families() if family is None or f.name == family]
    if not chosen:
        known = ", ".join(f.name for f in families())
        raise ValueError(f"no pocket family {family!r}; known are {known}")
    streams = [_stream(one, part, f"{part}/{seed}", count) for one in chosen]
    turns = itertools.chain.from_iterable(zip(*streams, strict=False))  # endless, as far as asked
    return list(itertools.islice(turns, count))


def _stream(family: Family, part: Part, key: str, count: int) -> Iterator[TaskSpec]:
    """Draft until the pool fits: names are drawn by the draft itself, the tag tells which."""
    held = part == "held_out"
    wanted = itertools.cycle(family.subtypes)
    subtype = next(wanted)
    seed = int(bytes_hash(key.encode())[:8], 16)
    for plan in plans(family, 64 * count + 64, seed):
        if plan.subtype != subtype:
            continue
        spec = draft(family, plan)
        if (HELD_OUT_TAG in spec.tags) == held:
            yield spec
            subtype = next(wanted)
