"""Reads of tasks, generation and imports: the filter language of the task list, keyset pages.

``TASKS`` compiles filter texts (``state:proven family:support_resolution refund``);
``task_page`` gives one page of a list; ``matching`` all rows of a filter for commands and jobs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, IntegerField, Q, QuerySet
from django.db.models.expressions import RawSQL

from studio.lib.similarity import (
    MOST_COMPARED,
    NEAR_DUPLICATE,
    Index,
    Match,
    Signature,
    band_keys,
    best_of,
    shared_bands,
    signature,
)
from studio.web.codes import get_by_code
from studio.web.errors import BadRequest, NotFound
from studio.web.filters import FilterSet, Key, Value, choice, date, exact, number, parse, text
from studio.web.models import Draft, User
from studio.web.pagination import Count as RowCount
from studio.web.pagination import Page, capped_count, keyset, keyset_all
from tasks_app.core.checks.catalog import CHECKS
from tasks_app.core.constraints.catalog import CONSTRAINTS
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.importers.claw.tiers import VIEW_ONLY
from tasks_app.core.inputs import INPUTS
from tasks_app.core.licences import NON_COMMERCIAL
from tasks_app.core.services.catalog import services
from tasks_app.core.spec import CAPABILITIES, SpecError, TaskSpec
from tasks_app.core.validation.card import GROUPS
from tasks_app.core.validation.contamination import (
    Contamination,
    Overlap,
    Print,
    overlap,
    print_of,
    prints_of,
)
from tasks_app.core.validation.notes import Earlier
from tasks_app.core.validation.proof import Neighbour, Neighbours
from tasks_app.enums import Origin, Split, TaskState, Track
from tasks_app.models import (
    Attempt,
    Benchmark,
    BenchmarkItem,
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
NEVER_LISTED: Final = ("text", "signature", "bands")
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
    """Built-in families, whether there is a task of them or not, and those of stored tasks."""
    stored = Task.objects.order_by("family").values_list("family", flat=True).distinct()
    return sorted({*FAMILIES, *stored})


def _subtypes() -> Iterable[str]:
    stored = Task.objects.order_by("subtype").values_list("subtype", flat=True).distinct()
    return sorted({*stored, *(name for family in FAMILIES.values() for name in family.subtypes)})


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
        Key("input", _has("inputs"), lambda: list(INPUTS), "records where it has no other"),
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


def playable(rows: QuerySet[Task]) -> QuerySet[Task]:
    """Leave out imports that are there to be seen: something that they need is missing here."""
    return rows.exclude(evaluation_only=True, tags__contains=[VIEW_ONLY])


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


@dataclass(frozen=True)
class Exported:
    """What an export takes of a filter."""

    tasks: Iterator[Task]
    """By id, each with its current version."""
    left_out: int
    """Tasks that match and whose licence forbids commercial use, where the filter names none."""


def exported(filter_text: str, *, chunk: int = 500) -> Exported:
    """Return what an export of a filter takes: non-commercial tasks only where they are named, by
    `tag:non-commercial` or by their codes.
    """
    rows = matching(filter_text)
    left_out = 0
    if not names_non_commercial(filter_text, codes="code"):
        left_out = rows.filter(tags__contains=[NON_COMMERCIAL]).count()
        rows = rows.exclude(tags__contains=[NON_COMMERCIAL])
    tasks = keyset_all(rows.select_related("current").defer(*NEVER_LISTED), chunk=chunk)
    return Exported(tasks, left_out)


def names_non_commercial(filter_text: str, *, codes: str) -> bool:
    """Say whether a filter asks for non-commercial tasks by name: their tag, or single tasks by the
    key ``codes``.
    """
    return any(
        term.key == codes
        or (term.key == "tag" and NON_COMMERCIAL in [value.text for value in term.values])
        for term in parse(filter_text).terms
        if not term.negated
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


def proof_before(version: TaskVersion) -> Earlier | None:
    """Return the version that this one was made from, with its last proof; None where it was not
    proven, or can no longer be read.
    """
    parent = version.parent
    proof = parent.proofs.first() if parent is not None else None
    if parent is None or proof is None:
        return None
    try:
        return Earlier(parent.load(), proof.read())
    except SpecError:
        return None


def last_edit(version: TaskVersion) -> TaskVersion | None:
    """Return the edit that a version's content still stands on, to be taken back: a version that
    took an edit back stands on what stood before it, so that undoing again leads further back.
    """
    first = version.task.versions.filter(hash=version.hash).order_by("number").first()
    if first is None or first.parent is None or first.parent.task_id != first.task_id:
        return None
    return first if first.origin in (Origin.EDITED, Origin.REPAIRED) else None


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


class KnownRequests(Index[str]):
    """What must not be repeated: the requests of the library, asked for in the database, and those
    that a run adds to them.
    """

    def __init__(self, rows: QuerySet[Task]) -> None:
        super().__init__()
        self._rows = rows

    def nearest(self, entry: Signature, threshold: float = NEAR_DUPLICATE) -> Match | None:
        """The most alike at or above ``threshold``; the library's before the run's own."""
        stored = nearest_request(entry, self._rows, threshold)
        own = super().nearest(entry, threshold)
        found = [match for match in (stored, own) if match is not None]
        return max(found, key=lambda match: match.similarity, default=None)


def known_requests(*, but: GenerationRun | None = None) -> KnownRequests:
    """Return the requests of all tasks by code: what must not be repeated.

    Tasks of the run ``but`` are left out: a run that is run again does not repeat itself.
    """
    return KnownRequests(_before(but))


_SHARED: Final = '(SELECT count(*) FROM unnest("tasks_app_task"."bands") AS b WHERE b = ANY(%s))'


def nearest_request(entry: Signature, rows: QuerySet[Task], threshold: float) -> Match | None:
    """Return the task whose request is most alike; of equals the oldest. An index finds those that
    share a band, so a library of 100,000 is not read.
    """
    keys = list(band_keys(entry))
    if not keys:
        return None
    near = (
        rows.filter(bands__overlap=keys)
        .annotate(shared=RawSQL(_SHARED, [keys], output_field=IntegerField()))  # noqa: S611 (no values in it)
        .filter(shared__gte=shared_bands(threshold))
        .order_by("-shared", "pk")
        .values_list("pk", "code", "signature")[:MOST_COMPARED]
    )
    found = [(pk, code, unpack_signature(stored)) for pk, code, stored in near]
    order = {code: pk for pk, code, _ in found}
    return best_of(entry, ((code, other) for _, code, other in found), threshold, order)


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

    A task is compared with older ones only: of two that are alike the younger has to change.
    """

    def __init__(self) -> None:
        self._rows = Task.objects.exclude(state__in=(TaskState.REJECTED, TaskState.RETIRED))

    def before(self, task: Task) -> Neighbours:
        """Return a look-up among the tasks that are older than ``task``."""
        older = self._rows.filter(pk__lt=task.pk)

        def nearest(spec: TaskSpec) -> Neighbour | None:
            match = nearest_request(signature(spec.request.text), older, _WORTH_SHOWING)
            return None if match is None else Neighbour(str(match.key), match.similarity)

        return nearest


