"""A sample of a training run becomes an episode: its batch has a purpose of its own."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0004_fill_first_failures'),
        ('web', '0004_open_jobs_newest_first'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='rolloutbatch',
            name='batch_purpose_known',
        ),
        migrations.AlterField(
            model_name='rolloutbatch',
            name='purpose',
            field=models.CharField(choices=[('rollout', 'Rollout'), ('evaluation', 'Evaluation'), ('play', 'Played in the browser'), ('sample', 'Sample of a training run')], default='rollout', max_length=12),
        ),
        migrations.AddConstraint(
            model_name='rolloutbatch',
            constraint=models.CheckConstraint(condition=models.Q(('purpose__in', ['rollout', 'evaluation', 'play', 'sample'])), name='batch_purpose_known'),
        ),
    ]
