"""Who did what, kept for good."""

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.utils import timezone


class AuditEntry(models.Model):
    """One act. Rows are inserted only: the model and a database trigger both refuse the rest."""

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    """May point at a deleted person: the name beside it stays."""
    actor_name = models.CharField(max_length=150)
    token = models.CharField(max_length=20, blank=True)
    """The code of the API token that was used, if one was."""
    act = models.CharField(max_length=60)
    subject = models.CharField(max_length=120, blank=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="audit_newest"),
            models.Index(fields=["subject", "-created_at"], name="audit_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.act} {self.subject}".strip()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert; an existing row cannot be saved again."""
        if not self._state.adding:
            raise TypeError("audit entries are append-only")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        raise TypeError("audit entries are append-only")
