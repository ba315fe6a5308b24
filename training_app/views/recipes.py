"""A recipe as rows: every value in its place, and what it is instead of."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from training_app.core.recipe import PRESETS, Recipe


class Value(NamedTuple):
    """One value of a recipe."""

    place: str
    value: str
    was: str | None
    """What the preset has instead; None where it is the same."""


class Difference(NamedTuple):
    """One place in which recipes differ."""

    place: str
    values: tuple[str, ...]


def values_of(recipe: Recipe, base: Recipe | None = None) -> list[Value]:
    """Every value, those of the preset that it changes beside it."""
    start = base or PRESETS.get(recipe.preset, recipe)
    changed = recipe.changed(start)
    return [
        Value(place, shown(value), shown(changed[place][1]) if place in changed else None)
        for place, value in flat(recipe.model_dump(mode="json")).items()
    ]


def differences(recipes: Sequence[Recipe]) -> tuple[list[Difference], int]:
    """The places in which any of them differs from the first, and how many are equal."""
    places: dict[str, None] = {}
    for other in recipes[1:]:
        places.update(dict.fromkeys(recipes[0].changed(other)))
    flats = [flat(recipe.model_dump(mode="json")) for recipe in recipes]
    found = [
        Difference(place, tuple(shown(values.get(place)) for values in flats))
        for place in sorted(places)
        if place != "preset"
    ]
    return found, len(set().union(*flats)) - len(found) if flats else 0


def flat(value: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Dotted place → value."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        place = f"{before}.{key}" if before else key
        if isinstance(item, Mapping):
            found.update(flat(item, place))
        else:
            found[place] = item
    return found


def shown(value: Any) -> str:
    """A value as it is printed."""
    if value in ("", None, []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and abs(value) >= 10_000 else str(value)
