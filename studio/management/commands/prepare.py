"""Brings the database to what the code needs: migrations, then the demo."""

from io import StringIO
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from studio.migrations_state import missing_migrations
from tasks_app.models import Task


class Command(BaseCommand):
    """``manage.py prepare``; does nothing where nothing is missing."""

    requires_system_checks = []  # `check`, `doctor` and the tests run them; a start need not
    help = "Migrate the database and seed the demo, where they are not there yet."

    def handle(self, **options: Any) -> None:
        """One process for both: each start of Django costs a second."""
        missing = missing_migrations()
        if missing:
            self._say(f"Migrating the database ({len(missing)} migrations) ...")
            call_command("migrate", verbosity=0)
        if not Task.objects.exists():
            self._say("Seeding the demo ...")
        # It goes on where an earlier one was cut off; its table would be noise in the log of `up`.
        call_command("seed_demo", stdout=StringIO())

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
