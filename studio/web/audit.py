"""The audit log: ``record(actor, act, subject, detail)``, in the transaction of the act itself.

``actor`` is a user, None for the system, or a ``Principal``-like thing with ``user`` and
``token``. Never put a secret or whole content into ``detail``: codes, counts and names only.
"""

import re
from typing import Protocol

from studio.lib.jsonvalue import JsonObject, JsonValue
from studio.web.models import ApiToken, AuditEntry, User

SYSTEM = "system"
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class HasUser(Protocol):
    """A principal: the person and perhaps the token they used."""

    @property
    def user(self) -> User:
        """The person."""

    @property
    def token(self) -> ApiToken | None:
        """The token, if one was used."""


def record(
    actor: User | HasUser | None, act: str, subject: str = "", detail: JsonObject | None = None
) -> AuditEntry:
    """Write one entry; ``subject`` is the code of what was acted on."""
    user = actor if isinstance(actor, User) or actor is None else actor.user
    token = None if isinstance(actor, User) or actor is None else actor.token
    return AuditEntry.objects.create(
        actor=user,
        actor_name=SYSTEM if user is None else user.username,
        token="" if token is None else token.code,
        act=act[:60],
        subject=storable(subject)[:120],
        detail={key: _storable_value(value) for key, value in (detail or {}).items()},
    )


def storable(text: str) -> str:
    """The text without NUL and lone surrogates, which PostgreSQL does not take."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _storable_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable_value(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): _storable_value(item) for key, item in value.items()}
    return value
