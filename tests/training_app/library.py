"""A small library that was rolled out, and datasets frozen from it in the calling process."""

from typing import Any

from studio.web import jobs
from tasks_app.models import Task
from tests.rollouts_app.conftest import rolled_out, stored
from training_app.core import pocket
from training_app.jobs.datasets import KIND
from training_app.models import Dataset
from training_app.operations.datasets import open_dataset


def rolled_out_library(train: int = 4, held_out: int = 2) -> list[Task]:
    """Store pocket tasks, some of held-out names, each solved twice and refused once."""
    specs = [*pocket.tasks("train", train, 0), *pocket.tasks("held_out", held_out, 0)]
    tasks = [stored(spec) for spec in specs]
    for task in tasks:  # the made-up proof cards all have the same
        Task.objects.filter(pk=task.pk).update(fingerprint=task.family)
    rolled_out(n=2)
    rolled_out("refuse")
    return tasks


def frozen(name: str = "first", kind: str = "demonstrations", **asked: Any) -> Dataset:
    """Freeze a dataset in this process."""
    dataset = open_dataset(kind=kind, name=name, by=None, **asked)
    jobs.run_inline(KIND, {"dataset": dataset.code}, subject=dataset.code)
    dataset.refresh_from_db()
    return dataset
