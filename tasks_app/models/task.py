"""Tasks, their immutable versions, proofs, reviews and comments."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone

from studio.web.codes import CodedModel
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.card import GATES_VERSION, GROUPS, ProofCard
from tasks_app.enums import Decision, Origin, Split, TaskState, Track, Verdict
from tasks_app.models.fields import WrittenJSONField

#: A character of ``Task.gate_states`` → the state of a gate group.
GATE_LETTERS = {"h": "held", "w": "warned", "f": "failed", "-": "not_run"}


class Task(CodedModel):
    """One exercise for an AI coworker. What lists show of the current version stands here."""

    code_prefix = "T"

    slug = models.CharField(max_length=100)
    title = models.CharField(max_length=300)
    state = models.CharField(max_length=12, choices=TaskState.choices, default=TaskState.DRAFT)
    track = models.CharField(max_length=12, choices=Track.choices)
    family = models.CharField(max_length=64)
    subtype = models.CharField(max_length=64)
    difficulty = models.PositiveSmallIntegerField()
    language = models.CharField(max_length=35, default="en")
    split = models.CharField(max_length=16, choices=Split.choices, default=Split.TRAIN)
    tags = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    capabilities = ArrayField(models.CharField(max_length=3), default=list, blank=True)
    services = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    inputs = ArrayField(models.CharField(max_length=16), default=list, blank=True)
    """What it is told by beside its records: keys of ``INPUTS``."""
    checks = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    """Kinds of check, each once."""
    constraints = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    """Kinds of constraint, each once."""
    findings = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    """Gates with a finding in the proof of the current version, each once."""
    findings_count = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    """Rough size of what the policy is given at first: characters of the request, rules and
    contract, divided by four."""
    text = models.TextField(blank=True)
    """Title and request in lower case, for the search."""
    signature = models.BinaryField(null=True, blank=True)
    """MinHash of the request, 128 numbers of eight bytes, for the near-duplicate test."""
    bands = ArrayField(models.IntegerField(), default=list, blank=True)
    """Its bands (``studio.lib.similarity.band_keys``): requests that are alike share some."""
    identity = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    """Names, ids and values it is about (gate V4): tasks that share one belong to one side."""
    fingerprint = models.CharField(max_length=64, blank=True, db_index=True)
    """Structural fingerprint of the current version, once proven."""

    origin = models.CharField(max_length=12, choices=Origin.choices)
    """How the task came to be; its versions have origins of their own."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="tasks",
    )
    evaluation_only = models.BooleanField(default=False)
    """May be rolled out in evaluations, never approved for training."""
    source_id = models.CharField(max_length=200, blank=True)
    """``claw-eval:T085_stock``: what an import calls it; empty for our own."""

    current = models.ForeignKey(
        "TaskVersion", null=True, on_delete=models.RESTRICT, related_name="+"
    )
    current_number = models.PositiveIntegerField(default=1)
    spec_hash = models.CharField(max_length=64, db_index=True)
    """Content hash of the current version."""
    approved = models.ForeignKey(
        "TaskVersion", null=True, blank=True, on_delete=models.RESTRICT, related_name="+"
    )
    """The version that was approved, while that is the current one."""
    proof = models.ForeignKey(
        "Proof", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The last proof of the current version."""
    gate_states = models.CharField(max_length=20, blank=True)
    """A character a gate group in the order of ``GROUPS``: h(eld) w(arned) f(ailed) -(not run)."""
    reference_reward = models.FloatField(null=True, blank=True)
    best_probe = models.FloatField(null=True, blank=True)
    mutants_killed = models.PositiveIntegerField(null=True, blank=True)
    mutants_counted = models.PositiveIntegerField(null=True, blank=True)
    """Mutants that are not equivalent to the reference."""
    proven_at = models.DateTimeField(null=True, blank=True)
    edited_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="task_newest"),
            models.Index(fields=["-edited_at", "-id"], name="task_edited"),
            models.Index(fields=["title", "id"], name="task_title"),
            models.Index(fields=["difficulty", "id"], name="task_difficulty"),
            models.Index(fields=["tokens", "id"], name="task_tokens"),
            models.Index(fields=["proven_at", "id"], name="task_proven"),
            models.Index(fields=["findings_count", "id"], name="task_findings_count"),
            models.Index(fields=["best_probe", "id"], name="task_best_probe"),
            models.Index(fields=["state", "-created_at", "-id"], name="task_state_newest"),
            models.Index(
                fields=["family", "subtype", "-created_at", "-id"], name="task_family_newest"
            ),
            models.Index(fields=["track", "-created_at", "-id"], name="task_track_newest"),
            models.Index(fields=["author", "-created_at", "-id"], name="task_author_newest"),
            GinIndex(fields=["tags"], name="task_tags"),
            GinIndex(fields=["capabilities"], name="task_capabilities"),
            GinIndex(fields=["services"], name="task_services"),
            GinIndex(fields=["inputs"], name="task_inputs"),
            GinIndex(fields=["checks"], name="task_checks"),
            GinIndex(fields=["constraints"], name="task_constraints"),
            GinIndex(fields=["findings"], name="task_findings"),
            GinIndex(fields=["bands"], name="task_bands"),
            GinIndex(fields=["text"], name="task_text", opclasses=["gin_trgm_ops"]),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=TaskState.values), name="task_state_known"
            ),
            models.CheckConstraint(
                condition=Q(evaluation_only=False) | ~Q(state=TaskState.APPROVED),
                name="task_evaluation_only_never_approved",
            ),
            models.UniqueConstraint(
                fields=["source_id"], condition=~Q(source_id=""), name="task_source_once"
            ),
        ]

    @property
    def strip(self) -> list[tuple[str, str]]:
        """Gate letter and state (``held`` …) for each group, as the list draws them."""
        states = self.gate_states.ljust(len(GROUPS), "-")
        return [(letter, GATE_LETTERS[sign]) for letter, sign in zip(GROUPS, states, strict=True)]

    @property
    def is_proven(self) -> bool:
        """Whether a green proof by the present gates exists for exactly the current content."""
        proof = self.proof
        return (
            proof is not None
            and proof.verdict == Verdict.PROVEN
            and proof.spec_hash == self.spec_hash
            and proof.gates_version == GATES_VERSION
        )


class TaskVersion(models.Model):
    """One content of a task. Never changed: rollouts and datasets point here."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    spec = WrittenJSONField()
    """``TaskSpec.written()``."""
    hash = models.CharField(max_length=64, db_index=True)
    origin = models.CharField(max_length=12, choices=Origin.choices)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children"
    )
    """The version it was made from; of another task for a duplicate."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.CharField(max_length=1000, blank=True)
    patch = models.JSONField(default=list)
    """RFC 6902 JSON Patch from the parent."""
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("task", "-number")
        constraints = [models.UniqueConstraint(fields=["task", "number"], name="version_once")]

    def __str__(self) -> str:
        return f"version {self.number} of task {self.task_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert; a version never changes."""
        if not self._state.adding:
            raise TypeError("a task version never changes: save a new one")
        super().save(*args, **kwargs)

    def load(self) -> TaskSpec:
        """Return the spec as the core reads it. Raises SpecError for one of an older format."""
        return load_spec(self.spec)


