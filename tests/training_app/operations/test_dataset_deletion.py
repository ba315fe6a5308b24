"""A dataset goes, or something begins to use it: one of the two, and the other is told."""

from functools import partial

import pytest

from studio.web.choices import Role
from studio.web.errors import Conflict, NotFound
from studio.web.models import User
from tests.factories.people import person
from tests.tasks_app.operations.test_concurrency import at_once
from tests.training_app.conftest import SMALL
from tests.training_app.library import frozen, rolled_out_library
from training_app.models import Dataset, TrainingRun
from training_app.operations.dataset_deletion import delete_dataset
from training_app.operations.datasets import add_items, discard, open_dataset
from training_app.operations.runs import open_run
from training_app.queries.runs import runs_folder

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lead(studio: object) -> User:
    """Who deletes, in a studio whose tasks were rolled out."""
    rolled_out_library(train=2, held_out=1)
    return person("lead", Role.LEAD)


def delete(dataset: Dataset, lead: User) -> None:
    """Delete a dataset."""
    delete_dataset(dataset=dataset, name=dataset.name, reason="by accident", by=lead)


def train(dataset: Dataset) -> TrainingRun:
    """Begin a run on a dataset."""
    return open_run(preset="cpu-tiny-sft", changes=SMALL, dataset=dataset, by=None)


def test_a_run_on_a_dataset_that_was_deleted_meanwhile_is_told_so_and_leaves_nothing(
    lead: User,
) -> None:
    dataset = frozen()
    delete(Dataset.objects.get(), lead)
    with pytest.raises(NotFound, match=f"There is no dataset {dataset.code} any more: somebody"):
        train(dataset)
    assert not TrainingRun.objects.exists()
    assert not runs_folder().exists() or list(runs_folder().iterdir()) == []
    with pytest.raises(NotFound, match="any more: somebody deleted it"):
        delete(dataset, lead)


def test_of_a_deletion_and_a_run_at_once_exactly_one_comes_to_pass(lead: User) -> None:
    for number in range(4):
        dataset = frozen(f"dataset {number}")
        ends = at_once(partial(delete, dataset, lead), partial(train, dataset))
        deleted, started = (end is None for end in ends)
        assert deleted != started
        assert [type(end) for end in ends if end is not None] == [Conflict if started else NotFound]
        assert Dataset.objects.filter(pk=dataset.pk).exists() == started
        assert TrainingRun.objects.filter(dataset_id=dataset.pk).exists() == started


def test_a_dataset_that_was_discarded_is_neither_filled_nor_discarded_again(
    lead: User,
) -> None:
    dataset = open_dataset(kind="demonstrations", name="first", by=None)
    discard(dataset=Dataset.objects.get(), by=lead)
    for act in (
        lambda: discard(dataset=dataset, by=lead),
        lambda: add_items(dataset=dataset, first=0, items=()),
    ):
        with pytest.raises(NotFound, match="any more: somebody deleted it"):
            act()
