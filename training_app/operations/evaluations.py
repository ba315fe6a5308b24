"""Of suites and evaluations."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone

from rollouts_app.core.teacher import PREFIX
from rollouts_app.enums import Purpose
from rollouts_app.operations.batches import CONCURRENCY, LARGEST_GROUP, open_batch
from rollouts_app.queries import Chosen
from studio.lib.hashing import content_hash
from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict, Invalid, NotFound, Problem
from studio.web.models import Job, User
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.proof import prove
from tasks_app.enums import Origin
from tasks_app.models import Task, TaskVersion
from tasks_app.operations.tasks import NewTask, create_tasks
from training_app.core import pocket
from training_app.enums import SplitKind
from training_app.models import Checkpoint, Evaluation, Suite, SuiteItem
from training_app.queries.evaluations import (
    SPLIT_OF,
    get_suite,
    report_of,
    split_of_families,
    suite_tasks,
    usual_baseline,
    versions_of,
)

LARGEST_SUITE: Final = 10_000
LARGEST_SEED: Final = 2**53
TOGETHER: Final = 32
"""Episodes of a checkpoint at once: its server answers them together."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_SEED: Final = 2_000_003
"""Of the built-in suites: no measurement of a run draws its tasks from it."""


class BuiltIn(NamedTuple):
    """A suite that the studio makes itself, the same on every machine."""

    kind: SplitKind
    size: int
    """Tasks."""
    make: Callable[[int], list[TaskSpec]]
    about: str


BUILT_IN: Final[dict[str, BuiltIn]] = {
    "pocket-held-out": BuiltIn(
        SplitKind.NEW_INSTANCES,
        120,
        lambda count: pocket.tasks("held_out", count, _SEED),
        "The pocket families with names, ids and numbers that no training task has.",
    ),
    "pocket-new-families": BuiltIn(
        SplitKind.NEW_FAMILIES,
        24,
        lambda count: pocket.other_families(count, _SEED),
        "Families that no pocket task belongs to.",
    ),
}


# Suites


@transaction.atomic
def freeze_suite(*, name: str, filter_text: str, by: User | HasUser | None) -> Suite:
    """Freeze the tasks of a filter as they are now. Invalid or FilterError say what cannot be.

    Leaves one audit entry.
    """
    problems = _name_problems(name)
    chosen = suite_tasks(filter_text)
    if not chosen:
        problems.append(
            Problem(
                "filter",
                "no task matches",
                "Without state: only tasks with a green proof, and imported ones.",
            )
        )
    if len(chosen) > LARGEST_SUITE:
        problems.append(Problem("filter", f"more than {LARGEST_SUITE:,} tasks; narrow it"))
    if problems:
        raise Invalid("This suite cannot be frozen.", problems)
    versions = list(
        TaskVersion.objects.filter(pk__in=[each.version_id for each in chosen])
        .select_related("task")
        .defer("spec", "patch", "task__text")
        .order_by("pk")
    )
    kind = split_of_families({version.task.family for version in versions})
    return _freeze(name, filter_text, kind, versions, by)


def built_in_suite(name: str, *, count: int | None = None) -> Suite:
    """A built-in suite; its tasks are made and proven on first use. NotFound for another name.

    Args:
        name: One of ``BUILT_IN``.
        count: Fewer tasks than usual, on first use alone.
    """
    known = BUILT_IN.get(name)
    if known is None:
        raise NotFound(f"There is no suite “{name[:80]}”.")
    try:
        return get_suite(name)
    except NotFound:
        specs = known.make(count or known.size)
    cards = {spec.hash: prove(spec) for spec in specs}
    unproven = [spec.slug for spec in specs if not cards[spec.hash].proven]
    if unproven:
        raise Conflict(f"{len(unproven)} tasks of {name} have no proof, such as {unproven[0]}.")
    try:
        with transaction.atomic():
            new = [NewTask(spec, cards[spec.hash], reason=f"suite {name}") for spec in specs]
            known_hashes = set(
                TaskVersion.objects.filter(hash__in=cards).values_list("hash", flat=True)
            )
            made = create_tasks(
                tasks=[one for one in new if one.spec.hash not in known_hashes],
                by=None,
                origin=Origin.GENERATED,
            )
            Task.objects.filter(pk__in=[task.pk for task in made]).update(
                split=SPLIT_OF[known.kind]
            )
            found: dict[str, TaskVersion] = {}
            rows = TaskVersion.objects.filter(hash__in=cards).order_by("-pk")
            for version in rows.select_related("task").defer("spec", "patch", "task__text"):
                found[version.hash] = version
            return _freeze(
                name, "", known.kind, [found[spec.hash] for spec in specs if spec.hash in found],
                None,
            )  # fmt: skip
    except IntegrityError:
        return get_suite(name)  # somebody else made it in the same moment


def find_suite(name: str) -> Suite:
    """A suite by name or code; a built-in one is made where it is missing. NotFound otherwise."""
    if name in BUILT_IN:
        return built_in_suite(name)
    try:
        return get_suite(name)
    except NotFound as problem:
        known = ", ".join(dict.fromkeys([*BUILT_IN, *Suite.objects.values_list("name", flat=True)]))
        raise NotFound(f"{problem.detail} Known: {known[:500]}.") from problem


