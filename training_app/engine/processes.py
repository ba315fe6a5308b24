"""Several processes that train one model: who writes, what all agree on.

Each process plays its share of the rollouts and sees its share of a batch. Only the first writes
the run directory; what it decides, all decide, or one would wait for the others for ever. A process
alone agrees with itself, at no cost.
"""

import datetime as dt
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import psutil
import torch
from torch import distributed

PATIENCE: Final = dt.timedelta(hours=12)
"""The others wait so long while the first measures or makes a base."""
_STARTED_AT: Final = 19
"""Which of the numbers behind the name in /proc/self/stat says when a process began, in ticks."""
_Made = TypeVar("_Made")


def started() -> int:
    """How many were started together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def began() -> float:
    """Return when this process began, in seconds since the epoch, to a hundredth.

    Reckoned from its age: the moment of the machine's start, which others add up from, is known to
    a second alone, and within a second somebody may ask a run to stop and go on with it.
    """
    try:
        status = Path("/proc/self/stat").read_text(encoding="utf-8")
    except OSError:  # no such place on this system
        return psutil.Process().create_time()
    since_start = int(status.rpartition(")")[2].split()[_STARTED_AT]) / os.sysconf("SC_CLK_TCK")
    return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_start)


def is_first() -> bool:
    """Whether this is the one that writes; true for a process alone."""
    return int(os.environ.get("RANK", "0")) == 0


def join() -> None:
    """Meet the others. What we agree on goes over the CPU, what the trainer sends as it likes."""
    if started() == 1 or distributed.is_initialized():
        return
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        backend = "cpu:gloo,cuda:nccl"
    distributed.init_process_group(backend, timeout=PATIENCE)


def leave() -> None:
    """Part from the others."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def end(code: int) -> NoReturn:
    """End this process when all is written.

    The threads that torch keeps for the others can abort an interpreter that ends in the ordinary
    way ("terminate called without an active exception"), and the starter takes that for a failure
    of the run. So a process among others says what it has to say and is gone.
    """
    if started() == 1:
        raise SystemExit(code)
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def anyone(says: bool) -> bool:  # noqa: FBT001 (one word of one process)
    """Whether any process says so; all of them have to ask."""
    if started() == 1:
        return says
    votes = torch.tensor([int(says)])
    distributed.all_reduce(votes)
    return bool(votes.item())


def wait() -> None:
    """Go on when all have come here."""
    anyone(says=False)


def gathered(rows: Sequence[Any]) -> list[Any]:
    """The rows of all processes, in their order."""
    if started() == 1:
        return list(rows)
    parts: list[Any] = [None] * started()
    distributed.all_gather_object(parts, list(rows))
    return [row for part in parts for row in part]


def one_by_one(make: Callable[[], _Made]) -> _Made:
    """Let the first make something that it leaves in a folder, then the others find it there."""
    if started() == 1:
        return make()
    if is_first():
        made = make()
        wait()
        return made
    wait()
    return make()
