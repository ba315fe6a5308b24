"""Stretches of long runs, counted up once; a run of before gets its own with its next step."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("training_app", "0003_adopted_runs")]

    operations = [
        migrations.CreateModel(
            name="MetricBucket",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("width", models.PositiveIntegerField()),
                ("layout", models.CharField(max_length=12)),
                ("first", models.PositiveIntegerField()),
                ("last", models.PositiveIntegerField()),
                ("samples", models.PositiveBigIntegerField()),
                ("seconds", models.FloatField()),
                ("figures", models.BinaryField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="buckets",
                        to="training_app.trainingrun",
                    ),
                ),
            ],
            options={
                "ordering": ("run", "number"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "number"), name="metric_bucket_once"
                    )
                ],
            },
        ),
    ]
