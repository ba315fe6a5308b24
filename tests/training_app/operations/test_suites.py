"""Suites: what is in them, what is new in that for a model, and that they never change."""

import pytest

from tasks_app.core.importers.claw.tiers import VIEW_ONLY
from tasks_app.enums import Split
from tasks_app.models import Task
from tasks_app.operations.tasks import save_version
from tests.factories.runs import made_run
from tests.factories.specs import imported_spec, small_spec
from tests.rollouts_app.conftest import stored
from tests.training_app.library import frozen, rolled_out_library
from training_app.core import pocket
from training_app.enums import Algorithm, SplitKind
from training_app.models import Checkpoint
from training_app.operations.evaluations import built_in_suite, freeze_suite
from training_app.queries.evaluations import kind_for, suite_tasks, training_of, versions_of

pytestmark = pytest.mark.django_db


def test_built_in_suites_are_the_same_tasks_each_time_and_marked_as_held_out() -> None:
    held = built_in_suite("pocket-held-out", count=8)
    others = built_in_suite("pocket-new-families", count=4)
    assert (held.size, held.split_kind) == (8, SplitKind.NEW_INSTANCES)
    assert (others.size, others.split_kind) == (4, SplitKind.NEW_FAMILIES)
    first = {version.hash for version in versions_of(held)}
    assert first == {spec.hash for spec in pocket.tasks("held_out", 8, 2_000_003)}
    assert {version.task.split for version in versions_of(held)} == {Split.NEW_INSTANCES}
    assert {version.task.split for version in versions_of(others)} == {Split.NEW_FAMILIES}
    assert all(
        version.task.is_proven for version in versions_of(held).select_related("task__proof")
    )
    assert built_in_suite("pocket-held-out") == held
    assert Task.objects.count() == 12


def test_a_suite_takes_proven_and_imported_tasks_and_keeps_their_versions() -> None:
    proven = stored(small_spec())
    stored(small_spec(title="A draft about a lamp"), proven=False)
    imported = stored(imported_spec(title="An imported lamp"), proven=False)
    row = freeze_suite(name="lamps", filter_text="", by=None)
    assert [version.task for version in versions_of(row).order_by("pk")] == [proven, imported]
    assert len(suite_tasks("state:draft")) == 1
    save_version(task=proven, base=1, spec=small_spec(title="Another lamp"), by=None, reason="x")
    assert [version.number for version in versions_of(row)] == [1, 1]


def test_an_import_that_is_there_to_be_seen_never_runs() -> None:
    runs = stored(imported_spec(title="An imported lamp"), proven=False)
    stored(imported_spec(title="A lamp on video", tags=["general", VIEW_ONLY]), proven=False)
    assert [task for task, _ in suite_tasks("")] == [runs.pk]
    assert [task for task, _ in suite_tasks("state:imported")] == [runs.pk]


def test_the_same_tasks_make_the_same_hash_in_any_order() -> None:
    stored(small_spec(title="One lamp"))
    stored(small_spec(title="Two lamps"))
    first = freeze_suite(name="first", filter_text="", by=None)
    second = freeze_suite(name="second", filter_text="lamp", by=None)
    stored(small_spec(title="Three lamps"))
    third = freeze_suite(name="third", filter_text="", by=None)
    assert first.sha256 == second.sha256 != third.sha256


def test_a_pocket_run_knows_its_families_and_its_names() -> None:
    held, trained = pocket.tasks("held_out", 1, 5)[0], pocket.tasks("train", 1, 5)[0]
    for spec in (held, trained, small_spec()):
        stored(spec)
    row = freeze_suite(name="all", filter_text="", by=None)
    checkpoint = Checkpoint.objects.create(run=made_run(Algorithm.SFT), step=1)
    training = training_of(checkpoint)
    found = {v.hash: kind_for(training, v, row.split_kind) for v in versions_of(row)}
    assert found == {
        held.hash: "new_instances",
        trained.hash: "seen",
        small_spec().hash: "new_families",
    }
    # of an endpoint nobody knows what it was trained on: the suite's own word
    assert row.split_kind == SplitKind.NEW_INSTANCES
    assert {kind_for(None, v, row.split_kind) for v in versions_of(row)} == {"new_instances"}


def test_a_run_on_a_dataset_has_seen_its_tasks_and_knows_their_families() -> None:
    tasks = rolled_out_library(train=4, held_out=2)
    dataset = frozen()
    stored(small_spec())
    base = Checkpoint.objects.create(run=made_run(Algorithm.SFT, dataset=dataset), step=1)
    row = Checkpoint.objects.create(
        run=made_run(Algorithm.GRPO, dataset=dataset, parent=base), step=1
    )
    training = training_of(row)
    suite = freeze_suite(name="all", filter_text="", by=None)
    found = {
        version.task_id: kind_for(training, version, suite.split_kind)
        for version in versions_of(suite)
    }
    assert [found[task.pk] for task in tasks] == ["seen"] * 4 + ["new_instances"] * 2
    assert found[Task.objects.get(family="support_resolution").pk] == "new_families"
    assert (training.known, training.pocket) == (True, False)


def test_a_run_that_goes_back_to_a_pocket_run_has_seen_what_that_saw() -> None:
    base = Checkpoint.objects.create(run=made_run(Algorithm.SFT), step=1)
    row = Checkpoint.objects.create(run=made_run(Algorithm.GRPO, parent=base), step=1)
    assert training_of(row).pocket is True
    assert {family.name for family in pocket.families()} <= training_of(row).families


def test_what_an_adopted_run_was_trained_on_is_not_known() -> None:
    row = Checkpoint.objects.create(run=made_run(Algorithm.SFT, adopted=True), step=1)
    assert training_of(row) == (frozenset(), frozenset(), False, False)
