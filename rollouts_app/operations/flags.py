"""Suspicions about episodes (gate P2): found over stored episodes, decided by people."""

import logging
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from django.db import transaction

from rollouts_app.core.hacks import acts_of, suspicions
from rollouts_app.enums import FlagState
from rollouts_app.models import Episode, EpisodeFlag
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict, Invalid, NotFound, Problem
from studio.web.models import User
from tasks_app.core.spec import SpecError
from tasks_app.core.validation.trial import Trial
from tasks_app.core.world.world import seed_problem
from tasks_app.operations.exploits import add_exploit, remove_exploit

logger = logging.getLogger(__name__)

_STORED_TOGETHER: Final = 200
"""Suspicions; where the process dies, the next probe finds the others again."""


class Probed(NamedTuple):
    """What a probe came to."""

    episodes: int
    """Looked at."""
    flagged: int
    """New suspicions."""
    unread: int
    """Episodes without a trajectory, or of a version that makes no world any more."""


def probe(episodes: Iterable[Episode], *, report: Callable[[int], None] = lambda _: None) -> Probed:
    """Look at episodes, best by version, and keep what is suspicious; twice is harmless.

    A suspicion that somebody decided about stays decided.
    """
    looked = flagged = unread = 0
    held: tuple[int, Trial | None] = (0, None)
    new: list[EpisodeFlag] = []
    for episode in episodes:
        if held[0] != episode.version_id:
            held = (episode.version_id, _trial(episode))
        trial, payload = held[1], getattr(episode, "payload", None)
        looked += 1
        report(looked)
        if trial is None or payload is None:
            unread += 1
            continue
        found = suspicions(
            trial,
            payload.read(),
            reward=episode.reward or 0.0,
            passed=bool(episode.passed),
            violations=episode.violations,
        )
        new += [EpisodeFlag(episode=episode, rule=one.rule, words=one.words[:300]) for one in found]
        if len(new) >= _STORED_TOGETHER:
            flagged += _store(new)
            new = []
    return Probed(looked, flagged + _store(new), unread)


def _store(flags: list[EpisodeFlag]) -> int:
    """Write the flags that are not there yet, and return how many those were."""
    episodes = [flag.episode_id for flag in flags]
    rows = EpisodeFlag.objects.filter(episode__in=episodes)
    known = set(rows.values_list("episode", "rule"))
    new = [flag for flag in flags if (flag.episode_id, flag.rule) not in known]
    EpisodeFlag.objects.bulk_create(new, ignore_conflicts=True)
    return len(new)


def _trial(episode: Episode) -> Trial | None:
    try:
        spec = episode.version.load()
    except SpecError as error:
        logger.warning("%s cannot be read: %s", episode.code, error)
        return None
    return None if seed_problem(spec) is not None else Trial(spec)


@transaction.atomic
def decide(
    *, episode: Episode, rule: str, state: FlagState, reason: str, by: User | HasUser
) -> EpisodeFlag:
    """Say whether a suspicion is right. Confirmed, the trace is a mutant of the task's next proofs;
    dismissed or open again, it is none any more. Audited.

    NotFound for another rule; Invalid without a reason; Conflict without a trajectory.
    """
    flag = EpisodeFlag.objects.select_for_update().filter(episode=episode, rule=rule[:32]).first()
    if flag is None:
        raise NotFound(f"{episode.code} is not suspected of “{rule[:32]}”.")
    if not reason.strip():
        raise Invalid("Say why.", [Problem("reason", "is missing")])
    user = by if isinstance(by, User) else by.user
    flag.state, flag.reason, flag.decided_by = state, reason.strip()[:1000], user
    flag.save(update_fields=["state", "reason", "decided_by"])
    confirmed = EpisodeFlag.objects.filter(episode=episode, state=FlagState.CONFIRMED)
    if state == FlagState.CONFIRMED:
        payload = getattr(episode, "payload", None)
        if payload is None:
            raise Conflict(f"{episode.code} has no trajectory that could be played again.")
        acts = acts_of(payload.read())
        add_exploit(task=episode.task, source=episode.code, title=flag.words, acts=acts, by=by)
    elif not confirmed.exists():
        remove_exploit(task=episode.task, source=episode.code, by=by)
    audit.record(by, "decide_flag", episode.code, {"rule": rule, "state": state.value})
    return flag
