"""Reads of tasks, generation and imports: the filter language of the task list, keyset pages.

``TASKS`` compiles filter texts (``state:proven family:support_resolution refund``);
``task_page`` gives one page of a list; ``matching`` all rows of a filter for commands and jobs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Q, QuerySet

from studio.lib.similarity import Index, signature
from studio.web.codes import get_by_code
from studio.web.errors import BadRequest, NotFound
from studio.web.filters import FilterSet, Key, Value, choice, date, exact, number, text
from studio.web.models import Draft, User
from studio.web.pagination import Count as RowCount
from studio.web.pagination import Page, capped_count, keyset, keyset_all
from tasks_app.core.checks.catalog import CHECKS
from tasks_app.core.constraints.catalog import CONSTRAINTS
from tasks_app.core.services.catalog import services
from tasks_app.core.spec import CAPABILITIES, TaskSpec
from tasks_app.core.validation.card import GROUPS
from tasks_app.core.validation.proof import Neighbour, Neighbours
from tasks_app.enums import Origin, Split, TaskState, Track
from tasks_app.models import (
    Attempt,
    Comment,
    GenerationRun,
    ImportItem,
    ImportRun,
    ModelEndpoint,
    Review,
    Task,
    TaskVersion,
    WorkflowRequirement,
)
from tasks_app.models.fields import unpack_signature

#: Orders of the task list: name in the URL → column. Each column has an index with the id.
TASK_ORDERS: Final = {
    "newest": "-created_at",
    "oldest": "created_at",
    "edited": "-edited_at",
    "title": "title",
    "easiest": "difficulty",
    "hardest": "-difficulty",
    "tokens": "-tokens",
    "proven": "-proven_at",
    "findings": "-findings_count",
    "probe": "-best_probe",
}
_WORTH_SHOWING: Final = 0.3
"""Similarity from which on a neighbour is named on the proof card."""
NEVER_LISTED: Final = ("text", "signature")
"""Columns that no list row needs."""


def _has(column: str) -> Callable[[Value], Q]:
    return lambda value: Q(**{f"{column}__contains": [exact(value)]})


def _finding(value: Value) -> Q:
    """A gate (``finding:M1``), a group (``finding:M``), ``any`` or ``none``."""
    wanted = exact(value)
    if wanted in ("any", "none"):
        return Q(findings_count__gt=0) if wanted == "any" else Q(findings_count=0)
    gate = wanted.upper()
    if gate in GROUPS:
        gates = [f"{gate}{digit}" for digit in range(1, 10)]
        return Q(findings__overlap=gates)
    return Q(findings__contains=[gate])


def _author(value: Value) -> Q:
    wanted = exact(value)
    return Q(author=None) if wanted == "none" else Q(author__username=wanted)


def _families() -> Iterable[str]:
    return Task.objects.order_by("family").values_list("family", flat=True).distinct()


def _subtypes() -> Iterable[str]:
    return Task.objects.order_by("subtype").values_list("subtype", flat=True).distinct()


def _word(word: str) -> Q:
    return Q(text__contains=word.lower()) | Q(code=word.upper())


TASKS: Final = FilterSet(
    "tasks",
    (
        choice("state", "state", lambda: TaskState.values),
        choice("track", "track", lambda: Track.values),
        choice("family", "family", _families),
        choice("subtype", "subtype", _subtypes),
        Key("capability", _has("capabilities"), lambda: list(CAPABILITIES)),
        number("difficulty", "difficulty", "1 to 5; also >=3 and 2..4"),
        Key("service", _has("services"), lambda: list(services())),
        choice("split", "split", lambda: Split.values),
        Key("tag", _has("tags")),
        choice("origin", "origin", lambda: Origin.values),
        Key("author", _author, help="a user name, or none"),
        Key("finding", _finding, help="a gate (M1), a group (M), any or none"),
        Key("check", _has("checks"), lambda: sorted(CHECKS)),
        Key("constraint", _has("constraints"), lambda: sorted(CONSTRAINTS)),
        Key("code", lambda value: Q(code=exact(value).upper()), help="T-4F7K, or several"),
        text("language", "language", "en, de, zh"),
        number("tokens", "tokens"),
        date("created", "created_at"),
        date("proven", "proven_at"),
    ),
    search=_word,
)


@dataclass(frozen=True)
class TaskList:
    """One page of tasks under a filter."""

    page: Page[Task]
    count: RowCount
    order: str


def matching(filter_text: str) -> QuerySet[Task]:
    """Return all tasks of a filter; FilterError names what is wrong with it and where."""
    return Task.objects.filter(TASKS.compile(filter_text))


def task_page(
    filter_text: str = "", *, order: str = "newest", cursor: str | None = None, size: int = 50
) -> TaskList:
    """Return one page of the task list, without payload, and how many match (capped)."""
    column = TASK_ORDERS.get(order)
    if column is None:
        raise BadRequest(f"There is no order “{order}”; known are {', '.join(TASK_ORDERS)}.")
    rows = matching(filter_text)
    page = keyset(
        rows.select_related("author").defer(*NEVER_LISTED),
        order=column,
        cursor=cursor,
        size=size,
        filter_hash=TASKS.hash(filter_text),
    )
    return TaskList(page, capped_count(rows), order)


def every(filter_text: str, *, chunk: int = 500) -> Iterator[Task]:
    """Return all tasks of a filter by id in chunks, each with its current version."""
    return keyset_all(
        matching(filter_text).select_related("current").defer(*NEVER_LISTED), chunk=chunk
    )


def get_task(code: str) -> Task:
    """Return a task with its current version and proof; NotFound names the code."""
    return get_by_code(
        Task.objects.select_related("current", "proof", "author", "approved").defer(*NEVER_LISTED),
        code,
    )


def get_version(task: Task, number: int | None = None) -> TaskVersion:
    """Return a version by number, by default the current one; NotFound says which exist."""
    if number is None:
        number = task.current_number
    if number == task.current_number and task.current is not None:
        return task.current
    row = task.versions.select_related("author", "parent").filter(number=number).first()
    if row is None:
        raise NotFound(
            f"{task.code} has no version {number}; its versions are 1 to {task.current_number}."
        )
    return row


def versions_of(task: Task) -> QuerySet[TaskVersion]:
    """Return all versions, newest first, without their specs."""
    return task.versions.select_related("author").defer("spec", "patch").order_by("-number")


def neighbours(task: Task) -> tuple[str | None, str | None]:
    """Return the codes before and after it in the list of newest tasks."""
    key = Q(created_at=task.created_at)
    newer = Task.objects.filter(Q(created_at__gt=task.created_at) | key & Q(pk__gt=task.pk))
    older = Task.objects.filter(Q(created_at__lt=task.created_at) | key & Q(pk__lt=task.pk))
    return (
        newer.order_by("created_at", "pk").values_list("code", flat=True).first(),
        older.order_by("-created_at", "-pk").values_list("code", flat=True).first(),
    )


def reviews_of(task: Task) -> QuerySet[Review]:
    """Return all verdicts on any version, newest first."""
    return (
        Review.objects.filter(version__task=task)
        .select_related("reviewer", "version")
        .defer("version__spec", "version__patch")
    )


def comments_of(task: Task) -> QuerySet[Comment]:
    """Return the notes on a task, oldest first."""
    rows = task.comments.select_related("author", "version")
    return rows.defer("version__spec", "version__patch")


def draft_subject(task: Task | None) -> str:
    """Name the draft of a task's edit, or of a new task."""
    return "task:new" if task is None else f"task:{task.code}"


