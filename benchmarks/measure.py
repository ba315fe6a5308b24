"""Take times that mean something on a machine that others use as well.

CPU time of this process is the figure for what runs on one core: wall time measures the neighbours
too. What is compared is measured in turns (one repetition of each, then the next), so that a slow
minute falls on all alike. The median is reported, with the lowest and highest repetition.
"""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Subject(NamedTuple):
    """Something to time."""

    name: str
    units: int
    """How many units (calls, proofs) one repetition does."""
    action: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None
    """Makes what the action gets; not timed."""


class Timing(NamedTuple):
    """Seconds of one unit, a value a repetition."""

    name: str
    cpu: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Median CPU seconds of one unit."""
        return statistics.median(self.cpu)

    @property
    def rate(self) -> float:
        """Units per second of CPU."""
        return 1 / self.seconds

    @property
    def waited(self) -> float:
        """Median wall seconds of one unit."""
        return statistics.median(self.wall)

    @property
    def spread(self) -> str:
        """The lowest and highest repetition, as differences from the median."""
        low, high = min(self.cpu) / self.seconds - 1, max(self.cpu) / self.seconds - 1
        return f"{low:+.0%} {high:+.0%}"


def measure(subjects: Sequence[Subject], repetitions: int) -> list[Timing]:
    """Time all subjects in turns; a first turn that isn't counted warms them up."""
    cpu: list[list[float]] = [[] for _ in subjects]
    wall: list[list[float]] = [[] for _ in subjects]
    for turn in range(repetitions + 1):
        for place, subject in enumerate(subjects):
            given = subject.prepare()
            gc.collect()
            began, used = time.perf_counter(), time.process_time()
            subject.action(given)
            used, began = time.process_time() - used, time.perf_counter() - began
            if turn:
                cpu[place].append(used / subject.units)
                wall[place].append(began / subject.units)
    return [
        Timing(subject.name, tuple(cpu[place]), tuple(wall[place]))
        for place, subject in enumerate(subjects)
    ]


def plain_loop() -> float:
    """Return CPU seconds of a million steps of a plain loop: how fast this machine is just now."""
    taken = []
    for _ in range(3):
        used, total = time.process_time(), 0
        for number in range(1_000_000):
            total += number * number % 7
        taken.append(time.process_time() - used)
    return min(taken)


def time_text(seconds: float) -> str:
    """Write a duration in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.3g} {unit}" if seconds < 1000 * size else f"{seconds:,.0f} s"
    return f"{seconds * 1e9:,.0f} ns"


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with its columns under one another; all but the first to the right."""
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    print(f"\n{title}")
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  " + "  ".join(cells).rstrip())
