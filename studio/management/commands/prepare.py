"""Brings the database to what the code needs: migrations, then the demo."""

from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

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
        # Only an empty studio, or one whose seeding was cut off: a demo that people have worked
        # on, retired or rejected must never keep the studio from starting.
        unfinished: Path = settings.VAR_DIR / "demo-unfinished"
        if unfinished.exists() or not Task.objects.exists():
            self._say("Seeding the demo ...")
            unfinished.touch()
            try:
                call_command("seed_demo", stdout=StringIO())
            except CommandError as error:
                self.stderr.write(f"The demo is incomplete, the studio is not: {error}")
            unfinished.unlink()

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
