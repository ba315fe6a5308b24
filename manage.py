"""Runs a management command; brings up the embedded servers first where one needs them."""

import errno
import json
import os
import sys
from pathlib import Path

# What dev.py has set up; `python3 manage.py` means it.
OUR_PYTHON = Path(__file__).resolve().parent / ".venv" / "bin" / "python"
# Commands that read files and print: they must not wait for a database.
WITHOUT_DATABASE = frozenset(
    {
        "collectstatic",
        "diffsettings",
        "doctor",  # looks at the servers itself, and has to say so when they are broken
        "export_openapi",
        "grade",
        "help",
        "probe",
        "version",
    }
)


def main(arguments: list[str]) -> int:
    """Start what the command needs, then hand over to Django."""
    if sys.prefix == sys.base_prefix and OUR_PYTHON.exists():
        os.execv(OUR_PYTHON, [str(OUR_PYTHON), *arguments])  # noqa: S606 - no shell wanted
    # Late: a Python without our packages must get past the line above.
    from studio import embedded

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    command = arguments[1] if len(arguments) > 1 else "help"
    asks_for_help = bool({"-h", "--help", "--version"} & set(arguments[1:]))
    if command not in WITHOUT_DATABASE and not asks_for_help:
        try:
            embedded.prepare_environment()
        except embedded.ServerError as error:
            return fail(arguments, str(error))
    # Late: the settings read the addresses of what has just been started.
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018 - reads the settings
    except ImproperlyConfigured as error:
        return fail(arguments, str(error))
    try:
        execute_from_command_line(arguments)
        sys.stdout.flush()  # what cannot be written shows here, not after the last line of ours
    except OSError as error:
        if error.errno not in {errno.EPIPE, errno.ENOSPC}:
            raise
        # Python writes what is left of the output at its end: there is no place for it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            return 1  # the reader has gone, as with `| head`
        return fail(arguments, f"{error.filename or 'The output'}: {error.strerror}.")
    return 0


def fail(arguments: list[str], message: str) -> int:
    """Say why nothing could start; ``--json`` is promised an object as its last line."""
    sys.stderr.write(f"{message}\n")
    if "--json" in arguments and "doctor" in arguments:
        problem = {"level": "problem", "what": message, "mend": "Mend the variable it names."}
        sys.stdout.write(json.dumps({"problems": [problem]}) + "\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
