"""The world's own rates: calls, snapshots, keys and grades, beside what they replace.

Ratios are stable where rates are not: everything is measured in turns in one run. Worlds are fresh,
an episode has 200 calls, arguments are the JSON text that a model writes; nothing is answered from
memory, except where the row says so.
"""

import copy
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from benchmarks.measure import Subject, Timing, measure, print_table, time_text
from benchmarks.samples import drafts, office
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import run_program
from tasks_app.core.records import diff
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import digest
from tasks_app.core.world.world import Seed, World

CALLS: Final = 200
"""Calls of one episode."""
EPISODES: Final = 20
READ: Final = "a simple read (one record by its id)"


def run(repetitions: int = 9) -> Mapping[str, float]:
    """Measure, print, and return `tool_calls_per_s`."""
    spec = office()
    seed = Seed.of(spec)
    timings = measure([*_calls(seed), *_states(seed), *_grades()], repetitions)
    read = next(t for t in timings if t.name == READ)
    filled = sum(map(len, seed.ground.start.values()))
    print_table(
        f"World: {filled} records in {len(seed.ground.start)} collections, one core, CPU time "
        f"(median of {repetitions})",
        ("what", "time", "a second", "ratio", "spread", "wall"),
        [_row(timing, read) for timing in timings],
    )
    return {"tool_calls_per_s": round(read.rate)}


def _row(timing: Timing, read: Timing) -> tuple[str, ...]:
    return (
        timing.name,
        time_text(timing.seconds),
        f"{timing.rate:,.0f}",
        f"{timing.seconds / read.seconds:.2f}",
        timing.spread,
        time_text(timing.waited),
    )


def _calls(seed: Seed) -> list[Subject]:
    orders = _spread(seed, "orders/orders")
    tickets = _spread(seed, "helpdesk/tickets")
    by_id = [_text({"order_id": name}) for name in orders]

    def look_up(_: object) -> None:
        rows = seed.ground.start["orders/orders"]
        for _episode in range(EPISODES):
            for name in orders:
                _ = rows[name]

    return [
        _episodes(READ, seed, "orders_get_order", by_id),
        Subject("  the bare look-up", CALLS * EPISODES, look_up),
        _episodes(
            "  with a mapping as arguments",
            seed,
            "orders_get_order",
            [{"order_id": name} for name in orders],
        ),
        _repeated(seed, "orders_get_order", by_id),
        _episodes(
            "a read that joins (ticket, comments)",
            seed,
            "helpdesk_get_ticket",
            [_text({"ticket_id": name}) for name in tickets],
        ),
        _episodes("list 20 records", seed, "helpdesk_list_tickets", [_text({"limit": 20})] * CALLS),
        _episodes(
            "search by words",
            seed,
            "helpdesk_search_tickets",
            [_text({"query": word}) for word in ("order", "refund", "late", "lamp")] * (CALLS // 4),
        ),
        _episodes(
            "bad arguments",
            seed,
            "orders_get_order",
            [_text({"order": "x"})] * CALLS,
            "missing_argument",
        ),
        _episodes(
            "unknown id",
            seed,
            "orders_get_order",
            [_text({"order_id": "OR-0"})] * CALLS,
            "not_found",
        ),
        _episodes(
            "a write of one record",
            seed,
            "helpdesk_add_comment",
            [_text({"ticket_id": name, "body": "Seen."}) for name in tickets],
        ),
        _episodes(
            "a write of two records (a mail and its thread)",
            seed,
            "mail_send_message",
            [_text({"to": ["a@b.example"], "subject": "Hello", "body": "Good day."})] * CALLS,
        ),
    ]


def _spread(seed: Seed, place: str) -> list[str]:
    """Return the ids of a collection in turn, one a call."""
    names = list(seed.ground.start[place])
    return [names[number % len(names)] for number in range(CALLS)]


def _text(arguments: Mapping[str, Any]) -> str:
    return orjson.dumps(arguments).decode()


def _episodes(
    name: str, seed: Seed, tool: str, arguments: Sequence[Any], error: str | None = None
) -> Subject:
    call = World(seed).call(tool, arguments[0])
    if call.error != error:
        raise SystemExit(f"{name}: {call} instead of {error or 'ok'}")

    def action(_: object) -> None:
        for _episode in range(EPISODES):
            call = World(seed).call
            for given in arguments:
                call(tool, given)

    return Subject(name, CALLS * EPISODES, action)


def _repeated(seed: Seed, tool: str, arguments: Sequence[Any]) -> Subject:
    def prepare() -> World:
        world = World(seed)
        world.restore(seed.snapshot)
        for given in arguments:
            world.call(tool, given)
        return world

    def action(world: World) -> None:
        for _episode in range(EPISODES):
            world.restore(seed.snapshot)
            for given in arguments:
                world.call(tool, given)

    return Subject("  again after a restore (remembered)", CALLS * EPISODES, action, prepare)


def _states(seed: Seed) -> list[Subject]:
    tables = seed.ground.start
    plain = orjson.loads(orjson.dumps(tables))
    close = _text({"ticket_id": next(iter(tables["helpdesk/tickets"])), "body": "Seen."})

    def there_and_back(world: World) -> None:
        for _turn in range(1000):
            world.restore(world.snapshot())

    def with_write(worlds: list[World]) -> None:
        for world in worlds:
            mark = world.snapshot()
            world.call("helpdesk_add_comment", close)
            world.restore(mark)

    def hash_all() -> int:
        return sum(
            digest(f"{place}/{name}", row)
            for place, rows in tables.items()
            for name, row in rows.items()
        )

    key = World(seed).store.state_key
    return [
        Subject("snapshot and restore", 1000, there_and_back, lambda: World(seed)),
        Subject(
            "  with a write between",
            1000,
            with_write,
            lambda: [World(seed) for _ in range(1000)],
        ),
        _times("  by copying the dicts", 200, lambda: {k: dict(v) for k, v in tables.items()}),
        _times("  by orjson", 50, lambda: orjson.loads(orjson.dumps(plain))),
        _times("  by pickle", 50, lambda: pickle.loads(pickle.dumps(plain))),  # noqa: S301 (our own)
        _times("  by deepcopy", 10, lambda: copy.deepcopy(plain)),
        _times("the state key", 1000, key),
        _times("  by hashing all records", 20, hash_all),
        _times("a new World", 1000, lambda: World(seed)),
        _times("a Seed of raw records", 5, lambda: Seed(seed.spec)),
    ]


def _times(name: str, count: int, action: Callable[[], object]) -> Subject:
    def repeated(_: object) -> None:
        for _turn in range(count):
            action()

    return Subject(name, count, repeated)


def _grades() -> list[Subject]:
    spec = drafts(1, 7, 5)[0]
    evidence = _solved(spec).evidence()
    last = evidence.stages[-1]

    def graded() -> object:
        return grade(spec.checks, spec.constraints, _solved_again(evidence))

    return [
        _times(f"a grade by {len(spec.checks)} checks", 100, graded),
        _times("the difference of two states", 500, lambda: diff(last.opened, last.closed)),
    ]


def _solved(spec: TaskSpec) -> World:
    world = World(spec)
    run_program(world, spec.reference)
    return world


def _solved_again(evidence: Any) -> Any:
    return type(evidence)(evidence.ground, evidence.stages, evidence.calls)


if __name__ == "__main__":
    run()
