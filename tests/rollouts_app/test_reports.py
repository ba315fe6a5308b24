"""What failed first, and how often groups pass: counted right, linked right, never a zero."""

import csv
import io
from collections.abc import Sequence
from importlib import import_module

import pytest
from django.db import connection

from rollouts_app.core.errors import BOUNDARIES
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import link_job, open_batch, tally
from rollouts_app.operations.episodes import Broken, record_outcomes
from rollouts_app.queries import matching_episodes, selected
from rollouts_app.reports import Runs, Share, failures, ks_of, passing
from studio.web.choices import Role
from studio.web.errors import FilterError
from studio.web.models import Job
from tasks_app.models import Task
from tests.factories.pages import ClientOf
from tests.rollouts_app.conftest import rolled_out

SUPPORT, PAYMENT = "support_resolution", "payment_change_investigation"


def graded_as(batch: RolloutBatch, passed: list[bool | None]) -> None:
    """Say of each episode of a batch whether it passed; None: it was not scored."""
    for row, value in zip(batch.episodes.order_by("pk"), passed, strict=True):
        Episode.objects.filter(pk=row.pk).update(
            state="failed" if value is None else "graded",
            reward=None if value is None else float(value),
            passed=value,
            boundary="endpoint" if value is None else "",
            first_failed="" if value is not False else "closed",
        )


def opened(n: int) -> RolloutBatch:
    """Open a batch of the reference."""
    return open_batch(
        policy="reference", chosen=selected(""), filter_text="", group_size=n, seed=0, by=None
    )


def test_what_failed_first_is_the_first_in_the_order_of_the_task(
    support_task: Task, payment_task: Task
) -> None:
    rolled_out("null")
    rolled_out("spam")
    for row in Episode.objects.select_related("version"):
        spec = row.version.load()
        unmet = [c.id for c, sign in zip(spec.checks, row.checks, strict=True) if sign in "0px"]
        in_order = [c.id for c in spec.constraints if c.id in row.violations] + unmet
        assert row.first_failed == in_order[0]


def test_an_episode_without_a_fault_has_nothing_that_failed_first(episode: Episode) -> None:
    assert (episode.passed, episode.first_failed) == (True, "")
    assert failures("").rows == ()
    assert failures("").runs == {(SUPPORT, "reference"): Runs(1, 0, 0)}


def test_every_count_is_the_count_of_its_filter(support_task: Task, payment_task: Task) -> None:
    for policy in ("null", "spam", "reference"):
        rolled_out(policy, n=2)
    found = failures("policy:null,spam")
    assert found.rows
    assert {(row.family, row.policy) for row in found.rows} == {
        (family, policy) for family in (SUPPORT, PAYMENT) for policy in ("null", "spam")
    }
    for row in found.rows:
        assert matching_episodes(row.filter).count() == row.episodes == 2
    assert sum(row.episodes for row in found.rows) == matching_episodes("failure:any").count() == 8
    assert (found.counted, found.partial) == (8, False)
    assert {row.kind for row in found.rows} == {"constraint", "check"}


def test_what_broke_outside_the_policy_stands_apart(support_task: Task) -> None:
    batch = opened(2)
    first, second = batch.episodes.order_by("pk")
    for _ in range(3):
        record_outcomes(results=[Broken(first.pk, "endpoint", "refused")])
    record_outcomes(results=[Broken(second.pk, "world", "broke")])
    found = failures(f"batch:{batch.code}")
    assert [row[:5] for row in found.rows] == [
        (SUPPORT, "reference", "boundary", "endpoint", 1),
        (SUPPORT, "reference", "boundary", "world", 1),
    ]
    assert [matching_episodes(row.filter).get() for row in found.rows] == [first, second]
    assert found.runs == {(SUPPORT, "reference"): Runs(0, 0, 2)}


def test_the_filter_knows_failures_and_boundaries(episode: Episode) -> None:
    null = rolled_out("null").episodes.get()
    assert list(matching_episodes("failure:any")) == [null]
    assert list(matching_episodes("failure:none")) == [episode]
    assert list(matching_episodes(f"failure:{null.first_failed}")) == [null]
    assert list(matching_episodes("-failure:any")) == [episode]
    with pytest.raises(FilterError, match="endpoint"):
        matching_episodes("boundary:endpiont")
    for name in BOUNDARIES:
        assert not matching_episodes(f"boundary:{name}").exists()


def close(value: float | None) -> float | None:
    return None if value is None else round(value, 9)


def rounded(shares: Sequence[Share]) -> list[Share]:
    return [share._replace(value=close(share.value)) for share in shares]


def test_groups_with_fewer_graded_episodes_than_k_are_left_out_and_no_zero(
    support_task: Task, payment_task: Task
) -> None:
    batch = opened(3)
    graded_as(batch, [True, False, True, True, None, None])
    everything, payment, support = passing(batch)
    assert (everything.family, everything.tasks, everything.graded, everything.passed) == (
        "", 2, 4, 3,
    )  # fmt: skip
    assert everything.mean_reward == 0.75
    assert (support.family, close(support.mean_reward)) == (SUPPORT, close(2 / 3))
    assert rounded(support.at) == [Share(1, close(2 / 3), 1), Share(2, 1.0, 1), Share(3, 1.0, 1)]
    assert rounded(support.hat) == [
        Share(1, close(2 / 3), 1),
        Share(2, close(1 / 3), 1),
        Share(3, 0.0, 1),
    ]
    assert (payment.family, payment.graded, payment.passed) == (PAYMENT, 1, 1)
    assert payment.hat == (Share(1, 1.0, 1), Share(2, None, 0), Share(3, None, 0))
    assert everything.hat[2] == Share(3, 0.0, 1)
    assert rounded(everything.at)[0] == Share(1, close((2 / 3 + 1) / 2), 2)


