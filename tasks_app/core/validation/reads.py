"""Which parts of a spec each gate reads.

A gate that held on a task finds the same after an edit of other parts, so it is not looked at again
(see notes.py). What is listed too much costs time alone; what is missing would let a broken task
pass. So tests watch what gates read on tasks of all families and on broken ones, and hold proofs
after random edits against whole ones. Gates of the library (V1, V2) are not listed: what they read
stands outside the spec.
"""

from collections.abc import Mapping
from typing import Final

from tasks_app.core.spec import TaskSpec

_WORLD: Final = frozenset(
    {
        "clock", "evaluation_only", "faults", "free", "services", "timeline", "tool_aliases",
        "tools", "user", "workplace", "write_set",
    }
)  # fmt: skip
"""What makes a world and decides what calls of it do."""
_RUN: Final = _WORLD | {"checks", "constraints", "reference"}
"""What decides what the reference and its variants do, and what they earn."""
_SAID: Final = _RUN | {"request"}
_TOOLS: Final = frozenset({"tool_aliases", "tools"})

READS: Final[Mapping[str, frozenset[str]]] = {
    "S1": frozenset(),  # whatever was loaded has the form
    "S2": frozenset({"checks", "evaluation_only"}),
    "S3": frozenset(
        {"checks", "constraints", "reference", "timeline", "tools", "user", "workplace"}
    ),
    "S4": frozenset({"checks", "clock", "evaluation_only", "timeline"}),
    "R1": _WORLD,
    "R2": _SAID | {"alternatives"},
    "R3": frozenset({"clock", "evaluation_only", "services", "timeline"}),
    "R4": _SAID | {"language"},
    "T1": _TOOLS,
    "T2": _TOOLS | {"services", "user", "workplace"},
    "T3": _TOOLS,
    "O1": _RUN,
    "O2": _RUN | {"limits"},
    "O3": _SAID,
    "O4": _RUN,
    "O5": _RUN | {"alternatives"},
    "N1": _RUN,
    "N2": _SAID | {"capabilities"},
    "N3": _RUN | {"capabilities"},
    "N4": _SAID,
    "N5": _RUN,
    "N6": _SAID,
    "K1": _RUN | {"limits"},
    "K2": _RUN,
    "K3": _SAID,
    "M1": _SAID | {"alternatives"},
    "M2": _SAID | {"alternatives"},
    "M3": _RUN,
    "X1": _RUN | {"alternatives"},
    "X2": _RUN | {"seed"},
    "D1": _RUN,
    "D2": _RUN | {"seed"},
    "V3": _SAID | {"alternatives", "capabilities", "limits"},
    "I1": _SAID,
    "G1": _RUN,
}
"""Gate → fields of the spec that it reads."""


def changed_parts(before: TaskSpec, after: TaskSpec) -> frozenset[str]:
    """Return the fields in which two specs differ."""
    return frozenset(
        name for name in TaskSpec.model_fields if getattr(before, name) != getattr(after, name)
    )
