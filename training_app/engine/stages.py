"""What the engine does besides its steps, told to the run directory; and where it can be left.

A base is taught for minutes and a measurement takes a while: who waits is told what for and how far
it is, and who wants it no longer need not wait for its end.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from training_app.core.run_dir import RunDir
from training_app.engine import processes

HEARTBEAT: Final = 1.0
"""Seconds between two statuses."""
Told = Callable[[str, int, int], None]
"""Hears what is done, how much of it and of how much; 0 of 0 where there is nothing to count."""


class Left(Exception):
    """Somebody asked the run to stop while it took no step; who hears of a stage raises it."""


def untold(doing: str, done: int, total: int) -> None:
    """Tell nobody."""


def within(told: Told, what: str) -> Told:
    """Tell of stages as parts of a larger one."""

    def tell(doing: str, done: int, total: int) -> None:
        told(f"{what}, {doing}", done, total)

    return tell


class Stages:
    """Keeps the status of a run directory in step with a stage; of several processes the first."""

    def __init__(self, run: RunDir):
        self._run = run
        self._doing = ""
        self._told = 0.0

    def __call__(self, doing: str, done: int, total: int) -> None:
        """Say it, a stage that goes on once a second.

        Raises Left where the run is asked to stop. Of several processes none leaves before the
        others: they stop at their next step.
        """
        if processes.started() == 1 and self._run.asked_to_stop():
            raise Left(doing)
        now = time.monotonic()
        if not processes.is_first() or (doing == self._doing and now - self._told < HEARTBEAT):
            return
        self._doing, self._told = doing, now
        self._run.write_status(
            replace(
                self._run.status(),
                pid=os.getpid(),
                heartbeat=time.time(),
                message=f"{doing} {done:,} of {total:,}" if total else doing,
                done=done,
                total=total,
            )
        )