class Proof(models.Model):
    """What the gates found about one version. Proofs are kept; the last one counts."""

    version = models.ForeignKey(TaskVersion, on_delete=models.CASCADE, related_name="proofs")
    spec_hash = models.CharField(max_length=64)
    gates_version = models.CharField(max_length=20)
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    card = WrittenJSONField()
    """``ProofCard`` as JSON."""
    kept = models.PositiveSmallIntegerField(default=0)
    """Gates taken from the proof before the edit, which could not affect them."""
    milliseconds = models.FloatField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=Verdict.values), name="proof_verdict_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.verdict} ({self.spec_hash[:12]})"

    def read(self) -> ProofCard:
        """Return the proof card as the core's data."""
        return ProofCard.model_validate(self.card)


class Review(models.Model):
    """A person's verdict on one version."""

    version = models.ForeignKey(TaskVersion, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="reviews"
    )
    decision = models.CharField(max_length=8, choices=Decision.choices)
    reason = models.CharField(max_length=2000, blank=True)
    cites = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    """Places the reason points at: JSON pointers, check ids, ``call:3``."""
    seconds = models.PositiveIntegerField(null=True, blank=True)
    """How long the person looked, where the page measured it."""
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = [
            models.CheckConstraint(
                condition=Q(decision__in=Decision.values), name="review_decision_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.decision} by {self.reviewer_id}"


class Comment(models.Model):
    """A note on a task, on a place of it, or on a turn."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="comments")
    version = models.ForeignKey(
        TaskVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="comments"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="comments"
    )
    anchor = models.CharField(max_length=200, blank=True)
    """A JSON pointer, ``turn:4`` or ``check:k1``; empty for the whole."""
    text = models.CharField(max_length=5000)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return self.text[:60]


class Exploit(models.Model):
    """A trace that earned on this task by a trick, as a person decided: gate M1 plays it again."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="exploits")
    source = models.CharField(max_length=20)
    """Code of the episode."""
    title = models.CharField(max_length=300)
    acts = WrittenJSONField()
    """Its calls and replies, as calls files write them."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint(fields=["task", "source"], name="exploit_once")]

    def __str__(self) -> str:
        return f"{self.source}: {self.title}"
