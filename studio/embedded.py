"""The embedded servers as everybody else sees them: start or adopt, know the clients, stop.

State lies in ``var/run``: ``servers.json`` (addresses), ``clients/PID`` (who needs them) and two
locks. A keeper, a small process in a session of its own, restarts a server that died while it has
clients and stops both soon after the last client is gone, however it went: a client's file is
checked against the process table, so kill -9 counts too. Every change happens under one file
lock; the keeper holds a second one for its lifetime, which is how its absence is noticed.
"""

import argparse
import contextlib
import fcntl
import json
import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from studio.addresses import AddressError, parse_database_url
from studio.servers import (
    Identity,
    Postgres,
    ServerError,
    Valkey,
    let_go,
    make_socket_folder,
    spawn,
)

__all__ = [
    "Addresses",
    "ServerError",
    "ensure",
    "known_addresses",
    "prepare_environment",
    "running",
    "stop",
    "var_dir",
]

logger = logging.getLogger(__name__)

PROJECT = Path(__file__).resolve().parent.parent
# Seconds the servers outlive their last client; with stopping itself it stays under 30.
GRACE = 20.0
LOCK_PATIENCE = 90.0


class Addresses(NamedTuple):
    """What DATABASE_URL and BROKER_URL would say."""

    database_url: str
    broker_url: str


class State(NamedTuple):
    """The content of ``servers.json``."""

    sockets: Path
    durable: bool  # False: no fsync, no append-only file
    temporary: bool  # the keeper deletes the whole folder at the end
    grace: float
    postgres: bool
    valkey: bool


def var_dir() -> Path:
    """Return where everything that is not source lies: STUDIO_VAR, else ``var`` in the project."""
    return Path(os.environ.get("STUDIO_VAR") or PROJECT / "var").resolve()


def known_addresses(var: Path) -> Addresses:
    """Return the addresses of what was started last; nothing is started or checked."""
    state = _read_state(var)
    sockets = state.sockets if state else var / "run" / "not-started"
    return _addresses(sockets)


def prepare_environment() -> None:
    """Bring up what this process needs and has no URL for; check the URL it does have."""
    database_url = os.environ.get("DATABASE_URL", "").strip()
    broker_url = os.environ.get("BROKER_URL", "").strip()
    if database_url:
        check_database(database_url)
    if not (database_url and broker_url):
        ensure(var_dir(), postgres=not database_url, valkey=not broker_url)


