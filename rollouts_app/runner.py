"""Running the open episodes of a batch in this thread, and storing them in packets."""

import logging
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

from django.db.models import Q, QuerySet

from rollouts_app.core.episode import run_episode
from rollouts_app.core.errors import EpisodeFailure
from rollouts_app.core.scripted import policy_for
from rollouts_app.enums import EpisodeState
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import tally
from rollouts_app.operations.episodes import Broken, Ended, record_outcomes
from studio.web.jobs import JobHandle
from tasks_app.core.spec import Limits, SpecError, TaskSpec
from tasks_app.models import TaskVersion

logger = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""How often an episode is run before its failure stands."""
_STORE_AFTER: Final = 32
_STORE_SECONDS: Final = 1.0
_SPECS_KEPT: Final = 16
_ROWS: Final = 500


class BatchRunner:
    """Runs the open episodes of a batch in order of their versions, and stores them in packets."""

    def __init__(self, batch: RolloutBatch, handle: JobHandle):
        self.batch = batch
        self.handle = handle
        self.finished = False
        self._stored = self._tallied = time.monotonic()
        self._counting = 0.0
        self._waiting: list[Ended | Broken] = []
        self._specs: OrderedDict[int, TaskSpec] = OrderedDict()

    @property
    def seconds(self) -> float:
        """Seconds since the last tally."""
        return time.monotonic() - self._tallied

    def run(self) -> None:
        """Run until nothing is left, or somebody stops the job."""
        self._total = self.batch.episodes_planned
        self._done = self._total - self._open().count()
        self.handle.progress(self._done, self._total, f"{self.batch.policy}: starting")
        for attempt in range(MOST_ATTEMPTS):
            rows = self._open().filter(attempts__lte=attempt).order_by("version_id", "group_index")
            self.run_all(self._rows(list(rows.values_list("pk", flat=True))))
            self.store()
        self.finished = True
        self.handle.progress(self._total, self._total, f"{self.batch.policy}: done")

    def run_all(self, episodes: Iterator[Episode]) -> None:
        """Run these once each."""
        for episode in episodes:
            self.handle.stop_if_cancelled()
            self.take(self._result(episode), episode.task.code)

    def take(self, result: Ended | Broken, task: str) -> None:
        """Keep a result for the next packet, and say how far the batch is."""
        self._waiting.append(result)
        self._done += isinstance(result, Ended) and result.outcome.failure is None
        self._store_sometimes()
        note = f"{self.batch.policy} on {task}"
        self.handle.progress(min(self._done, self._total - 1), self._total, note)

    def store(self) -> None:
        """Write what is waiting."""
        waiting, self._waiting = self._waiting, []
        self._stored = time.monotonic()
        if waiting:
            record_outcomes(results=waiting)

    def _store_sometimes(self) -> None:
        late = time.monotonic() - self._stored >= _STORE_SECONDS
        if len(self._waiting) < _STORE_AFTER and not late:
            return
        self.store()
        # Counting a large batch takes a while: at most a twentieth of the time goes into it.
        if self.seconds >= max(_STORE_SECONDS, 20 * self._counting):
            began = time.monotonic()
            tally(batch=self.batch, seconds=self.seconds)
            self._tallied = time.monotonic()
            self._counting = self._tallied - began

    def _rows(self, ids: Sequence[int]) -> Iterator[Episode]:
        """The episodes of these ids in their order, some at a time."""
        for first in range(0, len(ids), _ROWS):
            part = ids[first : first + _ROWS]
            found = Episode.objects.select_related("task").only(*_NEEDED).in_bulk(part)
            yield from (found[pk] for pk in part if pk in found)

    def _open(self) -> QuerySet[Episode]:
        # A version never changes, so one that makes no world never will.
        again = Q(state=EpisodeState.FAILED, attempts__lt=MOST_ATTEMPTS) & ~Q(boundary="task")
        return self.batch.episodes.filter(Q(state=EpisodeState.QUEUED) | again)

    def _result(self, episode: Episode) -> Ended | Broken:
        try:
            spec = self.spec_of(episode.version_id)
            outcome = run_episode(
                spec,
                policy_for(episode.policy, spec),
                seed=episode.seed,
                limits=self.limits_of(spec),
                clock=time.monotonic,
            )
        except EpisodeFailure as failure:
            return Broken(episode.pk, failure.boundary, failure.message)
        except SpecError as failure:
            return Broken(episode.pk, "task", str(failure))
        except Exception as failure:
            # The boundary of one episode: whatever broke is data of this row, its siblings go on.
            logger.exception("%s broke", episode.code)
            return Broken(episode.pk, "world", f"{type(failure).__name__}: {failure}")
        return Ended(episode.pk, outcome)

    def spec_of(self, version_id: int) -> TaskSpec:
        """The spec of a version; the last few are kept. Raises SpecError."""
        known = self._specs.get(version_id)
        if known is None:
            known = self._specs[version_id] = TaskVersion.objects.get(pk=version_id).load()
            if len(self._specs) > _SPECS_KEPT:
                self._specs.popitem(last=False)
        return known

    def limits_of(self, spec: TaskSpec) -> Limits | None:
        """The batch's limits; None: the task's own."""
        if not self.batch.limits:
            return None
        return spec.limits.model_copy(update=dict(self.batch.limits))


_NEEDED: Final = ("pk", "code", "version_id", "group_index", "seed", "policy", "task__code")
