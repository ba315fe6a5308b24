"""Says whether a port can be listened on, in words a person can act on, and where we are served."""

import errno
import socket
from pathlib import Path

USUAL_ADDRESS = "http://127.0.0.1:8000"


class PortError(RuntimeError):
    """The port cannot be used; the message names it and another one."""


def check_port(host: str, port: int) -> None:
    """Raise PortError unless the port can be listened on."""
    if not 0 < port < 65536:
        raise PortError(f"--port {port} is not between 1 and 65535.")
    try:
        _bind(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortError(
                f"Port {port} on {host} is in use by another programme. "
                f"Choose another one: --port {free_port(host, port)}"
            ) from error
        raise PortError(
            f"Cannot listen on {host} port {port}: {error.strerror or error}. "
            "Choose others with --host and --port."
        ) from error


def remember_address(var: Path, url: str) -> None:
    """Keep where the studio is served, for commands that print links to it."""
    place = var / "run" / "address"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(url, encoding="ascii")


def last_address(var: Path) -> str:
    """Where it is served, or was last; the usual address before the first start."""
    try:
        found = (var / "run" / "address").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return USUAL_ADDRESS
    return found if found.startswith("http") else USUAL_ADDRESS


def free_port(host: str, above: int) -> int:
    """Return the next port above that can be listened on, 0 where a hundred are taken."""
    for port in range(above + 1, min(above + 101, 65536)):
        try:
            _bind(host, port)
        except OSError:
            continue
        return port
    return 0


def _bind(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the web server does it: a port in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((host, port))
