"""What the API takes and gives for training runs."""

import datetime as dt
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, JsonValue, StrictInt

from studio.web.api.bodies import Body
from studio.web.choices import JobState
from training_app.core.recipe import Recipe
from training_app.enums import Algorithm
from training_app.models import Checkpoint, MetricRow, TrainingRun

Code = Annotated[str, Field(max_length=20)]


class RunIn(Body):
    """What to train."""

    preset: Annotated[str, Field(max_length=40)] = Field(
        "", description="A recipe by name; see presets. Not needed with a whole recipe."
    )
    recipe: dict[str, JsonValue] | None = Field(None, description="A whole recipe.")
    changes: dict[str, JsonValue] = Field(
        default_factory=dict,
        description='What differs, nested or by place: {"rollouts.group": 4}.',
    )
    dataset: Code = Field("", description="A frozen dataset; empty: the pocket suite.")
    init: Code = Field("", description="A checkpoint to start from, such as CK-81ZZ.")
    seed: Annotated[StrictInt, Field(ge=0, lt=2**31)] | None = None


class PresetOut(Schema):
    """A recipe on offer."""

    name: str
    algorithm: Algorithm
    hash: str
    recipe: dict[str, JsonValue]

    @staticmethod
    def from_recipe(recipe: Recipe) -> "PresetOut":
        """The public form."""
        return PresetOut(
            name=recipe.preset,
            algorithm=Algorithm(recipe.algorithm),
            hash=recipe.hash,
            recipe=recipe.model_dump(mode="json"),
        )


class RunOut(Schema):
    """A run; poll it until ``finished_at`` is set."""

    code: str
    preset: str
    algorithm: Algorithm
    state: JobState
    message: str = Field(description="What it is doing, or why it failed and what to do.")
    step: int
    steps: int
    samples: int = Field(description="Training samples processed so far.")
    seed: int
    dataset: str | None = Field(description="None: the pocket suite.")
    parent: str | None = Field(description="The checkpoint it starts from.")
    recipe_hash: str
    adopted: bool = Field(description="Whether it was run elsewhere and is only read here.")
    damaged: int = Field(description="Lines of its metrics that could not be read.")
    halvings: int = Field(description="How often the device batch was halved for want of memory.")
    job: str | None
    author: str | None
    created_at: dt.datetime
    started_at: dt.datetime | None
    heartbeat_at: dt.datetime | None
    finished_at: dt.datetime | None

    @staticmethod
    def from_row(row: TrainingRun) -> "RunOut":
        """The public form of a row."""
        return RunOut(**_columns(row))


class RunDetail(RunOut):
    """A run with its recipe and what it came to."""

    recipe: dict[str, JsonValue]
    result: dict[str, JsonValue] | None

    @staticmethod
    def from_run(row: TrainingRun) -> "RunDetail":
        """The public form of a row, whole."""
        return RunDetail(**_columns(row), recipe=row.recipe, result=row.result)


class MetricsOut(Schema):
    """Values of one step."""

    step: int
    samples: int
    seconds: float
    values: dict[str, float]

    @staticmethod
    def from_row(row: MetricRow) -> "MetricsOut":
        """The public form of a row."""
        return MetricsOut(
            step=row.step, samples=row.samples, seconds=row.seconds, values=row.values
        )


class CurveOut(Schema):
    """Steps since a cursor; the last known one comes again, since it may have got more values."""

    items: list[MetricsOut]
    cursor: str = Field(description="Hand it back to read on.")
    again: bool = Field(
        description="The run went back to a checkpoint: drop what you had, this is all of it."
    )
    more: bool = Field(description="Whether there are further rows at once.")


class SampleStepsOut(Schema):
    """Steps at which it was kept what the model wrote."""

    steps: list[int]


class SamplesOut(Schema):
    """What the model wrote at a step."""

    step: int
    total: int
    items: list[dict[str, JsonValue]]
    next_first: int | None


class OpenedOut(Schema):
    """The episode that a sample became."""

    episode: str
    task: str
    reward: float | None


class CheckpointOut(Schema):
    """Saved weights; ``removed_at`` says when they were deleted."""

    code: str
    run: str
    step: int
    bytes: int
    evaluation: dict[str, JsonValue]
    promoted: bool
    removed_at: dt.datetime | None

    @staticmethod
    def from_row(row: Checkpoint) -> "CheckpointOut":
        """The public form of a row."""
        return CheckpointOut(
            code=row.code,
            run=row.run.code,
            step=row.step,
            bytes=row.bytes,
            evaluation=row.evaluation,
            promoted=row.promoted,
            removed_at=row.removed_at,
        )


class PromoteIn(Body):
    """Whether a checkpoint is kept whatever its age."""

    promoted: bool = True


def _columns(row: TrainingRun) -> dict[str, Any]:
    return {
        "code": row.code,
        "preset": row.preset,
        "algorithm": row.algorithm,
        "state": row.state,
        "message": row.message,
        "step": row.step,
        "steps": row.steps,
        "samples": row.samples,
        "seed": row.seed,
        "dataset": None if row.dataset is None else row.dataset.code,
        "parent": None if row.parent is None else row.parent.code,
        "recipe_hash": row.recipe_hash,
        "adopted": row.adopted,
        "damaged": row.damaged,
        "halvings": row.halvings,
        "job": None if row.job is None else row.job.code,
        "author": None if row.author is None else row.author.username,
        "created_at": row.created_at,
        "started_at": row.started_at,
        "heartbeat_at": row.heartbeat_at,
        "finished_at": row.finished_at,
    }
