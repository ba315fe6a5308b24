"""Serves the studio: web, workers and beat as one supervised tree."""

import os
import sys
import threading
import urllib.error
import urllib.request
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from studio import embedded
from studio.migrations_state import missing_migrations
from studio.ports import PortError, check_port, remember_address
from studio.supervisor import Logs, Programme, Supervisor
from studio.web.access import create_owner_link, needs_owner

# A page that computes this long is a defect; jobs are not bounded by it.
PAGE_TIMEOUT_MS = 3000
READY_PATIENCE = 60.0
CLIENT_PAUSE = 5.0


class Command(BaseCommand):
    """``manage.py up``."""

    requires_system_checks = []  # `check`, `doctor` and the tests run them; a start need not
    help = "Serve the studio: web, workers by queue and beat as one supervised tree."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to listen."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--web-workers", type=int, default=1, help="processes that answer pages (default 1)"
        )
        parser.add_argument(
            "--no-workers", action="store_true", help="pages only: jobs wait for other machines"
        )

        parser.add_argument(
            "--prepare", action="store_true", help="migrate and seed the demo first, where needed"
        )

    def handle(self, **options: Any) -> None:
        """Check what can be checked first, then run until a signal comes."""
        host, port = options["host"], options["port"]
        try:
            check_port(host, port)
        except PortError as error:
            raise CommandError(str(error)) from error
        if os.environ.get("BROKER_URL") and not options["no_workers"]:
            _check_broker()
        if options["prepare"]:
            call_command("prepare", stdout=self.stdout)
        _check_migrations()
        link = create_owner_link() if needs_owner() else ""
        connection.close()
        programmes = [_web(host, port, options["web_workers"])]
        if not options["no_workers"]:
            programmes += _workers()
        colour = bool(os.environ.get("FORCE_COLOR")) or (
            sys.stdout.isatty() and "NO_COLOR" not in os.environ
        )
        logs = Logs(sys.stdout, [programme.name for programme in programmes], colour=colour)
        url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104 - compared
        remember_address(settings.VAR_DIR, url)
        ready = threading.Event()
        threading.Thread(target=_announce, args=(logs, url, link, ready), daemon=True).start()
        threading.Thread(target=_stay_a_client, args=(logs,), daemon=True).start()
        Supervisor(programmes, logs, go_on=ready).run()


def _check_migrations() -> None:
    missing = missing_migrations()
    if missing:
        raise CommandError(
            f"The database lacks {len(missing)} migrations ({', '.join(missing[:3])} ...). "
            "Run `python3 manage.py migrate`, or start with `python3 dev.py run`."
        )


def _check_broker() -> None:
    """Workers without a broker wait in silence, and so does every job."""
    from studio.diagnosis import broker_problems  # only who has a broker of his own pays for it

    for problem in broker_problems():
        raise CommandError(f"{problem.what} {problem.mend}")


def _web(host: str, port: int, workers: int) -> Programme:
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", host,
        "--port", str(port), "--workers", str(workers), "--blocking-threads", "4", "--no-ws",
        "--workers-kill-timeout", "3", "--respawn-failed-workers", "--log-level", "warning",
        "studio.wsgi:application",
    ]  # fmt: skip
    return Programme("web", command, {"STUDIO_STATEMENT_TIMEOUT_MS": str(PAGE_TIMEOUT_MS)})


def _workers() -> list[Programme]:
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "studio.celery"]
    # A job that is cut off is run again by whoever claims it next, so ending need not wait for it.
    environment = {
        "REMAP_SIGTERM": "SIGQUIT",
        # Said at every start as root; messages are JSON here, so there is nothing to unpickle.
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
    }
    quiet = ["--loglevel", "INFO", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    pools = {
        "light": ["--pool", "prefork", "--concurrency", str(min(os.cpu_count() or 1, 8))],
        "chat": ["--pool", "threads", "--concurrency", "8"],  # waits for endpoints, not for cores
        "train": ["--pool", "prefork", "--concurrency", "1"],
    }
    workers = [
        Programme(
            queue,
            [*celery, "worker", "-Q", queue, "-n", f"{queue}@%h", *pool, *quiet],
            environment,
            hide=("worker: Hitting Ctrl+C again", "worker: Cold shutdown"),
        )
        for queue, pool in pools.items()
    ]
    beat = [*celery, "beat", "--loglevel", "WARNING", "--pidfile", ""]
    return [*workers, Programme("beat", beat)]


def _stay_a_client(logs: Logs) -> None:
    """Keep the embedded servers: a keeper that was killed is missed by nobody else."""
    database, broker = os.environ.get("DATABASE_URL"), os.environ.get("BROKER_URL")
    pause = threading.Event()
    while not (database and broker):
        pause.wait(CLIENT_PAUSE)
        try:
            embedded.ensure(settings.VAR_DIR, postgres=not database, valkey=not broker)
        except embedded.ServerError as error:
            logs.plain(str(error))


def _announce(logs: Logs, url: str, link: str, ready: threading.Event) -> None:
    """Say where to go once the web answers."""
    pause = threading.Event()
    for _ in range(int(READY_PATIENCE / 0.1)):
        if _answers(f"{url}/healthz"):
            break
        pause.wait(0.1)
    else:
        logs.plain(f"The web does not answer at {url} yet: its log above says why.")
        return
    ready.set()
    logs.plain(f"Ready: {url}/")
    if link:
        logs.plain(f"First start. Sign in as the owner, once, within a day: {url}{link}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - our own http address
            return True
    except urllib.error.HTTPError:
        return True  # it answers, if only to say no
    except (urllib.error.URLError, OSError):
        return False
