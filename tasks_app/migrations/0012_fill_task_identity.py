"""Fill what tasks are about, and which side they are on, for those stored before this was kept."""

from django.db import migrations

_CHUNK = 200


def fill(apps, schema_editor):
    """Read each current version once; one that this release cannot read stays without."""
    # Late: the core is read only where there is something to fill.
    from tasks_app.core.spec import SpecError, load_spec
    from tasks_app.operations.columns import identity, split_of

    Task = apps.get_model("tasks_app", "Task")
    waiting = []
    rows = Task.objects.filter(identity=[], evaluation_only=False, current__isnull=False)
    for task in rows.select_related("current").iterator(chunk_size=_CHUNK):
        try:
            spec = load_spec(task.current.spec)
        except SpecError:
            continue
        task.identity = identity(spec)
        task.split = split_of(spec).value
        waiting.append(task)
        if len(waiting) == _CHUNK:
            Task.objects.bulk_update(waiting, ["identity", "split"])
            waiting.clear()
    Task.objects.bulk_update(waiting, ["identity", "split"])


class Migration(migrations.Migration):

    dependencies = [
        ("tasks_app", "0011_task_identity"),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
