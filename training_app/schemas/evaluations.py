"""What the API takes and gives for suites, evaluations and served checkpoints."""

import datetime as dt
from typing import Annotated

from ninja import Schema
from pydantic import Field, JsonValue

from rollouts_app.operations.batches import LARGEST_GROUP
from studio.lib.jsonvalue import JsonObject
from studio.web.api.bodies import Body
from studio.web.choices import JobState
from studio.web.models import Job
from tasks_app.models import ModelEndpoint
from training_app.enums import SplitKind
from training_app.models import Evaluation, Suite
from training_app.operations.evaluations import LARGEST_SEED
from training_app.queries.comparisons import Comparison
from training_app.queries.evaluations import shown_report


class SuiteIn(Body):
    """A suite to freeze."""

    name: Annotated[str, Field(max_length=80)] = Field(
        description="Small letters, digits and . _ -; or the name of a built-in suite, which is "
        "made on first use."
    )
    filter: Annotated[str, Field(max_length=2000)] = Field(
        "", description="A task filter. Without state: proven tasks, and imported ones."
    )


class SuiteOut(Schema):
    """A frozen list of task versions."""

    code: str
    name: str
    filter: str
    split_kind: SplitKind
    size: int
    sha256: str
    author: str | None
    created_at: dt.datetime

    @staticmethod
    def from_row(row: Suite) -> "SuiteOut":
        """The public form of a row."""
        return SuiteOut(
            code=row.code,
            name=row.name,
            filter=row.filter,
            split_kind=SplitKind(row.split_kind),
            size=row.size,
            sha256=row.sha256,
            author=None if row.author is None else row.author.username,
            created_at=row.created_at,
        )


class EvaluationIn(Body):
    """What is measured, on what: a checkpoint or an endpoint."""

    suite: Annotated[str, Field(max_length=80)] = Field(description="Name or code of a suite.")
    checkpoint: Annotated[str, Field(max_length=20)] = Field("", description="Its code: CK-81ZZ.")
    endpoint: Annotated[str, Field(max_length=40)] = Field("", description="Its name.")
    greedy: bool = Field(True, description="Temperature 0; else drawn.")
    n: Annotated[int, Field(ge=1, le=LARGEST_GROUP)] = Field(1, description="Episodes a task.")
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 0
    baseline: Annotated[str, Field(max_length=20)] = Field(
        "",
        description="Code of an evaluation on the same suite, or none. Empty: of the checkpoint "
        "that the run started from, else of its earliest step.",
    )


class BaselineIn(Body):
    """What an evaluation is compared with; empty: nothing."""

    baseline: Annotated[str, Field(max_length=20)] = ""


class EvaluationOut(Schema):
    """An evaluation; its numbers are null while nothing is scored."""

    code: str
    suite: str
    checkpoint: str | None
    run: str | None
    step: int | None
    endpoint: str | None
    greedy: bool
    n: int
    seed: int
    baseline: str | None
    batch: str | None
    state: JobState
    job: str | None
    author: str | None
    split_kind: str | None
    score: float | None
    low: float | None
    high: float | None
    pass_3: float | None
    reward: float | None
    tasks: int | None
    graded: int | None
    failed: int | None = Field(description="Broke outside the model; in no mean.")
    created_at: dt.datetime
    finished_at: dt.datetime | None

    @staticmethod
    def from_row(row: Evaluation) -> "EvaluationOut":
        """The public form of a row."""
        checkpoint, report = row.checkpoint, row.report
        state = JobState.SUCCEEDED if row.finished_at else JobState.QUEUED
        return EvaluationOut(
            code=row.code,
            suite=row.suite.name,
            checkpoint=None if checkpoint is None else checkpoint.code,
            run=None if checkpoint is None else checkpoint.run.code,
            step=None if checkpoint is None else checkpoint.step,
            endpoint=row.endpoint or None,
            greedy=row.greedy,
            n=row.group_size,
            seed=row.seed,
            baseline=None if row.baseline is None else row.baseline.code,
            batch=None if row.batch is None else row.batch.code,
            state=state if row.job is None else JobState(row.job.state),
            job=None if row.job is None else row.job.code,
            author=None if row.author is None else row.author.username,
            created_at=row.created_at,
            finished_at=row.finished_at,
            **{
                name: report.get(name)
                for name in ("split_kind", "score", "low", "high", "pass_3", "reward", "tasks",
                             "graded", "failed")
            },
        )  # fmt: skip


class EvaluationDetail(EvaluationOut):
    """An evaluation with its whole report, as it stands now."""

    report: dict[str, JsonValue]

    @staticmethod
    def of(row: Evaluation) -> "EvaluationDetail":
        """The public form of a row with its report."""
        return EvaluationDetail(
            **EvaluationOut.from_row(row).model_dump(), report=dict(shown_report(row))
        )


class ComparisonOut(Schema):
    """Two evaluations on one suite, task by task."""

    before: str
    after: str
    suite: str
    unlike: list[str] = Field(description="What differs beside the model.")
    difference: dict[str, JsonValue]

    @staticmethod
    def of(found: Comparison, difference: JsonObject) -> "ComparisonOut":
        """The public form of a comparison."""
        return ComparisonOut(
            before=found.before.code,
            after=found.after.code,
            suite=found.after.suite.name,
            unlike=list(found.unlike),
            difference=dict(difference),
        )


class ServingIn(Body):
    """A checkpoint to serve."""

    checkpoint: Annotated[str, Field(max_length=20)]
    idle: float = Field(
        900, ge=1, le=86_400, description="Seconds without a question after which it ends."
    )


class ServingStarted(Schema):
    """The job that serves it; the address follows once it answers."""

    checkpoint: str
    job: str
    state: JobState

    @staticmethod
    def from_job(job: Job) -> "ServingStarted":
        """The public form of a job."""
        return ServingStarted(checkpoint=job.subject, job=job.code, state=JobState(job.state))


class ServingOut(Schema):
    """A served checkpoint."""

    checkpoint: str
    endpoint: str
    url: str
    job: str | None

    @staticmethod
    def from_row(row: ModelEndpoint) -> "ServingOut":
        """The public form of a row."""
        return ServingOut(
            checkpoint=row.model,
            endpoint=row.name,
            url=row.base_url,
            job=None if row.job is None else row.job.code,
        )
