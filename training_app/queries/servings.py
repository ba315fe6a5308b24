"""Of served checkpoints: which could be, and which are."""

from pathlib import Path
from typing import Final

from django.db.models import QuerySet
from django.db.models.functions import Now

from studio.web.choices import HELD
from tasks_app.models import ModelEndpoint
from training_app.models import Checkpoint
from training_app.queries.runs import checkpoint_folder

SERVE: Final = "serve_checkpoint"
"""The kind of job that keeps a server; that of a batch ends with the batch."""
OFFERED: Final = 50
"""Checkpoints in a menu; others are named by their code."""


def servable(count: int = OFFERED) -> list[Checkpoint]:
    """The newest checkpoints whose weights lie here."""
    rows = Checkpoint.objects.filter(removed_at=None).select_related("run").order_by("-pk")
    return [row for row in rows[: 4 * count] if _here(checkpoint_folder(row))][:count]


def _here(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def servings() -> QuerySet[ModelEndpoint]:
    """The endpoints of checkpoints that are served at the moment."""
    return ModelEndpoint.objects.filter(
        active=True,
        model__in=Checkpoint.objects.values("code"),
        job__state__in=HELD,
        job__lease_until__gt=Now(),
    ).select_related("job", "job__user")


def served(checkpoint: Checkpoint) -> ModelEndpoint | None:
    """The endpoint of this checkpoint, where a job keeps it for whoever asks."""
    return servings().filter(model=checkpoint.code, job__kind=SERVE).first()
