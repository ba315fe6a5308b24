"""What ``manage.py doctor`` looks at, one function a question.

A problem says what is missing, where, and how to mend it. A note is a thing one can live without.
"""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from kombu import Connection
from kombu.exceptions import OperationalError

from studio import embedded
from studio.migrations_state import missing_migrations
from studio.ports import PortError, check_port
from studio.web.access import needs_owner

OLDEST_PYTHON = (3, 11)
OLDEST_POSTGRES = 140000
LEAST_DISK = 2 * 2**30


class Problem(NamedTuple):
    """One thing that is missing."""

    level: Literal["problem", "note"]
    what: str
    mend: str


def diagnose(*, host: str, port: int) -> list[Problem]:
    """Return everything that is wrong; what needs the database is asked only where it answers."""
    found = [*_python(), *_packages(), *_folder(), *_disk()]
    database = list(_database())
    found += database
    if not database:
        found += [*_migrations(), *broker_problems(), *_system_checks()]
    return [*found, *_port(host, port), *_browser(), *_torch()]


def _python() -> Iterator[Problem]:
    major, minor, _ = platform.python_version_tuple()
    if (int(major), int(minor)) < OLDEST_PYTHON:
        yield Problem(
            "problem",
            f"Python {platform.python_version()} runs this, 3.11 or newer is needed.",
            "Install a newer Python and run `python3 dev.py setup` with it.",
        )


def _packages() -> Iterator[Problem]:
    lock = settings.BASE_DIR / "requirements" / "base.lock"
    wrong = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        name, _, wanted = line.partition("==")
        if not wanted or line.startswith("#"):
            continue
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "missing"
        if found.partition("+")[0] != wanted:
            wrong.append(f"{name} {found} (lock: {wanted})")
    if wrong:
        shown = ", ".join(wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
        yield Problem(
            "problem", f"Packages differ from {lock}: {shown}.", "Run `python3 dev.py setup`."
        )


def _folder() -> Iterator[Problem]:
    try:
        settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.VAR_DIR):
            pass
    except OSError as error:
        yield Problem(
            "problem",
            f"{settings.VAR_DIR} cannot be written: {error.strerror}.",
            "Give the folder to yourself with chown, or set STUDIO_VAR to one of your own.",
        )


def _disk() -> Iterator[Problem]:
    place: Path = settings.VAR_DIR if settings.VAR_DIR.exists() else settings.BASE_DIR
    free = shutil.disk_usage(place).free
    if free < LEAST_DISK:
        yield Problem(
            "problem",
            f"Only {free / 2**30:.1f} GiB are free at {place}; 2 are the least.",
            "Free some space, or set STUDIO_VAR to a folder on another disk.",
        )


def _database() -> Iterator[Problem]:
    try:
        embedded.prepare_environment()
    except embedded.ServerError as error:
        what, _, mend = str(error).rpartition("\n")
        yield Problem("problem", what or mend, mend)
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            number = int(cursor.fetchone()[0])
    except DatabaseError as error:
        yield Problem(
            "problem",
            f"The database does not answer: {' '.join(str(error).split())}",
            "Start it, or mend DATABASE_URL.",
        )
        return
    if number < OLDEST_POSTGRES:
        yield Problem(
            "problem",
            f"The database is PostgreSQL {number // 10000}; 14 or newer is needed.",
            "Point DATABASE_URL at a newer server, or unset it to use the embedded one.",
        )


def _migrations() -> Iterator[Problem]:
    missing = missing_migrations()
    if missing:
        yield Problem(
            "problem",
            f"The database lacks {len(missing)} migrations: {', '.join(missing[:5])}.",
            "Run `python3 manage.py migrate`.",
        )
    elif needs_owner():
        yield Problem(
            "note",
            "Nobody has an administrator's account with a password yet.",
            "`python3 manage.py up` prints a one-time sign-in link for the owner.",
        )


def broker_problems() -> Iterator[Problem]:
    """What is wrong with the broker: nothing, or that it does not answer."""
    url = settings.CELERY_BROKER_URL
    if not os.environ.get("BROKER_URL"):
        # The embedded one may have been started a moment ago, after the settings were read.
        url = embedded.known_addresses(settings.VAR_DIR).broker_url
    with Connection(url, connect_timeout=3) as broker:
        try:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=5)
        except (OperationalError, OSError) as error:
            yield Problem(
                "problem",
                f"The broker at {broker.as_uri()} does not answer: {error}",
                "Start it, mend BROKER_URL, or unset it to use the embedded one.",
            )


def _system_checks() -> Iterator[Problem]:
    for message in checks.run_checks():
        if message.level >= checks.ERROR:
            yield Problem("problem", f"{message.id}: {message.msg}", message.hint or "")


def _port(host: str, port: int) -> Iterator[Problem]:
    try:
        check_port(host, port)
    except PortError as error:
        yield Problem(
            "note", f"{error}".partition(". Choose")[0] + ".", "Is the studio running already? " +
            f"{error}".partition(". ")[2],
        )  # fmt: skip


def _browser() -> Iterator[Problem]:
    names = ("chromium", "chromium-browser", "google-chrome")
    if not os.environ.get("CHROMIUM") and not any(map(shutil.which, names)):
        yield Problem(
            "note",
            "No Chromium is installed: browser tests and `dev.py shots` cannot run.",
            "Debian and Ubuntu: apt-get install chromium; elsewhere name one in CHROMIUM.",
        )


def _torch() -> Iterator[Problem]:
    if find_spec("torch") is None:
        yield Problem(
            "note",
            "The training extra is not installed: everything but training works.",
            "Run `python3 dev.py setup` without --lite.",
        )
