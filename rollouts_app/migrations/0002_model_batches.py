"""Batches that a model runs: how it answers, how many at once, what it may spend."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0001_episodes'),
    ]

    operations = [
        migrations.AddField(
            model_name='rolloutbatch',
            name='budget_calls',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='rolloutbatch',
            name='budget_tokens',
            field=models.PositiveBigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='rolloutbatch',
            name='concurrency',
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name='rolloutbatch',
            name='sampling',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='rolloutbatch',
            name='usage',
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
