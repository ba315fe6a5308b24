"""Who acts: a person, a request's principal (person and token), or the system."""

from typing import TypeAlias

from studio.web.audit import HasUser
from studio.web.models import User

Actor: TypeAlias = User | HasUser | None
"""None is the system: commands without a user, jobs of its own."""


def user_of(actor: Actor) -> User | None:
    """Return the person; None for the system."""
    return actor if isinstance(actor, User) or actor is None else actor.user
