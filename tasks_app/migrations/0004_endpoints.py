"""Endpoints of language models, and the calls that were made to them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0003_attempts_by_plan'),
        ('web', '0004_open_jobs_newest_first'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ModelCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64, unique=True)),
                ('endpoint', models.CharField(max_length=40)),
                ('model', models.CharField(max_length=200)),
                ('subject', models.CharField(blank=True, max_length=40)),
                ('part', models.CharField(blank=True, max_length=40)),
                ('request', models.BinaryField()),
                ('answer', models.BinaryField()),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('seconds', models.FloatField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'verbose_name': 'model call',
                'ordering': ('-pk',),
                'indexes': [models.Index(fields=['subject', 'part'], name='model_call_subject_part')],
            },
        ),
        migrations.CreateModel(
            name='ModelEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
                ('base_url', models.CharField(max_length=500)),
                ('model', models.CharField(max_length=200)),
                ('api_key_env', models.CharField(blank=True, max_length=80)),
                ('roles', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), default=list, size=None)),
                ('sampling', models.JSONField(blank=True, default=dict)),
                ('abilities', models.JSONField(blank=True, default=dict)),
                ('latency', models.FloatField(blank=True, null=True)),
                ('probed_at', models.DateTimeField(blank=True, null=True)),
                ('probe_words', models.CharField(blank=True, max_length=2000)),
                ('active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='web.job')),
            ],
            options={
                'verbose_name': 'endpoint',
                'ordering': ('name',),
                'constraints': [models.CheckConstraint(condition=models.Q(('roles', []), _negated=True), name='endpoint_has_a_role')],
            },
        ),
    ]
