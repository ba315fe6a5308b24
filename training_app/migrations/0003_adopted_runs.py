"""Where an adopted run was read from, and how many lines of its metrics were damaged."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('training_app', '0002_frozen_datasets'),
    ]

    operations = [
        migrations.AddField(
            model_name='trainingrun',
            name='adopted_from',
            field=models.CharField(blank=True, db_index=True, max_length=1000),
        ),
        migrations.AddField(
            model_name='trainingrun',
            name='damaged',
            field=models.PositiveIntegerField(default=0),
        ),
    ]
