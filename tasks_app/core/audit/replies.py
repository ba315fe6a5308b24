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


REPLIES: Final = (
    SpecPlanter("M1", "by_length", "A reply is right if it is long", _by_length),
    SpecPlanter("M1", "by_the_request", "A reply is right if it repeats the request",
                _by_the_request),
)  # fmt: skip
"""In the order of the gates."""
