"""What failed first in an episode, and indexes for it and for what is left to run."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('rollouts_app', '0002_model_batches'),
        ('tasks_app', '0004_endpoints'),
    ]

    operations = [
        migrations.AddField(
            model_name='episode',
            name='first_failed',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddIndex(
            model_name='episode',
            index=models.Index(condition=models.Q(('state__in', ['queued', 'failed'])), fields=['batch', 'attempts', 'version', 'group_index'], name='episode_open'),
        ),
        migrations.AddIndex(
            model_name='episode',
            index=models.Index(condition=models.Q(('first_failed', ''), _negated=True), fields=['first_failed', '-created_at', '-id'], name='episode_failed_first'),
        ),
        migrations.AddIndex(
            model_name='episode',
            index=models.Index(condition=models.Q(('first_failed', ''), _negated=True), fields=['batch', 'first_failed'], name='episode_batch_failures'),
        ),
    ]
