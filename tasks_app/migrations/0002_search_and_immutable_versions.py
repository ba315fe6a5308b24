"""A trigram index for the search of the task list; versions that the database keeps as they are."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations

KEEP = """
CREATE FUNCTION tasks_version_never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a task version never changes: save a new one'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER tasks_version_never_changes BEFORE UPDATE ON tasks_app_taskversion
FOR EACH ROW WHEN (
    OLD.spec::text IS DISTINCT FROM NEW.spec::text
    OR OLD.hash IS DISTINCT FROM NEW.hash
    OR OLD.number IS DISTINCT FROM NEW.number
    OR OLD.task_id IS DISTINCT FROM NEW.task_id
) EXECUTE FUNCTION tasks_version_never_changes();
"""
RELEASE = """
DROP TRIGGER tasks_version_never_changes ON tasks_app_taskversion;
DROP FUNCTION tasks_version_never_changes();
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0001_tasks")]

    operations = [
        TrigramExtension(),
        migrations.AddIndex(
            "task", GinIndex(fields=["text"], name="task_text", opclasses=["gin_trgm_ops"])
        ),
        migrations.RunSQL(KEEP, RELEASE),
    ]
