"""Keeping what episodes came to, and what people decide about them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from django.db import connection, transaction
from django.utils import timezone

from rollouts_app.core.environment import encodable
from rollouts_app.core.episode import Outcome
from rollouts_app.core.trajectory import RecordedTurn, encode
from rollouts_app.enums import Curation, EpisodeState, StopReason
from rollouts_app.models import Episode, EpisodePayload
from rollouts_app.queries import matching_episodes
from studio.lib.jsonvalue import JsonObject
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
    stored = _update([_row(result) for result in results])
    EpisodePayload.objects.bulk_create(
        [
            EpisodePayload(
                episode_id=result.episode_id,
                trajectory=encode(result.outcome.trajectory),
                grade=None if result.outcome.grade is None else grade_body(result.outcome.grade),
            )
            for result in results
            if isinstance(result, Ended) and result.episode_id in stored
        ],
        update_conflicts=True,
        unique_fields=["episode"],
        update_fields=["trajectory", "grade"],
    )
    return len(stored)


_COLUMNS: Final[Mapping[str, str]] = {
    "state": "text",
    "stop": "text",
    "reward": "double precision",
    "passed": "boolean",
    "components": "jsonb",
    "checks": "text",
    "violations": "text[]",
    "first_failed": "text",
    "turns": "integer",
    "calls": "integer",
    "errors": "integer",
    "tokens": "integer",
    "seconds": "double precision",
    "boundary": "text",
    "failure": "text",
}
"""What an outcome sets → its type, for one statement in place of one an episode."""

_UPDATE: Final = (
    f"UPDATE {Episode._meta.db_table} AS old SET "  # noqa: S608 - names of ours, no values
    + ", ".join(f"{name} = new.{name}" for name in _COLUMNS)
    + ", attempts = old.attempts + 1, finished_at = %s FROM jsonb_to_recordset(%s::jsonb) AS new("
    "id bigint, "
    + ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    + ") WHERE old.id = new.id AND old.state <> %s RETURNING old.id"
)


def _update(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """Set the columns of all rows that are not graded yet, and return their ids."""
    if not rows:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            _UPDATE,
            [timezone.now(), orjson.dumps(rows).decode(), EpisodeState.GRADED.value],
        )
        return {pk for (pk,) in cursor.fetchall()}


def _row(result: Ended | Broken) -> dict[str, Any]:
    """The columns of a result, those of an unscored episode where it has none."""
    row: dict[str, Any] = {
        "id": result.episode_id,
        "components": {},
        "checks": "",
        "violations": [],
        "first_failed": "",
        "turns": 0,
        "calls": 0,
        "errors": 0,
    }
    if isinstance(result, Broken):
        return row | _failed(result.boundary, result.message)
    outcome = result.outcome
    turns = [turn for turn in outcome.trajectory.turns if isinstance(turn, RecordedTurn)]
    row |= {
        "stop": StopReason(outcome.stop).value,
        "turns": outcome.turns,
        "calls": outcome.calls,
        "errors": sum(call.error is not None for turn in turns for call in turn.calls),
        "tokens": outcome.tokens,
        "seconds": outcome.seconds,
    }
    grade = outcome.grade
    if grade is None:
        failure = outcome.failure
        return row | _failed(
            failure.boundary if failure is not None else "grade",
            failure.message if failure is not None else "no grade",
        )
    return row | {
        "state": EpisodeState.GRADED.value,
        "reward": grade.total,
        "passed": grade.passed,
        "components": dict(grade.components),
        "checks": "".join(check_sign(check) for check in grade.checks)[:500],
        "violations": list(grade.violations),
        "first_failed": first_failed(grade),
        "boundary": "",
        "failure": "",
    }


def _failed(boundary: str, message: str) -> dict[str, Any]:
    return {
        "state": EpisodeState.FAILED.value,
        "stop": StopReason.FAILED.value,
        "reward": None,
        "passed": None,
        "boundary": boundary[:12],
        "failure": _clean(message)[:2000],
    }


def first_failed(grade: Grade) -> str:
    """Id of what failed first in the spec's order: its constraints, then its checks.

    Empty where nothing failed; what was not scored did not fail.
    """
    if grade.violations:
        return grade.violations[0]
    unmet = (c.id for c in grade.checks if c.score is not None and c.score < FULL)
    return next(unmet, "")


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
        return encodable(value).replace("\x00", "�")
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


@transaction.atomic
def curate_all(*, filter_text: str, curation: Curation, by: User | HasUser) -> int:
    """Decide about all graded episodes of a filter; return how many changed. One audit entry.

    Keeping and dropping leave what was decided before; ``OPEN`` takes decisions back.
    """
    rows = matching_episodes(filter_text).filter(state=EpisodeState.GRADED)
    if curation == Curation.OPEN:
        rows = rows.exclude(curation=Curation.OPEN)
    else:
        rows = rows.filter(curation=Curation.OPEN)
    keys = rows.order_by().values("pk")
    changed = Episode.objects.filter(pk__in=keys).update(curation=curation)
    detail: JsonObject = {"filter": filter_text, "curation": curation.value, "episodes": changed}
    audit.record(by, "curate_all", "", detail)
    return changed
