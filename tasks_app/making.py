"""The drafts of a generation run, made one after the other or in several processes.

Making a draft needs its plan alone, so any process may do it; what is kept is decided here, in the
order of the plans. The same arguments give the same tasks, in however many processes.
"""

import multiprocessing
import os
import time
from collections.abc import Generator, Sequence
from typing import Final

from studio.lib.similarity import Index
from tasks_app.core.generation.coverage import Share
from tasks_app.core.generation.crowd import Crowd
from tasks_app.core.generation.families.catalog import inventory_of
from tasks_app.core.generation.generate import Outcome, generate
from tasks_app.core.generation.makers import makers
from tasks_app.models import GenerationRun
from tasks_app.queries import contamination, known_hashes, known_requests

_LEVEL_STRIDE: Final = 1_000_003
"""Between the seeds of two levels of one run, so that they draw different people and days."""
_WORTH_IT: Final = 60
"""Tasks from which on further processes save more than their start takes."""


def outcomes(
    families: Sequence[str],
    count: int,
    seed: int,
    difficulty: Sequence[int] = (),
    *,
    shares: Sequence[Share] = (),
    run: GenerationRun | None = None,
    library: bool = True,
    processes: int = 1,
) -> Generator[Outcome]:
    """Draft, mend and prove; without ``library`` only siblings count as near duplicates.

    A run over all families of a track is an inventory: at most 5 % of it are built alike. With
    ``shares`` each family makes what they say, and no inventory is counted.
    """
    known = known_requests(but=run) if library else Index()
    hashes = known_hashes(but=run) if library else frozenset()
    benchmarks = contamination() if library else None
    crowd = Crowd(count) if not shares and inventory_of(families) else None
    levels: Sequence[int | None] = difficulty or [None]
    parts = [(family, level) for family in families for level in levels]
    with makers(processes, time.perf_counter) as mapper:
        for share in shares:
            yield from generate(
                share.family,
                share.tasks,
                seed + share.level * _LEVEL_STRIDE,
                difficulty=share.level,
                first=share.first,
                known=known,
                hashes=hashes,
                benchmarks=benchmarks,
                mapper=mapper,
            )
        for number, (family, level) in enumerate(() if shares else parts):
            part = count // len(parts) + (number < count % len(parts))
            position = number % len(difficulty) if difficulty else 0
            if part:
                yield from generate(
                    family,
                    part,
                    seed + position * _LEVEL_STRIDE,
                    difficulty=level,
                    known=known,
                    hashes=hashes,
                    crowd=crowd,
                    benchmarks=benchmarks,
                    mapper=mapper,
                )


def processes_for(count: int) -> int:
    """In how many processes so many tasks are made: one a core, where that is worth their start."""
    if count < _WORTH_IT or multiprocessing.current_process().daemon:
        return 1  # a process that may have no children makes them itself
    return os.cpu_count() or 1
