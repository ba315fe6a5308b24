"""The episode list, and the replay of one episode."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from rollouts_app import queries
from rollouts_app.core.errors import TaskFailure
from rollouts_app.core.frames import Replay
from rollouts_app.core.messages import opening
from rollouts_app.enums import Curation, EpisodeState, FlagState
from rollouts_app.models import Episode
from rollouts_app.operations.episodes import curate, curate_all
from rollouts_app.operations.flags import decide
from rollouts_app.views.pane import pane_of
from rollouts_app.views.turns import turns_of
from rollouts_app.views.values import result_text
from studio.web import words
from studio.web.acts import Act
from studio.web.auth import principal, require
from studio.web.errors import BadRequest, Conflict, Invalid, NotFound, Problem
from studio.web.exports import jsonl_response
from studio.web.filter_line import FilterLine, drops, filter_line, list_url
from studio.web.htmx import render_page, see_other
from tasks_app.core.results import GRADED
from tasks_app.core.spec import SpecError, TaskSpec

SIZE: Final = 50
_SIGNS: Final = {"1": "ok", "p": "warn", "0": "none", "x": "bad", "-": "none"}
_SIGN_WORDS: Final = {"1": "hold", "p": "in part", "0": "not met", "x": "broke", "-": "not scored"}

VIEWS: Final = (
    ("All", ""),
    ("Passed", "passed:yes"),
    ("Not passed", "passed:no"),
    ("Rules broken", "violation:any"),
    ("Suspicious", "flag:open"),
    ("Stopped by a limit", "stop:turn_limit,call_limit,time_limit"),
    ("Not scored", "stop:failed"),
)
"""Views of the list that every reader needs: words and filter."""

SORTS: Final = {
    "newest": "newest first",
    "oldest": "oldest first",
    "best": "best first",
    "worst": "worst first",
    "longest": "most turns",
    "shortest": "fewest turns",
    "tokens": "most tokens",
}
"""Orders of the list as people call them."""


@dataclass(frozen=True)
class Sign:
    """One check in a list row, drawn as a cell of the strip."""

    state: str
    name: str = ""
    letter: str = ""


@dataclass(frozen=True)
class Row:
    """An episode in the list."""

    episode: Episode
    state: str
    words: str
    strip: tuple[Sign, ...]
    strip_words: str
    time: str


def row_of(episode: Episode) -> Row:
    """An episode as the list draws it."""
    state, said = state_of(episode)
    counted = [
        f"{episode.checks.count(sign)} {meaning}"
        for sign, meaning in _SIGN_WORDS.items()
        if sign in episode.checks
    ]
    return Row(
        episode=episode,
        state=state,
        words=said,
        strip=tuple(Sign(_SIGNS.get(sign, "none")) for sign in episode.checks),
        strip_words=f"checks: {', '.join(counted)}" if counted else "no check was scored",
        time=time_of(episode),
    )


def time_of(episode: Episode) -> str:
    """How long it took; not "0.0 s"."""
    seconds = episode.seconds
    return "<0.1 s" if seconds is not None and seconds < 0.1 else words.duration(seconds)


def state_of(episode: Episode) -> tuple[str, str]:
    """State for the mark, and its word."""
    if episode.state == EpisodeState.FAILED:
        return "lost", "not scored"
    if episode.state == EpisodeState.QUEUED:
        return "queued", "queued"
    if episode.violations:
        return "violated", "rule broken"
    return ("passed", "passed") if episode.passed else ("none", "not passed")


@never_cache
@require_GET
@require(Act.READ)
def episode_list(request: HttpRequest) -> HttpResponse:
    """Episodes under a filter; 400 with the good terms' rows where a term is wrong."""
    sort = request.GET.get("sort") or "newest"
    if sort not in SORTS:
        raise BadRequest(f"There is no order “{sort}”; known are {', '.join(SORTS)}.")
    line = filter_line(request, queries.EPISODES, noun="episodes", keep=("sort",))
    found = queries.episode_page(line.good, order=sort, cursor=request.GET.get("cursor"), size=SIZE)
    page = found.page
    nothing = not page.rows
    context: dict[str, Any] = {
        "filter": line,
        "rows": [row_of(episode) for episode in page.rows],
        "total": str(found.total),
        "sort_words": SORTS[sort],
        "sorts": [(said, line.url(line.good, sort=name)) for name, said in SORTS.items()],
        "heads": {
            "reward": _head_of(line, sort, "best", "worst"),
            "turns": _head_of(line, sort, "longest", "shortest"),
            "tokens": _head_of(line, sort, "tokens", "newest"),
            "run": _head_of(line, sort, "newest", "oldest"),
        },
        "tabs": [
            {"label": label, "url": list_url(line.action, text), "current": line.text == text}
            for label, text in VIEWS
        ],
        "newer_url": _cursor_url(line, page.previous_cursor),
        "older_url": _cursor_url(line, page.next_cursor),
        "drops": drops(line, queries.EPISODES, queries.ended())[:3] if nothing else [],
        "nothing_yet": nothing and not line.text,
    }
    return render_page(
        request,
        "rollouts/episodes.html",
        {"episodes": "rollouts/_episodes.html"},
        context,
        status=400 if line.problems else 200,
    )


