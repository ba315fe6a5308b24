"""The table of planters: those of the gates that need a task alone, and those that other packages
bring for theirs (P needs episodes, E needs datasets).
"""

from collections.abc import Iterable
from typing import Final

from tasks_app.core.audit.claims import CLAIMS
from tasks_app.core.audit.form import FORM
from tasks_app.core.audit.handlers import HANDLERS, STAMPS
from tasks_app.core.audit.library import LIBRARY
from tasks_app.core.audit.loose import LOOSE
from tasks_app.core.audit.meant import MEANT
from tasks_app.core.audit.planter import Planter
from tasks_app.core.audit.records import RECORDS
from tasks_app.core.audit.replies import REPLIES
from tasks_app.core.audit.rules import RULES
from tasks_app.core.audit.sameness import SAMENESS
from tasks_app.core.audit.shortcuts import SHORTCUTS
from tasks_app.core.audit.solving import SOLVING

OWN: Final[tuple[Planter, ...]] = (
    *FORM,
    *RECORDS,
    *HANDLERS,
    *SOLVING,
    *MEANT,
    *SHORTCUTS,
    *RULES,
    *LOOSE,
    *REPLIES,
    *STAMPS,
    *SAMENESS,
    *LIBRARY,
    *CLAIMS,
)
_ORDER: Final = "SRTOINKMXDGVPE"
"""Gate letters as a report lists them."""
_brought: dict[tuple[str, str], Planter] = {}


def register(planters: Iterable[Planter]) -> None:
    """Bring planters for gates of another package; twice the same is once."""
    for planter in planters:
        _brought[planter.gate, planter.name] = planter


def planters() -> tuple[Planter, ...]:
    """Every planter, in the order of gates."""
    return tuple(sorted([*OWN, *_brought.values()], key=lambda one: gate_order(one.gate)))


def gate_order(gate: str) -> tuple[int, int]:
    """Where a gate stands in a report."""
    place = _ORDER.find(gate[0])
    return (place if place >= 0 else len(_ORDER), int(gate[1:]))