def find_draft(user: User, task: Task | None) -> Draft | None:
    """Return what somebody typed and has not saved, for a task or for a new one."""
    return Draft.objects.filter(user=user, subject=draft_subject(task)).first()


def count_by_state() -> dict[str, int]:
    """Return how many tasks stand in each state, every state in its order."""
    rows = Task.objects.order_by().values("state").annotate(n=Count("pk"))
    found = {row["state"]: row["n"] for row in rows}
    return {state: found.get(state, 0) for state in TaskState.values}


def facet_counts(filter_text: str, keys: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the commonest values of some columns under a filter, for the chips beside a list."""
    rows = matching(filter_text).order_by()
    facets = {}
    for key in keys:
        commonest = rows.values(key).annotate(n=Count("pk")).order_by("-n", key)[:20]
        facets[key] = {str(row[key]): row["n"] for row in commonest}
    return facets


# Generation


def known_requests(*, but: GenerationRun | None = None) -> Index[str]:
    """Return the MinHash of every request by code, oldest first: what must not be repeated.

    Tasks of the run ``but`` are left out: a run that is run again does not repeat itself.
    """
    index: Index[str] = Index()
    rows = _before(but).exclude(signature=None).order_by("pk").values_list("code", "signature")
    for code, stored in rows.iterator(chunk_size=2000):
        index.add(code, unpack_signature(stored))
    return index


def known_hashes(*, but: GenerationRun | None = None) -> frozenset[str]:
    """Return the content hash of the current version of every task, but those of one run."""
    return frozenset(_before(but).values_list("spec_hash", flat=True))


def _before(run: GenerationRun | None) -> QuerySet[Task]:
    rows = Task.objects.all()
    if run is None:
        return rows
    return rows.exclude(
        pk__in=run.attempts.exclude(version=None).values_list("version__task", flat=True)
    )


class Library:
    """The requests of all tasks still in use, for the near-duplicate gate of single proofs.

    A task is compared with older ones only: of two that are alike the younger has to change. Ask
    in ascending order of id, so that one index serves a whole filter.
    """

    def __init__(self) -> None:
        out_of_use = (TaskState.REJECTED, TaskState.RETIRED)
        rows = Task.objects.exclude(signature=None).exclude(state__in=out_of_use).order_by("pk")
        self._rows = iter(rows.values_list("pk", "code", "signature"))
        self._ahead = next(self._rows, None)
        self._index: Index[str] = Index()

    def before(self, task: Task) -> Neighbours:
        """Return a look-up among the tasks that are older than ``task``."""
        while self._ahead is not None and self._ahead[0] < task.pk:
            _, code, stored = self._ahead
            self._index.add(code, unpack_signature(stored))
            self._ahead = next(self._rows, None)

        def nearest(spec: TaskSpec) -> Neighbour | None:
            match = self._index.nearest(signature(spec.request.text), _WORTH_SHOWING)
            return None if match is None else Neighbour(str(match.key), match.similarity)

        return nearest


def get_requirement(code: str) -> WorkflowRequirement:
    """Return a requirement; NotFound names the code."""
    return get_by_code(WorkflowRequirement.objects.select_related("author"), code)


def get_run(code: str) -> GenerationRun:
    """Return a generation run with its job and requirement; NotFound names the code."""
    return get_by_code(GenerationRun.objects.select_related("job", "requirement", "author"), code)


def runs() -> QuerySet[GenerationRun]:
    """Return all generation runs, newest first."""
    return GenerationRun.objects.select_related("job", "requirement", "author")


@dataclass(frozen=True)
class Loss:
    """Why some attempts of a run were lost."""

    outcome: str
    gate: str
    reason: str
    """The first one's words."""
    count: int


def losses(run: GenerationRun) -> list[Loss]:
    """Return the reasons behind the funnel's losses, the commonest first."""
    rows = run.attempts.exclude(gate="").order_by("index")
    found: dict[tuple[str, str], Loss] = {}
    for outcome, gate, reason in rows.values_list("outcome", "gate", "reason"):
        known = found.get((outcome, gate))
        found[outcome, gate] = Loss(
            outcome, gate, known.reason if known else reason, (known.count if known else 0) + 1
        )
    return sorted(found.values(), key=lambda loss: (-loss.count, loss.gate, loss.outcome))


def attempts_of(run: GenerationRun, *, after: int = -1, size: int = 200) -> list[Attempt]:
    """Return attempts in order, those behind index ``after``: for the live list."""
    rows = run.attempts.filter(index__gt=after).select_related("version__task")
    payload = ("version__spec", "version__patch", "version__task__text", "version__task__signature")
    return list(rows.defer(*payload).order_by("index")[:size])


def get_import(code: str) -> ImportRun:
    """Return an import with its items; NotFound names the code."""
    rows = ImportRun.objects.select_related("author", "job").prefetch_related("items")
    return get_by_code(rows, code)


def import_items(run: ImportRun) -> QuerySet[ImportItem]:
    """Return the items of an import in their order, each with its task."""
    rows = run.items.select_related("task").defer(*(f"task__{column}" for column in NEVER_LISTED))
    return rows.order_by("position")


# Endpoints


def endpoints(role: str = "") -> QuerySet[ModelEndpoint]:
    """All endpoints by name; with a role the active ones that may be used as that."""
    rows = ModelEndpoint.objects.select_related("author", "job").order_by("name")
    return rows.filter(active=True, roles__contains=[role]) if role else rows


def get_endpoint(name: str) -> ModelEndpoint:
    """The endpoint of that name; NotFound says so."""
    row = endpoints().filter(name=name[:41]).first() if name.isprintable() else None
    if row is None:
        raise NotFound(f"There is no endpoint {name[:40]}.")
    return row
