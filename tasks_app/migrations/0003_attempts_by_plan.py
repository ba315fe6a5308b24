"""Attempts carry the key of their draft, so that a run that is run again keeps each once."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0002_search_and_immutable_versions")]

    operations = [
        migrations.AddField(
            "attempt", "key", models.CharField(default="", max_length=120), preserve_default=False
        ),
        migrations.RenameField("attempt", "rounds", "round"),
        migrations.AddConstraint(
            "attempt", models.UniqueConstraint(fields=["run", "key"], name="attempt_key_once")
        ),
    ]
