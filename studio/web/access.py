"""Ways in: signing in (throttled), API tokens, invitations and the owner's one-time link.

``create_owner_link() -> str`` makes the owner account if there is none and returns a path that
signs in once, within a day; ``needs_owner()`` says whether anybody could get in without it.
``issue_token(user, name, scopes)`` returns the row and the secret, which is shown only then.
"""

import datetime as dt
import hashlib
import secrets
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import authenticate
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from studio.web import audit
from studio.web.acts import scopes_of
from studio.web.audit import storable
from studio.web.choices import Role, Scope
from studio.web.errors import Invalid, NotFound, Problem, Throttled
from studio.web.models import ApiToken, Invitation, SignInThrottle, User

OWNER_NAME = "owner"
OWNER_LINK_LIFE = dt.timedelta(days=1)
INVITATION_LIFE = dt.timedelta(days=7)
TOKEN_PREFIX = "cws_"  # noqa: S105 - the visible part of every token
MAX_TOKEN_LIFE = dt.timedelta(days=366)
DEFAULT_TOKEN_LIFE = dt.timedelta(days=90)

#: Failures in a row before a pause: one name from one place, one place, one name from anywhere.
TRIES = {"name and place": 5, "place": 30, "name": 60}
FIRST_PAUSE = dt.timedelta(minutes=1)
LONGEST_PAUSE = dt.timedelta(minutes=15)
FORGET_AFTER = dt.timedelta(hours=1)


class WrongPassword(Invalid):
    """Name and password do not go together; ``tries_left`` until a pause."""

    title = "That name and password do not go together"

    def __init__(self, tries_left: int) -> None:
        super().__init__(
            f"That name and password do not go together. {_tries(tries_left)}",
            [Problem("username", "does not go together with this password")],
            tries_left=tries_left,
        )
        self.tries_left = tries_left


class Issued(NamedTuple):
    """A new token and its secret, which is kept nowhere."""

    row: ApiToken
    secret: str


def sign_in(request: HttpRequest, username: str, password: str) -> User:
    """The person, or WrongPassword, or Throttled; writes counters and the audit log."""
    keys = _throttle_keys(request, username)
    _refuse_if_blocked(keys)
    user = None
    # What the database cannot hold is nobody's name.
    if storable(username) == username and storable(password) == password:
        user = authenticate(request, username=_name_of(username), password=password)
    if not isinstance(user, User):
        left = _count_failure(keys)
        audit.record(None, "sign_in_failed", detail={"name": username[:80]})
        raise WrongPassword(left)
    SignInThrottle.objects.filter(key=keys["name and place"]).delete()
    audit.record(user, "sign_in")
    return user


def needs_owner() -> bool:
    """Whether no administrator could sign in with a password yet."""
    admins = User.objects.filter(role=Role.ADMIN, is_active=True)
    return not any(user.has_usable_password() for user in admins)


def create_owner_link(base_url: str = "") -> str:
    """A one-time sign-in link for the owner; earlier unused ones stop working."""
    with transaction.atomic():
        owner = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()
        if owner is None:
            owner, _ = User.objects.get_or_create(username=_free_name(OWNER_NAME))
            owner.role = Role.ADMIN
            owner.set_unusable_password()
            owner.save()
        Invitation.objects.filter(user=owner, used_at=None).delete()
        secret = secrets.token_urlsafe(32)
        Invitation.objects.create(
            digest=_digest(secret),
            role=Role.ADMIN,
            user=owner,
            expires_at=timezone.now() + OWNER_LINK_LIFE,
        )
        audit.record(None, "create_owner_link", owner.username)
    return f"{base_url.rstrip('/')}{reverse('welcome', args=[secret])}"


@transaction.atomic
def invite(*, by: User, role: Role, email: str = "") -> str:
    """A one-time path with which a colleague makes an account with ``role``."""
    secret = secrets.token_urlsafe(32)
    Invitation.objects.create(
        digest=_digest(secret),
        role=role,
        email=email,
        invited_by=by,
        expires_at=timezone.now() + INVITATION_LIFE,
    )
    audit.record(by, "invite", email, {"role": role.value})
    return reverse("welcome", args=[secret])


def open_invitation(secret: str) -> Invitation:
    """The invitation behind a link, unused and in time; NotFound says what to do otherwise."""
    found = Invitation.objects.filter(
        digest=_digest(secret), used_at=None, expires_at__gt=timezone.now()
    ).first()
    if found is None:
        raise NotFound("This link was used before or is too old. Ask for a new one.")
    return found


@transaction.atomic
def accept_invitation(secret: str, *, username: str = "", password: str = "") -> User:
    """Use a link: sign in to its account or make one; of two at once, one gets NotFound."""
    invitation = open_invitation(secret)
    used = Invitation.objects.filter(pk=invitation.pk, used_at=None).update(used_at=timezone.now())
    if not used:
        raise NotFound("This link was used a moment ago. Ask for a new one.")
    user = invitation.user
    if user is None:
        user = User(username=_checked_name(username), email=invitation.email, role=invitation.role)
        if not password:
            raise Invalid("Choose a password.", [Problem("password", "is missing")])
    if password:
        user.set_password(password)
    elif user.pk is None:
        user.set_unusable_password()
    user.save()
    audit.record(user, "accept_invitation", user.username)
    return user


@transaction.atomic
def change_password(user: User, password: str) -> None:
    """Set a checked password; writes the audit log."""
    user.set_password(password)
    user.save(update_fields=["password"])
    audit.record(user, "change_password", user.username)


