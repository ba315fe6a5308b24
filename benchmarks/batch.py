"""How fast workers run a batch of the reference, and that every episode is stored exactly once.

Two workers with one process each, PostgreSQL and Valkey of the benchmark's own; from the moment the
batch is started to the moment its job is over. Wall time: what counts is what a person waits.

With `chaos` a worker is killed with kill -9 in the middle, the broker is restarted, the database is
restarted; the figures must be the same ones, only later.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.measure import print_table
from benchmarks.private import PrivateStudio, private_studio
from benchmarks.samples import drafts
from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import policy_for

if TYPE_CHECKING:
    from rollouts_app.models import RolloutBatch
    from studio.web.models import Job

EPISODES: Final = 1000
GROUP: Final = 4
WORKERS: Final = 2
PATIENCE: Final = 600.0
_TICK: Final = 0.02


class Result(NamedTuple):
    """What an episode came to, whoever ran it."""

    task: str
    reward: float | None
    turns: int
    calls: int
    end_key: str


class Count(NamedTuple):
    """What the rows say after the batch."""

    planned: int
    graded: int
    doubled: int
    """Episodes that were stored more than once."""
    failed: int
    wrong: int
    """Graded episodes that came to something else than in a process that nobody disturbed."""


def run(
    episodes: int = EPISODES, *, chaos: bool = False, hurry: bool = False
) -> Mapping[str, float]:
    """Measure, print, and return `episodes_per_s`, `lost` and `doubled`.

    Args:
        episodes: How many; a multiple of the group.
        chaos: Kill and restart in the middle; `failed` and `wrong` are returned as well.
        hurry: With chaos, end the lease of the killed worker's job at once, where one would wait a
            minute.
    """
    with private_studio() as studio:
        expected = _store_tasks(episodes // GROUP)
        for _ in range(WORKERS):
            studio.start_worker()
        studio.start_beat()
        wait_for(lambda: workers_alive() == WORKERS, "the workers to start")
        batch, seconds = _rolled_out(studio, chaos=chaos, hurry=hurry)
        count = _count(batch, expected)
    lost = count.planned - count.graded
    print_table(
        f"A batch of {count.planned} reference episodes on {WORKERS} workers, from start to end"
        + (": a worker killed, broker and database restarted in the middle" if chaos else ""),
        ("what", "seconds", "a second", "lost", "doubled", "failed", "wrong"),
        [
            (
                "wall", f"{seconds:.1f}", f"{count.graded / seconds:.1f}",
                str(lost), str(count.doubled), str(count.failed), str(count.wrong),
            )
        ],
    )  # fmt: skip
    found = {
        "episodes_per_s": round(count.graded / seconds, 1),
        "lost": lost,
        "doubled": count.doubled,
    }
    return {**found, "failed": count.failed, "wrong": count.wrong} if chaos else found


def _store_tasks(count: int) -> dict[str, Result]:
    """Store so many drafts and return what the reference comes to on each of them."""
    from tasks_app.enums import Origin
    from tasks_app.operations.tasks import NewTask, create_tasks

    specs = drafts(count // 2, 7)
    create_tasks(tasks=[NewTask(spec) for spec in specs], by=None, origin=Origin.GENERATED)
    found = {}
    for spec in specs:
        outcome = run_episode(spec, policy_for("reference", spec))
        found[spec.hash] = Result(
            spec.hash,
            outcome.reward,
            outcome.turns,
            outcome.calls,
            outcome.trajectory.end_key,
        )
    return found


def _rolled_out(studio: PrivateStudio, *, chaos: bool, hurry: bool) -> "tuple[RolloutBatch, float]":
    """Run the batch to its end; the seconds are those that whoever started it waits."""
    from rollouts_app.jobs import start_batch

    began = time.monotonic()
    batch = start_batch(
        policy="reference", filter_text="state:draft", group_size=GROUP, seed=0, by=None
    )
    if chaos:
        _disturb(studio, batch, hurry=hurry)
    wait_for(lambda: _ended(batch), "the batch to end")
    seconds = time.monotonic() - began
    batch.refresh_from_db()
    return batch, seconds


def _disturb(studio: PrivateStudio, batch: "RolloutBatch", *, hurry: bool) -> None:
    """Kill the worker that holds the job and restart both servers, each while episodes are open."""
    from django.db import connection
    from django.db.models.functions import Now

    from studio.web.models import Job

    planned = batch.episodes_planned
    wait_for(lambda: _graded(batch) >= planned // 10, "the first results")
    with studio.held():
        _open_still(batch, "a worker was killed")
        holder = _job(batch).lease_holder
        pid = int(holder.split(":")[1])
        studio.kill(studio.worker_of(pid))
        studio.start_worker()
        if hurry:
            Job.objects.filter(pk=_job(batch).pk).update(lease_until=Now())
    wait_for(lambda: _graded(batch) >= planned // 3, "a third of the results")
    with studio.held():
        _open_still(batch, "the broker was restarted")
        studio.restart_broker()
    wait_for(lambda: _graded(batch) >= planned // 2, "half of the results")
    with studio.held():
        _open_still(batch, "the database was restarted")
        connection.close()
        studio.restart_database()


def _open_still(batch: "RolloutBatch", what: str) -> None:
    if _graded(batch) >= batch.episodes_planned:
        raise RuntimeError(f"the batch was over before {what}: roll out more episodes")


def _graded(batch: "RolloutBatch") -> int:
    return batch.episodes.filter(state="graded").count()


def _job(batch: "RolloutBatch") -> "Job":
    batch.refresh_from_db(fields=["job"])
    if batch.job is None:
        raise RuntimeError("the batch has no job")
    return batch.job


def _ended(batch: "RolloutBatch") -> bool:
    job = _job(batch)
    if job.is_finished and job.state != "succeeded":
        raise RuntimeError(f"the job is {job.state}: {job.error}")
    return job.is_finished


def workers_alive() -> int:
    """How many workers answer."""
    from studio.web import workers

    return len(workers.alive())


def _count(batch: "RolloutBatch", expected: Mapping[str, Result]) -> Count:
    rows = batch.episodes.select_related("version", "payload").defer("version__spec")
    graded = [row for row in rows if row.state == "graded"]
    wrong = 0
    for row in graded:
        found = Result(
            row.version.hash, row.reward, row.turns, row.calls, row.payload.read().end_key
        )
        wrong += found != expected[row.version.hash]
    return Count(
        batch.episodes_planned,
        len(graded),
        sum(row.attempts > 1 for row in rows),
        sum(row.state == "failed" for row in rows),
        wrong,
    )


def wait_for(holds: Callable[[], bool], what: str) -> None:
    """Look every moment whether something holds; name what was waited for where it never does."""
    from django.db import connection
    from django.db.utils import InterfaceError, OperationalError

    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if holds():
                return
        except (InterfaceError, OperationalError):
            connection.close()  # it is being restarted
        time.sleep(_TICK)
    raise RuntimeError(f"waited {PATIENCE:.0f} s for {what}")


def main() -> None:
    """Run it alone, with as many episodes as one likes; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch", description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--chaos", action="store_true")
    parser.add_argument("--hurry", action="store_true")
    options = parser.parse_args()
    found = run(options.episodes, chaos=options.chaos, hurry=options.hurry)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
