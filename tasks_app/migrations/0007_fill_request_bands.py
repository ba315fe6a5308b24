"""Fill the bands of requests that were stored before there were any."""

from django.db import migrations

from studio.lib.similarity import band_keys
from tasks_app.models.fields import unpack_signature

_CHUNK = 500


def fill(apps, schema_editor):
    """Compute each from the stored MinHash; the requests themselves aren't read."""
    Task = apps.get_model("tasks_app", "Task")
    waiting = []
    rows = Task.objects.exclude(signature=None).filter(bands=[]).only("pk", "signature")
    for task in rows.iterator(chunk_size=_CHUNK):
        task.bands = list(band_keys(unpack_signature(task.signature)))
        waiting.append(task)
        if len(waiting) == _CHUNK:
            Task.objects.bulk_update(waiting, ["bands"])
            waiting.clear()
    Task.objects.bulk_update(waiting, ["bands"])


class Migration(migrations.Migration):

    dependencies = [
        ("tasks_app", "0006_request_bands"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
