"""The embedded servers, started for real in folders of their own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from studio import embedded
from studio.servers import ROOT_PLACE, reachable

PROJECT = Path(__file__).resolve().parents[2]
START = "from pathlib import Path; from studio import embedded; import sys; "
ENSURE = "embedded.ensure(Path(sys.argv[1]), durable=False, temporary=True, grace=0.5); "


@pytest.fixture
def var() -> Iterator[Path]:
    """A data folder in which whatever still runs at the end is stopped."""
    folder = Path(tempfile.mkdtemp(prefix="cws-tests-"))
    folder.chmod(0o755)
    yield folder
    if folder.exists():
        embedded.stop(folder)
        shutil.rmtree(folder)


def ensure(var: Path, *, durable: bool = False) -> embedded.Addresses:
    """Start or adopt, for most tests without waiting for a disk."""
    return embedded.ensure(var, durable=durable, grace=60)


def server_pids(var: Path) -> list[int]:
    """Return the process ids of PostgreSQL and Valkey."""
    files = (var / "postgres" / "postmaster.pid", var / "valkey" / "valkey.pid")
    return [int(path.read_text().split()[0]) for path in files]


def run_python(code: str, var: Path) -> subprocess.Popen[str]:
    """Start another client."""
    return subprocess.Popen(
        [sys.executable, "-c", START + code, str(var)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_second_start_adopts_what_runs(var: Path) -> None:
    first = ensure(var)
    pids = server_pids(var)

    assert ensure(var) == first
    assert server_pids(var) == pids
    assert embedded.known_addresses(var) == first
    assert embedded.running(var) == {"postgres": True, "valkey": True}


def test_starts_at_once_share_one_pair_of_servers(var: Path) -> None:
    code = "print(embedded.ensure(Path(sys.argv[1]), durable=False, grace=60).database_url)"
    clients = [run_python(code, var) for _ in range(4)]
    answers = [client.communicate()[0].strip() for client in clients]

    assert [client.returncode for client in clients] == [0, 0, 0, 0]
    assert set(answers) == {embedded.known_addresses(var).database_url}
    named = [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if str(var / "postgres") in (process.info["cmdline"] or [])
    ]
    assert len(named) == 1


def test_killed_client_lets_the_keeper_stop_and_tidy_up(var: Path) -> None:
    client = run_python(ENSURE + "print('up', flush=True); sys.stdin.read()", var)
    assert client.stdout is not None
    assert client.stdout.readline() == "up\n"
    servers = [psutil.Process(pid) for pid in server_pids(var)]
    sockets = Path(json.loads((var / "run" / "servers.json").read_text())["sockets"])

    client.kill()
    client.communicate()

    _, alive = psutil.wait_procs(servers, timeout=30)
    assert alive == []
    keepers = [
        process
        for process in psutil.process_iter(["cmdline"])
        if {"keep", str(var)} <= set(process.info["cmdline"] or [])
    ]
    psutil.wait_procs(keepers, timeout=30)
    assert (var.exists(), sockets.exists()) == (False, False)


def test_killed_server_comes_back_at_the_same_address_with_its_data(var: Path) -> None:
    before = ensure(var, durable=True)
    with psycopg.connect(before.database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    old = server_pids(var)
    servers = [psutil.Process(pid) for pid in old]
    for server in servers:
        server.kill()
    psutil.wait_procs(servers, timeout=10)

    assert ensure(var, durable=True) == before
    assert set(server_pids(var)) & set(old) == set()
    with psycopg.connect(before.database_url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)


def test_stale_pid_file_of_a_living_stranger_does_not_stop_the_start(var: Path) -> None:
    ensure(var)
    embedded.stop(var)
    (var / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{var / 'postgres'}\n")

    ensure(var)

    assert embedded.running(var) == {"postgres": True, "valkey": True}


def test_stop_ends_both_and_a_later_start_works(var: Path) -> None:
    ensure(var)
    servers = [psutil.Process(pid) for pid in server_pids(var)]

    embedded.stop(var)

    assert psutil.wait_procs(servers, timeout=10)[1] == []
    assert embedded.running(var) == {"postgres": False, "valkey": False}
    ensure(var)
    assert embedded.running(var) == {"postgres": True, "valkey": True}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands its database to another user")
def test_root_keeps_the_data_where_its_database_user_reaches_them(var: Path) -> None:
    closed = var / "closed"
    closed.mkdir(mode=0o700)
    inside = closed / "var"
    inside.mkdir()

    addresses = embedded.ensure(inside, durable=False, temporary=True, grace=60)

    try:
        place = Path((inside / "postgres.location").read_text().strip())
        assert (reachable(inside), place.is_relative_to(ROOT_PLACE)) == (False, True)
        with psycopg.connect(addresses.database_url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        embedded.stop(inside)
        shutil.rmtree(place.parent)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ann:secret@127.0.0.1:1/work", "database 'work' on 127.0.0.1:1"),
        ("mysql://ann:secret@127.0.0.1/work", "the scheme is 'mysql'"),
    ],
)
def test_command_with_a_broken_database_url_says_where_and_how_to_mend(url: str, says: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "studio.settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout == ""
    assert says in done.stderr
    assert "Mend DATABASE_URL" in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
