"""Running a batch on a model: threads wait for the endpoint, this thread writes.

Invariants:
- Only the job's own thread touches the database. A thread that has an answer hands it over and goes
  on once it is stored, so no answer is used that a crash could lose, and none is bought twice.
- A failure of the endpoint is never a reward: it is retried, then marked. What stops the batch as a
  whole (a spent budget, a refused key, a server that never answers) leaves its episodes open.
"""

import logging
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from rollouts_app.core.episode import run_episode
from rollouts_app.core.errors import EpisodeFailure
from rollouts_app.core.teacher import Sampling, TeacherPolicy
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.episodes import Broken, Ended, record_outcomes
from rollouts_app.policies import opened
from rollouts_app.queries import MOST_ATTEMPTS, open_episodes
from rollouts_app.runner import BatchRunner, Versions, limits_of
from studio.lib.chat import Budget, ChatAnswer, ChatRequest, EndpointFailure, OpenAIChat
from studio.web.errors import StudioError
from studio.web.jobs import Cancelled, JobHandle
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import SpecError, TaskSpec
from tasks_app.models import ModelEndpoint
from tasks_app.operations.endpoints import open_client, without_key
from tasks_app.operations.model_calls import Made, keep_calls, parts_of, spent, stored_answers

logger = logging.getLogger(__name__)

GRACE: Final = 5.0
"""Seconds that answers under way have to arrive after somebody pressed Stop."""
_TICK: Final = 0.25
_STORE_AFTER: Final = 32
_STORE_SECONDS: Final = 1.0
_ROWS: Final = 500
_HOPELESS: Final = 3
"""Episodes that fail at the endpoint before it has answered anything at all."""


class BatchStopped(StudioError):
    """The batch cannot go on as it is; its open episodes wait."""

    status = 409
    kind = "batch-stopped"
    title = "The batch stopped"


class Halted(Exception):
    """Ends an episode in its thread without a result: it stays open."""


@dataclass(eq=False)
class _Slip:
    """An answer that a thread wants stored."""

    made: Made
    settled: threading.Event = field(default_factory=threading.Event)
    stored: bool = False


@dataclass(frozen=True)
class _Over:
    """A thread is done with an episode; no result: it was halted."""

    task: str
    result: Ended | Broken | None


