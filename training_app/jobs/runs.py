"""Jobs of runs: start an engine or find the one that runs, watch it, end it, account for its end.

The engine is a process of its own that outlives whoever watches it. So this job may die and be run
again at any moment: it looks for a live engine first, and only where there is none it goes on from
the last checkpoint.
"""

import logging
import math
import signal
from typing import Any, Final, NoReturn

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections, transaction
from django.db.utils import InterfaceError, OperationalError

from studio.lib.jsonvalue import JsonObject
from studio.web import claims
from studio.web.audit import HasUser
from studio.web.choices import FINISHED, JobState
from studio.web.errors import Conflict, Problem, StudioError
from studio.web.jobs import Cancelled, JobHandle, register, resume, start
from studio.web.models import User
from training_app import launcher
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDirError, Status
from training_app.jobs.devices import holding
from training_app.models import Checkpoint, Dataset, TrainingRun
from training_app.operations.absorbing import absorb, status_of
from training_app.operations.run_archives import refresh_adopted
from training_app.operations.runs import (
    halve_device_batch,
    link_job,
    mark_starting,
    note_cancel,
    open_run,
    reopen_run,
    rewind,
    settle_abandoned,
    settle_run,
)
from training_app.queries.devices import QUEUE, device_of
from training_app.queries.results import part
from training_app.queries.runs import cache_folder, can_cancel, recipe_of, run_dir

logger = logging.getLogger(__name__)

KIND: Final = "train_run"
MOST_ATTEMPTS: Final = 20
"""How often a run is taken up again after its worker died, before it is lost."""
MOST_HALVINGS: Final = 3
"""How often the device batch of a run is halved before the run fails for want of memory."""
LOOK_SECONDS: Final = 1.0
"""Between two looks into the run directory."""
_SOON: Final = 90.0
"""Seconds; what is longer is told in minutes."""


class RunFailed(StudioError):
    """A run that came to nothing; the words say why and what to do."""

    kind = "run-failed"
    title = "The run failed"


# Starting, stopping, going on: shared by pages, API and commands


def start_run(
    *,
    preset: str = "",
    recipe: dict[str, Any] | None = None,
    changes: dict[str, Any] | None = None,
    dataset: Dataset | None = None,
    parent: Checkpoint | None = None,
    seed: int | None = None,
    by: User | HasUser | None,
) -> TrainingRun:
    """Open a run and queue its job. Invalid names everything that cannot be."""
    with transaction.atomic():
        run = open_run(
            preset=preset,
            recipe=recipe,
            changes=changes,
            dataset=dataset,
            parent=parent,
            seed=seed,
            by=by,
        )
        _queue(run, by)
    return run


def cancel_run(*, run: TrainingRun, by: User | HasUser | None) -> TrainingRun:
    """Stop a run: at once while it waits, at its next boundary while it trains.

    Its last checkpoint stays, so it can go on. Conflict where there is nothing to stop.
    """
    if not can_cancel(run):
        raise Conflict(f"{run.code} is not running.")
    job = run.job
    if job is not None and not job.is_finished and not job.cancel_requested:
        claims.request_cancel(job)
    note_cancel(run=run, by=by)
    return run


def resume_run(*, run: TrainingRun, by: User | HasUser | None) -> TrainingRun:
    """Queue a stopped, failed or lost run again; it goes on from its last checkpoint.

    Conflict for any other, or where its directory is gone.
    """
    with transaction.atomic():
        row = reopen_run(run=run, by=by)
        job = row.job
        if job is not None and job.state in (JobState.STOPPED, JobState.FAILED, JobState.LOST):
            resume(job)
        elif job is None or job.is_finished:
            _queue(row, by)
    return row


def _queue(run: TrainingRun, by: User | HasUser | None) -> None:
    user = by if isinstance(by, User) or by is None else by.user
    job = start(KIND, {"run": run.code}, user, subject=run.code)
    link_job(run=run, job_id=job.pk)
    run.job = job


