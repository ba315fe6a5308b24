"""People, clients, and stored tasks with a green proof."""

import pytest

from rollouts_app.jobs import KIND
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import open_batch
from rollouts_app.queries import selected
from studio.web import jobs
from tasks_app.core.spec import TaskSpec
from tasks_app.enums import Origin
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tests.factories.specs import green_card
from tests.rollouts_app.specs import example


def stored(spec: TaskSpec, *, proven: bool = True) -> Task:
    """Store a task; its proof card is made up, the spec is real."""
    card = green_card(spec) if proven else None
    return create_task(spec=spec, by=None, origin=Origin.GENERATED, card=card)


def rolled_out(policy: str = "reference", filter_text: str = "", n: int = 1) -> RolloutBatch:
    """Run a batch in this process."""
    batch = open_batch(
        policy=policy,
        chosen=selected(filter_text),
        filter_text=filter_text,
        group_size=n,
        seed=0,
        by=None,
    )
    jobs.run_inline(KIND, {"batch": batch.code}, subject=batch.code)
    batch.refresh_from_db()
    return batch


@pytest.fixture
def support_task(db: None) -> Task:
    """The support example, proven."""
    return stored(example("support_resolution"))


@pytest.fixture
def payment_task(db: None) -> Task:
    """The payment example, proven."""
    return stored(example("payment_change_investigation"))


@pytest.fixture
def episode(support_task: Task) -> Episode:
    """The reference's episode on the support example."""
    return rolled_out().episodes.get()
