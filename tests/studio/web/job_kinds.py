"""Job kinds for the tests, loaded by the test process and by the worker process alike."""

import os
import signal
import threading

from pydantic import BaseModel, model_serializer

from studio.lib.jsonvalue import JsonObject
from studio.web.errors import Invalid, Problem
from studio.web.jobs import JobHandle, register

#: Test runs side by side share a broker but no database, so each has a queue of its own.
QUEUE = f"tests-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"


def count(handle: JobHandle) -> JsonObject:
    """Count to the total, saying so."""
    total = handle.arguments["total"]
    assert isinstance(total, int)
    for number in range(total):
        handle.stop_if_cancelled()
        handle.progress(number + 1, total, f"at {number + 1}")
    return {"counted": total, "attempt": handle.attempt}


def repeat(handle: JobHandle) -> JsonObject:
    """Say the same again and again, as a watcher does of what moves slowly."""
    for _ in range(3):
        handle.progress(2, 2, "measuring")
    return {}


def refuse(handle: JobHandle) -> JsonObject:
    """Fail in words."""
    raise Invalid("Two things are wrong.", [Problem("a", "is missing"), Problem("b", "is late")])


def break_down(handle: JobHandle) -> JsonObject:
    """Fail by a defect."""
    return {"never": 1 // int(str(handle.arguments.get("zero", 0)))}


def interrupt(handle: JobHandle) -> JsonObject:
    """End as a command does at Ctrl-C."""
    raise KeyboardInterrupt


class _Interrupting(BaseModel):
    """What is being written when the signal comes."""

    @model_serializer
    def _written(self) -> str:
        raise SystemExit(1)


def interrupt_a_serialiser(handle: JobHandle) -> JsonObject:
    """End as a worker does that is told to, at a moment when a library has the word."""
    return {"never": _Interrupting().model_dump()}


def until_cancelled(handle: JobHandle) -> JsonObject:
    """Work until somebody wants it to stop."""
    pause = threading.Event()
    while True:
        handle.progress(1, None)
        handle.stop_if_cancelled()
        pause.wait(0.05)


def die_once(handle: JobHandle) -> JsonObject:
    """Kill the process that runs the first attempt."""
    if handle.attempt == 1:
        handle.progress(1, 2, "dying")
        os.kill(os.getpid(), signal.SIGKILL)
    return {"attempt": handle.attempt}


for name, function in (
    ("test_count", count),
    ("test_repeat", repeat),
    ("test_refuse", refuse),
    ("test_break_down", break_down),
    ("test_interrupt", interrupt),
    ("test_interrupt_a_serialiser", interrupt_a_serialiser),
    ("test_until_cancelled", until_cancelled),
    ("test_die_once", die_once),
):
    register(name, QUEUE, function)
