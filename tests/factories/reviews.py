"""Proven tasks in a review queue."""

from studio.web.models import User
from tasks_app.enums import Origin
from tasks_app.models import ReviewQueue, Task
from tasks_app.operations.review_queues import create_queue
from tasks_app.operations.tasks import NewTask, create_tasks
from tests.factories.specs import green_card, small_spec


def proven_tasks(count: int, *, first: int = 1000) -> list[Task]:
    """Return proven tasks, oldest first; ``first`` keeps two calls apart."""
    specs = [small_spec(seed=first + number) for number in range(count)]
    new = [NewTask(spec, green_card(spec)) for spec in specs]
    return create_tasks(tasks=new, by=None, origin=Origin.GENERATED)


def queue_of(count: int, *, reviewers: int = 1, by: User | None = None) -> ReviewQueue:
    """Return a queue of so many new tasks."""
    proven_tasks(count)
    return create_queue(name="First look", query="", rubric="", reviewers=reviewers, by=by)
