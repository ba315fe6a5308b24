"""What the home page shows, gathered from the apps: a queue, jobs, the library, workers, news."""

import datetime as dt
from typing import Any
from urllib.parse import urlencode

from django.db.models import Avg, Case, IntegerField, Value, When
from django.urls import reverse
from django.utils import timezone

from rollouts_app.models import Episode
from studio.places import place_of
from studio.web import workers
from studio.web.acts import Act
from studio.web.auth import Principal
from studio.web.choices import FINISHED, JobState
from studio.web.models import AuditEntry, Job
from studio.web.pagination import capped_count
from studio.web.words import ago, duration, score
from tasks_app import queries
from tasks_app.enums import TaskState
from tasks_app.models import Task

SHOWN = 8
_RECENT = dt.timedelta(days=1)
#: Marks of what the audit log tells on the home page; the rest of the log is not news.
_NEWS = {
    "approve_task": ("ok", "approved"),
    "reject_task": ("bad", "rejected"),
    "retire_task": ("void", "retired"),
    "create_task": ("void", "made"),
    "save_version": ("void", "edited"),
    "duplicate_task": ("void", "copied"),
    "generate_tasks": ("run", "generated tasks:"),
    "import_tasks": ("run", "imported tasks:"),
    "start_batch": ("run", "rolled out"),
    "start_run": ("run", "trains"),
}
_WAITING = (TaskState.IN_REVIEW, TaskState.PROVEN)


def gather(who: Principal) -> dict[str, Any]:
    """The context of home.html."""
    now = timezone.now()
    counts = queries.count_by_state()
    alive = workers.alive()
    jobs = _jobs(now)
    waiting = Job.objects.filter(state=JobState.QUEUED, inline=False).count()
    return {
        "now": timezone.localtime(now),
        "is_new": not any(counts.values()),
        "ledger": _ledger(counts),
        **_queue(who, counts),
        "alerts": _alerts(who, now, waiting if not alive else 0),
        "jobs": jobs,
        "jobs_waiting": waiting,
        "library": _library(counts),
        "library_total": sum(counts.values()),
        "library_url": "/tasks/",
        "workers": [
            {"name": row.name, "doing": ", ".join(row.queues), "seen": ago(row.seen_at, now)}
            for row in alive
        ],
        "news": _news(now),
        "is_live": any(job["open"] for job in jobs),
    }


def _tasks_url(text: str) -> str:
    return f"/tasks/?{urlencode({'q': text})}"


def _ledger(counts: dict[str, int]) -> list[dict[str, Any]]:
    graded = Episode.objects.filter(reward__isnull=False)
    # The mean of the newest thousand: a number that moves with what is being done.
    newest = graded.order_by("-created_at", "-id")[:1000]
    mean = newest.aggregate(mean=Avg("reward"))["mean"]
    return [
        *(
            {
                "label": TaskState(state).label,
                "value": counts[state],
                "note": note,
                "url": _tasks_url(f"state:{state}"),
            }
            for state, note in (
                (TaskState.DRAFT.value, "to prove"),
                (TaskState.INVALID.value, "to mend"),
                (TaskState.PROVEN.value, "wait for a verdict"),
                (TaskState.IN_REVIEW.value, "being read"),
                (TaskState.APPROVED.value, "ready to train on"),
            )
        ),
        {
            "label": "Episodes",
            "value": str(capped_count(graded)),
            "note": f"mean reward {score(mean)}",
            "url": "/episodes/",
        },
    ]


