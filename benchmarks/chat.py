"""How many calls a second a model's batch makes at 64 episodes at once, everything stored.

A server of its own process answers each request after a set time, once with a tool call and once
with a closing text. The batch runs in this process, on PostgreSQL of the benchmark's own: the
episodes are acted and graded, every answer is stored before it is used. Beside it, in turns, the
bare `openai` client with as many threads asks the same and throws the answers away: what this
machine can do at best just now. Wall time.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

from benchmarks.measure import print_table
from benchmarks.private import private_studio
from tests.factories.chat_stub import Handler, chat_stub, said
from tests.factories.specs import small_spec

AT_ONCE: Final = 64
CALL: Final = ("helpdesk_close_ticket", '{"ticket_id": "TK-2", "resolution": "answered"}')
CALLS_AN_EPISODE: Final = 2
ROUNDS: Final[Mapping[float, int]] = {1.0: 10, 0.1: 24}
"""Seconds of an answer → episodes of each of the 64."""


class Rate(NamedTuple):
    """Calls of one way at one latency."""

    calls: int
    wall: float
    cpu: float
    """Of this process."""

    @property
    def a_second(self) -> float:
        """Calls a second."""
        return self.calls / self.wall


def run(rounds: Mapping[float, int] = ROUNDS) -> Mapping[str, float]:
    """Measure, print, and return rates and ratios."""
    found: dict[str, float] = {}
    with private_studio():
        _store_task()
        rows = []
        for latency, each in rounds.items():
            with stub_process(latency) as url:
                _endpoint(url, f"stub{round(latency * 1000)}")
                bare = bare_rate(url, each)
                ours = batch_rate(f"stub{round(latency * 1000)}", each)
            ideal = AT_ONCE / latency
            rows += [
                _row(f"{latency * 1000:.0f} ms, bare client", bare, ideal, bare),
                _row(f"{latency * 1000:.0f} ms, batch", ours, ideal, bare),
            ]
            name = f"{round(latency * 1000)}ms"
            found[f"calls_per_s_{name}"] = round(ours.a_second, 1)
            found[f"of_ideal_{name}"] = round(ours.a_second / ideal, 3)
            found[f"of_bare_{name}"] = round(ours.a_second / bare.a_second, 3)
    print_table(
        f"Calls of {AT_ONCE} episodes at once (wall; CPU of this process a call)",
        ("answers after, by", "calls", "seconds", "a second", "of ideal", "of bare", "CPU a call"),
        rows,
    )
    return found


def _row(name: str, rate: Rate, ideal: float, bare: Rate) -> tuple[str, ...]:
    return (
        name,
        f"{rate.calls:,}",
        f"{rate.wall:.1f}",
        f"{rate.a_second:.1f}",
        f"{rate.a_second / ideal:.0%}",
        f"{rate.a_second / bare.a_second:.0%}",
        f"{rate.cpu / rate.calls * 1000:.2f} ms",
    )


def bare_rate(url: str, each: int) -> Rate:
    """Ask with the library alone, from as many threads."""
    import openai

    from tasks_app.core.briefing import tool_schemas
    from tasks_app.core.world.world import Seed

    spec = small_spec()
    body: dict[str, Any] = {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "x" * 1500},
            {"role": "user", "content": spec.request.text},
        ],
        "tools": list(tool_schemas(spec, Seed.of(spec).ground.tools)),
    }
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)

    def ask(_: int) -> None:
        for _turn in range(each * CALLS_AN_EPISODE):
            client.chat.completions.create(**body)

    began, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(ask, range(AT_ONCE)))
    took = Rate(
        AT_ONCE * each * CALLS_AN_EPISODE,
        time.perf_counter() - began,
        time.process_time() - used,
    )
    client.close()
    return took


def batch_rate(endpoint: str, each: int) -> Rate:
    """Run a batch in this process and count the calls that it stored."""
    from rollouts_app.jobs import MODEL_KIND
    from rollouts_app.operations.batches import open_batch
    from rollouts_app.queries import selected
    from studio.web import jobs
    from tasks_app.models import ModelCall

    batch = open_batch(
        policy=f"endpoint:{endpoint}",
        chosen=selected("state:draft"),
        filter_text="state:draft",
        group_size=each,
        seed=0,
        by=None,
        concurrency=AT_ONCE,
    )
    began, used = time.perf_counter(), time.process_time()
    jobs.run_inline(MODEL_KIND, {"batch": batch.code}, subject=batch.code)
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    batch.refresh_from_db()
    calls = ModelCall.objects.filter(subject=batch.code).count()
    expected = AT_ONCE * each
    if (batch.graded, batch.passed, calls) != (expected, expected, expected * CALLS_AN_EPISODE):
        raise RuntimeError(
            f"{batch.graded} graded, {batch.passed} passed, {calls} calls of {expected} episodes"
        )
    return Rate(calls, wall, cpu)


def _store_task() -> None:
    """64 tasks, so that a batch with n episodes a task has 64 times n."""
    from tasks_app.enums import Origin
    from tasks_app.operations.tasks import NewTask, create_tasks

    specs = [small_spec(seed=seed) for seed in range(AT_ONCE)]
    create_tasks(tasks=[NewTask(spec) for spec in specs], by=None, origin=Origin.GENERATED)


def _endpoint(url: str, name: str) -> None:
    from tasks_app.operations.endpoints import create_endpoint

    create_endpoint(by=None, name=name, base_url=url, model="tiny")


@contextmanager
def stub_process(latency: float) -> Iterator[str]:
    """Serve a model that solves the task, in a process of its own; its address."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(latency, theirs), daemon=True
    )
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("over")
        process.join(10)


def _serve(latency: float, pipe: Connection) -> None:
    call, close = said(calls=[CALL]), said("Closed.")

    def answer(handler: Handler) -> None:
        time.sleep(latency)
        acted = any(message["role"] == "tool" for message in handler.body["messages"])
        (close if acted else call)(handler)

    with chat_stub(answer) as stub:
        pipe.send(stub.url)
        pipe.recv()


def main() -> None:
    """Run it alone; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chat", description=__doc__)
    parser.parse_args()
    print(json.dumps(run()))


if __name__ == "__main__":
    main()
