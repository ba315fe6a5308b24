"""Names, numbers and levels of other benchmarks as the task format writes them."""

import re
from collections.abc import Mapping
from typing import Any, Final

LEVELS: Final[Mapping[str, int]] = {"simple": 1, "easy": 2, "medium": 3, "hard": 4, "expert": 5}
"""Their word for a difficulty → our level."""


def slug(name: str) -> str:
    """Return a text as a slug of the task format."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:100] or "task"


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number where it is taken already; takes it."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name[:58]}_{number}"
    taken.add(free)
    return free


def whole(value: Any, otherwise: int, most: int) -> int:
    """Return a positive whole number up to a bound, the other one where it is none."""
    good = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return min(value if good else otherwise, most)


def word(name: str) -> str:
    """Return a text as an identifier of small letters, digits and underscores."""
    made = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
    return made if made[:1].isalpha() else f"t_{made}"[:64] if made else "unnamed"
