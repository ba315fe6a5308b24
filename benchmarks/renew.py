"""How fast two workers prove anew what older gates have proven, storing included, and whether their
memory stays flat.

PostgreSQL and Valkey of the benchmark's own. Wall time from the start of the job to its end; memory
is that of the workers' processes, after a quarter of the tasks and at the end.
"""

import argparse
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import psutil

from benchmarks.batch import wait_for, workers_alive
from benchmarks.measure import plain_loop, print_table, time_text
from benchmarks.private import PrivateStudio, private_studio
from benchmarks.samples import drafts
from tasks_app.core.validation.card import ProofCard

if TYPE_CHECKING:
    from studio.web.models import Job

TASKS: Final = 600
WORKERS: Final = 2


def run(tasks: int = TASKS) -> Mapping[str, float]:
    """Measure, print, and return `renew_600_s`, `renewed_per_s` and `renew_growth`."""
    with private_studio() as studio:
        _store_stale(tasks)
        for _ in range(WORKERS):
            studio.start_worker()
        studio.start_beat()
        wait_for(lambda: workers_alive() == WORKERS, "the workers to start")
        loop = plain_loop()
        seconds, first, last = _renewed(studio, tasks)
    growth = last / first
    print_table(
        f"{tasks} stale proofs renewed on {WORKERS} workers, storing included (a million steps of "
        f"a plain loop took {time_text(loop)} beforehand)",
        ("what", "seconds", "a second", "memory at a quarter", "at the end", "growth"),
        [
            (
                "wall", f"{seconds:.1f}", f"{tasks / seconds:.1f}", f"{first / 2**20:.0f} MB",
                f"{last / 2**20:.0f} MB", f"{growth - 1:+.1%}",
            )
        ],
    )  # fmt: skip
    return {
        "renew_600_s": round(seconds * TASKS / tasks, 1),
        "renewed_per_s": round(tasks / seconds, 1),
        "renew_growth": round(growth, 3),
    }


def _store_stale(count: int) -> None:
    """Store so many drafts with proofs by gates of another version."""
    from tasks_app.enums import Origin
    from tasks_app.operations.tasks import NewTask, create_tasks

    specs = drafts(count // 2, 7)
    cards = [ProofCard(spec_hash=spec.hash, gates_version="0", proven=True) for spec in specs]
    new = [NewTask(spec, card) for spec, card in zip(specs, cards, strict=True)]
    create_tasks(tasks=new, by=None, origin=Origin.GENERATED)


def _renewed(studio: PrivateStudio, tasks: int) -> tuple[float, int, int]:
    """Run the job to its end; return the seconds, and the memory after a quarter and at the end."""
    from tasks_app.jobs import start_renewal
    from tasks_app.reports import stale_count

    began = time.monotonic()
    job = start_renewal(by=None)
    wait_for(lambda: stale_count() <= tasks * 3 // 4, "a quarter of the proofs")
    first = _memory(studio)
    wait_for(lambda: _ended(job), "the job to end")
    seconds = time.monotonic() - began
    if stale_count():
        raise RuntimeError(f"{stale_count()} proofs are stale still")
    return seconds, first, _memory(studio)


def _ended(job: "Job") -> bool:
    job.refresh_from_db()
    if job.is_finished and job.state != "succeeded":
        raise RuntimeError(f"the job is {job.state}: {job.error}")
    return job.is_finished


def _memory(studio: PrivateStudio) -> int:
    """Bytes that the workers and their processes hold."""
    processes = [psutil.Process(worker.pid) for worker in studio.workers]
    below = [child for process in processes for child in process.children(recursive=True)]
    return sum(process.memory_info().rss for process in [*processes, *below])


def main() -> None:
    """Run it alone; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.renew", description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS)
    print(json.dumps(run(parser.parse_args().tasks)))


if __name__ == "__main__":
    main()
