"""What the API takes and gives for batches and episodes."""

import datetime as dt
from typing import Annotated

from ninja import Schema
from pydantic import Field, JsonValue

from rollouts_app.enums import Curation, EpisodeState, FlagState, Purpose
from rollouts_app.models import Episode, EpisodeFlag, RolloutBatch
from rollouts_app.operations.batches import (
    CONCURRENCY,
    LARGEST_BUDGET,
    LARGEST_GROUP,
    MOST_AT_ONCE,
)
from rollouts_app.reports import FailureKind, Passing
from studio.web.api.bodies import Body
from studio.web.choices import JobState

Limit = Annotated[int | None, Field(ge=1, le=LARGEST_BUDGET)]


class BatchIn(Body):
    """What to roll out."""

    policy: Annotated[str, Field(max_length=120)]
    tasks: Annotated[str, Field(max_length=2000)] = Field(
        "", description="A task filter. Without state: only tasks with a green proof."
    )
    n: Annotated[int, Field(ge=1, le=LARGEST_GROUP)] = Field(1, description="Episodes a task.")
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    concurrency: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = Field(
        CONCURRENCY, description="Episodes of an endpoint at once."
    )
    budget_calls: Limit = Field(None, description="Stop after so many calls to the endpoint.")
    budget_tokens: Limit = Field(None, description="Stop after so many tokens of both kinds.")


class BudgetIn(Body):
    """What a stopped batch may spend from its beginning; null: no limit."""

    calls: Limit = None
    tokens: Limit = None


class BatchOut(Schema):
    """A batch; its counts grow while its job runs."""

    code: str
    purpose: Purpose
    policy: str
    filter: str
    n: int
    seed: int
    state: JobState
    job: str | None
    author: str | None
    tasks: int
    episodes_planned: int
    graded: int
    passed: int
    failed: int
    violations: int
    mean_reward: float | None
    tokens: int | None
    concurrency: int
    budget_calls: int | None
    budget_tokens: int | None
    usage: dict[str, int]
    seconds: float
    rate: float | None = Field(description="Episodes a second while its job ran.")
    eta_seconds: float | None = Field(description="What is left at that rate, while it runs.")
    created_at: dt.datetime
    finished_at: dt.datetime | None

    @staticmethod
    def from_row(row: RolloutBatch) -> "BatchOut":
        """The public form of a row."""
        return BatchOut(
            code=row.code,
            purpose=Purpose(row.purpose),
            policy=row.policy,
            filter=row.filter,
            n=row.group_size,
            seed=row.seed,
            state=JobState(row.state),
            job=None if row.job is None else row.job.code,
            author=None if row.author is None else row.author.username,
            tasks=row.tasks,
            episodes_planned=row.episodes_planned,
            graded=row.graded,
            passed=row.passed,
            failed=row.failed,
            violations=row.violations,
            mean_reward=row.mean_reward,
            tokens=row.tokens,
            concurrency=row.concurrency,
            budget_calls=row.budget_calls,
            budget_tokens=row.budget_tokens,
            usage=row.usage,
            seconds=row.seconds,
            rate=row.rate,
            eta_seconds=row.eta,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )


class ShareOut(Schema):
    """pass@k or pass^k, the mean over the tasks that have k graded episodes; null: none has."""

    k: int
    value: float | None
    tasks: int


class PassingOut(Schema):
    """How the tasks of a family fare; all of them where ``family`` is empty."""

    family: str
    tasks: int
    graded: int
    passed: int
    mean_reward: float | None
    pass_at: list[ShareOut]
    pass_hat: list[ShareOut]

    @staticmethod
    def from_row(row: Passing) -> "PassingOut":
        """The public form of a row."""
        return PassingOut(
            family=row.family,
            tasks=row.tasks,
            graded=row.graded,
            passed=row.passed,
            mean_reward=row.mean_reward,
            pass_at=[ShareOut(**share._asdict()) for share in row.at],
            pass_hat=[ShareOut(**share._asdict()) for share in row.hat],
        )


