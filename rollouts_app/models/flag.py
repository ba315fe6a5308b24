"""Suspicions about episodes (gate P2), and what people decided about them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from rollouts_app.enums import FlagState
from rollouts_app.models.episode import Episode


class EpisodeFlag(models.Model):
    """One reason to look at an episode: it may have earned by a trick."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="flags")
    rule = models.CharField(max_length=32)
    words = models.CharField(max_length=300)
    state = models.CharField(max_length=9, choices=FlagState.choices, default=FlagState.OPEN)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        indexes = [models.Index(fields=["state", "episode"], name="flag_state")]
        constraints = [
            models.UniqueConstraint(fields=["episode", "rule"], name="flag_once"),
            models.CheckConstraint(
                condition=Q(state__in=FlagState.values), name="flag_state_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.words}"
