"""Reads of suites and evaluations: what is new in their tasks, scores, differences, tables."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from django.db.models import Q, QuerySet

from rollouts_app.models import Episode
from rollouts_app.queries import Chosen, selected
from studio.lib.jsonvalue import JsonObject
from studio.lib.stats import DRAWS
from studio.web.audit import storable
from studio.web.codes import get_by_code, is_code, normalise
from studio.web.errors import NotFound
from studio.web.filters import parse
from studio.web.pagination import Page, keyset
from tasks_app.enums import EndpointRole, Split, TaskState
from tasks_app.models import ModelEndpoint, TaskVersion
from tasks_app.queries import endpoints, matching, playable
from training_app.core import pocket
from training_app.core.manifest import FILE
from training_app.core.run_dir import RunDirError, read_json
from training_app.core.scores import Attempt, Kind, TaskResult, compare, summarise
from training_app.enums import Portion, SplitKind
from training_app.models import Checkpoint, DatasetItem, Evaluation, Suite, TrainingRun
from training_app.queries.runs import run_dir

_STATES: Final[Mapping[str, Literal["graded", "failed", "queued"]]] = {
    "graded": "graded",
    "failed": "failed",
    "queued": "queued",
}
_NEVER: Final = ("spec", "patch", "task__text", "task__signature")
SPLIT_WORDS: Final = {
    "new_instances": "new instances",
    "new_families": "new families",
    "seen": "trained on",
    "mixed": "mixed, see the rows",
}
"""What is new in tasks, printed beside every number."""
_ROUGH: Final = 400
"""Resamples for the page of a running evaluation, which is asked for every two seconds."""
SHOWN: Final = 100
"""Evaluations that one can be compared with in a menu."""


# Suites


def suites() -> QuerySet[Suite]:
    """All suites by name."""
    return Suite.objects.select_related("author")


def suite_page(cursor: str | None = None, size: int = 50) -> Page[Suite]:
    """Suites, newest first."""
    return keyset(suites(), order="-created_at", cursor=cursor, size=size)


def get_suite(name: str) -> Suite:
    """A suite by its code or name; NotFound names it."""
    if is_code(name, "SU"):
        return get_by_code(suites(), name)
    row = suites().filter(name=name).first() if name.isprintable() else None
    if row is None:
        raise NotFound(f"There is no suite “{name[:80]}”.")
    return row


def suite_tasks(filter_text: str) -> list[Chosen]:
    """The task versions that a suite of this filter would hold, by id.

    Without a ``state:`` term those with a green proof, and imported ones that run here: they are
    for evaluation.
    FilterError names what is wrong with the filter.
    """
    chosen = selected(filter_text)
    if "state" in parse(filter_text).keys():  # noqa: SIM118  # a list of names, not a mapping
        return chosen
    rows = playable(matching(filter_text)).filter(
        current__isnull=False, evaluation_only=True, state=TaskState.IMPORTED
    )
    imported = [Chosen(task, version) for task, version in rows.values_list("pk", "current_id")
                if version is not None]  # fmt: skip
    return sorted({*chosen, *imported})


def versions_of(suite: Suite) -> QuerySet[TaskVersion]:
    """The versions of a suite in their order."""
    return TaskVersion.objects.filter(pk__in=suite.items.values("version")).select_related("task")


# What is new for a model


class Training(NamedTuple):
    """What a model was trained on, as far as it is known here."""

    families: frozenset[str]
    hashes: frozenset[str]
    """Of the specs; empty where only the pocket suite's own tasks were used."""
    pocket: bool
    """Whether the pocket suite's training names were used."""
    known: bool
    """False where some run of the line brought a dataset that nobody here can read."""


def training_of(checkpoint: Checkpoint) -> Training:
    """What a checkpoint was trained on: its run, and the runs that it goes back to."""
    families: set[str] = set()
    hashes: set[str] = set()
    own = known = False
    complete = True
    run: TrainingRun | None = checkpoint.run
    while run is not None:
        if run.dataset_id is not None:
            items = DatasetItem.objects.filter(dataset=run.dataset_id, portion=Portion.TRAIN)
            complete = complete and not items.filter(version=None).exists()
            found = items.exclude(version=None).values_list(
                "version__task__family", "version__hash"
            )
            for family, content in found.distinct():
                families.add(family)
                hashes.add(content)
            known = True
        elif _pocket(run):
            own = known = True
        else:
            complete = False
        run = run.parent.run if run.parent is not None else None
    if own:
        families |= {family.name for family in pocket.families()}
    return Training(frozenset(families), frozenset(hashes), own, known and complete)


