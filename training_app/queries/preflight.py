"""What can be said about a run before it starts, without loading anything: dataset, start, room.

The engine looks again, with the model's own template and the real device, before its first step;
what it finds then stands on the page of the run.
"""

import shutil
from pathlib import Path
from typing import Final, NamedTuple

from django.db.models import Max

from studio.web.words import duration, size
from studio.web.workers import alive
from training_app.core.recipe import Recipe
from training_app.enums import DatasetKind
from training_app.models import Checkpoint, Dataset, TrainingRun
from training_app.queries.devices import GPU, QUEUE, device_of, queue_of, shows_gpu
from training_app.queries.runs import checkpoint_folder, runs_folder

_STATES: Final = 3
"""A checkpoint holds the weights and two moments of the optimizer."""
_FALLBACK: Final = {"cpu-tiny": 1_100_000 * 4 * _STATES, "pretrained": 16_000_000_000 * _STATES}
"""Bytes of a checkpoint where none of its kind was saved yet."""


class Finding(NamedTuple):
    """One thing that was looked at."""

    state: str
    """ok, warn or bad; bad ones stop the run."""
    place: str
    words: str
    fix: str = ""


def look_ahead(
    recipe: Recipe, dataset: Dataset | None, parent: Checkpoint | None
) -> tuple[Finding, ...]:
    """Return what was looked at, in the order in which it would stop the run."""
    return (
        _rows(recipe, dataset),
        _start(recipe, parent),
        _device(recipe),
        _room(recipe),
        *_loss(recipe),
        *_time(recipe),
    )


def _rows(recipe: Recipe, dataset: Dataset | None) -> Finding:
    if dataset is None:
        if recipe.model.kind == "cpu-tiny":
            tasks = recipe.rollouts.tasks if recipe.online else recipe.demonstrations.tasks
            return Finding("ok", "Dataset", f"the pocket suite, {tasks:,} tasks made at the start")
        return Finding(
            "bad", "Dataset", "a pretrained model needs one", "Freeze a dataset and choose it."
        )
    wanted = DatasetKind.PROMPTS if recipe.online else DatasetKind.DEMONSTRATIONS
    if dataset.kind != wanted:
        return Finding(
            "bad",
            "Dataset",
            f"{dataset.code} holds {DatasetKind(dataset.kind).label.lower()}, this run learns "
            f"from {wanted.label.lower()}",
            f"Choose a dataset of {wanted.label.lower()}.",
        )
    if dataset.frozen_at is None:
        return Finding(
            "bad", "Dataset", f"{dataset.code} is not frozen yet", "Wait until it has its hash."
        )
    if not dataset.rows:
        return Finding("bad", "Dataset", f"{dataset.code} has no rows", "Choose another.")
    dropped = len(dataset.lint)
    if dropped:
        return Finding(
            "warn",
            "Dataset",
            f"{dataset.code}, {dataset.rows:,} rows; its lint dropped {dropped:,}",
            "Read why on its page.",
        )
    return Finding("ok", "Dataset", f"{dataset.code}, {dataset.rows:,} rows, no finding of lint")


def _start(recipe: Recipe, parent: Checkpoint | None) -> Finding:
    if parent is not None:
        if (
            parent.removed_at is not None
            or not (checkpoint_folder(parent) / "config.json").is_file()
        ):
            return Finding(
                "bad", "Start", f"the weights of {parent.code} are gone", "Choose another."
            )
        return Finding("ok", "Start", f"{parent.code} of {parent.run.code}, {size(parent.bytes)}")
    if recipe.model.kind != "cpu-tiny":
        return _pretrained(recipe.model.init or recipe.model.name)
    if recipe.online:
        low, high = recipe.rollouts.start_low, recipe.rollouts.start_high
        return Finding(
            "warn",
            "Start",
            f"an SFT checkpoint that succeeds in {low:.0%} to {high:.0%} when sampled; where the "
            "cache has none, it is trained first, which takes minutes",
            "Or choose a checkpoint to start from.",
        )
    return Finding("ok", "Start", "the tiny base, made once in minutes and then kept")


def _pretrained(named: str) -> Finding:
    """A model by its name, or by a folder that has to be there."""
    if not named.startswith(("/", "./", "../", "~")):
        return Finding("ok", "Start", named)
    folder = Path(named).expanduser()
    if (folder / "config.json").is_file():
        return Finding("ok", "Start", named)
    said = "holds no config.json" if folder.is_dir() else "is not a folder on this machine"
    return Finding(
        "warn",
        "Start",
        f"{named} {said}",
        "Correct the path of the model, or see that it is there where the run's worker is.",
    )


def _device(recipe: Recipe) -> Finding:
    device = device_of(recipe)
    if device == GPU and not shows_gpu():
        return Finding(
            "warn",
            "Device",
            "a pretrained model wants a GPU, and this machine shows none",
            "Start a worker on a machine with one, or export the run and adopt it afterwards; "
            "cpu-tiny presets need none.",
        )
    if not any(QUEUE in worker.queues for worker in alive()):
        return Finding(
            "warn",
            "Device",
            "no worker for training is running; the run waits until one is",
            "Start one with python3 dev.py run.",
        )
    ahead = list(queue_of(device))
    if ahead:
        return Finding(
            "warn",
            "Device",
            f"{device} is taken by {ahead[0].what}; {len(ahead)} before this run",
            "It starts by itself when the device is free.",
        )
    return Finding("ok", "Device", f"{device} is free")


def _room(recipe: Recipe) -> Finding:
    largest = Checkpoint.objects.filter(run__recipe__model__kind=recipe.model.kind).aggregate(
        most=Max("bytes")
    )["most"]
    each = largest or _FALLBACK[recipe.model.kind]
    needed = each * (recipe.keep + 2)
    free = shutil.disk_usage(_existing(runs_folder())).free
    said = f"{size(needed)} for {recipe.keep + 2} checkpoints, {size(free)} free"
    if free < needed:
        return Finding("bad", "Disk", said, "Free some space, or keep fewer checkpoints.")
    return Finding("ok", "Disk", said)


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _loss(recipe: Recipe) -> list[Finding]:
    if not recipe.flat_loss:
        return []
    return [
        Finding("warn", "Policy loss", recipe.flat_loss, "Two steps on one generation show more.")
    ]


def _time(recipe: Recipe) -> list[Finding]:
    """What the newest run of this preset took, scaled to the steps asked for."""
    row = (
        TrainingRun.objects.filter(preset=recipe.preset, state="succeeded")
        .exclude(result=None)
        .order_by("-created_at")
        .first()
    )
    seconds = (row.result or {}).get("seconds") if row is not None else None
    if row is None or not isinstance(seconds, int | float) or not row.step:
        return []
    same = row.steps == recipe.steps
    taken = seconds if same else seconds / row.step * recipe.steps
    return [
        Finding(
            "ok",
            "Time",
            f"about {duration(taken)}, by {row.code}" + ("" if same else ", scaled by its steps"),
        )
    ]
