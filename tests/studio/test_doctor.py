"""manage.py doctor, run as people run it."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def doctor(*words: str, **variables: str) -> tuple[int, list[dict[str, str]]]:
    """Return the exit code and the problems of the last line."""
    done = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json", *words],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "studio.settings", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    assert list(answer) == ["problems"]
    return done.returncode, answer["problems"]


def test_database_without_migrations_is_a_problem_with_the_command_that_mends_it() -> None:
    code, problems = doctor()
    migrations = [item for item in problems if "migrations" in item["what"]]
    assert code == 1
    assert [item["mend"] for item in migrations] == ["Run `python3 manage.py migrate`."]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://ann:secret@127.0.0.1:1/work", "database 'work' on 127.0.0.1:1"),
        ("oracle://ann:secret@127.0.0.1/work", "only PostgreSQL works"),
    ],
)
def test_broken_database_url_is_named_without_its_password(url: str, says: str) -> None:
    code, problems = doctor(DATABASE_URL=url)
    assert code == 1
    assert says in problems[0]["what"]
    assert "secret" not in json.dumps(problems)


def test_busy_port_is_a_note() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        _, problems = doctor("--port", str(port))
    assert [item["level"] for item in problems if f"Port {port}" in item["what"]] == ["note"]
