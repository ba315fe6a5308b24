"""Samples of a run become episodes that the ordinary replay opens."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from rollouts_app.core.environment import Environment
from rollouts_app.core.scripted import reference
from rollouts_app.enums import Purpose
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.queries import replay_of
from studio.web.errors import Conflict, Invalid, NotFound
from studio.web.models import AuditEntry
from tasks_app.core.spec import TaskSpec
from tasks_app.enums import Origin
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tests.factories.specs import small_spec
from tests.training_app.conftest import opened
from training_app.core import pocket
from training_app.core.demonstrations import spoken
from training_app.core.prompts import prompt_of
from training_app.models import TrainingRun
from training_app.operations.samples import open_sample
from training_app.queries.runs import run_dir

pytestmark = pytest.mark.django_db


def solved(spec: TaskSpec) -> list[dict[str, Any]]:
    """The conversation of the reference."""
    environment, policy = Environment(spec), reference(spec)
    while environment.stop is None:
        environment.step(policy.act(environment.messages, environment.tools))
    return [spoken(message) for message in environment.messages]


def sample(task: TaskSpec, **changes: Any) -> dict[str, Any]:
    row = {
        "spec_hash": task.hash,
        "spec": task.canonical().decode(),
        "reward": 1.0,
        "passed": True,
        "truncated": False,
        "tokens": 40,
        "messages": solved(task),
        **changes,
    }
    return {key: value for key, value in row.items() if value is not None}


@pytest.fixture
def spec() -> TaskSpec:
    return pocket.tasks("held_out", 1, 0)[0]


@pytest.fixture
def run(studio: Path) -> TrainingRun:
    return opened()


def test_a_sample_is_an_episode_that_replays(run: TrainingRun, spec: TaskSpec) -> None:
    run_dir(run).write_samples(20, [sample(small_spec()), sample(spec)])
    episode = open_sample(run=run, step=20, index=1, by=None)
    assert (episode.reward, episode.passed, episode.stop, episode.tokens, episode.policy) == (
        1.0,
        True,
        "finished",
        40,
        f"{run.code}@20",
    )
    assert (episode.version.hash, episode.task.origin) == (spec.hash, Origin.GENERATED)
    replay = replay_of(episode)
    assert (replay.divergence, replay.grade.total) == (None, 1.0)
    batch = episode.batch
    assert (batch.purpose, batch.state, batch.graded, batch.tasks, batch.episodes_planned) == (
        Purpose.SAMPLE,
        "succeeded",
        1,
        1,
        1,
    )
    assert AuditEntry.objects.get(act="open_sample").detail == {"run": run.code, "step": 20}


def test_opening_it_again_is_the_same_episode(run: TrainingRun, spec: TaskSpec) -> None:
    run_dir(run).write_samples(20, [sample(spec), sample(spec, reward=0.0)])
    first = open_sample(run=run, step=20, index=0, by=None)
    assert open_sample(run=run, step=20, index=0, by=None) == first
    other = open_sample(run=run, step=20, index=1, by=None)
    assert (other.batch, other.task) == (first.batch, first.task)
    assert (Episode.objects.count(), RolloutBatch.objects.count(), Task.objects.count()) == (
        2,
        1,
        1,
    )


def test_a_task_that_is_there_already_is_used(run: TrainingRun, spec: TaskSpec) -> None:
    task = create_task(spec=spec, by=None, origin=Origin.WRITTEN)
    run_dir(run).write_samples(20, [sample(spec, spec=None)])
    assert open_sample(run=run, step=20, index=0, by=None).task == task


def test_the_prompts_of_the_run_know_the_task(run: TrainingRun, spec: TaskSpec) -> None:
    completion = [message for message in solved(spec) if message["role"] != "system"][1:]
    run_dir(run).write_samples(20, [sample(spec, spec=None, messages=completion)])
    with pytest.raises(Conflict, match="is not kept: neither here nor in the run"):
        open_sample(run=run, step=20, index=0, by=None)
    (run_dir(run).dataset / "prompts.jsonl").write_bytes(orjson.dumps(prompt_of(spec)) + b"\n")
    assert open_sample(run=run, step=20, index=0, by=None).reward == 1.0


def test_a_sample_cut_by_the_budget_earns_nothing(run: TrainingRun, spec: TaskSpec) -> None:
    run_dir(run).write_samples(20, [sample(spec, truncated=True, messages=solved(spec)[:-1])])
    episode = open_sample(run=run, step=20, index=0, by=None)
    assert (episode.reward, episode.passed, episode.stop) == (0.0, False, "turn_limit")


@pytest.mark.parametrize(
    "messages",
    [
        None,
        "no list",
        [],
        [3, {"role": "assistant"}, {"role": "assistant", "tool_calls": [{"function": 4}]}],
        [{"role": "assistant", "tool_calls": [{"function": {"name": 3, "arguments": [1]}}]}],
        [{"role": "assistant", "content": "nul \x00"}],
    ],
)
def test_whatever_a_sample_holds_is_data(run: TrainingRun, spec: TaskSpec, messages: Any) -> None:
    run_dir(run).write_samples(20, [sample(spec, messages=messages)])
    assert open_sample(run=run, step=20, index=0, by=None).reward == 0.0


def test_a_spec_that_is_not_the_named_one_is_refused(run: TrainingRun, spec: TaskSpec) -> None:
    run_dir(run).write_samples(20, [sample(spec, spec_hash="0" * 64), sample(spec, spec="{}")])
    with pytest.raises(Invalid, match="cannot be played"):
        open_sample(run=run, step=20, index=0, by=None)
    with pytest.raises(Invalid, match="not a task spec"):
        open_sample(run=run, step=20, index=1, by=None)
    assert not Task.objects.exists()


def test_there_is_no_sample_beyond_the_last(run: TrainingRun, spec: TaskSpec) -> None:
    run_dir(run).write_samples(20, [sample(spec)])
    for step, index in ((20, 1), (20, -1), (21, 0)):
        with pytest.raises(NotFound):
            open_sample(run=run, step=step, index=index, by=None)
