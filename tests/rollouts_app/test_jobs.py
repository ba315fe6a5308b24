"""Batches: what they run, that they may run twice, what failures become."""

import pytest

from rollouts_app.core.trajectory import encode
from rollouts_app.enums import EpisodeState, Purpose
from rollouts_app.jobs import KIND, start_batch
from rollouts_app.models import Episode, EpisodePayload, RolloutBatch
from rollouts_app.operations.batches import open_batch
from rollouts_app.operations.episodes import Broken, Ended, record_outcomes
from rollouts_app.queries import selected
from studio.web import jobs
from studio.web.choices import JobState
from studio.web.errors import FilterError, Invalid
from studio.web.models import AuditEntry
from tasks_app.models import Task, TaskVersion
from tasks_app.operations.tasks import save_version
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import rolled_out, stored
from tests.rollouts_app.specs import changed, example, run


def test_the_reference_earns_one_on_every_task(support_task: Task, payment_task: Task) -> None:
    batch = rolled_out("reference")
    assert (batch.mean_reward, batch.passed, batch.graded, batch.failed, batch.violations) == (
        1.0,
        2,
        2,
        0,
        0,
    )
    assert batch.finished_at is not None


def test_the_policy_that_does_nothing_earns_nothing(support_task: Task, payment_task: Task) -> None:
    batch = rolled_out("null")
    assert (batch.mean_reward, batch.passed, batch.graded) == (0.0, 0, 2)


def test_an_episode_holds_the_columns_of_its_list_and_its_trajectory(episode: Episode) -> None:
    assert (episode.state, episode.stop, episode.reward, episode.passed) == (
        EpisodeState.GRADED,
        "finished",
        1.0,
        True,
    )
    assert (episode.turns, episode.calls, episode.errors, episode.checks) == (13, 15, 0, "11111111")
    assert episode.components == {
        "outcome": 1.0,
        "process": 1.0,
        "report": 1.0,
        "collateral": 1.0,
        "constraint": 1.0,
    }
    assert episode.payload.read().stop == "finished"
    assert episode.payload.grade["total"] == 1.0


def test_a_group_has_n_episodes_with_seeds_of_their_own(support_task: Task) -> None:
    batch = rolled_out(n=3)
    rows = batch.episodes.order_by("group_index").values_list("group_index", "seed", "reward")
    assert list(rows) == [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]


def test_a_second_run_of_the_job_changes_nothing(support_task: Task) -> None:
    batch = rolled_out(n=2)
    before = list(batch.episodes.order_by("pk").values("pk", "attempts", "finished_at"))
    jobs.run_inline(KIND, {"batch": batch.code})
    assert list(batch.episodes.order_by("pk").values("pk", "attempts", "finished_at")) == before
    assert EpisodePayload.objects.count() == 2


def test_a_graded_episode_is_never_overwritten(episode: Episode) -> None:
    outcome = run(example("support_resolution"), "null")
    assert record_outcomes(results=[Ended(episode.pk, outcome)]) == 0
    episode.refresh_from_db()
    assert episode.reward == 1.0


def test_a_batch_whose_row_is_gone_ends_quietly(db: None) -> None:
    assert jobs.run_inline(KIND, {"batch": "B-0000"}).result is None


def test_a_task_that_cannot_be_opened_fails_alone_and_is_no_zero(
    support_task: Task, payment_task: Task
) -> None:
    stored(small_spec(services={"helpdesk": {"tickets": [{"subject": "no id"}]}}))
    batch = rolled_out("reference")
    failed = batch.episodes.get(state=EpisodeState.FAILED)
    assert (failed.boundary, failed.reward, failed.attempts) == ("task", None, 1)
    assert failed.failure.startswith("helpdesk/tickets[0]")
    assert (batch.graded, batch.failed, batch.mean_reward) == (2, 1, 1.0)


