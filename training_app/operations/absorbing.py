"""Reading a run directory into rows: metrics since the last time, checkpoints, status, result.

A directory may come from another machine, so nothing in it is believed: numbers have bounds, texts
lose what the database cannot hold, a damaged line or file hides nobody else.
"""

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.utils import timezone

from studio.web.audit import storable
from studio.web.choices import FINISHED, JobState
from studio.web.codes import new_codes
from studio.web.errors import Invalid, Problem
from training_app.core.run_dir import Metrics, RunDir, RunDirError, Status, read_json
from training_app.models import Checkpoint, MetricRow, TrainingRun
from training_app.operations.buckets import keep_buckets
from training_app.queries.runs import run_dir

MOST_BYTES: Final = 512 * 2**20
"""Of metrics in one reading."""
_LARGEST: Final = 2**31 - 1
_LARGEST_BIG: Final = 2**63 - 1
_MOST_VALUES: Final = 500
_NAME_LENGTH: Final = 120
_MOST_CHECKPOINTS: Final = 10_000
_DEEPEST: Final = 20
_LONGEST_LINE: Final = 1 << 20


class Absorbed(NamedTuple):
    """What a reading found."""

    rows: int
    """Steps that were written or got more values."""
    damaged: int
    """Lines that could not be read."""
    status: Status


def absorb(*, run: TrainingRun, again: bool = False) -> Absorbed:
    """Bring the rows of a run up to what its directory holds; safe to repeat.

    Args:
        run: The run; its columns are new afterwards.
        again: Whether to read everything from the beginning.

    Invalid where the directory cannot be read at all.
    """
    directory = run_dir(run)
    status = status_of(directory)
    with transaction.atomic():
        row = TrainingRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
        written, damaged, since = _metrics(row, directory, again=again)
        _checkpoints(row, directory)
        _columns(row, status, _result(directory))
        row.damaged = damaged if again else row.damaged + damaged
        row.save(
            update_fields=[
                "offset", "step", "steps", "samples", "state", "message", "heartbeat_at",
                "result", "finished_at", "damaged",
            ]
        )  # fmt: skip
        if since is not None:
            keep_buckets(run=row, since=since)
    run.refresh_from_db()
    return Absorbed(written, damaged, status)


# Metrics


class _Read(NamedTuple):
    written: int
    damaged: int
    since: int | None
    """The first step that is new or other than before; None where all is as it was."""


def _metrics(row: TrainingRun, directory: RunDir, *, again: bool) -> _Read:
    last = MetricRow.objects.filter(run=row).order_by("step").last()
    known = None if again else _known(row, directory, last)
    since = 0 if known is None else None
    if known is None:
        MetricRow.objects.filter(run=row).delete()
        row.step = row.samples = row.damaged = 0
        last, known = None, 0
    chunk = directory.read(known)
    rows = [entry for entry in map(_checked, chunk.rows) if entry is not None]
    steps = _by_step(rows, last)
    MetricRow.objects.bulk_create(
        [
            MetricRow(run=row, step=e.step, samples=e.samples, seconds=e.seconds, values=e.values)
            for e in steps
        ],
        update_conflicts=True,
        unique_fields=["run", "step"],
        update_fields=["samples", "seconds", "values"],
        batch_size=500,
    )
    row.offset = chunk.offset
    if steps:
        row.step, row.samples = steps[-1].step, steps[-1].samples
        since = steps[0].step if since is None else since
    return _Read(len(steps), len(chunk.damaged) + len(chunk.rows) - len(rows), since)


def _known(row: TrainingRun, directory: RunDir, last: MetricRow | None) -> int | None:
    """Where to read on; None where the file is no longer the one that was read.

    A run that goes on from a checkpoint cuts its file back, and may have come further than before
    until somebody looks: so the last line that was read has to be there still.
    """
    try:
        with directory.metrics_file.open("rb") as stream:
            size = stream.seek(0, 2)
            if size - row.offset > MOST_BYTES:
                raise Invalid(
                    "The metrics of this run are too large.",
                    [Problem("metrics.jsonl", f"more than {MOST_BYTES // 2**20} MB at once")],
                )
            begin = max(0, row.offset - _LONGEST_LINE)
            stream.seek(begin)
            before = stream.read(row.offset - begin)
    except FileNotFoundError:
        return None if row.offset else 0
    if not row.offset:
        return 0
    if len(before) < row.offset - begin or not before.endswith(b"\n"):
        return None
    line = begin + before.rfind(b"\n", 0, -1) + 1
    found = directory.read(line)
    if found.damaged[:1] == (line,):
        return row.offset  # it was damaged when it was read, too
    entry = _checked(found.rows[0])
    same = entry is None or (
        last is not None
        and (entry.step, entry.samples, entry.seconds) == (last.step, last.samples, last.seconds)
        and all(float(last.values.get(k, 0)) == v for k, v in entry.values.items())
    )
    return row.offset if same else None


