"""When a process of the engine began: what was asked of its run before, it does not hear."""

import subprocess
import sys
import time

from tests.training_app.engine.marks import ENGINE
from tests.training_app.engine.small import PROJECT

pytestmark = ENGINE
TICK = 0.02
"""Seconds: two ticks of the clock that starts are counted by."""


def test_a_process_knows_when_it_began_to_a_hundredth_of_a_second() -> None:
    before = time.time()
    process = subprocess.Popen(
        [sys.executable, "-c", "from training_app.engine.processes import began; print(began())"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
    )
    after = time.time()
    said, _ = process.communicate(timeout=300)  # long after its start: it imports torch first
    assert before - TICK <= float(said) <= after + TICK
