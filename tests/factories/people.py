"""People with a role."""

from studio.web.choices import Role
from studio.web.models import User


def person(name: str, role: Role = Role.EDITOR) -> User:
    """Return a stored account that signs in with the password ``correct horse``."""
    user = User(username=name, role=role)
    user.set_password("correct horse")
    user.save()
    return user
