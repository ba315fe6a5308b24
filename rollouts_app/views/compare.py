"""Two episodes of one task beside each other, and choosing the two."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from rollouts_app import queries
from rollouts_app.core.align import align
from rollouts_app.core.frames import Replay
from rollouts_app.models import Episode
from rollouts_app.views.beside import checks_of, ends_of, pairs_of, rules_of
from rollouts_app.views.episodes import replay_shown, state_of, time_of
from rollouts_app.views.turns import turns_of
from studio.web.acts import Act
from studio.web.auth import require
from studio.web.codes import normalise
from studio.web.errors import BadRequest
from studio.web.htmx import render_page


@dataclass(frozen=True)
class Choice:
    """An episode that the other can be compared with."""

    row: Episode
    state: str
    words: str
    url: str


@dataclass(frozen=True)
class Side:
    """One of the two."""

    row: Episode
    state: str
    words: str
    time: str
    choices: tuple[Choice, ...] = ()
    """What it can be compared with, where the two cannot be."""


@never_cache
@require_GET
@require(Act.READ)
def compare_pick(request: HttpRequest) -> HttpResponse:
    """Choose two: `?episodes=E-1&episodes=E-2` leads on to them, one asks for the second."""
    asked = [code for text in request.GET.getlist("episodes") for code in text.split(",")]
    codes = list(dict.fromkeys(normalise(code) for code in asked if code.strip()))
    if len(codes) > 2:
        raise BadRequest(
            f"{len(codes)} episodes are chosen. Two can stand beside each other: choose two."
        )
    rows = [queries.get_episode(code) for code in codes]
    if len(rows) == 2:
        return redirect("episode-compare", rows[0].code, rows[1].code)
    context = {"side": _side(rows[0], offers=True) if rows else None}
    return render_page(request, "rollouts/compare_pick.html", None, context)


@never_cache
@require_GET
@require(Act.READ)
def episode_compare(request: HttpRequest, code: str, other: str) -> HttpResponse:
    """The first on the left, the second on the right, from the turn where they part."""
    rows = queries.get_episode(code), queries.get_episode(other)
    if rows[0] == rows[1]:
        raise BadRequest(f"{rows[0].code} is compared with itself. Name two episodes.")
    replays = replay_shown(rows[0]), replay_shown(rows[1])
    same_task = rows[0].task_id == rows[1].task_id
    unread = [row for row, replay in zip(rows, replays, strict=True) if not _has_turns(replay)]
    offers = not same_task or bool(unread)
    context: dict[str, Any] = {
        "sides": (_side(rows[0], offers=offers), _side(rows[1], offers=offers)),
        "same_task": same_task,
        "unread": unread,
        "other_way": reverse("episode-compare", args=[rows[1].code, rows[0].code]),
        "versions": rows[0].version_id != rows[1].version_id,
    }
    first, second = replays
    if same_task and not unread and first is not None and second is not None:
        context |= _beside(rows, (first, second))
    return render_page(request, "rollouts/compare.html", None, context)


def _has_turns(replay: Replay | None) -> bool:
    return replay is not None and bool(replay.frames)


def _side(row: Episode, *, offers: bool) -> Side:
    state, words = state_of(row)
    choices = queries.comparable(row) if offers else []
    return Side(row, state, words, time_of(row), tuple(_choice(row, each) for each in choices))


def _choice(row: Episode, other: Episode) -> Choice:
    state, words = state_of(other)
    return Choice(other, state, words, reverse("episode-compare", args=[row.code, other.code]))


def _beside(rows: tuple[Episode, Episode], replays: tuple[Replay, Replay]) -> dict[str, Any]:
    specs = rows[0].version.load(), rows[1].version.load()
    found = align(*replays)
    turns = turns_of(replays[0], specs[0]), turns_of(replays[1], specs[1])
    pairs = pairs_of(found, turns)
    checks, rules = checks_of(replays, specs), rules_of(replays, specs)
    rewards = replays[0].grade.total, replays[1].grade.total
    return {
        "alignment": found,
        "pairs": pairs,
        "parting": next((pair for pair in pairs if pair.first), None),
        "before": found.parting or 0,
        "parted": sum(pair.row.parts for pair in pairs),
        "checks": checks,
        "differing_checks": sum(line.differs for line in checks),
        "rules": rules,
        "broken": [len(replay.grade.violations) for replay in replays],
        "ends": ends_of(found.ends),
        "rewards": rewards,
        "gain": rewards[1] - rewards[0],
        "odd": [
            (row, replay)
            for row, replay in zip(rows, replays, strict=True)
            if replay.divergence or replay.damage
        ],
    }
