"""What became of one folder of a benchmark: a task, or the reason why not."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks_app.core.spec import TaskSpec


@dataclass(frozen=True, slots=True)
class Imported:
    """A folder that became a task."""

    name: str
    spec: TaskSpec
    tier: str
    reason: str
    """Why it is in its tier, what is missing, and what was put right on the way."""
    defects: Mapping[str, str]
    """Upstream defect id → what was found and done."""
    runs: bool = True
    """Whether it runs here, or is there to be seen."""
    source_id: str = ""
    """What the source calls it; empty for a task of our own, which is known by its content."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A folder that did not, and why."""

    name: str
    reason: str
