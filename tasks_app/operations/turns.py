"""Taking turns where two writers at once would both find that something is not here yet."""

from typing import Final

from django.db import connection

_NEW_CONTENT: Final = 7_263_101
"""A number of our own among the advisory locks of the database."""


def take_turns_with_new_content() -> None:
    """Wait for whoever stores new tasks by their content; held until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_NEW_CONTENT])