def _queue(who: Principal, counts: dict[str, int]) -> dict[str, Any]:
    if not who.may(Act.REVIEW):
        return {"queue": [], "main_action": None, "queue_empty": "Reviewing needs another role."}
    first = Case(
        When(state=TaskState.IN_REVIEW, then=Value(0)), default=1, output_field=IntegerField()
    )
    rows = Task.objects.filter(state__in=_WAITING, evaluation_only=False).order_by(
        first, "created_at", "id"
    )[:SHOWN]
    queue = [
        {
            "code": row.code,
            "title": row.title,
            "url": f"/tasks/{row.code}/",
            "why": "in review" if row.state == TaskState.IN_REVIEW else "proven",
        }
        for row in rows
    ]
    total = sum(counts[state] for state in _WAITING)
    return {
        "queue": queue,
        "queue_title": "Waiting for a verdict",
        "queue_total": f"all {total:,}",
        "queue_url": _tasks_url(f"state:{','.join(_WAITING)}"),
        "queue_empty": "Queue clear. Nothing waits for you.",
        "main_action": {"label": "Review the next", "url": queue[0]["url"], "key": "Enter"}
        if queue
        else None,
    }


def _jobs(now: dt.datetime) -> list[dict[str, Any]]:
    newest = Job.objects.order_by("-created_at", "-id")
    rows = list(newest.exclude(state__in=FINISHED)[:SHOWN])
    ended = newest.filter(state__in=FINISHED, created_at__gt=now - 7 * _RECENT)
    rows.extend(ended[: SHOWN - len(rows)])
    return [_job(row) for row in rows]


def _job(row: Job) -> dict[str, Any]:
    what = row.kind.replace("_", " ").capitalize()
    left = ""
    if not row.is_finished and row.rate and row.total:
        left = f"{duration((row.total - row.done) / row.rate)} left"
    elif row.is_finished and row.started_at and row.finished_at:
        left = duration((row.finished_at - row.started_at).total_seconds())
    return {
        "code": row.code,
        "kind_label": what,
        "what": f"{what}: {row.note}" if row.note and not row.is_finished else what,
        "url": reverse("job", args=[row.code]),
        "subject": row.subject if place_of(row.subject) else "",
        "subject_url": place_of(row.subject),
        "state": row.state,
        "how_far": f"{row.done:,} of {row.total:,}" if row.total else "",
        "done": row.done,
        "total": None if row.is_finished else row.total,
        "left": left,
        "error": row.error.partition("\n")[0],
        "open": not row.is_finished,
    }


def _alerts(who: Principal, now: dt.datetime, stranded: int) -> list[dict[str, Any]]:
    alerts = []
    if stranded:
        alerts.append(
            {
                "kind": "bad",
                "title": f"{stranded} job{'' if stranded == 1 else 's'} and no worker.",
                "text": "Nothing is lost; they run as soon as a worker does.",
                "command": "python3 dev.py run",
            }
        )
    failed = Job.objects.filter(
        user=who.user,
        state__in=(JobState.FAILED, JobState.LOST),
        finished_at__gt=now - _RECENT,
    ).order_by("-finished_at")
    alerts.extend(
        {
            "kind": "warn",
            "title": f"{row.kind.replace('_', ' ').capitalize()} {row.state}.",
            "text": row.error.partition("\n")[0],
            "url": reverse("job", args=[row.code]),
            "url_label": "See the job",
        }
        for row in failed[:3]
    )
    return alerts


def _library(counts: dict[str, int]) -> list[dict[str, Any]]:
    largest = max(counts.values(), default=0) or 1
    return [
        {
            "state": state,
            "label": TaskState(state).label,
            "count": count,
            "url": _tasks_url(f"state:{state}"),
            "share": 100 * count / largest,
        }
        for state, count in counts.items()
        if count
    ]


def _news(now: dt.datetime) -> list[dict[str, Any]]:
    rows = AuditEntry.objects.filter(act__in=_NEWS).order_by("-created_at", "-id")[:6]
    news = []
    for row in rows:
        mark, verb = _NEWS[row.act]
        news.append(
            {
                "mark": mark,
                "text": f"{row.actor_name} {verb} {row.subject}",
                "value": ago(row.created_at, now),
                "url": f"/search/?{urlencode({'q': row.subject})}",
            }
        )
    return news
