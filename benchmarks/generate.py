"""How long 100 tasks take from the plan to the proven, unique task: one process, and two."""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping

from benchmarks.measure import print_table, time_text
from benchmarks.samples import MEASURED
from tasks_app.core.generation.family import Plan
from tasks_app.core.generation.generate import Made, Mapper, generate

COUNT = 50
"""Tasks of each measured family: 100 in all."""


def run(repetitions: int = 2) -> Mapping[str, float]:
    """Measure, print, and return `generate_100_s`: CPU seconds of one process."""
    _generate(map, 6, 2)
    used: list[float] = []
    waited: list[float] = []
    for turn in range(repetitions):
        cpu, wall, unique = _timed(map, 7 + turn)
        used.append(cpu)
        waited.append(wall)
    both_used, both_waited = _in_two_processes(7)
    print_table(
        f"Generation of {2 * COUNT} tasks with proof ({repetitions} times; {unique} unique in the "
        "last)",
        ("what", "CPU", "lowest", "highest", "wall"),
        [
            _row("one process", used, waited),
            _row("two processes (CPU: of both, start included)", [both_used], [both_waited]),
        ],
    )
    return {"generate_100_s": round(statistics.median(used), 2)}


def _in_two_processes(seed: int) -> tuple[float, float]:
    """Return CPU seconds of both, and wall seconds once both have started."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:

        def two(make: Callable[[Plan], Made], waiting: Iterable[Plan]) -> Iterable[Made]:
            return pool.imap(make, waiting, chunksize=4)

        _generate(two, 6, 2)  # both interpreters import what they need
        began = time.perf_counter()
        _generate(two, seed, COUNT)
        waited = time.perf_counter() - began
        pool.close()
        pool.join()
    children = os.times()
    return children.children_user + children.children_system, waited


def _timed(mapper: Mapper, seed: int) -> tuple[float, float, int]:
    began, used = time.perf_counter(), time.process_time()
    unique = _generate(mapper, seed, COUNT)
    return time.process_time() - used, time.perf_counter() - began, unique


def _generate(mapper: Mapper, seed: int, count: int) -> int:
    return sum(
        outcome.fate == "unique"
        for family in MEASURED
        for outcome in generate(family, count, seed, mapper=mapper)
    )


def _row(name: str, used: list[float], waited: list[float]) -> tuple[str, ...]:
    return (
        name,
        time_text(statistics.median(used)),
        time_text(min(used)),
        time_text(max(used)),
        time_text(statistics.median(waited)),
    )


if __name__ == "__main__":
    run()