def _pocket(run: TrainingRun) -> bool:
    """Whether the engine made the run's dataset from the pocket suite."""
    try:
        manifest: Mapping[str, Any] = read_json(run_dir(run).dataset / FILE)
    except (OSError, RunDirError):
        return not run.adopted
    source = manifest.get("provenance")
    return isinstance(source, Mapping) and source.get("suite") == "pocket"


def kind_for(training: Training | None, version: TaskVersion, declared: str) -> Kind:
    """What is new in a task for a model; where nothing is known of that, what the suite declares.

    A pocket task without the tag of held-out names draws its names from the training pool.
    """
    task = version.task
    if training is None:
        return "new_families" if declared == SplitKind.NEW_FAMILIES else "new_instances"
    if version.hash in training.hashes:
        return "seen"
    if training.pocket and task.track == pocket.TRACK and pocket.HELD_OUT_TAG not in task.tags:
        return "seen"
    if task.family in training.families:
        return "new_instances"
    if training.known:
        return "new_families"
    return "new_families" if declared == SplitKind.NEW_FAMILIES else "new_instances"


def split_of_families(families: set[str]) -> SplitKind:
    """What a suite declares: families that nothing here was ever trained on are new ones."""
    trained = {family.name for family in pocket.families()}
    items = DatasetItem.objects.filter(portion=Portion.TRAIN, version__isnull=False)
    trained |= set(items.values_list("version__task__family", flat=True).distinct())
    return SplitKind.NEW_INSTANCES if families & trained else SplitKind.NEW_FAMILIES


# Evaluations


def evaluations() -> QuerySet[Evaluation]:
    """Evaluations with what lists and pages show beside them."""
    return Evaluation.objects.select_related(
        "suite", "checkpoint__run__parent__run", "batch__job", "job", "author", "baseline__suite",
        "baseline__checkpoint__run",
    )  # fmt: skip


def evaluation_page(
    cursor: str | None = None, size: int = 25, *, suite: str = "", model: str = ""
) -> Page[Evaluation]:
    """Evaluations, newest first; of a suite, or of a run, checkpoint or endpoint."""
    # A name in an address may hold what no row can; it then finds nothing.
    suite, model = storable(suite), storable(model)
    rows = evaluations()
    if suite:
        rows = rows.filter(Q(suite__code=normalise(suite)) | Q(suite__name=suite))
    if model:
        code = normalise(model)
        rows = rows.filter(
            Q(checkpoint__code=code) | Q(checkpoint__run__code=code) | Q(endpoint=model)
        )
    return keyset(
        rows, order="-created_at", cursor=cursor, size=size, filter_hash=f"{suite}|{model}"
    )


def get_evaluation(code: str) -> Evaluation:
    """An evaluation; NotFound names the code."""
    return get_by_code(evaluations(), code)


def results_of(evaluation: Evaluation) -> list[TaskResult]:
    """All tasks of its suite with their episodes as they stand now."""
    training = training_of(evaluation.checkpoint) if evaluation.checkpoint is not None else None
    attempts: dict[int, list[Attempt]] = {}
    if evaluation.batch_id is not None:
        rows = Episode.objects.filter(batch=evaluation.batch_id).order_by("group_index")
        for row in rows.only(
            "code", "version_id", "state", "reward", "passed", "violations", "group_index"
        ):
            one = Attempt(
                episode=row.code,
                state=_STATES.get(row.state, "queued"),
                reward=row.reward,
                passed=row.passed,
                violations=len(row.violations),
            )
            attempts.setdefault(row.version_id, []).append(one)
    declared = evaluation.suite.split_kind
    versions = versions_of(evaluation.suite).defer(*_NEVER).order_by("pk")
    return [
        TaskResult(
            version=version.pk,
            task=version.task.code,
            title=version.task.title,
            family=version.task.family,
            kind=kind_for(training, version, declared),
            attempts=tuple(attempts.get(version.pk, ())),
        )
        for version in versions
    ]


