"""Which cells a library can fill, and which to fill next: capability × family × difficulty.

A cell is a capability that a family's tasks may claim at one of its difficulties. A task fills all
cells of its family and difficulty whose capabilities it claims, so the next one is planned for the
family and difficulty whose emptiest cell holds fewest. A cell that stays empty although every
subtype came up twice is none: that capability does not show there.
"""

import heapq
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from tasks_app.core.generation.families.catalog import FAMILIES, INVENTORIES
from tasks_app.core.generation.family import Family

_ROUNDS: Final = 2
"""How often every subtype comes up before an empty cell is taken for one that cannot be."""


class Place(NamedTuple):
    """A family at one difficulty."""

    family: str
    level: int


class Cell(NamedTuple):
    """A capability that a family may show at one difficulty."""

    family: str
    level: int
    capability: str

    @property
    def place(self) -> Place:
        """Where a task that fills it is made."""
        return Place(self.family, self.level)


class Share(NamedTuple):
    """Tasks that a run makes of a family at one difficulty."""

    family: str
    level: int
    tasks: int
    before: int
    """How many there are already: where the turn of subtypes and the seeds go on."""

    @property
    def first(self) -> int:
        """The number of its first task; difficulties begin their turn of subtypes one apart."""
        return self.before + self.level - 1


def possible(
    tracks: Collection[str] = INVENTORIES, families: Mapping[str, Family] = FAMILIES
) -> Iterator[Cell]:
    """Yield every cell that built-in families can fill, in the order of pages."""
    for track in tracks:
        for family in families.values():
            if family.track == track:
                for level in family.levels:
                    for capability in family.capabilities:
                        yield Cell(family.name, level, capability)


def shares_of(
    count: int,
    cells: Mapping[Cell, int],
    tasks: Mapping[Place, int],
    *,
    levels: Collection[int] = (),
    families: Mapping[str, Family] = FAMILIES,
) -> list[Share]:
    """Plan so many tasks, emptiest cells first; the same library gives the same plan.

    Args:
        count: How many tasks.
        cells: Tasks in each cell; one that is left out is empty.
        tasks: Tasks of each family and difficulty.
        levels: Only these difficulties; all where none is named.
        families: The families there are.
    """
    held: dict[Place, list[int]] = {}
    for cell in possible(families=families):
        if levels and cell.level not in levels:
            continue
        place, inside = cell.place, cells.get(cell, 0)
        tried = _ROUNDS * len(families[cell.family].subtypes)
        known = held.setdefault(place, [])
        if inside or tasks.get(place, 0) < tried:
            known.append(inside)
    emptiest = {p: min(inside, default=tasks.get(p, 0)) for p, inside in held.items()}
    order = {place: number for number, place in enumerate(held)}
    planned: dict[Place, int] = {}
    whole: dict[str, int] = {}
    for place in held:
        whole[place.family] = whole.get(place.family, 0) + tasks.get(place, 0)

    def key(place: Place) -> tuple[int, int, int, int]:
        """Its emptiest cell, then how little there is of it and of its family, then the order."""
        more = planned.get(place, 0)
        there = tasks.get(place, 0) + more
        return emptiest[place] + more, there, whole[place.family], order[place]

    waiting = [(key(place), place) for place in held]
    heapq.heapify(waiting)
    for _ in range(count if waiting else 0):
        while waiting[0] != (now := (key(waiting[0][1]), waiting[0][1])):
            heapq.heapreplace(waiting, now)  # another difficulty of its family was planned
        place = waiting[0][1]
        planned[place] = planned.get(place, 0) + 1
        whole[place.family] += 1
        heapq.heapreplace(waiting, (key(place), place))
    return [Share(*place, number, tasks.get(place, 0)) for place, number in planned.items()]
