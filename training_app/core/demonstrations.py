"""Demonstrations: an episode, or a task's own solution, as a row that SFT learns from.

A row is `{"messages": [...], "tools": "<JSON>"}` in the chat form of OpenAI-compatible servers.
Arguments stay the text they were and tools are one JSON text, so that a table of rows needs no
common columns and nobody adds null arguments.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NotRequired, TypedDict

import orjson

from rollouts_app.core.environment import Environment
from rollouts_app.core.messages import Message, ToolRequest
from rollouts_app.core.policy import Action
from rollouts_app.core.scripted import reference
from rollouts_app.core.trajectory import RecordedTurn, Trajectory
from tasks_app.core.spec import TaskSpec
from training_app.core.images import images_of

_NAME: Final = re.compile(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT")
_WORD: Final = re.compile(r"[a-z_]+")


class Row(TypedDict):
    """One demonstration."""

    messages: list[dict[str, Any]]
    tools: str
    images: NotRequired[list[str]]
    """Hashes of the images that the request comes with; left out where there are none."""


class DemonstrationError(ValueError):
    """An episode that shows nothing worth imitating: damaged, or solved by nobody."""


def from_reference(spec: TaskSpec, *, quote: bool = False) -> Row:
    """Return the task's own solution as a demonstration.

    Args:
        spec: A proven task.
        quote: Whether a turn that decides first says what it found (see `quoted`).

    Raises DemonstrationError where the solution does not pass.
    """
    policy = reference(spec)
    environment = Environment(spec)
    actions: list[Action] = []
    while environment.stop is None:
        action = policy.act(environment.messages, environment.tools)
        environment.step(action)
        actions.append(action)
    if not environment.grade().passed:
        raise DemonstrationError(f"{spec.slug}: the reference does not pass")
    return _aloud(spec, actions) if quote else _row(environment)


def _aloud(spec: TaskSpec, actions: Sequence[Action]) -> Row:
    """The same acts, each that decides first saying what it found."""
    spoken = Environment(spec)
    for turn, action in enumerate(actions):
        text = action.text or quoted(spoken.messages, actions[turn:])
        spoken.step(Action(text, action.calls, action.tokens))
    return _row(spoken)


def from_trajectory(spec: TaskSpec, trajectory: Trajectory, *, quote: bool = False) -> Row:
    """Return a recorded episode as a demonstration, by playing it again.

    Args:
        spec: The version it was recorded on.
        trajectory: What was recorded.
        quote: Whether a turn that decides first says what it found (see `quoted`).

    Raises DemonstrationError for a damaged recording, one of another task version, or one whose
    observations no longer come out as they were recorded.
    """
    if trajectory.spec_hash != spec.hash:
        raise DemonstrationError(f"{spec.slug}: recorded on another version of the task")
    environment = Environment(spec)
    actions: list[Action] = []
    for turn in trajectory.turns:
        if not isinstance(turn, RecordedTurn):
            raise DemonstrationError(f"{spec.slug}: turn {turn.index} is damaged: {turn.problem}")
        if environment.stop is not None:
            raise DemonstrationError(f"{spec.slug}: turn {turn.index} comes after the end")
        calls = tuple(ToolRequest(call.id, call.name, call.arguments) for call in turn.calls)
        actions.append(Action(turn.text, calls, turn.tokens))
        made = environment.step(actions[-1]).calls
        for recorded, call in zip(turn.calls, made, strict=False):
            if orjson.loads(recorded.observation) != orjson.loads(call.observation):
                raise DemonstrationError(
                    f"{spec.slug}: turn {turn.index} observes something else than was recorded"
                )
    return _aloud(spec, actions) if quote else _row(environment)


def _row(environment: Environment) -> Row:
    row: Row = {
        "messages": [spoken(message) for message in environment.messages],
        "tools": orjson.dumps(list(environment.tools)).decode(),
    }
    images = images_of(environment.spec)
    if images:
        row["images"] = list(images)
    return row


def spoken(message: Message) -> dict[str, Any]:
    """The message in chat form, its content a text even where it is empty."""
    body = message.as_chat()
    body["content"] = body["content"] or ""
    return body


def quoted(messages: Sequence[Message], ahead: Sequence[Action]) -> str:
    """What a turn found that it acts on: "Idris Falkenrath OR-560."

    Of the request: whom it names, before anything is looked up. Of a listing: whom the request
    names, then those values of their record that the next calls use. Of a single record: its
    values that are plain words, which is what rules decide by. Copying the key makes the rest of
    the record the next thing to copy; what is needed later is read where it stands alone, since a
    wrong word in a quote is copied from there on.

    Args:
        messages: The conversation so far.
        ahead: This action and those after it; without calls in this one nothing is quoted.
    """
    if not ahead or not ahead[0].calls:
        return ""
    if messages[-1].role == "user":
        named = _NAME.findall(messages[-1].content)
        return f"{named[0]}." if named else ""
    observed = orjson.loads(messages[-1].content)
    if not isinstance(observed, dict):
        return ""
    lists = [value for value in observed.values() if isinstance(value, list)]
    records = [item for value in lists for item in value if isinstance(item, dict)]
    if records:
        parts = _of_listing(records, str(messages[1].content), ahead[0])
    else:
        parts = [v for v in observed.values() if isinstance(v, str) and _WORD.fullmatch(v)]
    return " ".join(parts) + "." if parts else ""


def _of_listing(records: Sequence[Mapping[str, Any]], request: str, following: Action) -> list[str]:
    for name in _NAME.findall(request):
        named = [r for r in records if any(isinstance(v, str) and name in v for v in r.values())]
        if len(named) != 1:
            continue
        wanted = " ".join(c.arguments.decode(errors="replace") for c in following.calls)
        texts = [v for v in named[0].values() if isinstance(v, str) and v != name]
        days = [v[:10] for v in texts if _MOMENT.match(v) and v[:10] in wanted]
        # a moment that comes again is chance: the old end of a meeting can be its new start
        used = [v for v in texts if v in wanted and not _MOMENT.match(v)]
        return [name, *used, *days[:1]]
    return []
