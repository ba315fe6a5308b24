"""What pages read out of a run directory: the log, piece by piece, and the dataset's manifest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from studio.web.choices import FINISHED
from training_app.core.manifest import FILE
from training_app.core.run_dir import RunDirError, read_json
from training_app.models import TrainingRun
from training_app.queries.runs import run_dir

MOST: Final = 64 * 1024
"""Bytes of an answer."""


class LogPiece(NamedTuple):
    """Some of a log."""

    text: str
    offset: int
    """Where to read on."""
    skipped: int
    """Bytes before the text that are left out; the whole file has them."""
    again: bool
    """Whether the file is another one than before: what the reader had is to be dropped."""


def log_since(run: TrainingRun, offset: int | None = None) -> LogPiece:
    """Whole lines from an offset on; the end of the log where none is given.

    A line that is being written is left for the next time. Where the reader is too far behind,
    the newest lines come and what lies between is counted.
    """
    try:
        with run_dir(run).log_file.open("rb") as stream:
            size = stream.seek(0, 2)
            again = offset is not None and offset > size
            begin = 0 if offset is None or again else max(offset, 0)
            start = max(begin, size - MOST)
            stream.seek(start)
            data = stream.read(MOST)
    except OSError:
        return LogPiece("", 0, 0, again=bool(offset))
    if start > begin:
        # The first line is cut in its middle, unless it is longer than all that is shown.
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    whole = data.rfind(b"\n") + 1
    # Nobody goes on with the last line of a run that is over, or with one longer than an answer.
    end = len(data) if run.state in FINISHED or (not whole and len(data) == MOST) else whole
    text = data[:end].decode("utf-8", errors="replace")
    return LogPiece(text, start + end, start - begin, again)


def whole_log(run: TrainingRun) -> Iterator[bytes] | None:
    """The whole log in packets; None where there is none."""
    path = run_dir(run).log_file
    return _packets(path) if path.is_file() else None


def _packets(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while packet := stream.read(MOST):
            yield packet


def manifest_of(run: TrainingRun) -> dict[str, Any] | None:
    """The manifest of the rows that the run learns from; None before the engine wrote it."""
    try:
        return read_json(run_dir(run).dataset / FILE)
    except (OSError, RunDirError):
        return None
