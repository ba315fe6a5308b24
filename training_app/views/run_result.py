"""What a run came to: success before and after, and its reward beside a run that learnt nothing."""

from typing import Any, NamedTuple

from django.http import HttpRequest
from django.urls import reverse

from studio.web.acts import Act
from studio.web.auth import may
from studio.web.choices import FINISHED
from training_app.charts.looks import Look, look_of, name_of
from training_app.enums import Algorithm
from training_app.models import TrainingRun
from training_app.queries import curves, evaluations
from training_app.queries.results import family_pairs, pairs, reward_fifths
from training_app.queries.runs import checkpoints_of


class Learnt(NamedTuple):
    """Training reward of a run, at its beginning and at its end."""

    run: TrainingRun
    name: str
    look: Look
    first: float
    """Mean of the first fifth of what was logged."""
    last: float

    @property
    def change(self) -> float:
        """How much it rose."""
        return self.last - self.first


def result_of(request: HttpRequest, row: TrainingRun) -> dict[str, Any]:
    """Context of the panel: suites first, then the engine's own measurements, then reward."""
    own = learnt(row)
    control = curves.control_of(row)
    beside = learnt(control) if control is not None else None
    return {
        "run": row,
        "open": row.state not in FINISHED,
        "table": evaluations.before_after(row),
        "pairs": pairs(row),
        "family_pairs": family_pairs(row),
        "learnt": [one for one in (own, beside) if one is not None] if own is not None else [],
        "apart": own.last - beside.last if own is not None and beside is not None else None,
        "is_control": curves.is_control(row),
        "measure_url": _measure_url(request, row),
    }


def learnt(run: TrainingRun) -> Learnt | None:
    """Reward of the first and the last fifth; None for SFT, and while there is too little of it."""
    if run.algorithm == Algorithm.SFT:
        return None
    found = reward_fifths(run) or curves.fifths(run)
    return None if found is None else Learnt(run, name_of(run), look_of(run), *found)


def _measure_url(request: HttpRequest, row: TrainingRun) -> str:
    """The form that measures its newest checkpoint; empty where there is none to measure."""
    kept = [one for one in checkpoints_of(row) if one.removed_at is None]
    if not kept or not may(request, Act.EVALUATE):
        return ""
    return f"{reverse('evaluations')}?checkpoint={kept[-1].code}"