def test_a_batch_that_has_not_begun_has_no_shares(support_task: Task) -> None:
    everything, support = passing(opened(2))
    assert everything.at == support.hat == (Share(1, None, 0), Share(2, None, 0))
    assert everything.mean_reward is None


@pytest.mark.parametrize(
    ("size", "ks"), [(1, (1,)), (3, (1, 2, 3)), (6, (1, 2, 3, 4, 6)), (16, (1, 2, 3, 4, 8, 16))]
)
def test_the_k_that_are_told_are_small_ones_and_the_group(size: int, ks: tuple[int, ...]) -> None:
    assert ks_of(size) == ks


def test_the_batch_page_links_failures_and_shares_to_their_episodes(
    support_task: Task, payment_task: Task, client_of: ClientOf
) -> None:
    batch = rolled_out("null", n=2)
    page = client_of(Role.VIEWER).get(f"/rollouts/{batch.code}/").content.decode()
    row = failures(f"batch:{batch.code}").rows[0]
    assert "4 of 4 graded episodes" in page
    query = row.filter.replace(":", "%3A").replace(" ", "+")
    assert f'href="/episodes/?q={query}"' in page
    assert "pass^2" in page
    assert f"/episodes/failures/?q=batch%3A{batch.code}" in page


def test_a_batch_in_which_nothing_failed_says_so(support_task: Task, client_of: ClientOf) -> None:
    batch = rolled_out()
    page = client_of(Role.VIEWER).get(f"/rollouts/{batch.code}/").content.decode()
    assert "Nothing failed: the graded episode met every check and broke no rule." in page


def test_the_page_of_failures_takes_a_filter_and_says_what_is_wrong_with_it(
    episode: Episode, client_of: ClientOf
) -> None:
    rolled_out("null")
    viewer = client_of(Role.VIEWER)
    page = viewer.get("/episodes/failures/?q=policy:null")
    assert page.status_code == 200
    assert "1 of 1 graded episode" in page.content.decode()
    wrong = viewer.get("/episodes/failures/?q=policy:nul")
    assert wrong.status_code == 400
    assert "1 of 2 graded episodes" in wrong.content.decode()
    assert viewer.get("/episodes/failures.csv?q=policy:nul").status_code == 400


def test_the_csv_has_every_row_and_nothing_a_spreadsheet_runs(
    episode: Episode, client_of: ClientOf
) -> None:
    null = rolled_out("null").episodes.get()
    Episode.objects.filter(pk=null.pk).update(policy="=1+1")
    answer = client_of(Role.VIEWER).get("/episodes/failures.csv")
    assert answer["Content-Type"].startswith("text/csv")
    assert list(csv.DictReader(io.StringIO(answer.content.decode()))) == [
        {
            "family": SUPPORT,
            "policy": "'=1+1",
            "kind": "check",
            "failed": null.first_failed,
            "episodes": "1",
            "graded": "1",
            "unscored": "0",
            "filter": f"family:{SUPPORT} policy:=1+1 failure:{null.first_failed} violation:none",
        }
    ]


def test_the_api_tells_failures_shares_and_the_rate(
    support_task: Task, client_of: ClientOf
) -> None:
    batch = rolled_out("null", n=2)
    viewer = client_of(Role.VIEWER)
    told = viewer.get(f"/api/v1/episodes/failures?q=batch:{batch.code}").json()
    (row,) = failures(f"batch:{batch.code}").rows
    assert told == {
        "items": [
            {
                "family": SUPPORT,
                "policy": "null",
                "kind": "check",
                "failed": row.failed,
                "episodes": 2,
                "graded": 2,
                "unscored": 0,
                "filter": row.filter,
            }
        ],
        "counted": 2,
        "partial": False,
    }
    everything = viewer.get(f"/api/v1/rollout-batches/{batch.code}/passing").json()[0]
    assert everything["pass_hat"] == [
        {"k": 1, "value": 0.0, "tasks": 1},
        {"k": 2, "value": 0.0, "tasks": 1},
    ]
    body = viewer.get(f"/api/v1/rollout-batches/{batch.code}").json()
    assert body["rate"] == pytest.approx(2 / body["seconds"])
    assert body["eta_seconds"] is None
    assert viewer.get("/api/v1/episodes/failures?q=famly:x").status_code == 422


def test_the_page_of_a_running_batch_says_how_fast_it_is_and_when_it_ends(
    support_task: Task, client_of: ClientOf
) -> None:
    batch = opened(4)
    graded_as(batch, [True, False, True, None])
    job = Job.objects.create(kind="run_rollouts", state="running", subject=batch.code)
    link_job(batch=batch, job_id=job.pk)
    Episode.objects.filter(batch=batch, group_index=3).update(state="queued", boundary="")
    batch = tally(batch=batch, seconds=6.0)
    assert (batch.rate, batch.eta) == (0.5, 2.0)
    page = client_of(Role.VIEWER).get(f"/rollouts/{batch.code}/").content.decode()
    assert "0.5 episodes a second; about 2.0 s left." in page


def test_episodes_of_older_releases_are_told_what_failed_first_in_them(
    support_task: Task, payment_task: Task
) -> None:
    for policy in ("null", "spam", "reference"):
        rolled_out(policy)
    before = dict(Episode.objects.values_list("pk", "first_failed"))
    assert set(before.values()) > {""}
    Episode.objects.update(first_failed="")
    fill = import_module("rollouts_app.migrations.0004_fill_first_failures").FILL
    with connection.cursor() as cursor:
        cursor.execute(fill)
    assert dict(Episode.objects.values_list("pk", "first_failed")) == before
