"""Runs a management command; brings up the embedded servers first where one needs them."""

import os
import sys

from studio import embedded

# Commands that read files and print: they must not wait for a database.
WITHOUT_DATABASE = frozenset(
    {
        "compilemessages",
        "diffsettings",
        "doctor",
        "export_openapi",
        "grade",
        "help",
        "makemessages",
        "probe",
        "startapp",
        "version",
    }
)


def main() -> int:
    """Start what the command needs, then hand over to Django."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    asks_for_help = bool({"-h", "--help", "--version"} & set(sys.argv[1:]))
    if command not in WITHOUT_DATABASE and not asks_for_help:
        try:
            embedded.prepare_environment()
        except embedded.ServerError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    from django.core.management import execute_from_command_line  # settings read what we started

    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