def _cursor_url(line: FilterLine, cursor: str | None) -> str:
    return line.url(line.good, cursor=cursor) if cursor else ""


def _head_of(line: FilterLine, sort: str, falling: str, rising: str) -> dict[str, str]:
    """Where a heading leads, and how the list is sorted by it now."""
    follows = rising if sort == falling else falling
    words_of = {falling: "descending", rising: "ascending"}
    # "newest" is also where a heading without a rising order leads back to.
    now = words_of.get(sort, "") if not (sort == "newest" and falling != "newest") else ""
    return {"url": line.url(line.good, sort=follows), "sort": now}


@never_cache
@require_GET
@require(Act.READ)
def episode(request: HttpRequest, code: str) -> HttpResponse:
    """The replay: all turns, and beside them what turn k changed; `?turn=k&show=state`."""
    row = queries.get_episode(code)
    spec = row.version.load()
    context: dict[str, Any] = {"episode": row, "spec": spec, **_head(row)}
    replay = replay_shown(row)
    if replay is None or not replay.frames:
        return render_page(request, "rollouts/replay_none.html", None, context)
    number = _turn_number(request, replay)
    show = "state" if request.GET.get("show") == "state" else "diff"
    context["pane"] = pane_of(replay, number, show)
    context["count"] = len(replay.frames)
    fragment = request.headers.get("HX-Target") == "pane"
    if not fragment:
        context |= _page(row, spec, replay, number)
    return render_page(request, "rollouts/replay.html", {"pane": "rollouts/_pane.html"}, context)


def replay_shown(row: Episode) -> Replay | None:
    """The frames; None where nothing was recorded."""
    try:
        return queries.replay_of(row)
    except NotFound:
        return None
    except (TaskFailure, SpecError) as failure:
        raise Conflict(f"{row.code} cannot be replayed: {failure}") from failure


def _turn_number(request: HttpRequest, replay: Replay) -> int:
    asked = request.GET.get("turn", "1")
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 0
    if not 1 <= number <= len(replay.frames):
        raise NotFound(f"There is no turn {asked[:20]}; the last one is {len(replay.frames)}.")
    return number


def _head(row: Episode) -> dict[str, Any]:
    state, said = state_of(row)
    return {
        "state": state,
        "state_words": said,
        "time": time_of(row),
        "components": [
            (name, row.components.get(name)) for name in GRADED if name in row.components
        ],
        "siblings": list(queries.siblings(row).only("code", "group_index", "passed")[:12]),
        "flags": list(queries.flags_of(row)),
        "curations": [
            (Curation.KEPT, "Keep", "Shift+k"),
            (Curation.DROPPED, "Drop", "Shift+d"),
        ],
    }


