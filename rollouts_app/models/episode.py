"""Episodes: what lists show; the trajectory stands in a row of its own."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q

from rollouts_app.core.trajectory import Trajectory, decode
from rollouts_app.enums import Curation, EpisodeState, StopReason
from rollouts_app.models.batch import RolloutBatch
from studio.web.codes import CodedModel
from tasks_app.models.fields import WrittenJSONField


class Episode(CodedModel):
    """One attempt at one task version. List columns only."""

    code_prefix = "E"
    code_length = 6

    batch = models.ForeignKey(RolloutBatch, on_delete=models.CASCADE, related_name="episodes")
    task = models.ForeignKey("tasks_app.Task", on_delete=models.CASCADE, related_name="episodes")
    """The version's task, so that lists filter without a second join."""
    version = models.ForeignKey(
        "tasks_app.TaskVersion", on_delete=models.PROTECT, related_name="episodes"
    )
    group_index = models.PositiveIntegerField()
    """Position in the group of one task version, from 0."""
    seed = models.PositiveBigIntegerField()
    policy = models.CharField(max_length=120)
    state = models.CharField(
        max_length=8, choices=EpisodeState.choices, default=EpisodeState.QUEUED
    )
    stop = models.CharField(max_length=12, choices=StopReason.choices, blank=True)
    reward = models.FloatField(null=True, blank=True)
    """None while it is not graded: not scored is never 0."""
    passed = models.BooleanField(null=True, blank=True)
    components = models.JSONField(default=dict, blank=True)
    """Component → 0–1, None where nothing was scored."""
    checks = models.CharField(max_length=500, blank=True)
    """One sign a check in the spec's order: 1 holds, 0 not, p in part, - not scored, x broke."""
    violations = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    """Ids of the broken constraints."""
    first_failed = models.CharField(max_length=64, blank=True)
    """Id of the constraint broken or the check not met first, in the spec's order; empty: none."""
    turns = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    """Calls answered with an error."""
    tokens = models.PositiveIntegerField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    curation = models.CharField(max_length=8, choices=Curation.choices, default=Curation.OPEN)
    boundary = models.CharField(max_length=12, blank=True)
    """What broke, for a failed episode: task, policy, endpoint, world, grade."""
    failure = models.CharField(max_length=2000, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    """How often it was run, failures included."""
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="branches"
    )
    branch_turn = models.PositiveIntegerField(null=True, blank=True)
    """The parent's turn it goes on from."""
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="episode_newest"),
            models.Index(fields=["reward", "id"], name="episode_reward"),
            models.Index(fields=["turns", "id"], name="episode_turns"),
            models.Index(fields=["tokens", "id"], name="episode_tokens"),
            models.Index(fields=["batch", "-created_at", "-id"], name="episode_batch_newest"),
            models.Index(fields=["task", "-created_at", "-id"], name="episode_task_newest"),
            models.Index(fields=["policy", "-created_at", "-id"], name="episode_policy_newest"),
            models.Index(fields=["version", "reward"], name="episode_version_reward"),
            GinIndex(fields=["violations"], name="episode_violations"),
            models.Index(
                fields=["batch", "attempts", "version", "group_index"],
                condition=Q(state__in=[EpisodeState.QUEUED.value, EpisodeState.FAILED.value]),
                name="episode_open",
            ),
            models.Index(
                fields=["first_failed", "-created_at", "-id"],
                condition=~Q(first_failed=""),
                name="episode_failed_first",
            ),
            models.Index(
                fields=["batch", "first_failed"],
                condition=~Q(first_failed=""),
                name="episode_batch_failures",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "version", "group_index"], name="episode_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=EpisodeState.values), name="episode_state_known"
            ),
            models.CheckConstraint(
                condition=Q(curation__in=Curation.values), name="episode_curation_known"
            ),
            models.CheckConstraint(
                condition=~Q(state=EpisodeState.GRADED) | Q(reward__isnull=False),
                name="episode_graded_has_reward",
            ),
            models.CheckConstraint(
                condition=~Q(state=EpisodeState.FAILED) | Q(reward__isnull=True),
                name="episode_failed_has_no_reward",
            ),
        ]


class EpisodePayload(models.Model):
    """What only a replay needs: the compressed trajectory and the grade in detail."""

    episode = models.OneToOneField(
        Episode, on_delete=models.CASCADE, primary_key=True, related_name="payload"
    )
    trajectory = models.BinaryField()
    """See `rollouts_app.core.trajectory`."""
    grade = WrittenJSONField(null=True, blank=True)
    """All check and constraint results as they were graded then."""
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"payload of episode {self.episode_id}"

    def read(self) -> Trajectory:
        """Return the trajectory; damage is marked in it, never raised."""
        return decode(bytes(self.trajectory))
