"""One person's work on one task: the draft, what it began with, what it is now."""

import copy
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from studio.web.auth import principal
from studio.web.models import Draft
from tasks_app import queries
from tasks_app.core.drafting import parse
from tasks_app.core.merging import Merge, merge
from tasks_app.core.presenting.words import plain
from tasks_app.models import Task
from tasks_app.operations.drafts import keep_draft


@dataclass
class Desk:
    """One person's work on one task: the draft, what it began with, what it is now."""

    task: Task
    base: int
    began: dict[str, Any]
    """The version it was begun on, as written."""
    document: dict[str, Any]
    draft: Draft | None

    @property
    def stale(self) -> bool:
        """Whether somebody saved since."""
        return self.base != self.task.current_number


def desk_of(request: HttpRequest, code: str) -> Desk:
    """Open somebody's draft of a task, or begin one on the current version."""
    task = queries.get_task(code)
    draft = queries.find_draft(principal(request).user, task)
    base = int(draft.base) if draft is not None and draft.base.isdigit() else task.current_number
    began = copy.deepcopy(queries.get_version(task, base).spec)
    return Desk(task, base, began, _document(draft) or copy.deepcopy(began), draft)


def _document(draft: Draft | None) -> dict[str, Any] | None:
    """What a draft holds. It is kept as text: the column would sort the fields of records."""
    text = draft.content.get("text") if draft is not None else None
    if not isinstance(text, str):
        return None
    document = parse(text)
    return document if isinstance(document, dict) else None


def keep(request: HttpRequest, desk: Desk) -> None:
    """Keep the draft as it stands now."""
    desk.draft = keep_draft(
        task=desk.task,
        base=desk.base,
        content={"text": plain(desk.document)},
        by=principal(request).user,
    )


def merged(desk: Desk, *, take_theirs: list[str] | None = None) -> Merge:
    """Lay the draft over the present version."""
    current = queries.get_version(desk.task).spec
    return merge(desk.began, desk.document, current, take_theirs=take_theirs or [])
