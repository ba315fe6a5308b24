"""A second process that proves specs: other hash seed, time zone and locale (gate D1).

A fresh interpreter costs as much as a hundred proofs, so one process lives long and gets specs in
batches: one line of JSON in (a list of specs), one line out (a list of proof hashes).
"""

import subprocess
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

import orjson

from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.proof import prove

_MODULE: Final = "tasks_app.core.validation.second_process"
_HASH_SEED: Final = "20310"
_ZONE: Final = "Pacific/Chatham"
_PATIENCE: Final = 10.0
"""Seconds that the process gets to end."""


class SecondProcessError(RuntimeError):
    """The second process died or answered nonsense."""


class SecondProcess:
    """Starts with the first batch and lives until `close` or the end of the `with` block."""

    def __init__(self, *, hash_seed: str = _HASH_SEED, zone: str = _ZONE):
        self._environment = {
            "PYTHONHASHSEED": hash_seed,
            "TZ": zone,
            "LC_ALL": "C",
            "PYTHONUTF8": "1",
            "PYTHONPATH": ":".join(path for path in sys.path if path),
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def proof_hashes(self, specs: Sequence[TaskSpec]) -> list[str]:
        """Return each spec's proof hash as that process finds it. Raises SecondProcessError."""
        if not specs:
            return []
        line = orjson.dumps([spec.written() for spec in specs], option=orjson.OPT_APPEND_NEWLINE)
        with self._lock:
            answer = self._ask(line)
        try:
            hashes = orjson.loads(answer)
        except orjson.JSONDecodeError as problem:
            raise SecondProcessError("the second process answered nonsense") from problem
        if not isinstance(hashes, list) or len(hashes) != len(specs):
            raise SecondProcessError("the second process answered for other specs")
        return [str(found) for found in hashes]

    def close(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, line: bytes) -> bytes:
        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                [sys.executable, "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self._environment,
            )
        if process.stdin is None or process.stdout is None:
            raise SecondProcessError("the second process has no pipes")
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except BrokenPipeError as problem:
            raise SecondProcessError("the second process has died") from problem
        answer = process.stdout.readline()
        if not answer:
            raise SecondProcessError("the second process has died")
        return answer


def serve() -> None:
    """Answer batches until the input ends."""
    for line in sys.stdin.buffer:
        hashes: list[str] = []
        for written in orjson.loads(line):
            try:
                hashes.append(prove(load_spec(written)).proof_hash)
            except SpecError:
                hashes.append("")
        sys.stdout.buffer.write(orjson.dumps(hashes, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
