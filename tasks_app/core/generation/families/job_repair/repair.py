"""What a pattern in the history of a job leads to: which job is changed, how, and what is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tasks_app.core.generation.families.job_repair.facts import JobFacts
from tasks_app.core.generation.forms import Json, ref
from tasks_app.core.generation.paper import Paper

RULES: Final = "jobs"
CHANGE: Final = "scheduler_update_job"
RUNS: Final = "scheduler_list_runs"
SEARCH: Final = "scheduler_search_jobs"
LAST: Final = 5
"""So many runs of a job count where a time is taken from its history."""


@dataclass
class Repair:
    """One change of one job, bound as the reference makes it and plain as it ends."""

    job: Any
    """Binding to the number of the job."""
    changes: Mapping[str, Any]
    """Arguments of the change, bound."""
    ends: Mapping[str, Any]
    """The same arguments, plain."""
    part: str = ""
    """What the reply has to give beside the number of the job."""
    groups: Sequence[Any] = ()
    text: str = ""
    """How the reply of the reference says it."""
    places: Mapping[str, Any] = field(default_factory=dict)
    told: str = ""
    """How another reply says it."""


class Pattern(Protocol):
    """A pattern in the runs of a job, and the line of the runbook for it."""

    facts: JobFacts
    right: Json
    """The job that is changed."""

    def article(self, *, former: bool = False) -> str:
        """Return the line of the runbook, or the one that held before."""

    def rules(self) -> Sequence[str]:
        """Return what the document says of it: the line itself, or that it is in the runbook."""

    def write(self, paper: Paper) -> Repair:
        """Write the look-ups, and what they lead to."""


def find_named(facts: JobFacts, paper: Paper) -> Any:
    """Search the job that the request names; return the binding to its number."""
    paper.do("found", SEARCH, query=facts.topic.name)
    where = {"enabled": True, "tags": {"contains_any": [facts.place]}}
    return ref("found", "jobs", where=where, field="id")


def list_place(facts: JobFacts, paper: Paper) -> None:
    """List the jobs of the place that are switched on."""
    paper.do("jobs", "scheduler_list_jobs", tag=facts.place, enabled=True)


def clock_pieces(hour: int, minute: int) -> list[Any]:
    """Return the ways in which a reply may give an hour of the day."""
    pieces: list[Any] = [f"{hour:02d}:{minute:02d}", f"{hour}:{minute:02d}", f"{hour}.{minute:02d}"]
    if minute == 0:
        pieces += [{"regex": rf"\b{hour} ?(am|o.clock|h)\b"}]
    return pieces
