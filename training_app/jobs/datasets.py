"""Freezing a dataset: choose, build, lint, hash. Safe to run twice: an attempt begins anew."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from django.db import transaction

from rollouts_app.models import Episode
from studio.lib.jsonvalue import JsonObject
from studio.web.auth import Principal
from studio.web.errors import NotFound
from studio.web.jobs import JobHandle, register, start
from studio.web.models import Blob, User
from tasks_app.core.spec import SpecError
from tasks_app.models import Task
from training_app.core.curation import (
    HELD_INSTANCES,
    Side,
    judge,
    judge_tasks,
    portions,
    read_rules,
)
from training_app.core.dataset import GROUPS, copies
from training_app.core.demonstrations import DemonstrationError, from_trajectory
from training_app.core.images import images_of
from training_app.core.lint import Finding, lint_demonstrations, lint_prompts
from training_app.core.outside import read_outside
from training_app.core.prompts import PromptError, prompt_of
from training_app.enums import DatasetKind, Portion
from training_app.models import Dataset
from training_app.operations.datasets import (
    Item,
    Mix,
    add_items,
    clear_items,
    freeze,
    link_job,
    open_dataset,
)
from training_app.queries.datasets import (
    episodes_to_build,
    episodes_with_payload,
    facts_of,
    side_of,
    task_facts,
    tasks_to_build,
    tasks_with_proof,
)

KIND: Final = "freeze_dataset"
MOST_FINDINGS: Final = 200
"""Findings that a dataset keeps; all are counted."""
_CHUNK: Final = 100


def start_dataset(
    *,
    kind: str,
    name: str,
    by: User | Principal | None,
    filter_text: str = "",
    rules: Mapping[str, Any] | None = None,
    held_families: Sequence[str] = (),
    mixes: Sequence[Mix] = (),
) -> Dataset:
    """Open a dataset and queue the job that freezes it; Invalid or FilterError say what's wrong."""
    user = by if isinstance(by, User) or by is None else by.user
    with transaction.atomic():
        dataset = open_dataset(
            kind=kind,
            name=name,
            by=by,
            filter_text=filter_text,
            rules=rules,
            held_families=held_families,
            mixes=mixes,
        )
        job = start(KIND, {"dataset": dataset.code}, user, subject=dataset.code)
        link_job(dataset=dataset, job_id=job.pk)
        dataset.job = job
    return dataset


def run_freeze(handle: JobHandle) -> JsonObject | None:
    """Fill and freeze a dataset; None where it is gone."""
    dataset = Dataset.objects.filter(code=handle.arguments.get("dataset")).first()
    if dataset is None:
        return None
    if dataset.frozen_at is None:
        link_job(dataset=dataset, job_id=handle.job_id)
        dataset = _Making(dataset, handle).run()
    return result_of(dataset)


def result_of(dataset: Dataset) -> JsonObject:
    """The job's result, as the command prints it."""
    return {
        "dataset": dataset.code,
        "rows": dataset.rows,
        "dropped": dataset.dropped,
        "sha256": dataset.sha256,
    }