def _page(row: Episode, spec: TaskSpec, replay: Replay, number: int) -> dict[str, Any]:
    turns = turns_of(replay, spec)
    notable = [turn.number for turn in turns if turn.notable]
    return {
        "turns": turns,
        "current": number,
        "previous_notable": max((n for n in notable if n < number), default=None),
        "next_notable": min((n for n in notable if n > number), default=None),
        "replay": replay,
        "divergence": replay.divergence,
        "diverged_turn": replay.divergence.turn + 1 if replay.divergence else None,
        "reward_differs": row.reward is not None and row.reward != replay.grade.total,
        "messages_seen": opening(spec),
        "limits": spec.limits,
    }


@never_cache
@require_GET
@require(Act.READ)
def call_result(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """One call's whole result; as a fragment it takes the place of the clipped one."""
    row = queries.get_episode(code)
    replay = replay_shown(row)
    calls = [] if replay is None else [call for f in replay.frames for call in f.calls]
    if not 1 <= number <= len(calls):
        raise NotFound(f"{row.code} has no call {number}.")
    call = calls[number - 1]
    context = {
        "episode": row,
        "call": call,
        "text": result_text(call.observation),
    }
    fragments = {f"result-{number}": "rollouts/_result.html"}
    return render_page(request, "rollouts/result.html", fragments, context)


@require_GET
@require(Act.EXPORT)
def trajectory(request: HttpRequest, code: str) -> HttpResponse:
    """The recorded turns as JSON lines; damaged ones raw."""
    row = queries.get_episode(code)
    turns = queries.payload_of(row).read().turns
    stream: HttpResponse = jsonl_response(  # type: ignore[assignment]  # a streaming response
        (queries.turn_value(turn) for turn in turns), name=row.code
    )
    return stream


@require_GET
@require(Act.EXPORT)
def export(request: HttpRequest) -> HttpResponse:
    """All episodes of the filter as JSON lines, streamed; a wrong filter is refused first."""
    line = filter_line(request, queries.EPISODES, noun="episodes")
    if line.problems:
        raise BadRequest("This filter cannot be used.", line.problems)
    stream: HttpResponse = jsonl_response(  # type: ignore[assignment]  # a streaming response
        queries.export_rows(line.good), name="episodes", filter_text=line.good
    )
    return stream


@require_POST
@require(Act.CURATE)
def set_curation(request: HttpRequest, code: str) -> HttpResponse:
    """Keep or drop an episode as a demonstration."""
    row = queries.get_episode(code)
    asked = request.POST.get("curation", "")
    if asked not in Curation.values:
        raise Invalid("Choose one.", [Problem("curation", f"“{asked[:20]}” is not a choice")])
    curate(episode=row, curation=Curation(asked), by=principal(request))
    messages.success(request, f"{row.code}: {Curation(asked).label.lower()}.")
    return see_other(request, reverse("episode", args=[row.code]))


@require_POST
@require(Act.CURATE)
def decide_flag(request: HttpRequest, code: str, rule: str) -> HttpResponse:
    """Say whether a suspicion is right; 422 without a reason."""
    row = queries.get_episode(code)
    asked = request.POST.get("state", "")
    if asked not in FlagState.values:
        raise Invalid("Choose one.", [Problem("state", f"“{asked[:20]}” is not a choice")])
    flag = decide(
        episode=row,
        rule=rule,
        state=FlagState(asked),
        reason=request.POST.get("reason", ""),
        by=principal(request),
    )
    messages.success(request, f"{row.code}: {flag.get_state_display().lower()}.")
    return see_other(request, reverse("episode", args=[row.code]))


@require_POST
@require(Act.CURATE)
def curate_matching(request: HttpRequest) -> HttpResponse:
    """Keep or drop all undecided episodes of a filter, or take decisions back."""
    text, asked = request.POST.get("q", "").strip(), request.POST.get("curation", "")
    if asked not in Curation.values:
        raise Invalid("Choose one.", [Problem("curation", f"“{asked[:20]}” is not a choice")])
    changed = curate_all(filter_text=text, curation=Curation(asked), by=principal(request))
    said = {Curation.KEPT: "kept", Curation.DROPPED: "dropped"}.get(Curation(asked), "undecided")
    messages.success(
        request,
        f"{changed:,} {said}. What was decided before stays."
        if said != "undecided"
        else f"{changed:,} undecided again.",
    )
    return see_other(request, list_url(reverse("episodes"), text))
