"""Says what is missing on this machine and how to mend it."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from studio.diagnosis import diagnose


class Command(BaseCommand):
    """``manage.py doctor``; ends with 1 where a problem was found, notes are no problems."""

    help = "Say what is missing on this machine and how to mend it."
    requires_system_checks = []  # it runs them itself, after what they need

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to look at, how to answer."""
        parser.add_argument("--json", action="store_true", help="the last line is one JSON object")
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000, help="the port `up` would use")

    def handle(self, **options: Any) -> None:
        """Look, then answer."""
        found = diagnose(host=options["host"], port=options["port"])
        if options["json"]:
            self.stdout.write(json.dumps({"problems": [item._asdict() for item in found]}))
        elif not found:
            self.stdout.write("Nothing is missing.")
        else:
            for item in found:
                style = self.style.ERROR if item.level == "problem" else self.style.WARNING
                self.stdout.write(style(f"{item.level}: {item.what}"))
                self.stdout.write(f"    {item.mend}")
        if any(item.level == "problem" for item in found):
            raise SystemExit(1)
