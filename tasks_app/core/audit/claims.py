"""Capabilities that a task claims and does not show (gate V3)."""

import random
from collections.abc import Callable
from typing import Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written


def _claim(capability: str, lacks: Callable[[Written], bool]) -> SpecPlanter:
    def plant(data: Written, _rng: random.Random) -> bool:
        own = [c["id"] for c in data.get("capabilities", [])]
        if capability in own or not lacks(data):
            return False
        data["capabilities"] = [*data.get("capabilities", []), {"id": capability}]
        return True

    return SpecPlanter(
        "V3", f"claims_{capability.lower()}", f"Claims {capability} without anything behind it",
        plant, repairable=True,
    )  # fmt: skip


def _does_it(data: Written) -> bool:
    """Whether the reference does what is asked: holding or declining is abstaining."""
    abstains = ("hold", "decline", "reject", "escalate")
    own = [step["tool"] for step in spots.steps(data, "write")]
    return bool(own) and not any(word in tool for tool in own for word in abstains)


def _no_lookup(data: Written) -> bool:
    return not any("each" in step for step in spots.steps(data, "write"))


def _unknown_claim(data: Written, _rng: random.Random) -> bool:
    data["capabilities"] = [*data.get("capabilities", []), {"id": "C21"}]
    return True


CLAIMS: Final = (
    _claim("C6", _no_lookup),
    _claim("C10", lambda data: not data.get("faults")),
    _claim("C12", lambda data: data.get("user") is None),
    _claim("C13", _does_it),
    _claim("C14", lambda data: not any("escalate" in s["tool"] or "assign" in s["tool"] or
                                       "forward" in s["tool"] for s in spots.steps(data))),
    _claim("C15", lambda data: not spots.constraints(data, "confirm_with_user")),
    _claim("C16", lambda data: not data.get("timeline")),
    SpecPlanter("V3", "unknown_claim", "Claims a capability that there isn't", _unknown_claim,
                also=("S1",)),
)  # fmt: skip
"""One a capability that can be seen to be missing."""
