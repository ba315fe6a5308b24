"""A studio of the benchmark's own: PostgreSQL, Valkey, Celery workers and beat, gone at the end.

Django is set up for it in this process, so modules that need models are imported afterwards. What
lies in `var` and what DATABASE_URL names is never touched.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from studio import embedded
from studio.servers import Postgres, Valkey

PROJECT = Path(__file__).resolve().parents[1]
_KEEPER_PATIENCE = 60.0


@dataclass
class PrivateStudio:
    """The servers, and the workers that were started on them."""

    var: Path
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)
    beat: "subprocess.Popen[bytes] | None" = None
    _started: int = 0

    def start_worker(self) -> "subprocess.Popen[bytes]":
        """Start a worker with one process for jobs, as `up` does for a core."""
        self._started += 1
        name = f"bench{self._started}@%h"
        # fmt: off
        process = self._celery(
            "worker", "-Q", "light", "-n", name, "--pool", "prefork", "--concurrency", "1",
            "--loglevel", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat",
        )
        # fmt: on
        self.workers.append(process)
        return process

    def start_beat(self) -> None:
        """Start the clock that wakes workers for what was lost."""
        self.beat = self._celery("beat", "--loglevel", "WARNING", "--pidfile", "")

    def restart_broker(self) -> None:
        """Stop Valkey; the keeper of the servers finds it gone and starts it from its file."""
        Valkey(self.var, self._sockets(), durable=True).stop()
        self._wait_for("valkey")

    def restart_database(self) -> None:
        """Stop PostgreSQL as a machine does that goes down; the keeper starts it again."""
        Postgres(self.var, self._sockets(), durable=True).stop()
        self._wait_for("postgres")

    def _wait_for(self, server: str) -> None:
        until = time.monotonic() + _KEEPER_PATIENCE
        while not embedded.running(self.var)[server]:
            if time.monotonic() > until:
                raise RuntimeError(f"nobody started {server} again")
            time.sleep(0.05)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no worker move, so that what happens meanwhile happens in the middle."""
        for process in self.workers:
            _signal(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in self.workers:
                _signal(process, signal.SIGCONT)

    def worker_of(self, pid: int) -> "subprocess.Popen[bytes]":
        """Return the worker that a process for jobs belongs to."""
        group = os.getpgid(pid)
        return next(process for process in self.workers if process.pid == group)

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        """End a worker and its processes by kill -9."""
        _signal(process, signal.SIGKILL)
        process.wait()
        self.workers = [other for other in self.workers if other is not process]

    def stop(self) -> None:
        """End everything that was started here."""
        if self.beat is not None:
            self.kill(self.beat)
        for process in tuple(self.workers):
            self.kill(process)

    def _sockets(self) -> Path:
        url = embedded.known_addresses(self.var).broker_url
        return Path(url.removeprefix("redis+socket://").partition("?")[0]).parent

    def _celery(self, *words: str) -> "subprocess.Popen[bytes]":
        with (self.var / "workers.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own programme, no shell
                [sys.executable, "-m", "celery", "--quiet", "-A", "studio.celery", *words],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "REMAP_SIGTERM": "SIGQUIT"},
                start_new_session=True,
            )


@contextmanager
def private_studio() -> Iterator[PrivateStudio]:
    """Start the servers, set Django up for them and migrate."""
    with tempfile.TemporaryDirectory(prefix="cws-bench-", ignore_cleanup_errors=True) as folder:
        var = Path(folder)
        var.chmod(0o755)  # as root the database runs as another user, who walks through
        try:
            addresses = embedded.ensure(var, grace=5.0)
            os.environ |= {
                "DATABASE_URL": addresses.database_url,
                "BROKER_URL": addresses.broker_url,
                "STUDIO_VAR": str(var),
                "STUDIO_SECRET_KEY": secrets.token_urlsafe(48),
                "STUDIO_LOG_LEVEL": "WARNING",
                "DJANGO_SETTINGS_MODULE": "studio.settings",
            }
            _migrate()
            studio = PrivateStudio(var)
            try:
                yield studio
            finally:
                studio.stop()
        finally:
            embedded.stop(var)


def _migrate() -> None:
    import django  # only now its settings can be read

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _signal(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
