"""Playing a task: its tools as forms, what they answer, graded at the end."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from rollouts_app import queries
from rollouts_app.core.environment import Environment
from rollouts_app.core.errors import TaskFailure
from rollouts_app.core.playing import POLICY, outcome_of, resume
from rollouts_app.core.replay import replay
from rollouts_app.enums import EpisodeState
from rollouts_app.models import Episode
from rollouts_app.operations.plays import (
    add_act,
    finish_play,
    open_play,
    take_back,
    task_from_episode,
)
from rollouts_app.views.tool_forms import ToolForm, tool_forms
from rollouts_app.views.turns import turns_of
from studio.web.acts import Act
from studio.web.auth import principal, require
from studio.web.errors import BadRequest, Conflict, NotFound
from studio.web.htmx import render_page, see_other
from studio.web.models import Draft
from tasks_app.core.program import read_acts
from tasks_app.queries import get_task


@require_POST
@require(Act.ROLL_OUT)
def start(request: HttpRequest) -> HttpResponse:
    """Begin a game on the task of that code."""
    task = get_task(request.POST.get("task", ""))
    episode = open_play(task=task, by=principal(request).user)
    return see_other(request, reverse("play", args=[episode.code]))


@never_cache
@require_GET
@require(Act.ROLL_OUT)
def play(request: HttpRequest, code: str) -> HttpResponse:
    """The game as it stands. Neither checks nor verdicts are shown before it ends."""
    row = queries.get_episode(code)
    if row.state != EpisodeState.QUEUED:
        return see_other(request, reverse("episode", args=[row.code]))
    draft, environment = _game(request, row)
    spec = environment.spec
    trajectory = environment.trajectory(policy=POLICY, seed=0)
    turns = turns_of(replay(spec, trajectory), spec)
    context: dict[str, Any] = {
        "episode": row,
        "spec": spec,
        "turns": turns,
        "current": len(turns),
        "blind": True,
        "base": len(draft.content["acts"]),
        "forms": _forms(environment),
        "open_tool": request.GET.get("tool", ""),
        "briefing": environment.messages[0].content,
        "heard": environment.world.notification if len(spec.stages) > 1 else "",
        "stage": environment.world.context.stage + 1,
        "stages": len(spec.stages),
        "calls_left": environment.limits.tool_calls - len(environment.world.calls),
        "turns_left": environment.limits.turns - environment.turns,
    }
    return render_page(request, "rollouts/play.html", None, context)


@require_POST
@require(Act.ROLL_OUT)
def act(request: HttpRequest, code: str) -> HttpResponse:
    """Call a tool or reply; the reply that ends the last sitting leads to the replay."""
    row = queries.get_episode(code)
    user = principal(request).user
    _, environment = _game(request, row)
    if "tool" in request.POST:
        name = request.POST["tool"]
        form = next((form for form in _forms(environment) if form.name == name), None)
        if form is None:
            raise NotFound(f"This task offers no tool {name[:60]}.")
        done: dict[str, Any] = {"tool": name, "arguments": form.arguments(request.POST)}
    else:
        done = {"reply": request.POST.get("reply", "").replace("\r\n", "\n")}
    add_act(episode=row, by=user, base=_base(request), act=done)
    draft, environment = _game(request, row)
    if environment.stop is not None:
        seconds = (timezone.now() - draft.created_at).total_seconds()
        outcome = outcome_of(environment, seconds=seconds)
        finish_play(episode=row, by=user, outcome=outcome)
        messages.success(request, f"{row.code} is graded: {outcome.reward:.2f}.")
        return see_other(request, reverse("episode", args=[row.code]))
    tool = f"?tool={done['tool']}" if "tool" in done else ""
    return see_other(request, f"{reverse('play', args=[row.code])}{tool}#turn-{environment.turns}")


@require_POST
@require(Act.ROLL_OUT)
def undo(request: HttpRequest, code: str) -> HttpResponse:
    """Take the last act back."""
    row = queries.get_episode(code)
    take_back(episode=row, by=principal(request).user, base=_base(request))
    return see_other(request, reverse("play", args=[row.code]))


@require_POST
@require(Act.EDIT)
def use_as_reference(request: HttpRequest, code: str) -> HttpResponse:
    """Make a new task whose reference is what this episode did."""
    row = queries.get_episode(code)
    trajectory = queries.payload_of(row).read()
    task, new = task_from_episode(episode=row, trajectory=trajectory, by=principal(request))
    said = (
        "is a draft with this as its reference. Prove it next."
        if new
        else "was made of this already."
    )
    messages.success(request, f"{task.code} {said}")
    return see_other(request, f"/tasks/{task.code}/?tab=reference")


def _game(request: HttpRequest, row: Episode) -> tuple[Draft, Environment]:
    draft = Draft.objects.filter(user=principal(request).user, subject=f"play:{row.code}").first()
    if draft is None:
        raise NotFound(f"{row.code} is no game of yours that goes on.")
    try:
        return draft, resume(row.version.load(), read_acts(draft.content["acts"]))
    except TaskFailure as failure:
        raise Conflict(f"{row.task.code} cannot be played: {failure.message}") from failure


def _forms(environment: Environment) -> tuple[ToolForm, ...]:
    seed = environment.seed
    names = [schema["function"]["name"] for schema in environment.tools]
    declared = {name: facts for name in names if (facts := seed.declaration(name)) is not None}
    return tool_forms(environment.tools, declared)


def _base(request: HttpRequest) -> int:
    text = request.POST.get("base", "")
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise BadRequest("The form is incomplete. Reload the page.")
    return int(text)
