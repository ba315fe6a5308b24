"""What a model wrote in training becomes an episode, so that the ordinary replay opens it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from django.db import transaction

from rollouts_app.core.environment import Environment
from rollouts_app.core.episode import Outcome
from rollouts_app.core.errors import EpisodeFailure
from rollouts_app.core.messages import ToolRequest
from rollouts_app.core.policy import Action
from rollouts_app.enums import Purpose
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import tally
from rollouts_app.operations.episodes import Ended, record_outcomes
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict, Invalid, NotFound, Problem
from studio.web.models import User
from tasks_app.core.results import GRADED, Grade
from tasks_app.core.spec import SpecError, TaskSpec
from tasks_app.enums import Origin
from tasks_app.models import TaskVersion
from tasks_app.operations.tasks import create_task, read_spec
from training_app.models import TrainingRun
from training_app.queries.runs import run_dir, samples_at

MOST_TURNS: Final = 500
_PROMPTS: Final = "prompts.jsonl"


def open_sample(*, run: TrainingRun, step: int, index: int, by: User | HasUser | None) -> Episode:
    """Return the episode of a kept sample, made at the first time. Audited then.

    Its task is the version with the same content, or a new draft. What the sample wrote is played
    again on a fresh world and graded; one that was cut by the budget earns nothing, as in training.

    NotFound for no such sample; Invalid or Conflict where it cannot be played.
    """
    rows = samples_at(run, step)
    if not 0 <= index < len(rows):
        raise NotFound(
            f"{run.code} kept {len(rows)} samples at step {step}, none of number {index}."
        )
    row = rows[index]
    spec = _spec(run, row)
    with transaction.atomic():
        TrainingRun.objects.select_for_update(of=("self",)).get(pk=run.pk)  # one at a time
        batch = _batch(run, step, by)
        known = Episode.objects.filter(batch=batch, group_index=index).first()
        if known is not None:
            return known
        version = TaskVersion.objects.filter(hash=spec.hash).order_by("pk").first()
        if version is None:
            reason = f"what {run.code} wrote at step {step}"
            version = create_task(spec=spec, by=by, origin=Origin.GENERATED, reason=reason).current
        if version is None:
            raise Conflict("The task of this sample has no version.")
        episode = Episode(
            batch=batch,
            task_id=version.task_id,
            version=version,
            group_index=index,
            seed=0,
            policy=batch.policy,
        )
        episode.save()
        record_outcomes(results=[Ended(episode.pk, _played(spec, row, batch.policy))])
        RolloutBatch.objects.filter(pk=batch.pk).update(
            episodes_planned=batch.episodes.count(),
            tasks=batch.episodes.values("version").distinct().count(),
        )
        tally(batch=batch, seconds=0.0, finished=True)
        audit.record(by, "open_sample", episode.code, {"run": run.code, "step": step})
    episode.refresh_from_db()
    return episode


def _batch(run: TrainingRun, step: int, by: User | HasUser | None) -> RolloutBatch:
    """The batch of a step's samples."""
    place = f"{run.code} step {step}"
    found = RolloutBatch.objects.filter(purpose=Purpose.SAMPLE, filter=place).first()
    if found is not None:
        return found
    batch = RolloutBatch(
        purpose=Purpose.SAMPLE,
        policy=f"{run.code}@{step}",
        filter=place,
        author=by if isinstance(by, User) or by is None else by.user,
    )
    batch.save()
    return batch


# The task of a sample


def _spec(run: TrainingRun, row: Mapping[str, Any]) -> TaskSpec:
    wanted = row.get("spec_hash")
    written = row.get("spec")
    if isinstance(written, str):
        spec = read_spec(written)
        if spec.hash != wanted:
            raise Invalid(
                "This sample cannot be played.",
                [Problem("spec", "is not the one whose hash the sample names")],
            )
        return spec
    version = TaskVersion.objects.filter(hash=str(wanted)[:64]).first()
    if version is not None:
        return _loaded(version)
    found = _from_prompts(run, wanted)
    if found is None:
        raise Conflict("The task of this sample is not kept: neither here nor in the run.")
    return found


def _loaded(version: TaskVersion) -> TaskSpec:
    try:
        return version.load()
    except SpecError as problem:
        raise Conflict(f"The task of this sample cannot be read any more: {problem}") from problem


def _from_prompts(run: TrainingRun, wanted: Any) -> TaskSpec | None:
    """Out of the prompts that the run learns from."""
    try:
        with (run_dir(run).dataset / _PROMPTS).open("rb") as stream:
            for line in stream:
                body = orjson.loads(line) if line.strip() else None
                if isinstance(body, dict) and body.get("spec_hash") == wanted:
                    spec = read_spec(str(body.get("spec")))
                    return spec if spec.hash == wanted else None
    except (OSError, orjson.JSONDecodeError):
        return None
    return None


# Playing it again


def _played(spec: TaskSpec, row: Mapping[str, Any], policy: str) -> Outcome:
    truncated = bool(row.get("truncated"))
    try:
        environment = Environment(spec)
        for action in _actions(row.get("messages")):
            if environment.stop is not None:
                break
            environment.step(action)
        if environment.stop is None and truncated:
            environment.halt("turn_limit")
        while environment.stop is None:  # it said nothing more
            environment.step(Action(""))
        grade = environment.grade()
    except EpisodeFailure as failure:
        raise Conflict(f"This sample cannot be played: {failure}") from failure
    trajectory = environment.trajectory(policy=policy, seed=0)
    tokens = row.get("tokens")
    return Outcome(
        trajectory=trajectory,
        grade=_nothing(grade) if truncated else grade,
        stop=environment.stop or "finished",
        failure=None,
        turns=environment.turns,
        calls=trajectory.calls,
        tokens=tokens if isinstance(tokens, int) and 0 <= tokens < 2**31 else None,
        seconds=None,
    )


def _nothing(grade: Grade) -> Grade:
    return grade._replace(total=0.0, passed=False, contributions=dict.fromkeys(GRADED, 0.0))


def _actions(messages: Any) -> Sequence[Action]:
    """The policy's part of a conversation; calls that are no calls stay text."""
    actions: list[Action] = []
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, Mapping) or message.get("role") != "assistant":
            continue
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        actions.append(Action(text, tuple(_calls(message.get("tool_calls"), len(actions)))))
        if len(actions) >= MOST_TURNS:
            break
    return actions


def _calls(given: Any, turn: int) -> Sequence[ToolRequest]:
    calls: list[ToolRequest] = []
    for number, call in enumerate(given if isinstance(given, list) else ()):
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            body = arguments.encode("utf-8", errors="replace")
        else:
            body = orjson.dumps(arguments if arguments is not None else {})
        name = function.get("name")
        calls.append(
            ToolRequest(
                str(call.get("id") or f"call_{turn}_{number}")[:80],
                name if isinstance(name, str) else "",
                body,
            )
        )
    return calls
