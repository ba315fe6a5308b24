"""Training runs: what lists, curves and tables show of a run directory."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from studio.web.choices import JobState
from studio.web.codes import CodedModel
from studio.web.models import Job
from training_app.enums import Algorithm
from training_app.models.dataset import Dataset


class TrainingRun(CodedModel):
    """One run of the engine. The run directory is the truth; these rows are read from it."""

    code_prefix = "RUN"

    preset = models.CharField(max_length=40, blank=True)
    algorithm = models.CharField(max_length=8, choices=Algorithm.choices)
    recipe = models.JSONField()
    recipe_hash = models.CharField(max_length=64)
    seed = models.PositiveBigIntegerField(default=0)
    dataset = models.ForeignKey(
        Dataset, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    """None: the pocket suite that the engine makes itself."""
    parent = models.ForeignKey(
        "Checkpoint", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    """The checkpoint it starts from; None: the recipe's own start."""
    path = models.CharField(max_length=1000)
    """The run directory: a folder's name under the studio's own runs, or an absolute path."""
    adopted = models.BooleanField(default=False)
    """Whether it was run elsewhere and only read here."""
    adopted_from = models.CharField(max_length=1000, blank=True, db_index=True)
    """Of an adopted run: what it was read from, so that reading it again finds it."""
    state = models.CharField(
        max_length=10, choices=JobState.choices, default=JobState.QUEUED, db_index=True
    )
    step = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    samples = models.PositiveBigIntegerField(default=0)
    """Training samples processed so far."""
    message = models.CharField(max_length=2000, blank=True)
    """What the engine last said: what it is doing, or why it failed and what to do."""
    pid = models.PositiveIntegerField(null=True, blank=True)
    host = models.CharField(max_length=120, blank=True)
    """Where the engine's process runs."""
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    offset = models.PositiveBigIntegerField(default=0)
    """Bytes of metrics.jsonl that have been read."""
    damaged = models.PositiveIntegerField(default=0)
    """Lines of metrics.jsonl that could not be read."""
    halvings = models.PositiveSmallIntegerField(default=0)
    """How often the device batch was halved because memory ran out."""
    result = models.JSONField(null=True, blank=True)
    """What the run came to: the engine's result.json."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "training run"
        indexes = [models.Index(fields=["-created_at", "-id"], name="run_newest")]
        constraints = [
            models.CheckConstraint(
                condition=Q(algorithm__in=Algorithm.values), name="run_algorithm_known"
            ),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="run_state_known"),
        ]


class MetricRow(models.Model):
    """All values of one step: written once, replaced when a resumed run comes by again."""

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="metrics")
    step = models.PositiveIntegerField()
    samples = models.PositiveBigIntegerField()
    """Processed until then: the x of the paper's figures."""
    seconds = models.FloatField()
    values = models.JSONField()
    """Name → number."""

    class Meta:
        ordering = ("run", "step")
        constraints = [models.UniqueConstraint(fields=["run", "step"], name="metric_row_once")]

    def __str__(self) -> str:
        return f"step {self.step} of {self.run_id}"


class MetricBucket(models.Model):
    """A stretch of a long run that is over, counted up; made of the rows, and no truth of its own.

    Written with them in one transaction, and gone with them.
    """

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="buckets")
    number = models.PositiveIntegerField()
    """From 0."""
    width = models.PositiveIntegerField()
    """Steps of a stretch, the same for all of a run."""
    layout = models.CharField(max_length=12)
    """Which metrics the figures are of."""
    first = models.PositiveIntegerField()
    """The first step that was logged."""
    last = models.PositiveIntegerField()
    samples = models.PositiveBigIntegerField()
    seconds = models.FloatField()
    figures = models.BinaryField()
    """Packed: count, mean, least and greatest of every metric."""

    class Meta:
        ordering = ("run", "number")
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="metric_bucket_once")]

    def __str__(self) -> str:
        return f"steps {self.first} to {self.last} of {self.run_id}"


class Checkpoint(CodedModel):
    """Saved weights of a run."""

    code_prefix = "CK"

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="checkpoints")
    step = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField(default=0)
    evaluation = models.JSONField(default=dict, blank=True)
    """What the engine measured when it saved: greedy and sampled success on held-out tasks."""
    promoted = models.BooleanField(default=False)
    """Kept whatever its age."""
    removed_at = models.DateTimeField(null=True, blank=True)
    """When its weights were deleted; the row stays for what points at it."""

    class Meta:
        ordering = ("run", "step")
        constraints = [models.UniqueConstraint(fields=["run", "step"], name="checkpoint_once")]


class DeviceTicket(models.Model):
    """A place in the queue for a device; the oldest ticket whose job is alive holds it."""

    device = models.CharField(max_length=40)
    """``cpu`` or ``cuda:0``."""
    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="device_ticket")
    what = models.CharField(max_length=80)
    """Whom it is for, in words: ``RUN-4K7Q``, ``serving CK-81ZZ``."""
    created_at = models.DateTimeField(auto_now_add=True)
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("device", "pk")

    def __str__(self) -> str:
        return f"{self.what} on {self.device}"
