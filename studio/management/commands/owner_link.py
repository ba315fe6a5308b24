"""``manage.py owner_link``: a new one-time sign-in link for the owner, for a lost password."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from studio.lib.jsonvalue import JsonObject
from studio.ports import last_address
from studio.web.access import create_owner_link
from studio.web.commands import StudioCommand


class Command(StudioCommand):
    """Whoever can run commands on the server owns the studio anyway."""

    help = "Print a one-time link that signs the owner in within a day."

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Where the studio is reached."""
        parser.add_argument(
            "--base-url", default="", help="address of the studio (default: where `up` serves it)"
        )

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Make the link; earlier unused ones stop working."""
        return {"url": create_owner_link(options["base_url"] or last_address(settings.VAR_DIR))}
