"""Episodes: lists, turns as recorded, frames as replayed, curation."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from rollouts_app import queries, reports
from rollouts_app.core.errors import TaskFailure
from rollouts_app.core.frames import Replay, frame_body
from rollouts_app.models import Episode
from rollouts_app.operations.episodes import curate, curate_all
from rollouts_app.operations.flags import decide
from rollouts_app.schemas import (
    ConversationOut,
    CuratedOut,
    CurateIn,
    CurationIn,
    DivergenceOut,
    EpisodeOut,
    FailuresOut,
    FlagIn,
    FlagOut,
    FramesOut,
    TurnsOut,
)
from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.errors import Conflict
from tasks_app.core.spec import SpecError

router = Router(tags=["episodes"])


class EpisodesAsked(Paging):
    """Which episodes, in which order."""

    q: Annotated[str, Field(max_length=2000)] = ""
    order: str = Field("newest", description=", ".join(queries.EPISODE_ORDERS))


class FailuresAsked(Schema):
    """Of which episodes."""

    q: Annotated[str, Field(max_length=2000)] = ""


class TurnAsked(Schema):
    """Before which turn, from 1."""

    turn: int = Field(1, ge=1)


class TurnsAsked(Schema):
    """Which turns, from 0."""

    first: int = Field(0, ge=0)
    size: int = Field(50, ge=1, le=500)


@router.get("", response=PageOut[EpisodeOut], summary="Episodes of a filter")
@require(Act.READ)
def list_episodes(request: HttpRequest, asked: Query[EpisodesAsked]) -> PageOut[EpisodeOut]:
    """Ended episodes; 422 says what is wrong with the filter and where."""
    found = queries.episode_page(asked.q, order=asked.order, cursor=asked.cursor, size=asked.size)
    return page_out(found.page, EpisodeOut.from_row)


@router.get("/failures", response=FailuresOut, summary="What failed first")
@require(Act.READ)
def list_failures(request: HttpRequest, asked: Query[FailuresAsked]) -> FailuresOut:
    """The first rule or check that failed, by family and policy; boundaries of unscored ones."""
    found = reports.failures(asked.q)
    return FailuresOut.model_validate(
        {
            "items": list(reports.failure_rows(found)),
            "counted": found.counted,
            "partial": found.partial,
        }
    )


@router.post("/curation", response=CuratedOut, summary="Keep or drop all episodes of a filter")
@require(Act.CURATE)
def curate_matching(request: HttpRequest, body: CurateIn) -> CuratedOut:
    """Undecided ones alone, so that earlier decisions stay; ``open`` takes decisions back."""
    changed = curate_all(filter_text=body.q, curation=body.curation, by=principal(request))
    return CuratedOut(changed=changed)


@router.get("/{code}", response=EpisodeOut, summary="One episode")
@require(Act.READ)
def get_episode(request: HttpRequest, code: str) -> EpisodeOut:
    """The list columns of an episode."""
    return EpisodeOut.from_row(queries.get_episode(code))


@router.get("/{code}/turns", response=TurnsOut, summary="Turns as they were recorded")
@require(Act.READ)
def turns(request: HttpRequest, code: str, asked: Query[TurnsAsked]) -> TurnsOut:
    """Messages, calls and observations; a damaged turn comes raw."""
    trajectory = queries.payload_of(queries.get_episode(code)).read()
    end = asked.first + asked.size
    return TurnsOut(
        items=[queries.turn_value(turn) for turn in trajectory.turns[asked.first : end]],
        next_turn=end if end < len(trajectory.turns) else None,
        stop=trajectory.stop,
        damage=list(trajectory.damage),
    )


@router.get("/{code}/conversation", response=ConversationOut, summary="As the model sees it")
@require(Act.READ)
def conversation(request: HttpRequest, code: str, asked: Query[TurnAsked]) -> ConversationOut:
    """Messages and tools before a turn, as a server is sent them; 404 for a turn that isn't."""
    episode = queries.get_episode(code)
    try:
        found = reports.told(episode, asked.turn)
    except SpecError as failure:
        raise Conflict(f"{episode.code} cannot be opened: {failure}") from failure
    return ConversationOut(
        turn=found.turn,
        turns=found.turns,
        messages=list(found.messages),
        tools=list(found.tools),
        prompt_tokens=found.counted,
        damage=found.damage,
    )


@router.get("/{code}/frames", response=FramesOut, summary="Turns as they replay")
@require(Act.READ)
def frames(request: HttpRequest, code: str, asked: Query[TurnsAsked]) -> FramesOut:
    """Records changed, checks flipped, verdicts on every call; made again on a fresh world."""
    shown = _replay(queries.get_episode(code))
    end = asked.first + asked.size
    where = shown.divergence
    return FramesOut(
        items=[frame_body(frame) for frame in shown.frames[asked.first : end]],
        next_turn=end if end < len(shown.frames) else None,
        reward=shown.grade.total,
        passed=shown.grade.passed,
        divergence=None
        if where is None
        else DivergenceOut(
            turn=where.turn,
            call=where.call,
            kind=where.kind,
            recorded=where.recorded,
            found=where.found,
        ),
        other_spec=shown.other_spec,
        exact=shown.exact,
    )


def _replay(episode: Episode) -> Replay:
    try:
        return queries.replay_of(episode)
    except (TaskFailure, SpecError) as failure:
        raise Conflict(f"{episode.code} cannot be replayed: {failure}") from failure


@router.post("/{code}/curation", response=EpisodeOut, summary="Keep or drop an episode")
@require(Act.CURATE)
def set_curation(request: HttpRequest, code: str, body: CurationIn) -> EpisodeOut:
    """Whether it may become a demonstration; 409 while it is not graded."""
    episode = queries.get_episode(code)
    return EpisodeOut.from_row(
        curate(episode=episode, curation=body.curation, by=principal(request))
    )


@router.get("/{code}/flags", response=list[FlagOut], summary="What is suspicious about it")
@require(Act.READ)
def list_flags(request: HttpRequest, code: str) -> list[FlagOut]:
    """Found by gate P2; empty for nearly all episodes."""
    return [FlagOut.from_row(row) for row in queries.flags_of(queries.get_episode(code))]


@router.post("/{code}/flags/{rule}", response=FlagOut, summary="Judge a suspicion")
@require(Act.CURATE)
def decide_flag(request: HttpRequest, code: str, rule: str, body: FlagIn) -> FlagOut:
    """``confirmed``: the trace is a mutant of the task's next proofs; 422 without a reason."""
    episode = queries.get_episode(code)
    return FlagOut.from_row(
        decide(
            episode=episode,
            rule=rule,
            state=body.state,
            reason=body.reason,
            by=principal(request),
        )
    )
