"""What the frame of every page shows: workers alive, sizes of the library."""

from functools import cached_property

from django.http import HttpRequest

from rollouts_app.models import Episode
from studio.web import workers
from studio.web.pagination import capped_count
from tasks_app.models import Task
from training_app.models import TrainingRun


class Shell:
    """Asked by templates, and only for what a page really shows."""

    @cached_property
    def workers_alive(self) -> int:
        """How many worker processes were seen a moment ago."""
        return len(workers.alive())

    @cached_property
    def tasks(self) -> str:
        """Size of the library, capped; empty when there is none."""
        return _size(str(capped_count(Task.objects.all())))

    @cached_property
    def episodes(self) -> str:
        """Number of episodes, capped; empty when there is none."""
        return _size(str(capped_count(Episode.objects.all())))

    @cached_property
    def runs(self) -> str:
        """Number of training runs, capped; empty when there is none."""
        return _size(str(capped_count(TrainingRun.objects.all())))


def shell(request: HttpRequest) -> dict[str, Shell]:
    """The context processor; strangers see an empty frame."""
    user = getattr(request, "user", None)
    return {"shell": Shell()} if user is not None and user.is_authenticated else {}


def _size(count: str) -> str:
    return "" if count == "0" else count