class FailureOut(Schema):
    """Episodes of a family and a policy that failed first at one place; ``filter`` lists them."""

    family: str
    policy: str
    kind: FailureKind
    failed: str = Field(description="Id of the constraint or check; of a boundary its name.")
    episodes: int
    graded: int = Field(description="Graded episodes of this family and policy.")
    unscored: int
    filter: str


class FailuresOut(Schema):
    """What failed first, most frequent first."""

    items: list[FailureOut]
    counted: int
    partial: bool = Field(description="Whether only the newest episodes were counted.")


class EpisodeOut(Schema):
    """One attempt at one task version; ``reward`` is null while nothing was scored."""

    code: str
    batch: str
    task: str
    version: int
    title: str
    family: str
    policy: str
    group_index: int
    seed: int
    state: EpisodeState
    stop: str
    reward: float | None
    passed: bool | None
    components: dict[str, float | None]
    checks: str
    violations: list[str]
    first_failed: str
    turns: int
    calls: int
    errors: int
    tokens: int | None
    seconds: float | None
    curation: Curation
    boundary: str
    failure: str
    created_at: dt.datetime
    finished_at: dt.datetime | None

    @staticmethod
    def from_row(row: Episode) -> "EpisodeOut":
        """The public form of a row."""
        return EpisodeOut(
            code=row.code,
            batch=row.batch.code,
            task=row.task.code,
            version=row.version.number,
            title=row.task.title,
            family=row.task.family,
            policy=row.policy,
            group_index=row.group_index,
            seed=row.seed,
            state=EpisodeState(row.state),
            stop=row.stop,
            reward=row.reward,
            passed=row.passed,
            components=row.components,
            checks=row.checks,
            violations=list(row.violations),
            first_failed=row.first_failed,
            turns=row.turns,
            calls=row.calls,
            errors=row.errors,
            tokens=row.tokens,
            seconds=row.seconds,
            curation=Curation(row.curation),
            boundary=row.boundary,
            failure=row.failure,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )


class CurateIn(Body):
    """A verdict on all episodes of a filter."""

    q: Annotated[str, Field(max_length=2000)] = Field(description="An episode filter.")
    curation: Curation


class CuratedOut(Schema):
    """How many changed."""

    changed: int


class CurationIn(Body):
    """Whether the episode may become a demonstration."""

    curation: Curation


class TurnsOut(Schema):
    """Recorded turns, in order; ``next_turn`` is null at the end."""

    items: list[JsonValue]
    next_turn: int | None
    stop: str
    damage: list[str]


class ConversationOut(Schema):
    """What a policy was given before a turn, in the form of chat completions."""

    turn: int
    turns: int
    messages: list[JsonValue]
    tools: list[JsonValue]
    prompt_tokens: int | None = Field(description="As the server counted them; null: none did.")
    damage: str


class DivergenceOut(Schema):
    """Where a replay leaves the recording; ``turn`` counts from 0, ``call`` from 1."""

    turn: int
    call: int | None
    kind: str
    recorded: str
    found: str


class FramesOut(Schema):
    """Frames made again from the recorded calls; ``next_turn`` is null at the end."""

    items: list[JsonValue]
    next_turn: int | None
    reward: float
    passed: bool
    divergence: DivergenceOut | None
    other_spec: bool
    exact: bool


class FlagOut(Schema):
    """A suspicion about an episode."""

    rule: str
    words: str
    state: FlagState
    reason: str
    decided_by: str | None

    @staticmethod
    def from_row(row: EpisodeFlag) -> "FlagOut":
        """The public form of a row."""
        return FlagOut(
            rule=row.rule,
            words=row.words,
            state=FlagState(row.state),
            reason=row.reason,
            decided_by=row.decided_by.username if row.decided_by is not None else None,
        )


class FlagIn(Body):
    """What somebody says of a suspicion."""

    state: FlagState
    reason: Annotated[str, Field(max_length=1000)] = ""
