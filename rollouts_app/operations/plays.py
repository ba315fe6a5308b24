"""Playing a task in the browser: a game is an episode whose acts stand in a draft until it ends."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import transaction

from rollouts_app.core.episode import Outcome
from rollouts_app.core.playing import POLICY, UnusableError, reference_of
from rollouts_app.core.trajectory import Trajectory
from rollouts_app.enums import EpisodeState, Purpose
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import tally
from rollouts_app.operations.episodes import Ended, record_outcomes
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict, Invalid, NotFound, Problem
from studio.web.models import Draft, User
from tasks_app.core.spec import SpecError, load_spec
from tasks_app.enums import Origin
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task


class Made(NamedTuple):
    """The task whose reference is an episode."""

    task: Task
    new: bool
    """False where somebody was faster."""


def _subject(episode: Episode) -> str:
    return f"play:{episode.code}"


@transaction.atomic
def open_play(*, task: Task, by: User) -> Episode:
    """Begin a game on a task's current version: a batch of one episode, and an empty draft."""
    version = task.current
    if version is None:
        raise Conflict(f"{task.code} has no version to play.")
    batch = RolloutBatch(
        purpose=Purpose.PLAY,
        policy=POLICY,
        filter=f"code:{task.code}",
        author=by,
        tasks=1,
        episodes_planned=1,
    )
    batch.save()
    episode = Episode(batch=batch, task=task, version=version, group_index=0, seed=0, policy=POLICY)
    episode.save()
    Draft.objects.create(user=by, subject=_subject(episode), content={"acts": []})
    audit.record(by, "start_play", episode.code, {"task": task.code, "version": version.number})
    return episode


@transaction.atomic
def add_act(*, episode: Episode, by: User, base: int, act: Mapping[str, Any]) -> int:
    """Note one act and return how many there are; Conflict where ``base`` is no longer the count.

    Args:
        episode: A game of this person's.
        by: The person.
        base: How many acts the page showed that the person acted on.
        act: {"tool", "arguments"} or {"reply"}.
    """
    draft = _draft(episode, by, base)
    draft.content = {"acts": [*draft.content["acts"], dict(act)]}
    draft.save()
    return len(draft.content["acts"])


@transaction.atomic
def take_back(*, episode: Episode, by: User, base: int) -> None:
    """Forget the last act; Conflict where there is none or ``base`` is no longer the count."""
    draft = _draft(episode, by, base)
    if not draft.content["acts"]:
        raise Conflict("There is nothing to take back.")
    draft.content = {"acts": draft.content["acts"][:-1]}
    draft.save()


@transaction.atomic
def finish_play(*, episode: Episode, by: User, outcome: Outcome) -> None:
    """Store what the game came to and drop its draft."""
    record_outcomes(results=[Ended(episode.pk, outcome)])
    tally(batch=episode.batch, seconds=outcome.seconds or 0.0, finished=True)
    Draft.objects.filter(user=by, subject=_subject(episode)).delete()
    audit.record(by, "finish_play", episode.code, {"reward": outcome.reward})


def _draft(episode: Episode, by: User, base: int) -> Draft:
    draft = Draft.objects.select_for_update().filter(user=by, subject=_subject(episode)).first()
    if draft is None or episode.state != EpisodeState.QUEUED:
        raise NotFound(f"{episode.code} is no game of yours that goes on.")
    if len(draft.content["acts"]) != base:
        raise Conflict("You went on in another tab. Reload to see where the game stands.")
    return draft


@transaction.atomic
def task_from_episode(*, episode: Episode, trajectory: Trajectory, by: User | HasUser) -> Made:
    """Make a new task, a draft, whose reference is what this episode did.

    Where it was made already, by whomever, that task is returned and nothing is made. Invalid where
    no reference can express it, or the spec does not hold together with it.
    """
    spec = episode.version.load()
    try:
        steps = reference_of(spec, trajectory)
        written = {
            **spec.written(),
            "slug": f"{spec.slug[:92]}-played",
            "reference": steps,
            "provenance": {"played": episode.code, "from": episode.task.code},
        }
        made = load_spec(written)
    except (UnusableError, SpecError) as failure:
        raise Invalid(
            f"{episode.code} cannot become a reference.", [Problem("reference", str(failure))]
        ) from failure
    # Of two who press at once, one waits here and finds what the other made.
    Episode.objects.select_for_update(of=("self",)).get(pk=episode.pk)
    already = Task.objects.filter(
        origin=Origin.PLAYED, versions__number=1, versions__hash=made.hash
    ).first()
    if already is not None:
        return Made(already, new=False)
    task = create_task(
        spec=made,
        by=by,
        origin=Origin.PLAYED,
        parent=episode.version,
        reason=f"reference played as {episode.code}",
    )
    return Made(task, new=True)