def _checked(entry: Metrics) -> Metrics | None:
    """The values that a row can hold; None where step, samples or seconds are impossible."""
    if not (0 <= entry.step <= _LARGEST and 0 <= entry.samples <= _LARGEST_BIG):
        return None
    if not math.isfinite(entry.seconds):
        return None
    finite = {
        storable(name)[:_NAME_LENGTH]: value
        for name, value in entry.values.items()
        if math.isfinite(value)
    }
    return entry._replace(values=dict(list(finite.items())[:_MOST_VALUES]))


def _by_step(rows: Iterable[Metrics], last: MetricRow | None) -> list[Metrics]:
    """One entry a step: a step's lines together, with what its row holds already."""
    steps: dict[int, Metrics] = {}
    if last is not None:
        known = {name: float(value) for name, value in last.values.items()}
        steps[last.step] = Metrics(last.step, last.samples, last.seconds, known)
    for entry in rows:
        before = steps.get(entry.step)
        values = {**before.values, **entry.values} if before is not None else entry.values
        steps[entry.step] = entry._replace(values=values)
    if last is not None and steps[last.step].values == last.values:
        del steps[last.step]
    return [steps[step] for step in sorted(steps)]


# Checkpoints


def _checkpoints(row: TrainingRun, directory: RunDir) -> None:
    found = _found(directory)
    known = {each.step: each for each in Checkpoint.objects.filter(run=row)}
    changed: list[Checkpoint] = []
    for step, (size, evaluation) in found.items():
        each = known.get(step)
        if each is None or (each.bytes, each.evaluation, each.removed_at) == (
            size,
            evaluation,
            None,
        ):
            continue
        each.bytes, each.evaluation, each.removed_at = size, evaluation, None
        changed.append(each)
    for step, each in known.items():
        if step not in found and each.removed_at is None:
            each.removed_at = timezone.now()
            changed.append(each)
    if changed:
        Checkpoint.objects.bulk_update(changed, ["bytes", "evaluation", "removed_at"])
    new = [step for step in found if step not in known]
    Checkpoint.objects.bulk_create(
        [
            Checkpoint(
                code=code, run=row, step=step, bytes=found[step][0], evaluation=found[step][1]
            )
            for step, code in zip(new, new_codes(Checkpoint, len(new)), strict=True)
        ]
    )


def _found(directory: RunDir) -> dict[int, tuple[int, dict[str, Any]]]:
    """Complete checkpoints: step → bytes, evaluation. One that cannot be read is left out."""
    found: dict[int, tuple[int, dict[str, Any]]] = {}
    files = sorted(directory.checkpoints.glob("step-*/checkpoint.json"))
    for file in files[:_MOST_CHECKPOINTS]:
        try:
            data = read_json(file)
            step = _whole(data.get("step"), _LARGEST)
            evaluation = clean(data.get("evaluation"))
        except (OSError, RunDirError):
            continue
        if step is None or directory.checkpoint_path(step) != file.parent:
            continue
        found[step] = (
            _whole(data.get("bytes"), _LARGEST_BIG) or 0,
            evaluation if isinstance(evaluation, dict) else {},
        )
    return found


# Status and result


def status_of(directory: RunDir) -> Status:
    """The status with values of the right kinds; what makes no sense is as if it were not there."""
    try:
        said = directory.status()
    except (OSError, RunDirError):
        return Status()
    known = isinstance(said.state, str) and said.state in JobState.values
    beat = said.heartbeat
    return Status(
        state=said.state if known else "queued",
        step=_whole(said.step, _LARGEST) or 0,
        steps=_whole(said.steps, _LARGEST) or 0,
        pid=_whole(said.pid, _LARGEST) or 0,
        heartbeat=float(beat) if _number(beat) and 0 <= beat < 2**33 else 0.0,
        message=storable(said.message)[:2000] if isinstance(said.message, str) else "",
        done=_whole(said.done, _LARGEST) or 0,
        total=_whole(said.total, _LARGEST) or 0,
    )


def _result(directory: RunDir) -> dict[str, Any] | None:
    try:
        found = clean(directory.result())
    except (OSError, RunDirError):
        return None
    return found if isinstance(found, dict) else None


def _columns(row: TrainingRun, status: Status, result: dict[str, Any] | None) -> None:
    if result is not None:
        row.result = {**(row.result or {}), **result}
    row.step = max(row.step, min(status.step, _LARGEST))
    row.steps = status.steps or row.steps
    if status.heartbeat:
        row.heartbeat_at = dt.datetime.fromtimestamp(status.heartbeat, dt.UTC)
    state = JobState(status.state)
    if state in FINISHED and not row.adopted:
        return  # the job that watches it has the last word
    if row.state in FINISHED and not row.adopted:
        return
    if state != JobState.QUEUED:
        # somebody who asked it to stop is told so until it does
        stopping = row.state == JobState.STOPPING and state == JobState.RUNNING
        row.state = JobState.STOPPING if stopping else state
        row.message = status.message
    if row.adopted:
        row.finished_at = (row.finished_at or timezone.now()) if state in FINISHED else None


# Foreign JSON


def clean(value: Any, depth: int = 0) -> Any:
    """JSON that the database takes: no NUL, no half pairs, finite numbers, not too deep."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable(str(key)): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item, depth + 1) for item in value]
    return value


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any, largest: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        return None
    return value
