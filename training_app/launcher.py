"""Engine processes: started in a group of their own, found again, asked to stop, ended.

Nothing here knows a database. A run's engine is told by its command line, which names the engine
and the run directory, not by its number: numbers are given to other processes later.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil
from django.conf import settings

from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir

_ENGINE: Final = (sys.executable, "-m", "training_app.engine")
_KEPT: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "LD_PRELOAD", "SYSTEMROOT", "NO_COLOR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "ENGINE_FLOAT32",
)  # fmt: skip
_KEPT_BEGINNINGS: Final = (
    "LC_", "XDG_", "PYTHON", "CUDA", "NVIDIA_", "NCCL_", "TORCH", "PYTORCH_", "OMP_", "MKL_",
    "OPENBLAS_", "KMP_", "HF_", "TRANSFORMERS_", "TOKENIZERS_", "ACCELERATE_", "MASTER_", "SSL_",
)  # fmt: skip
_SECRETS: Final = ("_TOKEN", "_KEY", "_SECRET", "_PASSWORD")
_REPORTERS: Final[Mapping[str, str]] = {"wandb": "WANDB_", "trackio": "TRACKIO_"}
"""Who gets metrics besides the run directory, and how the names of its variables begin."""
CHECK_SECONDS: Final = 900.0
"""The check takes a step, for which a large model has to be read first."""
_FULL: Final = 2**20
"""Free bytes below which status and log cannot be relied on to be written."""
_TAIL: Final = 12
"""Lines of the log that are shown where the engine ended without a word."""


class Obstacle(NamedTuple):
    """What would stop a run: where, what, what to do."""

    place: str
    problem: str
    fix: str


class Engine:
    """A live engine: one that this process started, or one that was found."""

    def __init__(self, process: "subprocess.Popen[bytes] | psutil.Process"):
        self._process = process
        self.pid: int = process.pid

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so long; return whether it has ended."""
        try:
            self._process.wait(timeout=seconds)
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
            return False
        except psutil.NoSuchProcess:
            return True
        return True

    def exit_code(self) -> int | None:
        """Of an ended one; negative for a signal, None where it is not known."""
        if isinstance(self._process, subprocess.Popen):
            return self._process.poll()
        return None

    def end(self, number: int) -> None:
        """Send a signal to its whole group."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return


class Stopping:
    """Ends an engine step by step: it is asked, then told, then killed."""

    def __init__(self, run: RunDir, engine: Engine, *, patience: float):
        """Ask it to stop at its next step.

        Args:
            run: Its directory.
            engine: The engine.
            patience: Seconds until TERM, and again until KILL.
        """
        self.killed = False
        self._engine = engine
        self._patience = patience
        self._signals = [signal.SIGTERM, signal.SIGKILL]
        self._next = time.monotonic() + patience
        run.ask_to_stop()

    def go_on(self) -> None:
        """Take the next step where it is time; to be called again and again."""
        if self._signals and time.monotonic() >= self._next:
            self._send()

    def hurry(self) -> None:
        """Kill it now."""
        self._signals = [signal.SIGKILL]
        self._send()

    def _send(self) -> None:
        number = self._signals.pop(0)
        self.killed = number == signal.SIGKILL
        self._next = time.monotonic() + self._patience
        self._engine.end(number)


def host() -> str:
    """The name of this machine."""
    return socket.gethostname()[:120]


def start(run: RunDir, recipe: Recipe, *, cache: Path, resume: bool) -> Engine:
    """Start the engine on a run directory; what it prints goes to the run's log.

    Raises OSError where the program cannot be started.
    """
    cache.mkdir(parents=True, exist_ok=True)
    command = [*_command(recipe), str(run.path.absolute()), "--cache", str(cache.absolute())]
    if resume:
        command.append("--resume")
    with run.log_file.open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            command,
            cwd=run.path,
            env=environment(recipe),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Engine(process)


def find(run: RunDir) -> Engine | None:
    """The engine that works on a run directory on this machine, whoever started it."""
    path = str(run.path.absolute())
    mark = _base_command()[-1]
    for process in psutil.process_iter(["pid", "status", "cmdline"]):
        words: Sequence[str] = process.info["cmdline"] or ()
        if (
            path in words
            and mark in words
            and "--check" not in words
            and process.info["status"] != psutil.STATUS_ZOMBIE
            and _leads(process.pid)
        ):
            return Engine(process)
    return None


def _leads(pid: int) -> bool:
    """Whether it is the first of its group: of several processes of one run that is the one."""
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


def check(run: RunDir, recipe: Recipe) -> list[Obstacle]:
    """Ask the engine what would stop this run; one that does not answer is an obstacle itself."""
    command = [*_base_command(), str(run.path.absolute()), "--check"]
    try:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            command,
            cwd=run.path,
            env=environment(recipe),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [
            Obstacle(
                "engine",
                f"the check took more than {CHECK_SECONDS:.0f} s",
                "look whether this machine is busy, then resume the run",
            )
        ]
    except OSError as problem:
        return [
            Obstacle(
                "engine",
                f"{command[0]} cannot be started: {problem.strerror or problem}",
                "correct STUDIO_ENGINE, or leave it unset",
            )
        ]
    found = _problems(done.stdout)
    if found is not None:
        return found
    if done.returncode == -signal.SIGKILL:
        return [
            Obstacle(
                "memory",
                "the check was ended by signal 9: probably the memory ran out",
                "close other programs, or choose a smaller device batch",
            )
        ]
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return [
        Obstacle(
            "engine",
            said[-1][:500] if said else f"it ended with {done.returncode}",
            "install the train extra (CONTRIBUTING.md), or name in STUDIO_ENGINE a Python "
            "that has it",
        )
    ]


def _problems(printed: str) -> list[Obstacle] | None:
    """What the check said on its last line; None where it said nothing."""
    lines = printed.strip().splitlines()
    try:
        body: Any = json.loads(lines[-1]) if lines else None
        return [Obstacle(*(str(one[key]) for key in Obstacle._fields)) for one in body["problems"]]
    except (ValueError, KeyError, TypeError):
        return None


def disk_is_full(run: RunDir) -> bool:
    """Whether next to nothing is free where a run is kept: its engine could not even say so."""
    return shutil.disk_usage(run.path).free < _FULL


def last_words(run: RunDir) -> str:
    """The last lines of a run's log, for an engine that ended without saying why."""
    try:
        with run.log_file.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, 2) - 8192))
            lines = stream.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join([line for line in lines if line.strip()][-_TAIL:])[-1500:]


def _base_command() -> list[str]:
    return list(settings.STUDIO_ENGINE) or list(_ENGINE)


def _command(recipe: Recipe) -> list[str]:
    """The engine's command; several processes are started by torch's own starter."""
    if recipe.processes == 1 or settings.STUDIO_ENGINE:
        return _base_command()
    return [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(recipe.processes),
        *_ENGINE[1:],
    ]


def environment(recipe: Recipe) -> dict[str, str]:
    """What the engine may know of ours: no keys, no database, no broker."""
    reporters = tuple(_REPORTERS[name] for name in recipe.report_to)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT
        or name.startswith(reporters)
        or (name.startswith(_KEPT_BEGINNINGS) and not name.endswith(_SECRETS))
    }
    paths = [str(settings.BASE_DIR), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
