"""Reading DATABASE_URL."""

import pytest

from studio.addresses import AddressError, parse_database_url


def test_full_url_gives_every_part() -> None:
    assert parse_database_url("postgresql://ann:p%40ss@db.example:6432/work?sslmode=require") == {
        "NAME": "work",
        "USER": "ann",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": "6432",
        "OPTIONS": {"sslmode": "require"},
    }


def test_socket_folder_is_the_host() -> None:
    assert parse_database_url("postgresql://studio@/studio?host=/tmp/x&port=5432") == {
        "NAME": "studio",
        "USER": "studio",
        "PASSWORD": "",
        "HOST": "/tmp/x",
        "PORT": "5432",
        "OPTIONS": {},
    }


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite:///db.sqlite3", "only PostgreSQL works"),
        ("postgresql://ann:secret@host", "database name is 'missing'"),
        ("postgresql://ann:secret@/work", "host is missing"),
        ("postgresql://ann:secret@host:port/work", "not a URL"),
    ],
)
def test_bad_url_names_the_fault_and_keeps_the_password(url: str, says: str) -> None:
    with pytest.raises(AddressError, match=says) as raised:
        parse_database_url(url)
    assert "secret" not in str(raised.value)
