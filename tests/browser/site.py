"""A private studio for browser checks: own servers and data, thrown away at the end.

It must be opened before Django is set up, because the settings read what it starts.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from studio import embedded

PROJECT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 120.0
_SESSIONS = """
import json, sys
from django.contrib.auth import get_user_model
from django.test import Client
found = {}
for name, first, last, role in json.loads(sys.argv[1]):
    user, _ = get_user_model().objects.get_or_create(
        username=name, defaults={"first_name": first, "last_name": last, "role": role})
    user.set_password("correct horse battery staple")
    user.save()
    client = Client()
    client.force_login(user)
    found[name] = client.cookies["sessionid"].value
print("SESSIONS " + json.dumps(found))
"""
PASSWORD = "correct horse battery staple"


@dataclass(frozen=True)
class Site:
    """A running studio."""

    url: str
    environment: Mapping[str, str]

    def manage(self, *words: str) -> str:
        """Run one management command against it and return what it said."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=PROJECT,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"manage.py {' '.join(words[:2])} failed:\n{done.stderr[-2000:]}")
        return done.stdout

    def python(self, code: str, *words: str) -> str:
        """Run Python with Django set up against it and return what it said."""
        done = subprocess.run(
            [sys.executable, "-c", "import django; django.setup()\n" + code, *words],
            cwd=PROJECT,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"python failed:\n{done.stderr[-2000:]}")
        return done.stdout


@contextmanager
def private_site(*, workers: bool = False) -> Iterator[Site]:
    """Servers, migrated database and pages on a free port; all gone afterwards."""
    var = Path(tempfile.mkdtemp(prefix="cws-site-"))
    var.chmod(0o755)  # as root the database runs as another user, who must get in
    addresses = embedded.ensure(var, durable=False, temporary=True, grace=2.0)
    port = _free_port()
    environment = {
        **os.environ,
        "STUDIO_VAR": str(var),
        "DATABASE_URL": addresses.database_url,
        "BROKER_URL": addresses.broker_url,
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "STUDIO_SECRET_KEY": "made-up-for-tests-and-used-nowhere-else-at-all-0123",
        "STUDIO_LOG_LEVEL": "WARNING",
    }
    site = Site(f"http://127.0.0.1:{port}", environment)
    site.manage("migrate", "--verbosity", "0")
    log = (var / "site.log").open("w+b")
    command = [sys.executable, "manage.py", "up", "--port", str(port)]
    process = subprocess.Popen(
        command if workers else [*command, "--no-workers"],
        cwd=PROJECT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        _wait(site.url, process, var / "site.log")
        yield site
    finally:
        process.terminate()
        process.wait(timeout=20)
        log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{url}/sign-in/", timeout=5).close()  # noqa: S310 - our own
        except urllib.error.HTTPError:
            return  # it answers; what it answers is for the caller to judge
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"The studio did not start:\n{log.read_text(errors='replace')[-3000:]}")


@dataclass(frozen=True)
class Person:
    """Somebody with an account."""

    username: str
    first: str
    last: str
    role: str


def sign_in_all(site: Site, people: tuple[Person, ...]) -> dict[str, str]:
    """Make the accounts (all with PASSWORD) and return a session key for each."""
    words = json.dumps([[p.username, p.first, p.last, p.role] for p in people])
    said = site.python(_SESSIONS, words)
    line = next(line for line in said.splitlines() if line.startswith("SESSIONS "))
    found: dict[str, str] = json.loads(line.removeprefix("SESSIONS "))
    return found
