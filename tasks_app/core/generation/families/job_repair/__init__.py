"""job_repair: a pattern in the history of jobs, one line of the runbook, one job changed.

The wrong turns: a job that fails now and then beside one that fails in a row, a failed run that
took longest, a run before the last five, a job switched off or of another machine, an hour that is
right by the clock of its site, a runbook of last year.

Difficulty grows by joins: 1 the job is named, or few have failed · 2 it is found by its runs, and
its note says a day · 3 what decides stands in the current runbook · 4 the runbook says who answers
for it · 5 a change that fails once, a run that gives orders, more jobs.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.job_repair.draft import Mending
from tasks_app.core.generation.families.job_repair.facts import (
    FLAPPING,
    OVERLAPPING,
    WAITING,
    ZONE,
    JobFacts,
)
from tasks_app.core.generation.paper import Kind


class JobRepair:
    """Read the runs of jobs and change the one that a rule asks to change."""

    name = "job_repair"
    title = "Job repair"
    purpose = (
        "From a pattern in the history of runs (a streak, a gap, a drift, a shift) by one line of "
        "the runbook to the change of one job."
    )
    track = "claw_eval"
    subtypes = (FLAPPING, OVERLAPPING, WAITING, ZONE)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C7", "C8", "C9", "C10", "C14", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        facts = JobFacts(subtype, level, Cast(rng))
        return Mending(Kind(self.name, self.track, subtype, level), facts).written()
