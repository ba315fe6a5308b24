"""Of runs."""

import shutil
from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.choices import FINISHED, JobState
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.models import Job, User
from training_app.core.recipe import PRESETS, Recipe, RecipeError, load_recipe, no_such_place
from training_app.core.run_dir import RunDir, Status
from training_app.enums import DatasetKind
from training_app.models import Checkpoint, Dataset, MetricBucket, MetricRow, TrainingRun
from training_app.operations.datasets import hold, write_dataset
from training_app.queries.runs import OPEN, can_resume, checkpoint_folder, run_dir, runs_folder

_MESSAGE: Final = 2000
_BEFORE: Final = ("before", "base_seconds", "base_accuracy")
"""Parts of a result that are known before the first step."""


def chosen_recipe(
    *,
    preset: str = "",
    recipe: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Recipe:
    """The recipe of a preset, or a whole one, with changes; Invalid names every place and fault.

    Args:
        preset: Its name, where no recipe is given.
        recipe: A whole recipe.
        changes: What differs, nested or by dotted places: `{"rollouts.group": 4}`.
        seed: Instead of the recipe's own.
    """
    if recipe is None and preset not in PRESETS:
        known = f"Known: {', '.join(PRESETS)}."
        raise Invalid(
            "This run cannot be started.",
            [Problem("preset", f"there is no preset “{preset[:80]}”", known)],
        )
    base = dict(recipe) if recipe is not None else PRESETS[preset].model_dump(mode="json")
    try:
        wanted = _merged(base, changes or {})
        if seed is not None:
            wanted["seed"] = seed
        made = load_recipe(wanted)
    except RecipeError as error:
        raise Invalid(
            "This run cannot be started.", [_problem(text) for text in error.problems]
        ) from error
    return made


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for place, value in changes.items():
        key, _, rest = str(place).partition(".")
        change = {rest: value} if rest else value
        part = merged.get(key)
        if isinstance(change, Mapping) and isinstance(part, Mapping):
            merged[key] = _merged(part, change)
        elif rest:
            raise RecipeError([f"{place}: {no_such_place(str(place))}"])
        else:
            merged[key] = change
    return merged


def _problem(text: str) -> Problem:
    place, _, message = text.partition(": ")
    return Problem(place, message) if message else Problem("recipe", text)


def open_run(
    *,
    preset: str = "",
    recipe: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    dataset: Dataset | None = None,
    parent: Checkpoint | None = None,
    seed: int | None = None,
    by: User | HasUser | None,
) -> TrainingRun:
    """Write a run and its directory, which holds all that the engine needs. Audited.

    Invalid names every argument that cannot be; nothing is left then.
    """
    chosen = chosen_recipe(preset=preset, recipe=recipe, changes=changes, seed=seed)
    problems = [*_dataset_problems(chosen, dataset), *_parent_problems(chosen, parent)]
    if problems:
        raise Invalid("This run cannot be started.", problems)
    named = chosen
    if parent is not None:
        # The row keeps the code, so that runs compare on any machine; the engine gets the folder.
        named = _starting_from(chosen, parent.code)
        chosen = _starting_from(chosen, str(checkpoint_folder(parent)))
    run: TrainingRun | None = None
    try:
        with transaction.atomic():
            if dataset is not None:
                dataset = hold(dataset)  # else it could be deleted until the run is there
            run = TrainingRun(
                preset=chosen.preset[:40],
                algorithm=chosen.algorithm,
                recipe=named.model_dump(mode="json"),
                recipe_hash=named.hash,
                seed=chosen.seed,
                dataset=dataset,
                parent=parent,
                steps=chosen.steps,
                author=by if isinstance(by, User) or by is None else by.user,
            )
            run.save()
            run.path = run.code
            run.save(update_fields=["path"])
            made = RunDir.create(runs_folder() / run.code, chosen)
            if dataset is not None:
                write_dataset(dataset, made.dataset)
            detail: JsonObject = {
                "preset": run.preset,
                "algorithm": run.algorithm,
                "seed": run.seed,
                "dataset": "" if dataset is None else dataset.code,
                "parent": "" if parent is None else parent.code,
            }
            audit.record(by, "start_run", run.code, detail)
    except OSError as error:
        _drop_folder(run)
        raise Invalid(
            "The run's directory cannot be written.",
            [
                Problem(
                    "disk",
                    f"{runs_folder()}: {error.strerror or error}",
                    "Free some space, or set STUDIO_VAR to a folder that can be written to.",
                )
            ],
        ) from error
    except BaseException:
        _drop_folder(run)
        raise
    return run


def _drop_folder(run: TrainingRun | None) -> None:
    """Of a run that did not come to be."""
    if run is not None and run.path:
        shutil.rmtree(runs_folder() / run.path, ignore_errors=True)


def _starting_from(recipe: Recipe, init: str) -> Recipe:
    return recipe.model_copy(update={"model": recipe.model.model_copy(update={"init": init})})


def _dataset_problems(recipe: Recipe, dataset: Dataset | None) -> list[Problem]:
    if dataset is None:
        if recipe.model.kind == "cpu-tiny":
            return []  # the engine makes the pocket suite itself
        return [
            Problem("dataset", "a pretrained model needs one", "Freeze a dataset and choose it.")
        ]
    if dataset.frozen_at is None:
        return [
            Problem("dataset", f"{dataset.code} is not frozen yet", "Wait until it has its hash.")
        ]
    wanted = DatasetKind.PROMPTS if recipe.online else DatasetKind.DEMONSTRATIONS
    if dataset.kind != wanted:
        kind = DatasetKind(dataset.kind).label.lower()
        return [
            Problem(
                "dataset",
                f"{dataset.code} holds {kind}, {recipe.algorithm} learns from "
                f"{wanted.label.lower()}",
                f"Choose a dataset of {wanted.label.lower()}.",
            )
        ]
    return []


def _parent_problems(recipe: Recipe, parent: Checkpoint | None) -> list[Problem]:
    if parent is None:
        return []
    if recipe.model.init:
        return [Problem("init", "both a checkpoint and a folder to start from", "Name one.")]
    if parent.removed_at is not None or not (checkpoint_folder(parent) / "config.json").is_file():
        return [
            Problem("init", f"the weights of {parent.code} are gone", "Choose another checkpoint.")
        ]
    trained = load_recipe(parent.run.recipe).model.kind
    if trained != recipe.model.kind:
        return [
            Problem(
                "init",
                f"{parent.code} is a {trained} model, the recipe trains {recipe.model.kind}",
                "Choose a checkpoint of the same kind.",
            )
        ]
    return []


def link_job(*, run: TrainingRun, job_id: int) -> None:
    """Say which job runs it now."""
    TrainingRun.objects.filter(pk=run.pk).update(job=Job(pk=job_id))


def mark_starting(
    *, run: TrainingRun, pid: int | None, host: str, message: str = ""
) -> TrainingRun:
    """An engine was started, or is about to be."""
    now = timezone.now()
    fresh = run.started_at is None
    TrainingRun.objects.filter(pk=run.pk).update(
        state=JobState.STARTING,
        pid=pid,
        host=host[:120],
        message=message[:_MESSAGE],
        finished_at=None,
        **({"started_at": now} if fresh else {}),
    )
    run.refresh_from_db()
    return run


def settle_run(*, run: TrainingRun, state: JobState, message: str = "") -> TrainingRun:
    """Put a run to its end; nobody runs it any more."""
    if state not in FINISHED:
        raise ValueError(f"{state} is not an end")
    TrainingRun.objects.filter(pk=run.pk).update(
        state=state, message=message[:_MESSAGE], pid=None, finished_at=timezone.now()
    )
    run.refresh_from_db()
    return run


def settle_abandoned() -> int:
    """Put runs to an end whose job has ended without them; return how many.

    A job that was stopped while it waited never ran, and one whose process is gone for good says
    nothing any more.
    """
    settled = 0
    rows = TrainingRun.objects.filter(adopted=False, state__in=OPEN, job__state__in=FINISHED)
    for run in rows.select_related("job"):
        job = run.job
        state = JobState(job.state) if job is not None else JobState.LOST
        if state == JobState.SUCCEEDED:
            continue  # its last write is on the way
        message = job.error if job is not None and job.error else ""
        if state == JobState.STOPPED and run_dir(run).path.is_dir():
            run_dir(run).ask_to_stop()  # where an engine still runs
        if state == JobState.LOST:
            message = (
                "The process that watched the run is gone. Resume it: an engine that still runs "
                "is watched again, else it goes on from the last checkpoint."
            )
        settled += TrainingRun.objects.filter(
            pk=run.pk, state__in=OPEN, job__state=job.state if job is not None else ""
        ).update(state=state, message=message[:_MESSAGE], finished_at=timezone.now())
    return settled


@transaction.atomic
def note_cancel(*, run: TrainingRun, by: User | HasUser | None) -> None:
    """Ask the engine to stop by the run directory itself. Audited."""
    directory = run_dir(run)
    if directory.path.is_dir():
        directory.ask_to_stop()
    job = run.job
    waiting = job is None or Job.objects.filter(pk=job.pk, state__in=FINISHED).exists()
    TrainingRun.objects.filter(pk=run.pk, state__in=OPEN).update(
        state=JobState.STOPPED if waiting else JobState.STOPPING,
        finished_at=timezone.now() if waiting else None,
    )
    audit.record(by, "cancel_run", run.code)
    run.refresh_from_db()


@transaction.atomic
def reopen_run(*, run: TrainingRun, by: User | HasUser | None) -> TrainingRun:
    """Queue an ended run again, to go on from its last checkpoint. Audited.

    Conflict where it runs, has succeeded, was run elsewhere, or its directory is gone.
    """
    row = TrainingRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
    if row.adopted:
        raise Conflict(f"{row.code} was run elsewhere and is only read here.")
    if not can_resume(row):
        if row.state in (JobState.STOPPED, JobState.FAILED, JobState.LOST):
            raise Conflict(f"The directory of {row.code} is gone, so it cannot go on.")
        raise Conflict(f"{row.code} is {JobState(row.state).label.lower()}; nothing to resume.")
    row.state = JobState.QUEUED
    row.finished_at = None
    row.message = ""
    row.save(update_fields=["state", "finished_at", "message"])
    audit.record(by, "resume_run", row.code, {"step": row.step})
    return row


def rewind(*, run: TrainingRun, step: int) -> int:
    """Cut the directory and the curves back to a step that the engine goes on from.

    What was measured before the first step stays; a resumed engine does not measure it again.
    Returns how many steps were dropped.
    """
    directory = run_dir(run)
    dropped = directory.cut_back(step)
    directory.write_status(Status("starting", step, run.steps))
    directory.forget_stop()
    directory.forget_result()
    kept = {key: run.result[key] for key in _BEFORE if key in run.result} if run.result else None
    with transaction.atomic():
        MetricRow.objects.filter(run=run).delete()
        MetricBucket.objects.filter(run=run).delete()
        TrainingRun.objects.filter(pk=run.pk).update(offset=0, step=step, result=kept)
    run.refresh_from_db()
    return dropped


def halve_device_batch(*, run: TrainingRun) -> Recipe | None:
    """Let a run whose memory ran out go on with half as many sequences at a time.

    The batch of a step and so what is learnt stay the same. None where it is one already.
    """
    directory = run_dir(run)
    smaller = directory.recipe().halved()
    if smaller is None:
        return None
    directory.change_recipe(smaller)
    with transaction.atomic():
        row = TrainingRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
        row.halvings += 1
        row.recipe = {**row.recipe, "device_batch": smaller.device_batch}
        row.save(update_fields=["halvings", "recipe"])
    directory.write_status(Status("queued", run.step, run.steps))
    directory.note(
        f"memory ran out: the device batch is halved to {smaller.device_batch}, "
        f"{smaller.accumulation} passes a step (time {row.halvings})"
    )
    run.refresh_from_db()
    return smaller


@transaction.atomic
def promote(*, checkpoint: Checkpoint, promoted: bool, by: User | HasUser | None) -> Checkpoint:
    """Keep a checkpoint whatever its age, or no longer. Audited.

    Conflict where its weights are gone.
    """
    row = Checkpoint.objects.select_for_update().get(pk=checkpoint.pk)
    if promoted and row.removed_at is not None:
        raise Conflict(f"The weights of {row.code} are gone.")
    try:
        run_dir(row.run).promote(row.step, promoted=promoted)
    except OSError as problem:
        raise Conflict(f"The weights of {row.code} cannot be marked: {problem}") from problem
    row.promoted = promoted
    row.save(update_fields=["promoted"])
    audit.record(by, "promote_checkpoint", row.code, {"promoted": promoted})
    return row


@transaction.atomic
def remove_weights(*, checkpoint: Checkpoint, by: User | HasUser | None) -> Checkpoint:
    """Delete the weights of a checkpoint; its row stays for what points at it. Audited.

    Conflict for a promoted one, for the last one of a run that may go on, for weights of a run
    that was only adopted where it lies, and while a run that starts from it is not over.
    """
    row = (
        Checkpoint.objects.select_for_update(of=("self",))
        .select_related("run")
        .get(pk=checkpoint.pk)
    )
    if row.removed_at is not None:
        return row
    if row.promoted:
        raise Conflict(f"{row.code} is promoted; take that back first.")
    if row.run.path.startswith("/"):
        raise Conflict(f"The weights of {row.code} belong to another place; delete them there.")
    later = Checkpoint.objects.filter(run=row.run, removed_at=None, step__gt=row.step)
    if row.run.state != JobState.SUCCEEDED and not later.exists():
        raise Conflict(f"{row.run.code} goes on from {row.code}; stop needing it first.")
    users = list(row.children.filter(state__in=OPEN).values_list("code", flat=True))
    if users:
        raise Conflict(f"{', '.join(users)} starts from {row.code}.")
    shutil.rmtree(run_dir(row.run).checkpoint_path(row.step), ignore_errors=True)
    row.removed_at = timezone.now()
    row.save(update_fields=["removed_at"])
    audit.record(by, "remove_checkpoint", row.code, {"run": row.run.code, "step": row.step})
    return row