def test_a_failure_outside_the_policy_has_no_reward_and_is_counted_apart(
    support_task: Task,
) -> None:
    batch = open_batch(
        policy="reference",
        chosen=selected(""),
        filter_text="",
        group_size=2,
        seed=0,
        by=None,
    )
    first = batch.episodes.get(group_index=0)
    for _ in range(3):
        record_outcomes(results=[Broken(first.pk, "endpoint", "connection refused")])
    jobs.run_inline(KIND, {"batch": batch.code})
    batch.refresh_from_db()
    first.refresh_from_db()
    assert (first.state, first.reward, first.boundary, first.failure, first.attempts) == (
        EpisodeState.FAILED,
        None,
        "endpoint",
        "connection refused",
        3,
    )
    assert (batch.graded, batch.failed, batch.mean_reward) == (1, 1, 1.0)


def test_a_failed_episode_is_run_again(support_task: Task) -> None:
    batch = open_batch(
        policy="reference",
        chosen=selected(""),
        filter_text="",
        group_size=1,
        seed=0,
        by=None,
    )
    row = batch.episodes.get()
    record_outcomes(results=[Broken(row.pk, "endpoint", "timeout")])
    jobs.run_inline(KIND, {"batch": batch.code})
    row.refresh_from_db()
    assert (row.state, row.reward, row.failure, row.attempts) == (EpisodeState.GRADED, 1.0, "", 2)


def test_without_a_state_term_only_tasks_with_a_green_proof_are_chosen(
    support_task: Task,
) -> None:
    unproven = stored(changed(example("support_resolution"), seed=4), proven=False)
    assert [each.task_id for each in selected("")] == [support_task.pk]
    assert [each.task_id for each in selected("state:draft")] == [unproven.pk]
    assert selected("state:approved") == []


def test_an_edited_task_is_not_rolled_out_until_it_is_proven_again(support_task: Task) -> None:
    save_version(
        task=support_task,
        base=1,
        spec=changed(example("support_resolution"), seed=9),
        by=None,
        reason="another seed",
    )
    assert selected("") == []


def test_episodes_stay_with_the_version_they_were_run_on(episode: Episode) -> None:
    task = episode.task
    save_version(
        task=task, base=1, spec=changed(example("support_resolution"), seed=9), by=None, reason="x"
    )
    episode.refresh_from_db()
    assert episode.version == TaskVersion.objects.get(task=task, number=1)


def test_what_cannot_be_run_is_refused_as_a_whole_and_leaves_nothing(db: None) -> None:
    with pytest.raises(Invalid) as refused:
        start_batch(policy="oracle", filter_text="", group_size=0, seed=-1, by=None)
    assert [problem.place for problem in refused.value.problems] == [
        "policy",
        "filter",
        "group_size",
        "seed",
    ]
    assert RolloutBatch.objects.count() == 0


def test_a_wrong_filter_is_refused_with_its_place(db: None) -> None:
    with pytest.raises(FilterError, match="familly"):
        start_batch(policy="null", filter_text="familly:x", group_size=1, seed=0, by=None)


def test_a_started_batch_is_queued_planned_and_audited(
    support_task: Task,
) -> None:
    batch = start_batch(policy="null", filter_text="", group_size=2, seed=5, by=None)
    assert (batch.state, batch.purpose, batch.tasks, batch.episodes_planned) == (
        JobState.QUEUED,
        Purpose.ROLLOUT,
        1,
        2,
    )
    assert set(batch.episodes.values_list("state", flat=True)) == {EpisodeState.QUEUED}
    assert AuditEntry.objects.filter(act="start_batch", subject=batch.code).count() == 1


def test_hostile_text_is_stored_without_what_the_database_refuses(support_task: Task) -> None:
    spec = example("support_resolution")
    outcome = run(spec)
    batch = open_batch(
        policy="null", chosen=selected(""), filter_text="", group_size=1, seed=0, by=None
    )
    row = batch.episodes.get()
    assert record_outcomes(results=[Broken(row.pk, "world", "a\x00b")]) == 1
    assert record_outcomes(results=[Ended(row.pk, outcome)]) == 1
    assert encode(outcome.trajectory) == bytes(EpisodePayload.objects.get(pk=row.pk).trajectory)
