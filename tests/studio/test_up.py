"""manage.py up, as somebody meets it who has just cloned the project."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from studio import embedded
from studio.ports import free_port

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def var() -> Iterator[Path]:
    """A data folder with empty servers of its own."""
    folder = Path(tempfile.mkdtemp(prefix="cws-tests-"))
    folder.chmod(0o755)
    embedded.ensure(folder, durable=False, grace=60)
    yield folder
    embedded.stop(folder)
    shutil.rmtree(folder)


def start(var: Path, *words: str, command: str = "up", broker: str = "") -> "subprocess.Popen[str]":
    """Start a management command on the servers of a folder, or with another broker."""
    addresses = embedded.known_addresses(var)
    return subprocess.Popen(
        [sys.executable, "manage.py", command, *words],
        cwd=PROJECT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "studio.settings",
            "STUDIO_VAR": str(var),
            "DATABASE_URL": addresses.database_url,
            "BROKER_URL": broker or addresses.broker_url,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_until(process: "subprocess.Popen[str]", pattern: str) -> str:
    """Read the log up to the line that the pattern is found in; return that line."""
    assert process.stdout is not None
    for line in process.stdout:
        if re.search(pattern, line):
            return line.strip()
    _, err = process.communicate()
    raise AssertionError(f"it ended before it said {pattern!r}: {err}")


def answer(url: str) -> tuple[int, bytes]:
    """Return status and body of a page."""
    with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310 - our own address
        return response.status, response.read()


def test_busy_port_is_named_with_a_free_one(var: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        out, err = start(var, "--port", str(port)).communicate(timeout=60)

    assert out == ""
    assert re.fullmatch(
        rf"CommandError: Port {port} on 127\.0\.0\.1 is in use by another programme\. "
        r"Choose another one: --port \d+\n",
        err,
    )


def test_a_broker_that_does_not_answer_ends_the_start_with_its_address(var: Path) -> None:
    port = free_port("127.0.0.1", 20000)
    silent = free_port("127.0.0.1", 22000)
    process = start(var, "--port", str(port), broker=f"redis://127.0.0.1:{silent}/0")
    out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (1, "")
    assert re.fullmatch(  # a password, were there one, is not shown
        rf"CommandError: The broker at redis://(:\*\*@)?127\.0\.0\.1:{silent}/0 does not answer: "
        r".+ Start it, mend BROKER_URL, or unset it to use the embedded one\.\n",
        err,
    )


def test_database_without_migrations_is_answered_with_the_command_that_mends_it(var: Path) -> None:
    process = start(var, "--port", str(free_port("127.0.0.1", 20000)))
    _, err = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "Run `python3 manage.py migrate`, or start with `python3 dev.py run`." in err


@pytest.mark.slow
def test_first_start_leads_to_the_owner_and_survives_a_killed_web_server(var: Path) -> None:
    port = free_port("127.0.0.1", 21000)
    url = f"http://127.0.0.1:{port}"
    assert start(var, command="migrate").communicate(timeout=120)[1] == ""
    process = start(var, "--port", str(port))
    try:
        assert read_until(process, "^Ready") == f"Ready: {url}/"
        link = re.sub("^.*: http", "http", read_until(process, "Sign in as the owner"))
        assert answer(f"{url}/healthz")[0] == 200
        assert answer(link)[0] == 200
        read_until(process, r"@\S+ ready")

        children = psutil.Process(process.pid).children()
        web = next(child for child in children if "granian" in " ".join(child.cmdline()))
        web.kill()
        read_until(process, "ended with signal SIGKILL; starting again in 1 s")
        tree = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)

    assert process.returncode == 0
    assert out.splitlines()[-1] == "Stopped."
    assert psutil.wait_procs(tree, timeout=10)[1] == []