# The job


def train_run(handle: JobHandle) -> JsonObject | None:
    """Bring a run to its end; None where the run is gone."""
    run = TrainingRun.objects.filter(code=handle.arguments.get("run")).first()
    if run is None:
        return None
    link_job(run=run, job_id=handle.job_id)
    if run.state != JobState.SUCCEEDED:
        try:
            with holding(handle, device_of(recipe_of(run)), run.code):
                _Watch(run, handle).run_it()
        except (Cancelled, KeyboardInterrupt):
            if run.state not in FINISHED:
                settle_run(run=run, state=JobState.STOPPED)
            raise
    run.refresh_from_db()
    return result_of(run)


def result_of(run: TrainingRun) -> JsonObject:
    """The job's result, as the command prints it."""
    result = run.result or {}
    last = Checkpoint.objects.filter(run=run, removed_at=None).order_by("-step").first()
    return {
        "run": run.code,
        "before": _success(run, "before"),
        "after": _success(run, "after"),
        "reward_first_fifth": result.get("reward_first_fifth"),
        "reward_last_fifth": result.get("reward_last_fifth"),
        "steps": result.get("steps", run.step),
        "base_seconds": result.get("base_seconds"),
        "checkpoint": None if last is None else last.code,
    }


def _success(run: TrainingRun, name: str) -> float | None:
    """Greedy success on fresh held-out instances; None where it was not measured."""
    found = part(run, name)
    return None if found is None else found.shares.success


