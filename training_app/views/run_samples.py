"""What the model wrote at a step of a run."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from django.http import HttpRequest

from studio.web.acts import Act
from studio.web.auth import may
from studio.web.choices import FINISHED
from studio.web.errors import NotFound
from training_app.models import TrainingRun
from training_app.queries import runs

SAMPLES: Final = 12
"""Samples of a step that are shown at first."""
MOST_SAMPLES: Final = 400


class Sample(NamedTuple):
    """One rollout that was kept."""

    number: int
    """Its line in the file, from 0."""
    task: str
    state: str
    words: str
    reward: float | None
    turns: int | None
    turns_text: tuple["Turn", ...]


class Turn(NamedTuple):
    """What was said, by whom."""

    who: str
    text: str


def samples_of(request: HttpRequest, row: TrainingRun) -> dict[str, Any]:
    """The samples of the step that is asked for, or of the newest that kept any."""
    steps = runs.sample_steps(row)
    asked = request.GET.get("step", "")
    wanted = int(asked) if asked.isdecimal() and len(asked) < 10 else None
    step = _nearest(steps, wanted)
    kept: list[dict[str, Any]] = []
    damaged = ""
    if step is not None:
        try:
            kept = runs.samples_at(row, step)
        except NotFound as problem:
            damaged = problem.detail
    every = request.GET.get("all") == "1"
    shown = kept[: MOST_SAMPLES if every else SAMPLES]
    place = steps.index(step) if step is not None else 0
    return {
        "open": row.state not in FINISHED,
        "samples": [_sample(number, body) for number, body in enumerate(shown)],
        "samples_total": len(kept),
        "samples_damaged": damaged,
        "sample_step": step,
        "sample_steps": steps,
        "sample_asked": wanted if wanted != step else None,
        "earlier_step": steps[place - 1] if place > 0 else None,
        "later_step": steps[place + 1] if place + 1 < len(steps) else None,
        "view_pairs": [(k, v) for k, v in request.GET.items() if k in ("x", "smooth")],
        "may_open": may(request, Act.ROLL_OUT),
    }


def _nearest(steps: list[int], wanted: int | None) -> int | None:
    """The kept step nearest to the wanted one; the last where none is wanted."""
    if not steps:
        return None
    return steps[-1] if wanted is None else min(steps, key=lambda step: abs(step - wanted))


def _sample(number: int, body: Mapping[str, Any]) -> Sample:
    """A line of a samples file; it may come from another machine, so nothing in it is believed."""
    reward = body.get("reward")
    broken = body.get("violations")
    if broken:
        state, words = "violated", "rule broken"
    elif body.get("truncated"):
        state, words = "lost", "cut"
    elif body.get("passed"):
        state, words = "passed", "passed"
    else:
        state, words = "none", "not passed"
    task = body.get("slug") or body.get("group") or body.get("spec_hash") or ""
    said = tuple(_turns(body.get("messages")))
    turns = body.get("turns")
    return Sample(
        number=number,
        task=str(task)[:120],
        state=state,
        words=words,
        reward=float(reward) if isinstance(reward, int | float) else None,
        turns=turns if isinstance(turns, int) else sum(turn.who == "assistant" for turn in said),
        turns_text=said,
    )


_LONGEST: Final = 4000
_MOST_TURNS: Final = 60


def _turns(messages: Any) -> Iterator[Turn]:
    """Messages as text, whatever shape they have."""
    if isinstance(messages, str):
        yield Turn("assistant", messages[:_LONGEST])
        return
    if not isinstance(messages, list):
        return
    for message in messages[:_MOST_TURNS]:
        if not isinstance(message, Mapping):
            continue
        parts = [_words(message.get("content"))]
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                parts.append(f"{function.get('name')}({_words(function.get('arguments'))})")
        text = "\n".join(part for part in parts if part)
        yield Turn(str(message.get("role", ""))[:20], text[:_LONGEST])


def _words(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)