_MOST_ITEMS: Final = 20
_SHARED_GRAMS: Final = "(SELECT count(*) FROM unnest(grams) AS g WHERE g = ANY(%s))"
_SHARED_SHINGLES: Final = "(SELECT count(*) FROM unnest(shingles) AS s WHERE s = ANY(%s))"


def contamination() -> Contamination | None:
    """Return a look-up among the benchmarks that were added; None where there are none."""
    if not Benchmark.objects.exists():
        return None

    def look(spec: TaskSpec) -> Overlap | None:
        found = [one for own in prints_of(spec) if (one := _most_shared(own)) is not None]
        return max(found, key=lambda one: (one.grams, one.share), default=None)

    return look


def _most_shared(own: Print) -> Overlap | None:
    grams, shingles = list(own.grams), list(own.shingles)
    if not grams:
        return None
    rows = BenchmarkItem.objects.select_related("benchmark")
    long = rows.filter(grams__overlap=grams).annotate(
        shared=RawSQL(_SHARED_GRAMS, [grams], output_field=IntegerField())  # noqa: S611 (no values in it)
    )
    short = rows.filter(shingles__overlap=shingles).annotate(
        shared=RawSQL(_SHARED_SHINGLES, [shingles], output_field=IntegerField())  # noqa: S611 (no values in it)
    )
    items = [
        item for chosen in (long, short) for item in chosen.order_by("-shared", "pk")[:_MOST_ITEMS]
    ]
    overlaps = [
        overlap(
            own, frozenset(item.grams), frozenset(item.shingles), item.benchmark.name, item.title
        )
        for item in items
    ]
    return max(overlaps, key=lambda one: (one.grams, one.share), default=None)


def benchmarks() -> QuerySet[Benchmark]:
    """Return the benchmarks by name."""
    return Benchmark.objects.order_by("name")


def repeating(benchmark: Benchmark) -> Iterator[Task]:
    """Return the tasks that repeat a benchmark, and those whose proof says they repeat one, by id.

    The benchmark is held in memory and the tasks come in chunks: their requests aren't kept as
    hashes.
    """
    held = [
        (frozenset(grams), frozenset(shingles))
        for grams, shingles in benchmark.items.values_list("grams", "shingles")
    ]
    everything = frozenset(key for grams, _ in held for key in grams)
    places: dict[int, list[int]] = {}
    for place, (_, shingles) in enumerate(held):
        for key in shingles:
            places.setdefault(key, []).append(place)
    rows = Task.objects.filter(current__isnull=False, evaluation_only=False)
    for task in keyset_all(rows.select_related("current").defer(*NEVER_LISTED), chunk=200):
        if "V2" in task.findings or any(
            _repeats(own, everything, held, places) for own in _prints(task)
        ):
            yield task


def _prints(task: Task) -> Iterator[Print]:
    written = task.current.spec if task.current is not None else {}
    texts = [written.get("request", {}).get("text", "")]
    texts += [stage.get("notification") or "" for stage in written.get("timeline", ())]
    return (print_of(text) for text in texts if text)


def _repeats(
    own: Print,
    everything: frozenset[int],
    held: list[tuple[frozenset[int], frozenset[int]]],
    places: dict[int, list[int]],
) -> bool:
    if not everything.isdisjoint(own.grams):
        return True
    near = Counter(place for key in own.shingles for place in places.get(key, ()))
    return any(
        overlap(own, *held[place], "", "").is_contaminated
        for place, _ in near.most_common(_MOST_ITEMS)
    )


def built_alike(task: Task) -> tuple[int, int]:
    """Return how many tasks of its track in use have its structural fingerprint, and how many there
    are in all; none where it was never proven.
    """
    rows = Task.objects.filter(track=task.track, evaluation_only=False).exclude(
        state__in=(TaskState.REJECTED, TaskState.RETIRED)
    )
    if not task.fingerprint:
        return 0, 0
    return rows.filter(fingerprint=task.fingerprint).count(), rows.exclude(fingerprint="").count()


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
