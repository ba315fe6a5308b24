"""Review queues: what is to be judged, who holds what, and what each reviewer answered."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from studio.web.codes import CodedModel
from tasks_app.enums import UNSETTLED, Answer, Decision, ItemState
from tasks_app.models.task import Review, Task, TaskVersion

MOST_REVIEWERS = 3


class ReviewQueue(CodedModel):
    """Tasks of a filter that people judge one after the other, by one rubric."""

    code_prefix = "RQ"

    name = models.CharField(max_length=100)
    query = models.CharField(max_length=2000, blank=True)
    """The filter over tasks; proven tasks that match come in until the queue is closed."""
    rubric = models.TextField(max_length=5000, blank=True)
    reviewers = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1), MaxValueValidator(MOST_REVIEWERS)]
    )
    """How many judge each item, none of them knowing what the others said."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="review_queues",
    )
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "review queue"
        constraints = [
            models.CheckConstraint(
                condition=Q(reviewers__gte=1, reviewers__lte=MOST_REVIEWERS),
                name="review_queue_reviewers",
            )
        ]

    @property
    def is_open(self) -> bool:
        """Whether items are still handed out."""
        return self.closed_at is None


class ReviewItem(models.Model):
    """One task in a queue, with the lease of whoever looks at it."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="items")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="review_items")
    version = models.ForeignKey(TaskVersion, on_delete=models.CASCADE, related_name="+")
    """The version to be judged: answers to another one no longer count."""
    state = models.CharField(max_length=10, choices=ItemState.choices, default=ItemState.OPEN)
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="held_review_items",
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=8, choices=Decision.choices, blank=True)
    """What it was settled to; empty until then."""
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    """The lead who decided; empty where the reviewers agreed."""
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        verbose_name = "review item"
        indexes = [
            models.Index(fields=["queue", "state", "id"], name="review_item_next"),
            models.Index(fields=["holder", "queue"], name="review_item_held"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["queue", "task"], name="review_item_once"),
            models.UniqueConstraint(
                fields=["task"], condition=Q(state__in=UNSETTLED), name="review_item_in_one_queue"
            ),
            models.CheckConstraint(
                condition=Q(state__in=ItemState.values), name="review_item_state_known"
            ),
            models.CheckConstraint(
                condition=(Q(state=ItemState.SETTLED) & ~Q(outcome=""))
                | (~Q(state=ItemState.SETTLED) & Q(outcome="")),
                name="review_item_outcome_when_settled",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.pk} of queue {self.queue_id}"


class ReviewAnswer(models.Model):
    """What one reviewer said of one version, unseen by the others until they have answered."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="answers")
    version = models.ForeignKey(TaskVersion, on_delete=models.CASCADE, related_name="+")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_answers"
    )
    answer = models.CharField(max_length=8, choices=Answer.choices)
    reason = models.CharField(max_length=2000, blank=True)
    seconds = models.PositiveIntegerField(null=True, blank=True)
    """How long the person looked, where the page measured it."""
    review = models.OneToOneField(
        Review, null=True, blank=True, on_delete=models.SET_NULL, related_name="answer"
    )
    """The verdict on the task's page, once nobody has to judge blind any more."""
    undone_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=["reviewer", "-id"], name="review_answer_last")]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "version", "reviewer"],
                condition=Q(undone_at=None),
                name="review_answer_once",
            ),
            models.CheckConstraint(
                condition=Q(answer__in=Answer.values), name="review_answer_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.answer} by {self.reviewer_id}"
