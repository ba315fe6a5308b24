"""Settings read from the environment, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SPEC = "tests/specs/support_resolution.json"


def manage(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a management command with some variables changed."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "studio.settings", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("STUDIO_HTTPS", "perhaps", "STUDIO_HTTPS='perhaps' is neither 1/true/yes/on nor"),
        ("STUDIO_MAX_BODY_BYTES", "20 MB", "STUDIO_MAX_BODY_BYTES='20 MB' is not a whole number"),
        ("STUDIO_TIME_ZONE", "Mars/Base", "STUDIO_TIME_ZONE='Mars/Base' is not a time zone"),
        ("STUDIO_TIME_ZONE", "../etc", "STUDIO_TIME_ZONE='../etc' is not a time zone"),
        ("STUDIO_LOG_LEVEL", "LOUD", "STUDIO_LOG_LEVEL='LOUD' is not one of DEBUG, INFO,"),
    ],
)
def test_wrong_value_ends_the_start_with_one_line_that_names_it(
    name: str, value: str, says: str
) -> None:
    done = manage("check", **{name: value})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(says)
    assert "Traceback" not in done.stderr


def test_secret_is_made_once_and_kept_for_its_owner(tmp_path: Path) -> None:
    code = "from django.conf import settings; print(settings.SECRET_KEY)"
    words = ["shell", "--no-imports", "-c", code]
    first, second = (
        manage(*words, STUDIO_VAR=str(tmp_path), STUDIO_SECRET_KEY="") for _ in range(2)
    )
    assert first.stdout == second.stdout
    assert len(first.stdout.strip()) > 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("below", ["", "/deeper"])
@pytest.mark.parametrize("command", ["check", "grade"])
def test_a_folder_for_data_that_cannot_be_used_is_named_with_the_way_out(
    command: str, below: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    variables = {"DATABASE_URL": "", "BROKER_URL": "", "STUDIO_SECRET_KEY": ""}
    done = manage(command, STUDIO_VAR=f"{tmp_path}/file{below}", **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{tmp_path}/file")
    assert "set STUDIO_VAR to a folder that you can write to" in done.stderr
    assert "Traceback" not in done.stderr


def test_deployment_warnings_have_ids_and_vanish_when_mended() -> None:
    bad = manage("check", "--deploy")
    good = manage("check", "--deploy", STUDIO_HTTPS="1", STUDIO_ALLOWED_HOSTS="studio.example")
    assert ("studio.W001" in bad.stderr, "studio.W002" in bad.stderr) == (True, True)
    assert "studio.W" not in good.stderr


@pytest.mark.parametrize(
    ("sink", "says"),
    [("/dev/full", "The output: No space left on device.\n"), ("a closed pipe", "")],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_ends_without_a_traceback(
    sink: str, says: str, unbuffered: str
) -> None:
    if sink == "a closed pipe":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open(sink, os.O_WRONLY)
    done = subprocess.run(
        [sys.executable, "manage.py", "grade", "--spec", SPEC, "--calls", "/dev/stdin"],
        cwd=PROJECT,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        input="[]",
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, says)
