"""``manage.py export_openapi [FILE]``: the API's schema as JSON, the same bytes every time."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from studio.api import api


class Command(BaseCommand):
    """Writes what clients are generated from; a test compares it with tests/openapi.json."""

    help = "Write the OpenAPI schema of /api/v1 to FILE, or to the screen."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file."""
        parser.add_argument("file", nargs="?", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        """Write it."""
        text = schema_text()
        if options["file"] is None:
            self.stdout.write(text, ending="")
        else:
            options["file"].write_text(text, encoding="utf-8")


def schema_text() -> str:
    """The schema with sorted keys, one value a line, so that a change reads as a diff."""
    return json.dumps(api.get_openapi_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
