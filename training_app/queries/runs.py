"""Of runs."""

from pathlib import Path
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.core import signing
from django.db.models import Q, QuerySet

from studio.web.choices import FINISHED, JobState
from studio.web.codes import get_by_code
from studio.web.errors import BadRequest, NotFound
from studio.web.filters import FilterSet, choice, date, number, text, yes_no
from studio.web.pagination import Page, keyset
from training_app.core.recipe import PRESETS, Recipe, load_recipe
from training_app.core.run_dir import RunDir
from training_app.enums import Algorithm
from training_app.models import Checkpoint, MetricRow, TrainingRun

FOLDER: Final = "runs"
"""Below the studio's own folder; each run lies in one that bears its code."""
OPEN: Final = tuple(state for state in JobState if state not in FINISHED)
"""States of a run that is not over."""
MOST_ROWS: Final = 5000
"""Steps of an answer."""
LOG_BYTES: Final = 64 * 1024
_SALT: Final = "training_app.metrics"


def _word(word: str) -> Q:
    return Q(code=word.upper()) | Q(preset__icontains=word)


RUNS: Final = FilterSet(
    "runs",
    (
        choice("state", "state", lambda: JobState.values),
        choice("algorithm", "algorithm", lambda: Algorithm.values),
        text("preset", "preset"),
        text("dataset", "dataset__code"),
        number("seed", "seed"),
        number("step", "step"),
        yes_no("adopted", "adopted"),
        date("created", "created_at"),
    ),
    search=_word,
)


class MetricsSince(NamedTuple):
    """Steps that are new to a reader."""

    rows: list[MetricRow]
    cursor: str
    """Where to read on."""
    again: bool
    """Whether the run went back: what the reader had is to be dropped."""
    more: bool
    """Whether there are further rows at once."""


def runs_folder() -> Path:
    """Where the studio's own runs lie."""
    return Path(settings.VAR_DIR) / FOLDER


def cache_folder() -> Path:
    """Bases and starting points that several runs share."""
    return Path(settings.VAR_DIR) / "engine-cache"


def run_dir(run: TrainingRun) -> RunDir:
    """The directory of a run; an absolute path is one that was adopted where it lies."""
    return RunDir(runs_folder() / run.path)


def recipe_of(run: TrainingRun) -> Recipe:
    """The recipe as it was chosen; a checkpoint to start from stands in it by its code."""
    return load_recipe(run.recipe)


def presets() -> list[Recipe]:
    """All recipes on offer, in their order."""
    return list(PRESETS.values())


def all_runs() -> QuerySet[TrainingRun]:
    """Runs with what lists and pages show beside them."""
    return TrainingRun.objects.select_related("dataset", "parent__run", "author", "job")


def get_run(code: str) -> TrainingRun:
    """One run; NotFound otherwise."""
    return get_by_code(all_runs(), code)


def get_checkpoint(code: str) -> Checkpoint:
    """One checkpoint with its run; NotFound otherwise."""
    return get_by_code(Checkpoint.objects.select_related("run"), code)


def matching_runs(filter_text: str = "") -> QuerySet[TrainingRun]:
    """All runs of a filter; FilterError names what is wrong with it and where."""
    return all_runs().filter(RUNS.compile(filter_text))


def run_page(
    filter_text: str = "", *, cursor: str | None = None, size: int = 50
) -> Page[TrainingRun]:
    """One page of the list of runs, newest first."""
    return keyset(
        matching_runs(filter_text),
        order="-created_at",
        cursor=cursor,
        size=size,
        filter_hash=RUNS.hash(filter_text),
    )


def metrics_since(run: TrainingRun, cursor: str = "", size: int = MOST_ROWS) -> MetricsSince:
    """Rows from a cursor on; the last row known comes again, since it may have got more values.

    A run that goes on from a checkpoint is written anew: its first row is another one then, and a
    reader who was further starts over.
    """
    rows = MetricRow.objects.filter(run=run).order_by("step")
    first = rows.values_list("pk", flat=True).first()
    known, step = _place(cursor)
    again = bool(cursor) and first != known
    chosen = rows if again or not cursor else rows.filter(step__gte=step)
    found = list(chosen[: size + 1])
    more, found = len(found) > size, found[:size]
    for row in found:  # PostgreSQL gives large floats back as whole numbers of hundreds of digits
        row.values = {name: float(value) for name, value in row.values.items()}
    at = found[-1].step if found else (step if not again else 0)
    return MetricsSince(found, signing.dumps([first, at], salt=_SALT), again, more)


def _place(cursor: str) -> tuple[int | None, int]:
    if not cursor:
        return None, 0
    try:
        first, step = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError) as problem:
        raise BadRequest("This cursor is not one of this list.") from problem
    return first, step


def checkpoints_of(run: TrainingRun) -> list[Checkpoint]:
    """All checkpoints of a run by step, those whose weights are gone included."""
    rows = Checkpoint.objects.filter(run=run).select_related("run")
    return list(rows.order_by("step"))


def startable() -> QuerySet[Checkpoint]:
    """Checkpoints that a run can start from, newest first."""
    return (
        Checkpoint.objects.filter(removed_at=None)
        .select_related("run")
        .order_by("-created_at", "-pk")
    )


def checkpoint_folder(checkpoint: Checkpoint) -> Path:
    """Where its weights lie, or lay."""
    return run_dir(checkpoint.run).checkpoint_path(checkpoint.step).absolute()


def sample_steps(run: TrainingRun) -> list[int]:
    """Steps at which it was kept what the model wrote."""
    found = run_dir(run).samples.glob("step-*.jsonl")
    names = (file.stem.removeprefix("step-") for file in found)
    return sorted(int(name) for name in names if name.isdecimal())


def samples_at(run: TrainingRun, step: int) -> list[dict[str, Any]]:
    """What the model wrote at a step; NotFound where nothing was kept."""
    try:
        rows = run_dir(run).read_samples(step)
    except (OSError, ValueError) as problem:
        raise NotFound(f"The samples of step {step} cannot be read: {problem}") from problem
    rows = [row for row in rows if isinstance(row, dict)]
    if not rows:
        raise NotFound(f"{run.code} kept no samples at step {step}.")
    return rows


def log_tail(run: TrainingRun) -> str:
    """The end of the engine's log; empty where there is none."""
    try:
        with run_dir(run).log_file.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - LOG_BYTES))
            tail = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return tail if size <= LOG_BYTES else tail.partition("\n")[2]


def can_cancel(run: TrainingRun) -> bool:
    """Whether there is anything to stop."""
    return not run.adopted and run.state in OPEN


def can_resume(run: TrainingRun) -> bool:
    """Whether it can go on: it was stopped, failed or got lost, and its directory is here."""
    return (
        not run.adopted
        and run.state in (JobState.STOPPED, JobState.FAILED, JobState.LOST)
        and run_dir(run).path.is_dir()
    )
