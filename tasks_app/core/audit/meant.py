"""Defects of what is told: the task means a record or a limit that its texts do not name (gate O3).

The reference and the checks stay as they are; only what the coworker reads is changed.
"""

import random
import re
from collections.abc import Iterator
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written

_FIGURE: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")


def _another_named(data: Written, rng: random.Random) -> bool:
    """The request names another than the one whom the reference chooses."""
    request = data["request"]
    own = []
    for name in dict.fromkeys(_chosen_by(data["reference"])):
        if name not in request["text"]:
            continue
        left = " ".join(_texts([request["text"].replace(name, ""), data["workplace"]])).casefold()
        words = set(re.findall(r"\w{3,}", name.casefold()))
        if not words or any(word in left for word in words):
            continue  # something else still says who is meant
        own += [
            (name, other)
            for _, _, other in spots.leaves(data["services"])
            if _is_name(other) and words.isdisjoint(re.findall(r"\w{3,}", other.casefold()))
        ]
    found = spots.one(rng, own)
    if found is None:
        return False
    request["text"] = request["text"].replace(*found)
    return True


def _chosen_by(value: Any) -> Iterator[str]:
    """The names by which the reference chooses from lists and filters reads."""
    for _, key, name in spots.leaves(value):
        if _is_name(name) and key not in ("query", "text", "reply", "from", "path"):
            yield name


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Z]\w+(?: [A-Z]\w+)+", value) is not None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _limit_moved(data: Written, rng: random.Random) -> bool:
    """The rules name another limit than the one that the reference decides by."""
    limits = {
        value
        for calls in _calls(data["reference"])
        if calls["fn"] == "pick_at_least"
        for _, _, value in spots.leaves(calls["args"])
        if isinstance(value, int | float) and value > 12
    }
    own = [
        (policy, said.span(), limit)
        for policy in data["workplace"]["policies"]
        for said in _FIGURE.finditer(policy["text"])
        for limit in limits
        if float(said.group().replace(",", "")) == limit
    ]
    told = list(_texts([data["request"]["text"], data.get("timeline", [])]))
    own = [
        (policy, span, limit)
        for policy, span, limit in own
        if sum(limit == other for _, _, other in own) == 1
        and not any(f"{limit:,}" in text or f"{limit}" in text for text in told)
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    policy, (begin, end), limit = found
    policy["text"] = f"{policy['text'][:begin]}{limit * 1.2:,.2f}{policy['text'][end:]}"
    return True


def _calls(value: Any) -> Iterator[Written]:
    """The functions that the reference reckons with."""
    if isinstance(value, dict):
        if "fn" in value and isinstance(value.get("args"), list):
            yield value
        for item in value.values():
            yield from _calls(item)
    elif isinstance(value, list):
        for item in value:
            yield from _calls(item)


MEANT: Final = (
    SpecPlanter("O3", "another_named", "The request names another than is meant", _another_named,
                also=("R4", "N5")),
    SpecPlanter("O3", "limit_moved", "The rules name another limit than decides", _limit_moved,
                also=("K3",)),
)  # fmt: skip
"""In the order of the gates."""
