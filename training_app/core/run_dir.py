"""A run directory: all that a training run reads and writes, on any machine.

    recipe.json      the recipe
    dataset/         demonstrations.jsonl or prompts.jsonl, manifest.json
    metrics.jsonl    one line a step: {"step", "samples", "seconds", "values": {name: number}}
    samples/         step-000020.jsonl: what the model wrote, replayable
    checkpoints/     step-000100/ with the weights and checkpoint.json
    result.json      what the run came to, written once at its end
    status.json      state, step, process, heartbeat, what is being done besides the steps
    log.txt          the engine's log
    cancel           its presence asks the run to stop at the next step

Invariants: whole files appear at once or not at all. metrics.jsonl grows by whole lines; a reader
never sees half of one. A step is written once: a resumed run cuts the file back first.
"""

import contextlib
import math
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import orjson

from training_app.core.recipe import Recipe, RecipeError, load_recipe

State = Literal["queued", "starting", "running", "stopping", "stopped", "succeeded", "failed"]
ENDED: Final[frozenset[str]] = frozenset({"stopped", "succeeded", "failed"})
STEP_DIGITS: Final = 6
OUT_OF_MEMORY: Final = "OutOfMemoryError"
"""What the message of a failed run begins with where a smaller device batch may help."""
KEEP: Final = "keep"
"""A file in a checkpoint's folder: it stays whatever its age."""


class RunDirError(ValueError):
    """A folder that is no run directory, or one that cannot be read."""


class Metrics(NamedTuple):
    """The values of one step."""

    step: int
    samples: int
    """Training samples processed so far: the x of the paper's figures."""
    seconds: float
    values: Mapping[str, float]


class Chunk(NamedTuple):
    """Metrics read since an offset."""

    rows: tuple[Metrics, ...]
    offset: int
    """Where to read on."""
    damaged: tuple[int, ...]
    """Offsets of lines that cannot be read; they hide nobody else."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the engine last said of itself."""

    state: State = "queued"
    step: int = 0
    steps: int = 0
    pid: int = 0
    heartbeat: float = 0.0
    """Seconds since the epoch, by the engine's clock."""
    message: str = ""
    """Why it failed, with what to do about it; or what it is doing besides its steps."""
    done: int = 0
    total: int = 0
    """How much there is of what the message says it is doing, and what is done; 0: not counted."""

    @property
    def ended(self) -> bool:
        """Whether it will not change any more."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Saved weights."""

    step: int
    path: Path
    bytes: int
    evaluation: Mapping[str, Any]


