"""Runs several programmes as one tree: prefixed logs, restarts with back-off, a clean end.

Every child leads a process group of its own, so that Ctrl-C reaches the supervisor alone and a
child's own children can be ended with it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import IO, TextIO

# Seconds between the polite signal and kill -9.
PATIENCE = 8.0
LONGEST_PAUSE = 30.0
# A child that lived this long is healthy: the next crash starts the back-off afresh.
HEALTHY = 30.0
LONGEST_HEAD_START = 15.0
COLOURS = (36, 33, 35, 32, 34, 31)


@dataclass(frozen=True)
class Programme:
    """What to run under which name."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    hide: tuple[str, ...] = ()
    """Beginnings of lines that tell a reader of these logs nothing."""


class Logs:
    """Writes the lines of all children, one at a time, each under its name."""

    def __init__(self, out: TextIO, names: Sequence[str], *, colour: bool) -> None:
        self._out = out
        self._colour = colour
        self._width = max(len(name) for name in names)
        self._codes = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
        self._lock = threading.Lock()

    def line(self, name: str, text: str) -> None:
        """Write one line."""
        prefix = f"{name:<{self._width}} |"
        if self._colour:
            prefix = f"\033[{self._codes.get(name, 1)}m{prefix}\033[0m"
        with self._lock:
            self._out.write(f"{prefix} {text}\n")
            self._out.flush()

    def plain(self, text: str) -> None:
        """Write a line for people, without a prefix."""
        with self._lock:
            self._out.write(f"\033[1m{text}\033[0m\n" if self._colour else f"{text}\n")
            self._out.flush()


class Child:
    """One programme, running or waiting for its restart."""

    def __init__(self, programme: Programme, logs: Logs) -> None:
        self.programme = programme
        self._logs = logs
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._started = 0.0
        self._pause = 0.0
        self._restart_at = 0.0

    def start(self) -> None:
        """Start it, from the main thread: the kernel ties its life to the thread that forks."""
        self._process = subprocess.Popen(  # noqa: S603 - our own commands, no shell
            [sys.executable, "-m", "studio.child", str(os.getpid()), *self.programme.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self.programme.environment},
            start_new_session=True,
            text=True,
            errors="replace",
        )
        self._started = time.monotonic()
        self._reader = threading.Thread(
            target=self._copy, args=(self._process.stdout,), daemon=True
        )
        self._reader.start()

    def look_after(self, now: float) -> None:
        """Notice a crash, and restart when the pause is over."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            healthy = now - self._started >= HEALTHY
            self._pause = 1.0 if healthy or not self._pause else min(self._pause * 2, LONGEST_PAUSE)
            self._restart_at = now + self._pause
            self.kill()  # what it may have left behind
            self._process = None
            self._logs.line(
                self.programme.name,
                f"ended with {_reason(code)}; starting again in {self._pause:.0f} s",
            )
        elif now >= self._restart_at:
            self.start()

    def running(self) -> bool:
        """Tell whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def terminate(self) -> None:
        """Ask it to end."""
        if self._process is not None and self.running():
            self._process.terminate()

    def kill(self) -> None:
        """End it and its own children."""
        if self._process is not None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return

    def wait(self) -> None:
        """Reap it and let the last lines through."""
        if self._process is not None:
            self._process.wait()
        if self._reader is not None:
            self._reader.join(1.0)

    def _copy(self, stream: IO[str] | None) -> None:
        if stream is None:
            return
        with stream:
            for text in stream:
                if text.strip() and not text.startswith(self.programme.hide):
                    self._logs.line(self.programme.name, text.rstrip())


class Supervisor:
    """Keeps the programmes running until it is told to stop."""

    def __init__(
        self,
        programmes: Sequence[Programme],
        logs: Logs,
        *,
        go_on: threading.Event | None = None,
    ) -> None:
        """The first programme has the machine to itself until ``go_on`` is set."""
        self._children = [Child(programme, logs) for programme in programmes]
        self._go_on = go_on
        self._logs = logs
        self._signals = 0

    def run(self) -> None:
        """Start everything and return when all of it has ended after a signal."""
        before = {
            number: signal.signal(number, self._on_signal)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        }
        try:
            self._watch()
        finally:
            self._stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _watch(self) -> None:
        began = time.monotonic()
        while self._signals == 0:
            now = time.monotonic()
            alone = (
                self._go_on is not None
                and not self._go_on.is_set()
                and now - began < LONGEST_HEAD_START
            )
            for child in self._children[:1] if alone else self._children:
                child.look_after(now)
            time.sleep(0.1)

    def _stop(self) -> None:
        self._logs.plain("Stopping ...")
        for child in self._children:
            child.terminate()
        deadline = time.monotonic() + PATIENCE
        while any(child.running() for child in self._children):
            if self._signals > 1 or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        for child in self._children:
            if child.running():
                self._logs.line(child.programme.name, "did not end in time: killed")
            child.kill()
            child.wait()
        self._logs.plain("Stopped.")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1


def _reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
