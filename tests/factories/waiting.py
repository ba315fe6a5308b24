"""Waiting for other processes, as long as a machine that does much else may need."""

from collections.abc import Callable

import psutil
import pytest

LOOKS = 6000
"""How often it is looked, a tenth of a second apart."""


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail where it never does."""
    pause = psutil.Process()
    for _ in range(LOOKS):
        if holds():
            return
        with pytest.raises(psutil.TimeoutExpired):
            pause.wait(0.1)
    pytest.fail("nothing happened")
