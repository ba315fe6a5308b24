"""Licences of imported tasks: which forbid commercial use.

The licence stands in a spec's provenance and travels with it through edits, copies and exports.
"""

import re
from typing import Final

from tasks_app.core.spec import TaskSpec

NON_COMMERCIAL: Final = "non-commercial"
"""Tag of a stored task whose licence forbids commercial use; taken from its provenance."""
_MARK: Final = re.compile(r"\bNC\b|non-?commercial", re.IGNORECASE)


def licence_of(spec: TaskSpec) -> str:
    """Return the licence that a task came with, empty for one of our own."""
    said = spec.provenance.get("licence")
    return said if isinstance(said, str) else ""


def is_non_commercial(spec: TaskSpec) -> bool:
    """Say whether a task's licence forbids commercial use."""
    return _MARK.search(licence_of(spec)) is not None
