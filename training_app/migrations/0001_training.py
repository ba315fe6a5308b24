
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('rollouts_app', '0002_model_batches'),
        ('tasks_app', '0004_endpoints'),
        ('web', '0004_open_jobs_newest_first'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Checkpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(editable=False, max_length=20, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('step', models.PositiveIntegerField()),
                ('bytes', models.PositiveBigIntegerField(default=0)),
                ('evaluation', models.JSONField(blank=True, default=dict)),
                ('promoted', models.BooleanField(default=False)),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ('run', 'step'),
            },
        ),
        migrations.CreateModel(
            name='Dataset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(editable=False, max_length=20, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('name', models.CharField(max_length=80, unique=True)),
                ('kind', models.CharField(choices=[('demonstrations', 'Demonstrations'), ('prompts', 'Prompts')], max_length=16)),
                ('filter', models.CharField(blank=True, max_length=2000)),
                ('rules', models.JSONField(blank=True, default=dict)),
                ('split_kind', models.CharField(choices=[('new_instances', 'New instances'), ('new_families', 'New families')], default='new_instances', max_length=16)),
                ('rows', models.PositiveIntegerField(default=0)),
                ('dropped', models.JSONField(blank=True, default=dict)),
                ('lint', models.JSONField(blank=True, default=list)),
                ('composition', models.JSONField(blank=True, default=dict)),
                ('manifest', models.JSONField(blank=True, default=dict)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('frozen_at', models.DateTimeField(blank=True, null=True)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='web.job')),
            ],
            options={
                'ordering': ('-created_at', '-id'),
            },
        ),
        migrations.CreateModel(
            name='DatasetItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('portion', models.CharField(choices=[('train', 'Train'), ('held_out', 'Held out')], default='train', max_length=8)),
                ('source', models.CharField(blank=True, max_length=80)),
                ('row', models.BinaryField()),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='training_app.dataset')),
                ('episode', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='rollouts_app.episode')),
                ('version', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='tasks_app.taskversion')),
            ],
            options={
                'ordering': ('dataset', 'position'),
            },
        ),
        migrations.CreateModel(
            name='DeviceTicket',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('device', models.CharField(max_length=40)),
                ('what', models.CharField(max_length=80)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('released_at', models.DateTimeField(blank=True, null=True)),
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='device_ticket', to='web.job')),
            ],
            options={
                'ordering': ('device', 'pk'),
            },
        ),
        migrations.CreateModel(
            name='Suite',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(editable=False, max_length=20, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('name', models.CharField(max_length=80, unique=True)),
                ('filter', models.CharField(blank=True, max_length=2000)),
                ('split_kind', models.CharField(choices=[('new_instances', 'New instances'), ('new_families', 'New families')], default='new_instances', max_length=16)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.PositiveIntegerField(default=0)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('name',),
            },
        ),
        migrations.CreateModel(
            name='Evaluation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(editable=False, max_length=20, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('endpoint', models.CharField(blank=True, max_length=40)),
                ('greedy', models.BooleanField(default=True)),
                ('group_size', models.PositiveSmallIntegerField(default=1)),
                ('seed', models.PositiveBigIntegerField(default=0)),
                ('report', models.JSONField(blank=True, default=dict)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('baseline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='compared', to='training_app.evaluation')),
                ('batch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='rollouts_app.rolloutbatch')),
                ('checkpoint', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='training_app.checkpoint')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='web.job')),
                ('suite', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='training_app.suite')),
            ],
            options={
                'ordering': ('-created_at', '-id'),
            },
        ),
        migrations.CreateModel(
            name='SuiteItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('suite', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='training_app.suite')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tasks_app.taskversion')),
            ],
            options={
                'ordering': ('suite', 'position'),
            },
        ),
        migrations.CreateModel(
            name='TrainingRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(editable=False, max_length=20, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('preset', models.CharField(blank=True, max_length=40)),
                ('algorithm', models.CharField(choices=[('sft', 'SFT'), ('grpo', 'GRPO'), ('gdpo', 'GDPO'), ('gigpo', 'GiGPO'), ('dr_grpo', 'Dr.GRPO')], max_length=8)),
                ('recipe', models.JSONField()),
                ('recipe_hash', models.CharField(max_length=64)),
                ('seed', models.PositiveBigIntegerField(default=0)),
                ('path', models.CharField(max_length=1000)),
                ('adopted', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('starting', 'Starting'), ('running', 'Running'), ('paused', 'Paused'), ('stopping', 'Stopping'), ('stopped', 'Stopped'), ('succeeded', 'Succeeded'), ('failed', 'Failed'), ('lost', 'Lost')], db_index=True, default='queued', max_length=10)),
                ('step', models.PositiveIntegerField(default=0)),
                ('steps', models.PositiveIntegerField(default=0)),
                ('samples', models.PositiveBigIntegerField(default=0)),
                ('message', models.CharField(blank=True, max_length=2000)),
                ('pid', models.PositiveIntegerField(blank=True, null=True)),
                ('host', models.CharField(blank=True, max_length=120)),
                ('heartbeat_at', models.DateTimeField(blank=True, null=True)),
                ('offset', models.PositiveBigIntegerField(default=0)),
                ('halvings', models.PositiveSmallIntegerField(default=0)),
                ('result', models.JSONField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='training_app.dataset')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='web.job')),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='training_app.checkpoint')),
            ],
            options={
                'verbose_name': 'training run',
                'ordering': ('-created_at', '-id'),
            },
        ),
        migrations.CreateModel(
            name='MetricRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.PositiveIntegerField()),
                ('samples', models.PositiveBigIntegerField()),
                ('seconds', models.FloatField()),
                ('values', models.JSONField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='metrics', to='training_app.trainingrun')),
            ],
            options={
                'ordering': ('run', 'step'),
            },
        ),
        migrations.AddField(
            model_name='checkpoint',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checkpoints', to='training_app.trainingrun'),
        ),
        migrations.AddIndex(
            model_name='dataset',
            index=models.Index(fields=['-created_at', '-id'], name='dataset_newest'),
        ),
        migrations.AddConstraint(
            model_name='dataset',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['demonstrations', 'prompts'])), name='dataset_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='dataset',
            constraint=models.CheckConstraint(condition=models.Q(('split_kind__in', ['new_instances', 'new_families'])), name='dataset_split_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='dataset',
            constraint=models.CheckConstraint(condition=models.Q(('frozen_at__isnull', True), models.Q(('sha256', ''), _negated=True), _connector='OR'), name='dataset_frozen_has_hash'),
        ),
        migrations.AddConstraint(
            model_name='datasetitem',
            constraint=models.UniqueConstraint(fields=('dataset', 'position'), name='dataset_item_once'),
        ),
        migrations.AddConstraint(
            model_name='datasetitem',
            constraint=models.CheckConstraint(condition=models.Q(('portion__in', ['train', 'held_out'])), name='dataset_item_portion_known'),
        ),
        migrations.AddConstraint(
            model_name='suite',
            constraint=models.CheckConstraint(condition=models.Q(('split_kind__in', ['new_instances', 'new_families'])), name='suite_split_kind_known'),
        ),
        migrations.AddIndex(
            model_name='evaluation',
            index=models.Index(fields=['-created_at', '-id'], name='evaluation_newest'),
        ),
        migrations.AddConstraint(
            model_name='evaluation',
            constraint=models.CheckConstraint(condition=models.Q(('checkpoint__isnull', False), models.Q(('endpoint', ''), _negated=True), _connector='XOR'), name='evaluation_measures_one'),
        ),
        migrations.AddConstraint(
            model_name='suiteitem',
            constraint=models.UniqueConstraint(fields=('suite', 'position'), name='suite_item_once'),
        ),
        migrations.AddIndex(
            model_name='trainingrun',
            index=models.Index(fields=['-created_at', '-id'], name='run_newest'),
        ),
        migrations.AddConstraint(
            model_name='trainingrun',
            constraint=models.CheckConstraint(condition=models.Q(('algorithm__in', ['sft', 'grpo', 'gdpo', 'gigpo', 'dr_grpo'])), name='run_algorithm_known'),
        ),
        migrations.AddConstraint(
            model_name='trainingrun',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'starting', 'running', 'paused', 'stopping', 'stopped', 'succeeded', 'failed', 'lost'])), name='run_state_known'),
        ),
        migrations.AddConstraint(
            model_name='metricrow',
            constraint=models.UniqueConstraint(fields=('run', 'step'), name='metric_row_once'),
        ),
        migrations.AddConstraint(
            model_name='checkpoint',
            constraint=models.UniqueConstraint(fields=('run', 'step'), name='checkpoint_once'),
        ),
    ]
