"""Unsaved edits of one person: kept while typing, restored, discarded."""

from django.db import transaction

from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.errors import Invalid, Problem
from studio.web.models import Draft, User
from tasks_app.models import Task
from tasks_app.queries import draft_subject


@transaction.atomic
def keep_draft(*, task: Task | None, base: int | None, content: JsonObject, by: User) -> Draft:
    """Keep unsaved text beside the version it was begun on; nothing else changes, no audit entry.

    A draft is written every few seconds while somebody types: the log would drown.
    """
    if not isinstance(content, dict):
        raise Invalid("A draft is a JSON object.", [Problem("content", "is not an object")])
    draft, _ = Draft.objects.update_or_create(
        user=by,
        subject=draft_subject(task),
        defaults={"base": "" if base is None else str(base), "content": content},
    )
    return draft


@transaction.atomic
def discard_draft(*, task: Task | None, by: User) -> bool:
    """Throw unsaved text away; False where there was none."""
    deleted, _ = Draft.objects.filter(user=by, subject=draft_subject(task)).delete()
    if deleted:
        audit.record(by, "discard_draft", "" if task is None else task.code)
    return bool(deleted)
