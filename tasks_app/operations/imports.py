"""Imports: every item ends as a task or with the reason why not; a second import adds nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from studio.web import audit
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import ProofCard
from tasks_app.enums import ImportOutcome, ImportSource, Origin
from tasks_app.models import ImportItem, ImportRun, Task, TaskVersion
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.tasks import NewTask, create_tasks
from tasks_app.operations.turns import take_turns_with_new_content


@dataclass(frozen=True)
class Item:
    """One item of a source: a spec with its proof, or the reason why it is refused."""

    name: str
    spec: TaskSpec | None = None
    card: ProofCard | None = None
    source_id: str = ""
    """What the source calls it; empty for specs of our own format, known by their content."""
    tier: str = ""
    reason: str = ""
    defects: Mapping[str, str] = field(default_factory=dict)


@transaction.atomic
def open_import(*, by: Actor, source: ImportSource, name: str) -> ImportRun:
    """Open an import; reads and stores nothing yet."""
    run = ImportRun.objects.create(source=source, name=name[-300:], author=user_of(by))
    audit.record(by, "import_tasks", run.code, {"source": source.value, "name": run.name[:80]})
    return run


@transaction.atomic
def store_import(*, run: ImportRun, items: Sequence[Item], seconds: float) -> ImportRun:
    """Store all items of an import at once; one that is here already is named, not stored again.

    A run that was stored before is left as it is, so it may be run twice.
    """
    row = ImportRun.objects.select_for_update().get(pk=run.pk)
    if row.items.exists():
        return row
    take_turns_with_new_content()
    known = _known(items)
    fresh: dict[str, Item] = {}
    for item in items:
        key = _key(item)
        if item.spec is not None and key not in known:
            fresh.setdefault(key, item)
    tasks = create_tasks(
        tasks=[
            NewTask(item.spec, item.card, source_id=item.source_id, reason=f"import {row.code}")
            for item in fresh.values()
            if item.spec is not None
        ],
        by=row.author,
        origin=Origin.IMPORTED,
    )
    created = dict(zip(fresh, tasks, strict=True))
    first = {id(item) for item in fresh.values()}
    rows = [
        _row(row, position, item, known.get(_key(item)) or created.get(_key(item)), first)
        for position, item in enumerate(items)
    ]
    ImportItem.objects.bulk_create(rows, batch_size=500)
    row.created = len(tasks)
    row.refused = sum(item.outcome == ImportOutcome.REFUSED for item in rows)
    row.known = len(rows) - row.created - row.refused
    row.seconds = seconds
    row.save(update_fields=["created", "known", "refused", "seconds"])
    return row


def _row(
    run: ImportRun, position: int, item: Item, task: Task | None, first: set[int]
) -> ImportItem:
    if item.spec is None:
        outcome = ImportOutcome.REFUSED
    else:
        outcome = ImportOutcome.CREATED if id(item) in first else ImportOutcome.KNOWN
    return ImportItem(
        run=run,
        position=position,
        name=item.name[:300],
        outcome=outcome,
        tier=item.tier,
        reason=item.reason[:2000],
        defects=dict(item.defects),
        task=task if item.spec is not None else None,
    )


def _key(item: Item) -> str:
    return item.source_id or (item.spec.hash if item.spec is not None else "")


def _known(items: Sequence[Item]) -> Mapping[str, Task]:
    """Tasks that are here already, by what identifies an item: its source id, else its content.

    Content counts in any version of a task: an import that somebody has mended since is no reason
    to bring the unmended one in again.
    """
    sources = [item.source_id for item in items if item.source_id]
    hashes = [item.spec.hash for item in items if item.spec is not None and not item.source_id]
    found = {task.source_id: task for task in Task.objects.filter(source_id__in=sources)}
    versions = TaskVersion.objects.filter(hash__in=hashes).select_related("task")
    for version in versions.defer("spec", "patch").order_by("-task_id"):
        found[version.hash] = version.task  # the oldest task comes last and stays
    return found