@transaction.atomic
def issue_token(
    user: User, name: str, scopes: frozenset[Scope], *, life: dt.timedelta = DEFAULT_TOKEN_LIFE
) -> Issued:
    """A token for ``user``; Invalid for scopes that the role cannot use or a life too long."""
    problems = []
    beyond = sorted(scope.value for scope in scopes - scopes_of(Role(user.role)))
    if beyond:
        problems.append(Problem("scopes", f"your role does not cover {', '.join(beyond)}"))
    if not scopes:
        problems.append(Problem("scopes", "choose at least one"))
    if not dt.timedelta(0) < life <= MAX_TOKEN_LIFE:
        problems.append(Problem("days", f"must be between 1 and {MAX_TOKEN_LIFE.days}"))
    if not name.strip() or len(name) > 80:
        problems.append(Problem("name", "must have 1 to 80 characters"))
    elif storable(name) != name:
        problems.append(Problem("name", "has a character that cannot be kept"))
    if problems:
        raise Invalid("This token cannot be made.", problems)
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        user=user,
        name=name.strip(),
        digest=_digest(secret),
        hint=secret[:8],
        scopes=sorted(scope.value for scope in scopes),
        expires_at=timezone.now() + life,
    )
    audit.record(user, "issue_token", row.code, {"scopes": list(row.scopes)})
    return Issued(row, secret)


@transaction.atomic
def revoke_token(token: ApiToken, *, by: User) -> ApiToken:
    """Make it useless at once; doing so twice changes nothing."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        audit.record(by, "revoke_token", token.code, {"owner": token.user.username})
    token.refresh_from_db()
    return token


def find_token(secret: str) -> ApiToken | None:
    """The live token of an active person; remembers the use, at most once a minute."""
    if not secret.startswith(TOKEN_PREFIX) or len(secret) > 100:
        return None
    now = timezone.now()
    found = (
        ApiToken.objects.select_related("user")
        .filter(digest=_digest(secret), revoked_at=None, expires_at__gt=now, user__is_active=True)
        .first()
    )
    if found is not None and (
        found.last_used_at is None or now - found.last_used_at > dt.timedelta(minutes=1)
    ):
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found


def _digest(secret: str) -> str:
    # Secrets here have 256 random bits, so a slow password hash would protect nothing.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _name_of(text: str) -> str:
    """People may sign in by e-mail where just one account has it."""
    if "@" in text:
        names = User.objects.filter(email__iexact=text).values_list("username", flat=True)[:2]
        if len(names) == 1:
            return str(names[0])
    return text


def _free_name(wanted: str) -> str:
    """The name, with a number where somebody who is not an administrator has it already."""
    taken = set(User.objects.filter(username__startswith=wanted).values_list("username", flat=True))
    number = 2
    name = wanted
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def _checked_name(username: str) -> str:
    name = username.strip()
    field = User._meta.get_field("username")
    if not name or any(not _passes(check, name) for check in field.validators):
        raise Invalid(
            "Choose a user name.",
            [Problem("username", "letters, digits and @ . + - _ only, at most 150")],
        )
    if User.objects.filter(username__iexact=name).exists():
        raise Invalid("Choose another user name.", [Problem("username", "is taken")])
    return name


def _passes(check: object, value: str) -> bool:
    try:
        if callable(check):
            check(value)
    except ValidationError:
        return False
    return True


def _throttle_keys(request: HttpRequest, username: str) -> dict[str, str]:
    place = _place(request)
    name = username.strip().lower()[:200]
    return {
        kind: _digest(f"{kind}\n{text}")
        for kind, text in (("name and place", f"{name}\n{place}"), ("place", place), ("name", name))
    }


def _place(request: HttpRequest) -> str:
    """The client's address; behind trusted proxies what the outermost of them saw.

    Each proxy appends to the header, so only the last entries are theirs: a client can write what
    it likes before them.
    """
    proxies = int(getattr(settings, "STUDIO_TRUSTED_PROXIES", 0))
    seen = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    if proxies and len(seen) >= proxies and seen[-proxies]:
        return seen[-proxies]
    return str(request.META.get("REMOTE_ADDR", ""))


def _refuse_if_blocked(keys: dict[str, str]) -> None:
    now = timezone.now()
    until = (
        SignInThrottle.objects.filter(key__in=keys.values(), blocked_until__gt=now)
        .order_by("-blocked_until")
        .values_list("blocked_until", flat=True)
        .first()
    )
    if until is not None:
        seconds = int((until - now).total_seconds()) + 1
        raise Throttled(
            f"Too many tries. Wait {seconds} seconds, then try again.", retry_after=seconds
        )


def _count_failure(keys: dict[str, str]) -> int:
    """Add a failure under each key and block those at their limit; tries left of the nearest."""
    now = timezone.now()
    SignInThrottle.objects.filter(
        key__in=keys.values(), last_failure_at__lt=now - FORGET_AFTER
    ).delete()
    left = max(TRIES.values())
    for kind, key in keys.items():
        SignInThrottle.objects.get_or_create(key=key)
        SignInThrottle.objects.filter(key=key).update(
            failures=F("failures") + 1, last_failure_at=now
        )
        failures = SignInThrottle.objects.values_list("failures", flat=True).get(key=key)
        over = failures - TRIES[kind]
        left = min(left, max(0, -over))
        if over >= 0:
            # Each further failure after a pause doubles the next one.
            pause = min(FIRST_PAUSE * 2 ** min(over, 10), LONGEST_PAUSE)
            SignInThrottle.objects.filter(key=key).update(blocked_until=now + pause)
    return left


def _tries(left: int) -> str:
    if left == 0:
        return "No tries left: wait a minute."
    return f"{left} {'try' if left == 1 else 'tries'} left, then a minute’s pause."