class _Making:
    """One attempt at filling a dataset."""

    def __init__(self, dataset: Dataset, handle: JobHandle) -> None:
        self.dataset = dataset
        self.handle = handle
        self.position = 0
        self.selected = 0
        self.dropped: Counter[str] = Counter()
        self.lint: list[JsonObject] = []
        self.counts: dict[str, Counter[str]] = {}
        self.images: set[str] = set()
        """Hashes of the images that the tasks come with."""

    def run(self) -> Dataset:
        """Everything, from the choice to the hash."""
        clear_items(dataset=self.dataset)
        waiting: list[Item] = []
        items = (
            self._demonstrations()
            if self.dataset.kind == DatasetKind.DEMONSTRATIONS
            else self._prompts()
        )
        for item in items:
            self._count(item)
            waiting.append(item)
            if len(waiting) >= _CHUNK:
                self._store(waiting)
                waiting = []
        self._store(waiting)
        mixes = [self._mix(mix) for mix in self.dataset.mixes]
        self.handle.progress(self.position, self.position, "writing and hashing")
        return freeze(
            dataset=self.dataset,
            dropped={name: n for name, n in self.dropped.items() if n},
            lint=self.lint,
            composition={
                group: dict(sorted(counts.items())) for group, counts in self.counts.items()
            },
            mixes=mixes,
            selected=self.selected,
            images=self.images,
        )

    def _store(self, items: Sequence[Item]) -> None:
        self.position = add_items(dataset=self.dataset, first=self.position, items=items)

    def _count(self, item: Item) -> None:
        """Add to the composition, as often as the row is written."""
        values = {"portion": item.portion.value, **item.origin}
        for group in GROUPS:
            if group in values:
                self.counts.setdefault(group, Counter())[str(values[group])] += item.copies

    def _drop(self, rule: str, findings: Sequence[Finding] = (), row: str = "") -> None:
        self.dropped[rule] += 1
        for finding in findings:
            self._note(finding.gate, row, finding.place, finding.message)

    def _note(self, gate: str, row: str, place: str, message: str) -> None:
        if len(self.lint) < MOST_FINDINGS:
            clean = message.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:500]
            self.lint.append({"gate": gate, "row": row, "place": place[:200], "message": clean})

    def _portions(self, sides: Mapping[int, Side]) -> dict[int, Portion]:
        """Where rows of each task belong; those that belong nowhere are left out."""
        found = portions(sides.values(), self.dataset.held_families)
        return {key: Portion(place) for key, place in found.items() if place != "neither"}

    # --- demonstrations ------------------------------------------------------------------------

    def _demonstrations(self) -> Iterator[Item]:
        rules = read_rules(self.dataset.rules)
        facts = []
        sides: dict[int, Side] = {}
        for number, episode in enumerate(episodes_with_payload(self.dataset.filter), start=1):
            self.handle.stop_if_cancelled()
            facts.append(facts_of(episode))
            sides[episode.task_id] = side_of(episode.task)
            if number % _CHUNK == 0:
                self.handle.progress(number, None, "reading episodes")
        self.selected = len(facts)
        judged = judge(facts, rules)
        self.dropped.update(judged.dropped)
        places = self._portions(sides)
        for number, episode in enumerate(episodes_to_build(judged.kept), start=1):
            self.handle.stop_if_cancelled()
            self.handle.progress(number, len(judged.kept), f"building {episode.code}")
            portion = places.get(episode.task_id)
            if portion is None:
                self._drop(HELD_INSTANCES)
                continue
            item = self._demonstration(episode, portion, quote=rules.quote)
            if item is not None:
                yield item

    def _demonstration(self, episode: Episode, portion: Portion, *, quote: bool) -> Item | None:
        try:
            spec = episode.version.load()
            row = from_trajectory(spec, episode.payload.read(), quote=quote)
        except (DemonstrationError, SpecError) as problem:
            self._drop("unreplayable")
            self._note("E1", episode.code, "", str(problem))
            return None
        findings = lint_demonstrations([row])
        if findings:
            self._drop("E1", findings, episode.code)
            return None
        self.images.update(images_of(spec))
        task = episode.task
        origin: JsonObject = {
            "episode": episode.code,
            "policy": episode.policy,
            "reward": episode.reward,
            **_task_origin(task, episode.version.number, episode.version.hash),
        }
        return Item(row, portion, origin, episode.pk, episode.version_id)

    # --- prompts -------------------------------------------------------------------------------

    def _prompts(self) -> Iterator[Item]:
        tasks = tasks_with_proof(self.dataset.filter)
        self.selected = len(tasks)
        judged = judge_tasks([task_facts(task) for task in tasks])
        self.dropped.update(judged.dropped)
        places = self._portions({task.pk: side_of(task) for task in tasks})
        for number, task in enumerate(tasks_to_build(judged.kept), start=1):
            self.handle.stop_if_cancelled()
            self.handle.progress(number, len(judged.kept), f"building {task.code}")
            portion = places.get(task.pk)
            if portion is None:
                self._drop(HELD_INSTANCES)
                continue
            item = self._prompt(task, portion)
            if item is not None:
                yield item

    def _prompt(self, task: Task, portion: Portion) -> Item | None:
        version = task.current
        if version is None:
            return None
        try:
            spec = version.load()
            row = prompt_of(spec)
        except (PromptError, SpecError) as problem:
            self._drop("not_for_rl")
            self._note("E2", task.code, "", str(problem))
            return None
        findings = lint_prompts([row])
        if findings:
            self._drop("E2", findings, task.code)
            return None
        self.images.update(images_of(spec))
        origin = _task_origin(task, version.number, version.hash)
        return Item(row, portion, origin, None, version.pk)

    # --- rows from outside ---------------------------------------------------------------------

    def _mix(self, mix: JsonObject) -> JsonObject:
        """Add the rows of one file; return the mix with how many lines it became."""
        blob = Blob.objects.filter(pk=mix["sha256"]).first()
        source = str(mix["source"])
        if blob is None:
            raise NotFound(f"The file {source} is gone; send it again.")
        weight = Decimal(str(mix["weight"]))
        kept = lines = 0
        waiting: list[Item] = []
        for number, row in read_outside(blob.bytes()):
            self.handle.stop_if_cancelled()
            findings = lint_demonstrations([row])
            if findings:
                self._drop("E1", findings, f"{source}:{number}")
                continue
            count = copies(weight, kept)
            kept += 1
            if not count:
                self._drop("weight")
                continue
            origin: JsonObject = {"source": source, "source_line": number}
            item = Item(row, Portion.TRAIN, origin, source=source, copies=count)
            lines += count
            self._count(item)
            waiting.append(item)
            if len(waiting) >= _CHUNK:
                self._store(waiting)
                waiting = []
                self.handle.progress(self.position, None, f"mixing in {source}")
        self._store(waiting)
        return {**mix, "rows": lines}


def _task_origin(task: Task, number: int, spec_hash: str) -> JsonObject:
    return {
        "task": task.code,
        "version": number,
        "spec_hash": spec_hash,
        "family": task.family,
        "subtype": task.subtype,
        "difficulty": task.difficulty,
    }


register(KIND, "light", run_freeze)