class _Desk:
    """Where threads hand in what the job's thread has to write."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.reason = ""
        self.answered = False
        self._items: queue.SimpleQueue[_Slip | _Over] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False

    def halt(self, reason: str) -> None:
        """Let nothing new be asked; the first reason stands."""
        with self._lock:
            self.reason = self.reason or reason
        self.stopping.set()

    def pause(self, seconds: float) -> None:
        """Wait between two attempts; Halted when the batch stops meanwhile."""
        if self.stopping.wait(seconds):
            raise Halted

    def keep(self, made: Made) -> None:
        """Have an answer stored; returns once it is. Halted where nobody stores any more."""
        slip = _Slip(made)
        with self._lock:
            if self._closed:
                raise Halted
            self.answered = True
            self._items.put(slip)
        slip.settled.wait()
        if not slip.stored:
            raise Halted

    def over(self, task: str, result: Ended | Broken | None) -> None:
        """Hand in an episode."""
        self._items.put(_Over(task, result))

    def serve(self) -> list[_Over]:
        """Store what waits, in one transaction, and return the episodes that are over."""
        items = self._drain(wait=True)
        slips = [item for item in items if isinstance(item, _Slip)]
        try:
            if slips:
                keep_calls(made=[slip.made for slip in slips])
            for slip in slips:
                slip.stored = True
        finally:
            for slip in slips:
                slip.settled.set()
        return [item for item in items if isinstance(item, _Over)]

    def close(self) -> None:
        """Let go of every thread that waits; what comes later is not stored."""
        self.stopping.set()
        with self._lock:
            self._closed = True
        for item in self._drain(wait=False):
            if isinstance(item, _Slip):
                item.settled.set()

    def _drain(self, *, wait: bool) -> list[_Slip | _Over]:
        items: list[_Slip | _Over] = []
        try:
            if wait:
                items.append(self._items.get(timeout=_TICK))
            while True:
                items.append(self._items.get_nowait())
        except queue.Empty:
            return items


@dataclass
class StoredChat:
    """Answers out of the store where it can, else asks and has the answer stored first."""

    desk: _Desk
    client: OpenAIChat
    endpoint: ModelEndpoint
    subject: str
    part: str
    known: Mapping[str, ChatAnswer]

    def ask(self, request: ChatRequest) -> ChatAnswer:
        """Answer. Raises EndpointFailure, or Halted where the whole batch stops."""
        key = request.key(self.endpoint.name, self.client.model)
        found = self.known.get(key)
        if found is not None:
            return found
        if self.desk.stopping.is_set():
            raise Halted
        try:
            answer = self.client.ask(request)
        except EndpointFailure as failure:
            words = without_key(self.endpoint, failure.message)
            if failure.kind in ("budget", "wrong_key"):
                mend = _key_words(self.endpoint) if failure.kind == "wrong_key" else ""
                self.desk.halt(f"{words.rstrip('.')}{mend}" if mend else words)
                raise Halted from failure
            raise EndpointFailure(failure.kind, words) from failure
        self.desk.keep(
            Made(
                key=key,
                endpoint=self.endpoint.name,
                model=self.client.model,
                subject=self.subject,
                part=self.part,
                request=request,
                answer=answer,
            )
        )
        return answer


def _key_words(endpoint: ModelEndpoint) -> str:
    """What to do about a key that was refused."""
    if endpoint.api_key_env:
        return (
            f". Put the right key into the variable {endpoint.api_key_env} where the workers run, "
            "start them again, then resume."
        )
    return (
        f". {endpoint.name} names no variable that holds a key: name one on its page under "
        "Endpoints, then resume."
    )


class ModelRunner(BatchRunner):
    """Runs episodes of one endpoint, several at once."""

    def __init__(self, batch: RolloutBatch, handle: JobHandle):
        super().__init__(batch, handle)
        self._desk = _Desk()
        self._versions = Versions()
        self._stored = time.monotonic()
        self._waiting: list[Ended | Broken] = []
        self._begun: frozenset[str] = frozenset()
        """Episodes that have stored answers: only these are looked up."""
        self._unproven: list[tuple[Ended | Broken, str]] = []
        """Failures before the endpoint has answered anything: dropped if it never does."""

    def run(self) -> None:
        """Run until nothing is left; BatchStopped says why it cannot go on."""
        with opened(self.batch.policy, self.handle) as endpoint:
            self._run_on(endpoint)

    def _run_on(self, endpoint: ModelEndpoint) -> None:
        self._endpoint = endpoint
        if self._endpoint.model != self.batch.sampling.get("model"):
            raise BatchStopped(
                f"{self.batch.code} was started with the model "
                f"{self.batch.sampling.get('model')}, and {self._endpoint.name} has "
                f"{self._endpoint.model} now. Start a new batch."
            )
        used = spent(self.batch.code)
        self._client = open_client(
            self._endpoint,
            budget=Budget(
                self.batch.budget_calls, self.batch.budget_tokens, used.calls, used.tokens
            ),
            wait=self._desk.pause,
        )
        self._begun = parts_of(self.batch.code)
        tools()  # made once, before as many threads want them at once
        try:
            self._run_in_rounds()
        finally:
            self._desk.close()
            self._client.close()

    def _run_in_rounds(self) -> None:
        """Everything once, then what failed again: the endpoint has time to recover meanwhile."""
        self._done = self._total - open_episodes(self.batch).count()
        self.say("starting")
        for attempt in range(MOST_ATTEMPTS):
            if attempt:
                self._begun = parts_of(self.batch.code)
            rows = open_episodes(self.batch).filter(attempts__lte=attempt)
            in_order = rows.order_by("version_id", "group_index").values_list("pk", flat=True)
            self.run_all(_rows(list(in_order)))
            self.store()
        self.finished = True
        self.handle.progress(self._total, self._total, f"{self.batch.policy}: done")

    def take(self, result: Ended | Broken, task: str) -> None:
        """Keep a result for the next packet, and say how far the batch is."""
        self._waiting.append(result)
        self._done += isinstance(result, Ended) and result.outcome.failure is None
        late = time.monotonic() - self._stored >= _STORE_SECONDS
        if late or len(self._waiting) >= _STORE_AFTER:
            self.store()
            self.tally_sometimes()
        self.say(f"on {task}")

    def store(self) -> None:
        """Write what is waiting."""
        waiting, self._waiting = self._waiting, []
        self._stored = time.monotonic()
        if waiting:
            record_outcomes(results=waiting)

    def run_all(self, episodes: Iterator[Episode]) -> None:
        """Run these once each, as many at a time as the batch says."""
        pool = ThreadPoolExecutor(self.batch.concurrency, thread_name_prefix=self.batch.code)
        running = 0
        try:
            while True:
                self.handle.stop_if_cancelled()
                while running < self.batch.concurrency and not self._desk.stopping.is_set():
                    episode = next(episodes, None)
                    if episode is None:
                        break
                    running += self._begin(pool, episode)
                if not running:
                    break
                running -= self._serve()
        except (Cancelled, KeyboardInterrupt):
            self._desk.stopping.set()
            until = time.monotonic() + GRACE
            while running and time.monotonic() < until:
                running -= self._serve()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        self._give_up_if_hopeless(last=True)
        if self._desk.reason:
            self.store()
            raise BatchStopped(
                f"{self._desk.reason.rstrip('.')}. What is graded stays, the other episodes wait: "
                "mend the cause, or allow more, and resume."
            )

    def _serve(self) -> int:
        over = self._desk.serve()
        for item in over:
            if item.result is None:
                continue
            result = item.result
            broken = isinstance(result, Ended) and result.outcome.failure is not None
            if broken and not self._desk.answered:
                self._unproven.append((result, item.task))
                self._give_up_if_hopeless()
            else:
                self.take(result, item.task)
        return len(over)

    def _give_up_if_hopeless(self, *, last: bool = False) -> None:
        if self._desk.answered:
            waiting, self._unproven = self._unproven, []
            for result, task in waiting:
                self.take(result, task)
        elif self._unproven and (last or len(self._unproven) >= _HOPELESS):
            result = self._unproven[-1][0]
            failure = result.outcome.failure if isinstance(result, Ended) else None
            words = failure.message.partition(": ")[2] if failure is not None else ""
            self._desk.halt(
                f"{self._endpoint.name} has answered nothing: {words.rstrip('.')}. Probe it on its "
                "page under Endpoints, mend its address or start its server, then resume."
            )

    def _begin(self, pool: ThreadPoolExecutor, episode: Episode) -> int:
        """Hand an episode to a thread; 0 where it cannot even begin."""
        try:
            spec = self._versions.spec_of(episode.version_id)
        except SpecError as failure:
            self.take(Broken(episode.pk, "task", str(failure)), episode.task.code)
            return 0
        known: Mapping[str, ChatAnswer] = {}
        if episode.code in self._begun:
            known = stored_answers(self.batch.code, episode.code)
        chat = StoredChat(
            self._desk, self._client, self._endpoint, self.batch.code, episode.code, known
        )
        pool.submit(self._act, episode, episode.task.code, spec, chat)
        return 1

    def _act(self, episode: Episode, task: str, spec: TaskSpec, chat: StoredChat) -> None:
        """Run one episode in a thread, without the database."""
        result: Ended | Broken | None = None
        try:
            policy = TeacherPolicy(
                episode.policy,
                chat,
                draw=episode.code,
                seed=episode.seed,
                sampling=sampling_of(self.batch),
            )
            outcome = run_episode(
                spec,
                policy,
                seed=episode.seed,
                limits=limits_of(self.batch, spec),
                clock=policy.clock,
            )
            result = Ended(episode.pk, outcome)
        except Halted:
            pass
        except EpisodeFailure as failure:
            result = Broken(episode.pk, failure.boundary, failure.message)
        except Exception as failure:
            # The boundary of one episode: whatever broke is data of this row, its siblings go on.
            logger.exception("%s broke", episode.code)
            result = Broken(episode.pk, "world", f"{type(failure).__name__}: {failure}")
        finally:
            self._desk.over(task, result)


def sampling_of(batch: RolloutBatch) -> Sampling:
    """How a batch draws answers, frozen when it was opened."""
    return Sampling(
        **{
            name: batch.sampling[name]
            for name in ("temperature", "top_p", "max_tokens")
            if name in batch.sampling
        }
    )


def _rows(ids: Sequence[int]) -> Iterator[Episode]:
    """The episodes of these ids in their order, some at a time."""
    for first in range(0, len(ids), _ROWS):
        part = ids[first : first + _ROWS]
        found = Episode.objects.select_related("task").only(*_NEEDED).in_bulk(part)
        yield from (found[pk] for pk in part if pk in found)


_NEEDED: Final = ("pk", "code", "version_id", "group_index", "seed", "policy", "task__code")
