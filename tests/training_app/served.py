"""Checkpoints whose server is a stub, suites and evaluations in the calling process."""

import json
from pathlib import Path
from typing import Any

from studio.web import jobs
from tests.factories.runs import made_run
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from training_app.enums import Algorithm
from training_app.jobs.evaluations import EVALUATE, arguments_of
from training_app.models import Checkpoint, Evaluation, Suite, TrainingRun
from training_app.operations.evaluations import freeze_suite, open_evaluation
from training_app.queries.evaluations import get_evaluation
from training_app.queries.runs import checkpoint_folder


def checkpoint(step: int = 100, run: TrainingRun | None = None, **plan: Any) -> Checkpoint:
    """A checkpoint with a folder that looks like weights; the plan is its server's."""
    if run is None:
        run = made_run(Algorithm.SFT)
        TrainingRun.objects.filter(pk=run.pk).update(path=run.code)
        run.refresh_from_db()
    row = Checkpoint.objects.create(run=run, step=step)
    folder = checkpoint_folder(row)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "stub.json").write_text(json.dumps(plan))
    return row


def suite(name: str = "lamps", tasks: int = 2) -> Suite:
    """A suite of small tasks, each closing the ticket about the lamp."""
    for number in range(tasks):
        stored(small_spec(title=f"{name}: lamp {number}"))
    return freeze_suite(name=name, filter_text="", by=None)


def measured(model: Checkpoint, on: Suite, **asked: Any) -> Evaluation:
    """Evaluate here and now."""
    row = open_evaluation(suite=on, checkpoint=model, by=None, **asked)
    jobs.run_inline(EVALUATE, arguments_of(row), subject=row.code)
    return get_evaluation(row.code)


def folder_of(row: Checkpoint) -> Path:
    """Where its weights would lie."""
    return checkpoint_folder(row)