def _freeze(
    name: str,
    filter_text: str,
    kind: SplitKind,
    versions: Sequence[TaskVersion],
    by: User | HasUser | None,
) -> Suite:
    ordered = sorted({version.pk: version for version in versions}.values(), key=lambda v: v.pk)
    suite = Suite(
        name=name,
        filter=filter_text,
        split_kind=kind,
        # not by id: the same tasks are the same suite on every machine
        sha256=content_hash({"versions": [*sorted(version.hash for version in ordered)]}),
        size=len(ordered),
        author=by if isinstance(by, User) or by is None else by.user,
    )
    suite.save()
    SuiteItem.objects.bulk_create(
        (
            SuiteItem(suite=suite, position=position, version=version)
            for position, version in enumerate(ordered)
        ),
        batch_size=500,
    )
    detail: JsonObject = {"name": name, "filter": filter_text, "tasks": suite.size}
    audit.record(by, "freeze_suite", suite.code, detail)
    return suite


def _name_problems(name: str) -> list[Problem]:
    if not _NAME.fullmatch(name):
        return [
            Problem(
                "name",
                "must be 1 to 80 small letters, digits and . _ -, beginning with one of the first",
            )
        ]
    if name in BUILT_IN or Suite.objects.filter(name=name).exists():
        return [Problem("name", "is taken", "A suite never changes: freeze a new one.")]
    return []


# Evaluations


@transaction.atomic
def open_evaluation(
    *,
    suite: Suite,
    checkpoint: Checkpoint | None = None,
    endpoint: str = "",
    greedy: bool = True,
    group_size: int = 1,
    seed: int = 0,
    baseline: Evaluation | None = None,
    compare: bool = True,
    by: User | HasUser | None,
) -> Evaluation:
    """Open an evaluation and its batch; nothing runs yet. Leaves audit entries of both.

    Args:
        suite: What it is measured on.
        checkpoint: What is measured, or:
        endpoint: Name of the endpoint that is measured.
        greedy: Temperature 0; else drawn at 1 by a checkpoint, as it is set by an endpoint.
        group_size: Episodes a task.
        seed: Of the first episode of a task.
        baseline: What it is compared with.
        compare: Whether the usual baseline is taken where none is named.
        by: Who starts it.

    Invalid names every argument that cannot be; nothing is written then.
    """
    problems = []
    if (checkpoint is None) == (not endpoint):
        problems.append(Problem("model", "name either a checkpoint or an endpoint"))
    if not 1 <= group_size <= LARGEST_GROUP:
        problems.append(Problem("n", f"must be between 1 and {LARGEST_GROUP}"))
    if not 0 <= seed <= LARGEST_SEED:
        problems.append(Problem("seed", "must be between 0 and 2^53"))
    if not suite.size:
        problems.append(Problem("suite", "holds no task"))
    if baseline is not None and baseline.suite_id != suite.pk:
        problems.append(
            Problem(
                "baseline",
                f"{baseline.code} was measured on {baseline.suite.name}, not on {suite.name}",
                "Only evaluations on one suite can be compared.",
            )
        )
    if problems:
        raise Invalid("This evaluation cannot be started.", problems)
    if baseline is None and compare:
        baseline = usual_baseline(suite, checkpoint, greedy=greedy)
    name = f"checkpoint:{checkpoint.code}" if checkpoint is not None else f"{PREFIX}{endpoint}"
    pairs = versions_of(suite).order_by("pk").values_list("task_id", "pk")
    batch = open_batch(
        policy=name,
        chosen=[Chosen(task, version) for task, version in pairs],
        filter_text="",
        group_size=group_size,
        seed=seed,
        by=by,
        purpose=Purpose.EVALUATION,
        sampling=_sampling(greedy=greedy, checkpoint=checkpoint is not None),
        concurrency=TOGETHER if checkpoint is not None else CONCURRENCY,
    )
    row = Evaluation(
        suite=suite,
        checkpoint=checkpoint,
        endpoint=endpoint,
        greedy=greedy,
        group_size=group_size,
        seed=seed,
        baseline=baseline,
        batch=batch,
        author=by if isinstance(by, User) or by is None else by.user,
    )
    row.save()
    detail: JsonObject = {"suite": suite.name, "model": name, "batch": batch.code}
    audit.record(by, "start_evaluation", row.code, detail)
    return row


def _sampling(*, greedy: bool, checkpoint: bool) -> JsonObject:
    if greedy:
        return {"temperature": 0.0}
    return {"temperature": 1.0} if checkpoint else {}


@transaction.atomic
def link_job(*, evaluation: Evaluation, job_id: int) -> None:
    """Say which job measures it now."""
    Evaluation.objects.filter(pk=evaluation.pk).update(job=Job(pk=job_id), finished_at=None)


@transaction.atomic
def record_report(*, evaluation: Evaluation) -> Evaluation:
    """Keep what it came to; safe to repeat."""
    row = Evaluation.objects.select_for_update(of=("self",)).get(pk=evaluation.pk)
    row.report = report_of(row)
    row.finished_at = timezone.now()
    row.save(update_fields=["report", "finished_at"])
    return row


@transaction.atomic
def set_baseline(
    *, evaluation: Evaluation, baseline: Evaluation | None, by: User | HasUser | None
) -> Evaluation:
    """Compare a finished evaluation with another one, or with none. Audited.

    Invalid where they were measured on different suites.
    """
    if baseline is not None and (
        baseline.suite_id != evaluation.suite_id or baseline.pk == evaluation.pk
    ):
        raise Invalid(
            "These cannot be compared.",
            [Problem("baseline", "must be another evaluation on the same suite")],
        )
    Evaluation.objects.filter(pk=evaluation.pk).update(baseline=baseline)
    evaluation.baseline = baseline
    code = baseline.code if baseline is not None else ""
    audit.record(by, "set_baseline", evaluation.code, {"baseline": code})
    return record_report(evaluation=evaluation) if evaluation.finished_at else evaluation
