"""Defects of checks of the reply that anybody satisfies who has done the work and says nothing of
it (gate M1).
"""

import random
import re
from typing import Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written

_WORD: Final = re.compile(r"\b[A-Za-z]\w{3,}")


def _listening(data: Written, rng: random.Random) -> tuple[Written, str] | None:
    """A check of a reply and what the reference says there; what it looks for is taken out."""
    check = spots.one(rng, [c for c in spots.checks(data, "answer") if c.get("text")])
    if check is None:
        return None
    said = spots.reply_read(data, check)
    for name in ("text", "forbidden"):
        check.pop(name, None)
    return check, said


def _by_length(data: Written, rng: random.Random) -> bool:
    """A reply is right if it is long enough."""
    found = _listening(data, rng)
    if found is None:
        return False
    check, said = found
    check |= {"kind": "text_match", "scope": "final", "min_length": min(30, len(said))}
    return True


def _by_the_request(data: Written, rng: random.Random) -> bool:
    """A reply is right if it holds a word that the request gives."""
    found = _listening(data, rng)
    if found is None or found[0].get("stage"):
        return False
    check, said = found
    own = set(_WORD.findall(said))
    shared = [word for word in _WORD.findall(data["request"]["text"]) if word in own]
    check["text"] = [shared[:1]]
    return bool(shared)


def _wide_tolerance(data: Written, rng: random.Random) -> bool:
    """A sum in the reply may be wrong by half."""
    own = [
        piece
        for check in spots.checks(data, "answer")
        for group in check.get("text", [])
        for piece in group
        if isinstance(piece, dict) and isinstance(piece.get("number"), int | float)
    ]
    piece = spots.one(rng, [one for one in own if abs(one["number"]) > 20])
    if piece is None:
        return False
    piece["within"] = round(abs(piece["number"]) / 2, 2)
    return True


def _any_day(data: Written, rng: random.Random) -> bool:
    """Any day of the year will do where the reply gives one."""
    own = [
        group
        for check in spots.checks(data, "answer")
        for group in check.get("text", [])
        if isinstance(group[0], str) and re.fullmatch(r"20\d\d-\d\d-\d\d.*", group[0])
    ]
    group = spots.one(rng, own)
    if group is None:
        return False
    group[:] = [{"regex": r"20\d\d"}]
    return True


REPLIES: Final = (
    SpecPlanter("M1", "by_length", "A reply is right if it is long", _by_length),
    SpecPlanter("M1", "by_the_request", "A reply is right if it repeats the request",
                _by_the_request),
    SpecPlanter("M1", "wide_tolerance", "A sum in the reply may be wrong by half",
                _wide_tolerance),
    SpecPlanter("M1", "any_day", "Any day will do where the reply gives one", _any_day),
)  # fmt: skip
"""In the order of the gates."""
