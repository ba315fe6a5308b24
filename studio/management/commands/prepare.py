"""Brings the database to what the code needs: migrations, then the demo."""

from typing import Any

from django.core.management import call_command, get_commands
from django.core.management.base import BaseCommand

from studio.migrations_state import missing_migrations


class Command(BaseCommand):
    """``manage.py prepare``; does nothing where nothing is missing."""

    help = "Migrate the database and seed the demo, where they are not there yet."

    def handle(self, **options: Any) -> None:
        """One process for both: each start of Django costs a second."""
        missing = missing_migrations()
        if missing:
            self.stdout.write(f"Migrating the database ({len(missing)} migrations) ...")
            self.stdout.flush()
            call_command("migrate", verbosity=0)
        if "seed_demo" in get_commands():
            call_command("seed_demo", stdout=self.stdout)