class _Watch:
    """One run, from its start or wherever it stands to its end."""

    def __init__(self, run: TrainingRun, handle: JobHandle):
        self._run = run
        self._handle = handle
        self._directory = run_dir(run)
        self._engine: launcher.Engine | None = None
        self._stopping: launcher.Stopping | None = None
        self._away = False

    def run_it(self) -> None:
        """Raises Cancelled where it was stopped, RunFailed where it failed."""
        try:
            self._engine = self._find_or_start()
            self._watch(self._engine)
            while self._stopping is None and (smaller := self._smaller()) is not None:
                self._engine = self._start(smaller, f"memory ran out; {smaller.together} at a time")
                self._watch(self._engine)
            self._account(None if self._engine is None else self._engine.exit_code())
        except KeyboardInterrupt:
            # Only a command is interrupted like this; the engine is not in its group.
            if self._engine is not None:
                self._end_with_command(self._engine)
            raise
        except RunFailed as failure:
            if self._run.state not in FINISHED:
                lines = [f"{one.place}: {one.words}" for one in failure.problems]
                message = "\n".join([failure.detail, *lines])
                settle_run(run=self._run, state=JobState.FAILED, message=message)
            raise

    # Beginning

    def _find_or_start(self) -> launcher.Engine | None:
        """The engine to watch; None where it has ended while nobody looked."""
        run = self._run
        try:
            recipe = self._directory.recipe()
        except RunDirError as problem:
            raise RunFailed(
                f"The directory of {run.code} cannot be used: {problem}. Start a new run."
            ) from problem
        begun = run.state not in (JobState.QUEUED, *FINISHED)
        found = launcher.find(self._directory)
        if found is not None:
            if not begun:
                self._directory.forget_stop()  # it was stopped and resumed before it heard of it
            mark_starting(
                run=run, pid=found.pid, host=launcher.host(), message="found the engine running"
            )
            return found
        if begun and status_of(self._directory).ended:
            return None
        if begun:
            self._require_a_way_on()
        return self._start(recipe)

    def _require_a_way_on(self) -> None:
        """An engine may have been started and is gone; say so where nothing can be gone on from."""
        run = self._run
        if run.pid is None:
            return  # it had not been started yet
        if run.host != launcher.host():
            self._lose(
                f"{run.code} ran on {run.host}, and who watched it there is gone. Make sure that "
                "no engine runs there, then resume it: it goes on here from its last checkpoint."
            )
        if not self._checkpoints():
            self._lose(
                f"The engine of {run.code} is gone and left no checkpoint. Resume it: it starts "
                "again from the beginning."
            )

    def _lose(self, message: str) -> NoReturn:
        settle_run(run=self._run, state=JobState.LOST, message=message)
        raise RunFailed(message)

    def _smaller(self) -> Recipe | None:
        """Halve the device batch where memory ran out and it was not halved too often."""
        run = self._run
        status = absorb(run=run).status
        if status.state != "failed" or not _short_of_memory(status.message):
            return None
        if run.halvings >= MOST_HALVINGS:
            return None
        return halve_device_batch(run=run)

    def _start(self, recipe: Recipe, why: str = "") -> launcher.Engine:
        run, handle = self._run, self._handle
        known = self._checkpoints()
        step = known[-1] if known else 0
        # From here on an end in the directory is one of this attempt.
        self._directory.write_status(Status("queued", step, recipe.steps))
        mark_starting(run=run, pid=None, host=launcher.host(), message="checking the run")
        handle.progress(run.step, run.steps, "checking the run")
        problems = launcher.check(self._directory, recipe)
        if problems:
            raise RunFailed(
                "This run cannot be started.",
                [Problem(one.place, f"{one.problem}:", f"{one.fix}.") for one in problems],
            )
        self._directory.forget_stop()  # of an earlier attempt; who asks from here on is heard
        handle.stop_if_cancelled()
        again = bool(known) or self._directory.metrics_file.exists()
        if again:
            rewind(run=run, step=step)
            absorb(run=run, again=True)
        try:
            engine = launcher.start(self._directory, recipe, cache=cache_folder(), resume=again)
        except OSError as problem:
            raise RunFailed(
                f"The engine cannot be started: {problem}. Correct STUDIO_ENGINE or unset it."
            ) from problem
        message = f"going on from step {step}" if step else "starting the engine"
        message = f"{why}, {message}" if why else message
        mark_starting(run=run, pid=engine.pid, host=launcher.host(), message=message)
        handle.progress(step, run.steps, message)
        return engine

    def _checkpoints(self) -> list[int]:
        try:
            return [checkpoint.step for checkpoint in self._directory.list_checkpoints()]
        except (OSError, RunDirError, KeyError) as problem:
            raise RunFailed(
                f"A checkpoint of {self._run.code} is damaged: {problem}. Delete its folder in "
                f"{self._directory.checkpoints}, then resume."
            ) from problem

    # Watching

    def _watch(self, engine: launcher.Engine | None) -> None:
        while engine is not None and not engine.wait(LOOK_SECONDS):
            try:
                self._look(engine)
            except (OperationalError, InterfaceError) as problem:
                # The engine needs no database. The rows wait until it is back, or until another
                # worker has taken the job over.
                if not self._away:
                    logger.warning("%s trains on without the database: %s", self._run, problem)
                self._away = True
                close_old_connections()
            if self._stopping is not None:
                self._stopping.go_on()

    def _look(self, engine: launcher.Engine) -> None:
        status = absorb(run=self._run).status
        self._away = False
        self._tell(status)
        if self._stopping is None and self._handle.cancelled():
            self._stopping = launcher.Stopping(self._directory, engine, patience=self._patience())

    def _tell(self, status: Status) -> None:
        """Say what it is doing and how far that is: a stage by its own count, else the steps."""
        run = self._run
        if self._stopping is None and status.total and run.message == status.message:
            self._handle.progress(status.done, status.total, status.message)
        else:
            self._handle.progress(run.step, run.steps, self._note())

    def _note(self) -> str:
        """What it is doing, and how long it will take if it goes on like this."""
        run = self._run
        if run.state == JobState.STOPPING or self._stopping is not None:
            return "stopping at the next checkpoint"
        if run.message:
            return run.message
        if run.state == JobState.STARTING:
            return "starting the engine"
        if run.step >= run.steps:
            return "measuring what was learnt"
        left = (run.steps - run.step) * self._step_seconds()
        if not left:
            return f"step {run.step:,} of {run.steps:,}"
        words = f"{left:.0f} s" if left < _SOON else f"{math.ceil(left / 60):,} min"
        return f"step {run.step:,} of {run.steps:,}, about {words} left"

    def _step_seconds(self) -> float:
        last = self._run.metrics.order_by("step").last()
        return last.seconds / last.step if last is not None and last.step else 0.0

    def _patience(self) -> float:
        """A step of a large model takes minutes, and it stops at the end of a generation alone."""
        recipe = self._directory.recipe()
        return settings.STUDIO_ENGINE_PATIENCE + 3 * recipe.boundary * self._step_seconds()

    def _end_with_command(self, engine: launcher.Engine) -> None:
        stopping = self._stopping or launcher.Stopping(
            self._directory, engine, patience=self._patience()
        )
        try:
            while not engine.wait(LOOK_SECONDS):
                stopping.go_on()
        except KeyboardInterrupt:
            stopping.hurry()
            engine.wait(settings.STUDIO_ENGINE_PATIENCE)
        absorb(run=self._run)
        settle_run(run=self._run, state=JobState.STOPPED, message="The command was interrupted.")

    # Ending

    def _account(self, code: int | None) -> None:
        """Say what became of it: return where it succeeded, raise otherwise."""
        run = self._run
        status = absorb(run=run).status
        if status.state == "succeeded":
            settle_run(run=run, state=JobState.SUCCEEDED)
        elif status.state == "stopped" or (self._stopping is not None and not status.ended):
            killed = self._stopping is not None and self._stopping.killed
            settle_run(run=run, state=JobState.STOPPED, message=_KILLED if killed else "")
            raise Cancelled(run.code)
        else:
            raise RunFailed(self._why(status, code))

    def _why(self, status: Status, code: int | None) -> str:
        if status.state == "failed":
            said = status.message or "The engine failed and gave no reason; its log has more."
            if not _short_of_memory(said):
                return said
            tried = self._run.halvings
            often = f" The device batch was halved {tried} times already." if tried else ""
            return f"{said} {_SMALLER}{often}"
        known = self._checkpoints()
        on = f"goes on from step {known[-1]}" if known else "starts again from the beginning"
        if launcher.disk_is_full(self._directory):
            return f"The disk is full. Free some space, then resume it: it {on}."
        if code == -signal.SIGKILL:
            return (
                "The engine was ended by signal 9: probably the memory ran out. Resume it with "
                f"other programs closed, or start a run with a smaller batch; it {on}."
            )
        words = launcher.last_words(self._directory)
        if code is None:
            how = "is gone without a word, perhaps because the memory ran out"
        elif code < 0:
            how = f"was ended by signal {-code}"
        else:
            how = f"ended with code {code}"
        said = f" Its last words: {words}" if words else ""
        return f"The engine {how}. Resumed it {on}.{said}"


def _short_of_memory(message: str) -> bool:
    return any(words in message.lower() for words in _OUT_OF_MEMORY)


_OUT_OF_MEMORY: Final = ("out of memory", "outofmemory", "can't allocate memory")
_SMALLER: Final = "The memory ran out: start a run with a smaller batch or shorter completions."
_KILLED: Final = "It did not stop when asked and was killed; it goes on from its last checkpoint."


@shared_task(name="training_app.jobs.settle_runs", ignore_result=True)
def settle_runs() -> None:
    """Put runs to an end whose job has ended without them, read on in adopted ones. Every 10 s."""
    settled, news = settle_abandoned(), refresh_adopted()
    if settled or news:
        logger.info("%d runs settled whose job had ended, %d adopted ones grew", settled, news)


register(KIND, QUEUE, train_run, max_attempts=MOST_ATTEMPTS)