def check_database(url: str) -> None:
    """Raise ServerError where the URL is wrong or nobody answers there."""
    mend = (
        "Mend DATABASE_URL (postgresql://user:password@host:5432/name), "
        "or unset it to use the embedded server."
    )
    try:
        place = parse_database_url(url)
    except AddressError as error:
        raise ServerError(f"DATABASE_URL: {error}.\n{mend}") from error
    import psycopg  # only who has a server of his own pays for these
    from psycopg.conninfo import make_conninfo

    try:
        psycopg.connect(
            make_conninfo(
                host=place["HOST"],
                port=place["PORT"] or None,
                user=place["USER"] or None,
                password=place["PASSWORD"] or None,
                dbname=place["NAME"],
                **{"connect_timeout": "5", **place["OPTIONS"]},
            )
        ).close()
    except (psycopg.Error, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ServerError(
            f"DATABASE_URL: cannot connect to database {place['NAME']!r} on "
            f"{place['HOST']}:{place['PORT'] or 5432}: {reason}.\n{mend}"
        ) from error


def ensure(
    var: Path,
    *,
    postgres: bool = True,
    valkey: bool = True,
    durable: bool = True,
    temporary: bool = False,
    grace: float = GRACE,
) -> Addresses:
    """Start or adopt the servers and count this process among their clients.

    Side effects: processes in sessions of their own, files under ``var`` and one short folder for
    the sockets. Safe to call again, and from many processes at once.
    """
    try:
        with _lock(var, "embedded.lock"):
            _register(var, os.getpid())
            old = _read_state(var)
            sockets = make_socket_folder(old.sockets if old else None)
            state = State(
                sockets=sockets,
                durable=durable,
                temporary=temporary,
                grace=grace,
                postgres=postgres or bool(old and old.postgres),
                valkey=valkey or bool(old and old.valkey),
            )
            _write_state(var, state)
            _start_what_is_down(var, state)
            _start_keeper(var)
    except PermissionError as error:
        raise ServerError(
            f"No permission for {error.filename}. The folder {var} belongs to somebody else "
            "(was it started as root?): give it to yourself with chown, or set STUDIO_VAR "
            "to a folder of your own."
        ) from error
    except (FileNotFoundError, NotADirectoryError, FileExistsError) as error:
        raise ServerError(
            f"{error.filename}: {error.strerror}. Data are kept in {var}: set STUDIO_VAR to a "
            "folder that you can write to."
        ) from error
    return _addresses(state.sockets)


def running(var: Path) -> dict[str, bool]:
    """Tell which servers accept connections, without starting any."""
    state = _read_state(var)
    if state is None:
        return {"postgres": False, "valkey": False}
    return {
        "postgres": Postgres(var, state.sockets, durable=state.durable).running(),
        "valkey": Valkey(var, state.sockets, durable=state.durable).running(),
    }


def stop(var: Path) -> None:
    """Stop the servers now, whoever uses them; the keeper notices and leaves."""
    with _lock(var, "embedded.lock"):
        _stop_servers(var)


def _addresses(sockets: Path) -> Addresses:
    return Addresses(Postgres.url(sockets), Valkey.url(sockets))


def _run_dir(var: Path) -> Path:
    folder = var / "run"
    (folder / "clients").mkdir(parents=True, exist_ok=True)
    return folder


def _read_state(var: Path) -> State | None:
    try:
        raw = json.loads((var / "run" / "servers.json").read_text(encoding="utf-8"))
        return State(**{**raw, "sockets": Path(raw["sockets"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_state(var: Path, state: State) -> None:
    path = _run_dir(var) / "servers.json"
    new = path.with_suffix(".new")
    new.write_text(json.dumps({**state._asdict(), "sockets": str(state.sockets)}), encoding="utf-8")
    new.replace(path)


@contextlib.contextmanager
def _lock(var: Path, name: str) -> Iterator[None]:
    path = _run_dir(var) / name
    deadline = time.monotonic() + LOCK_PATIENCE
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ServerError(
                        f"Another process has held {path} for {LOCK_PATIENCE:.0f} s: "
                        "look for a hanging start of the embedded servers."
                    ) from None
                time.sleep(0.02)
        yield


def _register(var: Path, pid: int) -> None:
    identity = Identity.of(pid)
    if identity is not None:
        path = _run_dir(var) / "clients" / str(pid)
        path.write_text(f"{identity.created!r}\n", encoding="ascii")


def _clients(var: Path) -> list[int]:
    """Return the living clients; the files of the dead are removed."""
    alive = []
    for path in sorted((_run_dir(var) / "clients").iterdir()):
        try:
            identity = Identity(int(path.name), float(path.read_text(encoding="ascii")))
        except FileNotFoundError:
            continue
        except ValueError:
            identity = Identity(0, 0.0)  # half-written by a process that was killed
        if identity.alive():
            alive.append(identity.pid)
        else:
            path.unlink(missing_ok=True)
    return alive


def _start_what_is_down(var: Path, state: State) -> None:
    if state.postgres:
        database = Postgres(var, state.sockets, durable=state.durable)
        if not database.running():
            database.start()
    if state.valkey:
        broker = Valkey(var, state.sockets, durable=state.durable)
        if not broker.running():
            broker.start()


def _stop_servers(var: Path) -> None:
    state = _read_state(var)
    if state is None:
        return
    Valkey(var, state.sockets, durable=state.durable).stop()
    Postgres(var, state.sockets, durable=state.durable).stop()
    (var / "run" / "servers.json").unlink(missing_ok=True)
    shutil.rmtree(state.sockets, ignore_errors=True)


def _start_keeper(var: Path) -> None:
    """Start the keeper unless one holds its lock."""
    with (_run_dir(var) / "keeper.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    command = [sys.executable, "-m", "studio.embedded", "keep", "--var", str(var)]
    let_go(spawn(command, _run_dir(var) / "keeper.log", PROJECT))


def keep(var: Path) -> None:
    """Watch the clients until none is left for the grace time, then stop the servers.

    Two keepers started at once: the second finds the lock taken and leaves.
    """
    with (_run_dir(var) / "keeper.lock").open("a") as mine:
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        with contextlib.suppress(FileNotFoundError):
            _watch(var)


def _watch(var: Path) -> None:
    last_seen = time.monotonic()
    while True:
        time.sleep(0.5)
        state = _read_state(var)
        if state is None:
            return  # stopped by hand, or the whole folder was deleted
        if _clients(var):
            last_seen = time.monotonic()
            _mend(var)
        elif time.monotonic() - last_seen >= state.grace:
            with _lock(var, "embedded.lock"):
                if _clients(var):  # somebody came while we waited for the lock
                    continue
                logger.info("no clients for %.0f s: stopping the servers", state.grace)
                _stop_servers(var)
                if state.temporary:
                    Postgres(var, state.sockets, durable=state.durable).remove()
                    shutil.rmtree(var, ignore_errors=True)
                return


def _mend(var: Path) -> None:
    """Restart what died under its clients, at the same address."""
    state = _read_state(var)
    up = running(var)
    if state is None or (up["postgres"] >= state.postgres and up["valkey"] >= state.valkey):
        return
    with _lock(var, "embedded.lock"):
        state = _read_state(var)
        if state is None:
            return
        logger.warning("a server is down: starting it again")
        try:
            make_socket_folder(state.sockets)
            _start_what_is_down(var, state)
        except ServerError:
            logger.exception("the server did not start; trying again")


def main(arguments: list[str]) -> int:
    """Entry point: ``python -m studio.embedded start | stop | status | keep``."""
    parser = argparse.ArgumentParser(prog="python -m studio.embedded", description=__doc__)
    parser.add_argument("act", choices=["stop", "status", "keep"])
    parser.add_argument("--var", type=Path, default=None, help="data folder (default: STUDIO_VAR)")
    options = parser.parse_args(arguments)
    var = (options.var or var_dir()).resolve()
    try:
        if options.act == "stop":
            stop(var)
        elif options.act == "status":
            sys.stdout.write(json.dumps(running(var)) + "\n")
        else:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            keep(var)
    except ServerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
