"""Keeping what episodes came to, and what people decide about them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from rollouts_app.core.episode import Outcome
from rollouts_app.core.trajectory import RecordedTurn, encode
from rollouts_app.enums import Curation, EpisodeState, StopReason
from rollouts_app.models import Episode, EpisodePayload
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict
from studio.web.models import User
from tasks_app.core.results import FULL, CheckResult, Grade


class Ended(NamedTuple):
    """An episode that was run, and what came of it."""

    episode_id: int
    outcome: Outcome


class Broken(NamedTuple):
    """An episode that could not even begin, or broke in a way nobody foresaw."""

    episode_id: int
    boundary: str
    message: str


@transaction.atomic
def record_outcomes(*, results: Sequence[Ended | Broken]) -> int:
    """Store grade, list columns and trajectory together; return how many were stored.

    An episode that is graded already stays as it is, so a job may run twice.
    """
    now = timezone.now()
    stored = 0
    payloads: list[EpisodePayload] = []
    for result in results:
        open_row = Episode.objects.filter(pk=result.episode_id).exclude(state=EpisodeState.GRADED)
        columns = (
            _columns(result.outcome)
            if isinstance(result, Ended)
            else _failed(result.boundary, result.message)
        )
        if not open_row.update(**columns, attempts=F("attempts") + 1, finished_at=now):
            continue
        stored += 1
        if isinstance(result, Ended):
            outcome = result.outcome
            payloads.append(
                EpisodePayload(
                    episode_id=result.episode_id,
                    trajectory=encode(outcome.trajectory),
                    grade=None if outcome.grade is None else grade_body(outcome.grade),
                )
            )
    EpisodePayload.objects.bulk_create(
        payloads,
        update_conflicts=True,
        unique_fields=["episode"],
        update_fields=["trajectory", "grade"],
    )
    return stored


def _columns(outcome: Outcome) -> dict[str, Any]:
    turns = [turn for turn in outcome.trajectory.turns if isinstance(turn, RecordedTurn)]
    columns: dict[str, Any] = {
        "stop": StopReason(outcome.stop),
        "turns": outcome.turns,
        "calls": outcome.calls,
        "errors": sum(call.error is not None for turn in turns for call in turn.calls),
        "tokens": outcome.tokens,
        "seconds": outcome.seconds,
    }
    grade = outcome.grade
    if grade is None:
        failure = outcome.failure
        return {
            **columns,
            **_failed(
                failure.boundary if failure is not None else "grade",
                failure.message if failure is not None else "no grade",
            ),
        }
    return {
        **columns,
        "state": EpisodeState.GRADED,
        "reward": grade.total,
        "passed": grade.passed,
        "components": dict(grade.components),
        "checks": "".join(check_sign(check) for check in grade.checks)[:500],
        "violations": list(grade.violations),
        "boundary": "",
        "failure": "",
    }


def _failed(boundary: str, message: str) -> dict[str, Any]:
    return {
        "state": EpisodeState.FAILED,
        "stop": StopReason.FAILED,
        "reward": None,
        "passed": None,
        "boundary": boundary[:12],
        "failure": _clean(message)[:2000],
    }


def check_sign(check: CheckResult) -> str:
    """The sign of a check in an episode's bitmap."""
    if check.failure is not None:
        return "x"
    if check.score is None:
        return "-"
    return "1" if check.score >= FULL else "0" if check.score <= 0 else "p"


def grade_body(grade: Grade) -> dict[str, Any]:
    """Return a grade as JSON, without characters that PostgreSQL cannot keep."""
    parts = {
        **grade._asdict(),
        "checks": [check._asdict() for check in grade.checks],
        "constraints": [constraint._asdict() for constraint in grade.constraints],
    }
    body: dict[str, Any] = _clean(parts)
    return body


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\x00", "�")
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value


@transaction.atomic
def curate(*, episode: Episode, curation: Curation, by: User | HasUser) -> Episode:
    """Decide whether an episode may become a demonstration; leaves one audit entry.

    Conflict for an episode that isn't graded.
    """
    updated = Episode.objects.filter(pk=episode.pk, state=EpisodeState.GRADED).update(
        curation=curation
    )
    if not updated:
        raise Conflict(f"{episode.code} is not graded, so there is nothing to decide yet.")
    audit.record(by, "curate", episode.code, {"curation": curation.value})
    episode.curation = curation
    return episode
