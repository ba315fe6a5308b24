"""Reads a database URL into Django's connection settings and says what is wrong with a bad one."""

from typing import TypedDict
from urllib.parse import parse_qsl, unquote, urlsplit

EXAMPLE = "postgresql://user:password@host:5432/name"


class AddressError(ValueError):
    """The URL cannot be read; the message says what is wrong and how it should look."""


class Connection(TypedDict):
    """The part of Django's DATABASES entry that a URL describes."""

    NAME: str
    USER: str
    PASSWORD: str
    HOST: str
    PORT: str
    OPTIONS: dict[str, str]


def parse_database_url(url: str) -> Connection:
    """Return the connection; a socket folder is given as ``postgresql://user@/name?host=/folder``.

    The password never appears in an error.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise AddressError(f"not a URL ({error}); expected {EXAMPLE}") from error
    if parts.scheme not in {"postgresql", "postgres"}:
        raise AddressError(
            f"the scheme is {parts.scheme or 'missing'!r}, but only PostgreSQL works; "
            f"expected {EXAMPLE}"
        )
    name = unquote(parts.path.lstrip("/"))
    if not name or "/" in name:
        raise AddressError(f"the database name is {name or 'missing'!r}; expected {EXAMPLE}")
    options = dict(parse_qsl(parts.query))
    host = options.pop("host", "") or unquote(parts.hostname or "")
    if not host:
        raise AddressError(f"the host is missing; expected {EXAMPLE}")
    return Connection(
        NAME=name,
        USER=unquote(parts.username or ""),
        PASSWORD=unquote(parts.password or ""),
        HOST=host,
        PORT=options.pop("port", "") or (str(port) if port else ""),
        OPTIONS=options,
    )