class RunDir:
    """One run directory."""

    def __init__(self, path: Path):
        self.path = path
        self.dataset = path / "dataset"
        self.metrics_file = path / "metrics.jsonl"
        self.samples = path / "samples"
        self.checkpoints = path / "checkpoints"
        self.log_file = path / "log.txt"
        self._recipe = path / "recipe.json"
        self._status = path / "status.json"
        self._result = path / "result.json"
        self._cancel = path / "cancel"

    @classmethod
    def create(cls, path: Path, recipe: Recipe) -> "RunDir":
        """Make a run directory. Raises RunDirError where one exists already."""
        run = cls(path)
        if run._recipe.exists():
            raise RunDirError(f"{path} holds a run already")
        for folder in (run.dataset, run.samples, run.checkpoints):
            folder.mkdir(parents=True, exist_ok=True)
        write_json(run._recipe, recipe.model_dump(mode="json"))
        run.write_status(Status(steps=recipe.steps))
        return run

    def recipe(self) -> Recipe:
        """Read the recipe. Raises RunDirError that says what is wrong and where."""
        try:
            return load_recipe(read_json(self._recipe))
        except FileNotFoundError as problem:
            raise RunDirError(f"{self.path} has no recipe.json") from problem
        except RecipeError as problem:
            raise RunDirError(f"{self._recipe}: {problem}") from problem

    def change_recipe(self, recipe: Recipe) -> None:
        """Put a recipe in the place of the old one: how a run goes on where memory ran out."""
        write_json(self._recipe, recipe.model_dump(mode="json"))

    # --- status ----------------------------------------------------------------------------------

    def status(self) -> Status:
        """Read the status; a missing file is a run that was not started."""
        try:
            data = read_json(self._status)
        except FileNotFoundError:
            return Status()
        known = {name: data[name] for name in Status.__dataclass_fields__ if name in data}
        return Status(**known)

    def write_status(self, status: Status) -> None:
        """Put a status in the place of the old one."""
        body = {name: getattr(status, name) for name in Status.__dataclass_fields__}
        write_json(self._status, body)

    def result(self) -> dict[str, Any] | None:
        """What the run came to; None before its end."""
        try:
            return read_json(self._result)
        except FileNotFoundError:
            return None

    def write_result(self, result: Mapping[str, Any]) -> None:
        """State what the run came to."""
        write_json(self._result, result)

    def forget_result(self) -> None:
        """Before a run goes on."""
        self._result.unlink(missing_ok=True)

    def ask_to_stop(self) -> None:
        """Ask the run to stop at its next step."""
        self._cancel.touch()

    def asked_to_stop(self) -> bool:
        """Whether somebody asked it to stop."""
        return self._cancel.exists()

    def forget_stop(self, before: float = math.inf) -> None:
        """Before a run goes on.

        Args:
            before: Seconds since the epoch; who asked later is still heard.
        """
        with contextlib.suppress(FileNotFoundError):
            if self._cancel.stat().st_mtime < before:
                self._cancel.unlink()

    def note(self, line: str) -> None:
        """Add a line of somebody else to the engine's log."""
        with self.log_file.open("a", encoding="utf-8") as stream:
            stream.write(f"{line}\n")

    # --- metrics ---------------------------------------------------------------------------------

    def append(self, metrics: Metrics) -> None:
        """Add one step's values; what is no finite number is left out.

        One write of one line: a reader sees all of it or nothing.
        """
        values = {k: float(v) for k, v in metrics.values.items() if math.isfinite(v)}
        line = orjson.dumps({**metrics._asdict(), "values": values}) + b"\n"
        handle = os.open(self.metrics_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def read(self, offset: int = 0) -> Chunk:
        """Read whole lines from an offset on; half a line is left for the next time."""
        try:
            with self.metrics_file.open("rb") as stream:
                stream.seek(offset)
                text = stream.read()
        except FileNotFoundError:
            return Chunk((), offset, ())
        rows: list[Metrics] = []
        damaged: list[int] = []
        for line in text.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                rows.append(_metrics(orjson.loads(line)))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
                damaged.append(offset)
            offset += len(line)
        return Chunk(tuple(rows), offset, tuple(damaged))

    def cut_back(self, step: int) -> int:
        """Drop metrics and samples after a step, before a run goes on from it; say how many."""
        rows = self.read().rows
        kept = [row for row in rows if row.step <= step]
        partial = self.metrics_file.with_name("metrics.jsonl.partial")
        partial.write_bytes(b"".join(orjson.dumps(row._asdict()) + b"\n" for row in kept))
        partial.replace(self.metrics_file)
        for file in sorted(self.samples.glob("step-*.jsonl")):
            if int(file.stem.removeprefix("step-")) > step:
                file.unlink()
        return len(rows) - len(kept)

    # --- samples and checkpoints -----------------------------------------------------------------

    def write_samples(self, step: int, rows: Iterable[Mapping[str, Any]]) -> Path:
        """Keep what the model wrote at a step."""
        file = self.samples / f"step-{step:0{STEP_DIGITS}d}.jsonl"
        write_bytes(file, b"".join(orjson.dumps(dict(row)) + b"\n" for row in rows))
        return file

    def read_samples(self, step: int) -> list[dict[str, Any]]:
        """What the model wrote at a step; nothing where nothing was kept."""
        file = self.samples / f"step-{step:0{STEP_DIGITS}d}.jsonl"
        if not file.exists():
            return []
        return [orjson.loads(line) for line in file.read_bytes().splitlines() if line]

    def checkpoint_path(self, step: int) -> Path:
        """The folder of a checkpoint, whether it exists or not."""
        return self.checkpoints / f"step-{step:0{STEP_DIGITS}d}"

    def seal(self, step: int, evaluation: Mapping[str, Any]) -> Checkpoint:
        """Declare the checkpoint of a step complete; without this it does not count."""
        path = self.checkpoint_path(step)
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        write_json(
            path / "checkpoint.json",
            {"step": step, "bytes": size, "evaluation": dict(evaluation)},
        )
        return Checkpoint(step, path, size, evaluation)

    def list_checkpoints(self) -> list[Checkpoint]:
        """Complete checkpoints by step; one that is being written is not among them."""
        found: list[Checkpoint] = []
        for file in sorted(self.checkpoints.glob("step-*/checkpoint.json")):
            data = read_json(file)
            found.append(Checkpoint(data["step"], file.parent, data["bytes"], data["evaluation"]))
        return found

    def promote(self, step: int, *, promoted: bool) -> None:
        """Mark a checkpoint as one that stays whatever its age, or take the mark away."""
        mark = self.checkpoint_path(step) / KEEP
        if promoted:
            mark.touch()
        else:
            mark.unlink(missing_ok=True)

    def prune(self, keep: int, promoted: Sequence[int] = ()) -> list[int]:
        """Remove the oldest checkpoints beyond the last and `keep` before it; return their steps.

        Those marked as promoted stay.

        Args:
            keep: How many stay besides the last.
            promoted: Steps that stay whatever their age.
        """
        known = self.list_checkpoints()
        old = known[: max(0, len(known) - 1 - keep)]
        goners = [c for c in old if c.step not in promoted and not (c.path / KEEP).exists()]
        for checkpoint in goners:
            shutil.rmtree(checkpoint.path)
        return [checkpoint.step for checkpoint in goners]


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole: beside the old one first, then in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()


def write_json(path: Path, body: Mapping[str, Any]) -> None:
    """Write an object whole."""
    write_bytes(path, orjson.dumps(dict(body), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def read_json(path: Path) -> dict[str, Any]:
    """Read an object. Raises RunDirError that names the file."""
    try:
        data = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as problem:
        raise RunDirError(f"{path} is not JSON: {problem}") from problem
    if not isinstance(data, dict):
        raise RunDirError(f"{path} holds no object")
    return data


def _metrics(data: Mapping[str, Any]) -> Metrics:
    values = {str(name): float(value) for name, value in data["values"].items()}
    return Metrics(int(data["step"]), int(data["samples"]), float(data["seconds"]), values)
