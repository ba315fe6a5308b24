"""Running a batch's episodes: safe to repeat, and shared between processes.

Invariants:
- A packet of open episodes is locked, run and stored in one transaction. Whoever dies in it leaves
  nothing behind, and the next one takes the same episodes: each is stored once.
- A database that is away is waited for; it is no result.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from django.db import connection, transaction
from django.db.utils import InterfaceError, OperationalError

from rollouts_app.core.episode import run_episode
from rollouts_app.core.errors import EpisodeFailure
from rollouts_app.core.scripted import Script, ScriptedPolicy, script_for
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import tally
from rollouts_app.operations.episodes import Broken, Ended, record_outcomes
from rollouts_app.queries import open_episodes, wants_help
from studio.web.jobs import JobHandle, interrupted
from tasks_app.core.spec import Limits, SpecError, TaskSpec
from tasks_app.models import TaskVersion

logger = logging.getLogger(__name__)

PACKET: Final = 32
"""Episodes that are locked, run and stored together."""
_PACKET_SECONDS: Final = 1.0
"""A packet that takes longer is stored as far as it is; the rest is let go."""
TALLY_SECONDS: Final = 1.0
_LOOK_AGAIN: Final = 0.1
"""Seconds until somebody looks whether the others are done with what they hold."""
_PATIENCE: Final = 45.0
"""Seconds a database may be away. Less than a lease: afterwards the job may be somebody else's."""
_SPECS_KEPT: Final = 16


class Versions:
    """The specs that were read last, by version."""

    def __init__(self) -> None:
        self._specs: OrderedDict[int, TaskSpec] = OrderedDict()

    def spec_of(self, version_id: int) -> TaskSpec:
        """The spec of a version. Raises SpecError."""
        known = self._specs.get(version_id)
        if known is None:
            known = self._specs[version_id] = TaskVersion.objects.get(pk=version_id).load()
            if len(self._specs) > _SPECS_KEPT:
                self._specs.popitem(last=False)
        return known


def limits_of(batch: RolloutBatch, spec: TaskSpec) -> Limits | None:
    """The batch's limits; None: the task's own."""
    if not batch.limits:
        return None
    return spec.limits.model_copy(update=dict(batch.limits))


class Hand:
    """Takes packets of a batch that nobody else has taken."""

    def __init__(self, batch: RolloutBatch):
        self.batch = batch
        self._versions = Versions()
        self._script: tuple[int, str, Script] | None = None

    @transaction.atomic
    def packet(self) -> list[Episode]:
        """Run some open episodes and store what they came to; empty: none is left to take."""
        rows = (
            open_episodes(self.batch)
            .order_by("attempts", "version_id", "group_index")
            .select_related("task")
            .only(*_NEEDED)
            .select_for_update(skip_locked=True, of=("self",))
        )
        until = time.monotonic() + _PACKET_SECONDS
        ran: list[Episode] = []
        results: list[Ended | Broken] = []
        for episode in rows[:PACKET]:
            ran.append(episode)
            results.append(self._result(episode))
            if time.monotonic() > until:
                break
        record_outcomes(results=results)
        return ran

    def _result(self, episode: Episode) -> Ended | Broken:
        try:
            spec = self._versions.spec_of(episode.version_id)
        except SpecError as failure:
            return Broken(episode.pk, "task", str(failure))
        try:
            outcome = run_episode(
                spec,
                ScriptedPolicy(episode.policy, self._script_of(episode, spec)),
                seed=episode.seed,
                limits=limits_of(self.batch, spec),
                clock=time.monotonic,
            )
        except EpisodeFailure as failure:
            return Broken(episode.pk, failure.boundary, failure.message)
        except Exception as failure:
            if interrupted(failure):
                raise
            # The boundary of one episode: whatever broke is data of this row, its siblings go on.
            logger.exception("%s broke", episode.code)
            return Broken(episode.pk, "world", f"{type(failure).__name__}: {failure}")
        return Ended(episode.pk, outcome)

    def _script_of(self, episode: Episode, spec: TaskSpec) -> Script:
        """What the policy plays: settled once for a group, whose episodes follow one another."""
        known = self._script
        if known is None or known[:2] != (episode.version_id, episode.policy):
            script = script_for(episode.policy, spec)
            known = self._script = episode.version_id, episode.policy, script
        return known[2]


class BatchRunner:
    """Runs what is open in a batch, beside others who help, until nothing is left."""

    def __init__(self, batch: RolloutBatch, handle: JobHandle):
        self.batch = batch
        self.handle = handle
        self.finished = False
        self._tallied = time.monotonic()
        self._counting = 0.0
        self._total = batch.episodes_planned
        self._done = 0

    @property
    def seconds(self) -> float:
        """Seconds since the last tally."""
        return time.monotonic() - self._tallied

    def run(self) -> None:
        """Run until nothing is left, or somebody stops the job."""
        self._hand = Hand(self.batch)
        self._done = self._total - open_episodes(self.batch).count()
        self.say("starting")
        patiently(self._step)
        self.finished = True
        self.handle.progress(self._total, self._total, f"{self.batch.policy}: done")

    def store(self) -> None:
        """Write what is waiting: nothing, a packet is stored at once."""

    def say(self, note: str) -> None:
        """Report how far the batch is; the end is said when it is counted."""
        done = min(self._done, self._total - 1)
        self.handle.progress(done, self._total, f"{self.batch.policy}: {note}")

    def tally_sometimes(self) -> None:
        """Count what is stored, now and then."""
        # Counting a large batch takes a while: at most a twentieth of the time goes into it.
        if self.seconds < max(TALLY_SECONDS, 20 * self._counting):
            return
        began = time.monotonic()
        self._done = tally(batch=self.batch, seconds=self.seconds).done
        self._tallied = time.monotonic()
        self._counting = self._tallied - began

    def _step(self) -> bool:
        self.handle.stop_if_cancelled()
        ran = self._hand.packet()
        if ran:
            self._done += len(ran)
            self.say(f"on {ran[-1].task.code}")
        elif open_episodes(self.batch).exists():
            time.sleep(_LOOK_AGAIN)
            self.say("waiting for the last episodes")
        else:
            return False
        self.tally_sometimes()
        return True


def help_out(batch: RolloutBatch, *, seconds: float) -> bool:
    """Run packets beside the batch's own job for a while; True where there may be more to do."""
    hand = Hand(batch)
    until = time.monotonic() + seconds
    late = False

    def step() -> bool:
        nonlocal late
        late = time.monotonic() > until
        return not late and wants_help(batch) and bool(hand.packet())

    patiently(step)
    return late


def patiently(step: Callable[[], bool]) -> None:
    """Repeat a step until it says no. A database that is away for a moment is waited for."""
    away_since: float | None = None
    while True:
        try:
            if not step():
                return
        except (OperationalError, InterfaceError) as error:
            now = time.monotonic()
            away_since = away_since or now
            if now - away_since > _PATIENCE:
                raise
            logger.warning("the database is away, trying again: %s", error)
            connection.close()
            time.sleep(1.0)
        else:
            away_since = None


_NEEDED: Final = (
    "pk", "code", "version_id", "group_index", "seed", "policy", "attempts", "task__code",
)  # fmt: skip