def report_of(evaluation: Evaluation, *, draws: int = DRAWS) -> JsonObject:
    """Scores as the episodes stand now, and the difference to the baseline where there is one."""
    results = results_of(evaluation)
    report: JsonObject = {
        **summarise(results, draws=draws),
        "greedy": evaluation.greedy,
        "n": evaluation.group_size,
        "baseline": None,
    }
    baseline = evaluation.baseline
    if baseline is not None:
        difference = compare(results_of(baseline), results, draws=draws)
        report["baseline"] = {"evaluation": baseline.code, **difference}
    return report


def shown_report(evaluation: Evaluation) -> JsonObject:
    """The stored report of a finished evaluation, else what there is so far, quick and rough."""
    stored: JsonObject = evaluation.report
    return stored or report_of(evaluation, draws=_ROUGH)


def comparable(evaluation: Evaluation) -> QuerySet[Evaluation]:
    """Finished evaluations on the same suite, newest first."""
    rows = evaluations().filter(suite=evaluation.suite, finished_at__isnull=False)
    return rows.exclude(pk=evaluation.pk).order_by("-created_at", "-pk")


def usual_baseline(
    suite: Suite, checkpoint: Checkpoint | None, *, greedy: bool
) -> Evaluation | None:
    """What a checkpoint is compared with where nobody says: the one its run started from, else the
    earliest step of its own run that was measured alike; None for endpoints.
    """
    if checkpoint is None:
        return None
    alike = evaluations().filter(suite=suite, greedy=greedy, finished_at__isnull=False)
    if checkpoint.run.parent_id is not None:
        found = alike.filter(checkpoint=checkpoint.run.parent_id).order_by("-pk").first()
        if found is not None:
            return found
    earlier = alike.filter(checkpoint__run=checkpoint.run, checkpoint__step__lt=checkpoint.step)
    return earlier.order_by("checkpoint__step", "-pk").first()


class Row(NamedTuple):
    """One line of a run's table: one suite, one way of writing, before and after."""

    suite: Suite
    greedy: bool
    split_kind: str
    """What was new in the tasks for this run; empty where nothing was scored."""
    before: Evaluation | None
    """Of the checkpoint that the run started from, else of its earliest step measured."""
    after: Evaluation
    """Of the latest step measured."""
    report: JsonObject
    """Of ``after``."""
    difference: JsonObject | None
    """After less before on the tasks that both scored; None without a before."""

    @property
    def split_words(self) -> str:
        """What was new in the tasks, in words."""
        return SPLIT_WORDS.get(self.split_kind, "–")


def before_after(run: TrainingRun) -> list[Row]:
    """What a run changed on each suite that one of its checkpoints was measured on."""
    done = evaluations().filter(finished_at__isnull=False)
    latest: dict[tuple[int, bool], Evaluation] = {}
    for row in done.filter(checkpoint__run=run).order_by("checkpoint__step", "pk"):
        latest[row.suite_id, row.greedy] = row
    table = []
    for row in latest.values():
        before = usual_baseline(row.suite, row.checkpoint, greedy=row.greedy)
        report = shown_report(row)
        difference: Any = None
        if before is not None and before == row.baseline:
            difference = report.get("baseline")
        elif before is not None:
            difference = compare(results_of(before), results_of(row))
        table.append(
            Row(row.suite, row.greedy, str(report["split_kind"] or ""), before, row, report,
                difference)
        )  # fmt: skip
    return sorted(table, key=lambda line: (line.suite.name, not line.greedy))


def offered_endpoints() -> Sequence[ModelEndpoint]:
    """Endpoints that an evaluation can measure; a checkpoint is measured by its code instead."""
    rows = endpoints(EndpointRole.TEACHER)
    return list(rows.exclude(model__in=Checkpoint.objects.values("code")))


SPLIT_OF: Final[Mapping[SplitKind, Split]] = {
    SplitKind.NEW_INSTANCES: Split.NEW_INSTANCES,
    SplitKind.NEW_FAMILIES: Split.NEW_FAMILIES,
}
"""How the tasks of a built-in suite are marked, so that no dataset trains on them."""
