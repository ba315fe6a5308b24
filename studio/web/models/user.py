"""People and how they get in: users, tokens, invitations, the throttle."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils import timezone

from studio.web.choices import Role, Scope
from studio.web.codes import CodedModel


class People(UserManager["User"]):
    """Makes people; a superuser is an administrator."""

    def create_superuser(
        self,
        username: str,
        email: str | None = None,
        password: str | None = None,
        **extra_fields: Any,
    ) -> "User":
        """What ``manage.py createsuperuser`` calls."""
        extra_fields["role"] = Role.ADMIN
        return super().create_superuser(username, email, password, **extra_fields)


class User(AbstractUser):
    """A person with one role; the role decides, Django's permissions are not used."""

    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    preferences = models.JSONField(default=dict, blank=True)
    """Theme, density, whether single keys are on: what the pages remember for a person."""

    objects: ClassVar[People] = People()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="user_role_known")
        ]

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Keep the admin site's flags in step with the role, then save."""
        self.is_staff = self.is_superuser = self.role == Role.ADMIN
        update_fields = kwargs.get("update_fields")
        if update_fields is not None and "role" in update_fields:
            kwargs["update_fields"] = {*update_fields, "is_staff", "is_superuser"}
        super().save(*args, **kwargs)

    @property
    def display_name(self) -> str:
        """The full name, else the user name."""
        return self.get_full_name() or self.username


class ApiToken(CodedModel):
    """A bearer token of a person; only its SHA-256 is kept."""

    code_prefix = "TOK"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=12, editable=False)
    """The first characters, so that a person recognises it in a list."""
    scopes = models.JSONField(default=list)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "API token"

    @property
    def scope_set(self) -> frozenset[Scope]:
        """The scopes it was given; unknown ones (of a later release) count for nothing."""
        return frozenset(Scope(item) for item in self.scopes if item in Scope.values)


class Invitation(models.Model):
    """A one-time link that lets somebody in: the owner at first, colleagues later."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    email = models.EmailField(blank=True)
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.CASCADE, related_name="invitations"
    )
    """The account the link signs in to; empty where it will make one."""
    invited_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="invited"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"invitation as {self.role}"


class SignInThrottle(models.Model):
    """Failures in a row by one key (a name from one place, or a place), shared by all servers."""

    key = models.CharField(max_length=64, unique=True)
    """SHA-256, so that the table lists neither names nor addresses."""
    failures = models.PositiveIntegerField(default=0)
    last_failure_at = models.DateTimeField(default=timezone.now)
    blocked_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.failures} failures"
