"""Gate M3: a rollout that goes wrong in form breaks nothing and is paid nothing.

Calls that are no JSON, of no tool, with a text of three thousand characters, the same call many
times, an empty answer: each is answered, an error changes no record, and the reward stays between
0 and 1. Alone they earn next to nothing; before the end of the first day of the right solution
they do no harm to the grader.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from tasks_app.core.calls import Call
from tasks_app.core.evidence import EvidenceError
from tasks_app.core.program import Act, perform
from tasks_app.core.samples import arguments_of, dummy, likely
from tasks_app.core.services.catalog import tools
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding
from tasks_app.core.validation.nontrivial import CHEAP_LIMIT, gated
from tasks_app.core.validation.trial import Play, Trial

HUGE: Final = f"{'.' * 99} " * 30
"""Long, and quickly read: a proof is to be quick."""
REPEATED: Final = 4
_NOT_THERE: Final = EvidenceError.__name__
"""What a check says that asks for a record nobody made: it has failed, and nothing is broken."""
_NO_ARGUMENTS: Final = (b"", b"[]", b'"text"', b"null", b'{"a":', b"\xff{}")


def survives(trial: Trial) -> Iterator[Finding]:
    """M3: malformed rollouts crash nothing, and what they earn is bounded."""
    silent = [Act(None, {}, "") for _ in trial.spec.stages]
    first = next((i for i, act in enumerate(trial.acts) if act.tool is None), len(trial.acts))
    mute = [a._replace(reply="") for a in trial.acts[first:]]
    huge = [
        a if a.tool is not None else a._replace(reply=f"{a.reply} {HUGE}")
        for a in trial.acts[first:]
    ]
    calls = garbage(trial)
    for name, at, acts in (
        ("garbage", 0, silent),
        ("garbage_last", first, mute),
        ("huge_reply", first, huge),
    ):
        play, made = _play(trial, name, at, acts, () if name == "huge_reply" else calls)
        for call in made:
            if call.error == "internal_error" or (call.error is not None and call.changes):
                what = "breaks on" if call.error == "internal_error" else "writes although it is"
                yield finding(
                    "M3",
                    "/tools",
                    f"{call.tool or 'a call'} {what} a malformed call: {call.raw[:60]!r}",
                    hint="mend the service's tool",
                )
        for result in play.grade.checks:
            if result.failure is not None and not result.failure.startswith(_NOT_THERE):
                yield finding(
                    "M3",
                    "/checks",
                    f"{result.id} breaks on a malformed rollout: {result.failure}",
                    hint="a check judges whatever there is",
                )
        scores = [result.score for result in play.grade.checks if result.score is not None]
        if not all(0 <= score <= 1 for score in (play.reward, *scores)):
            yield finding(
                "M3",
                "/checks",
                f"a malformed rollout is scored outside 0 to 1: {max(scores, default=0):g}",
                hint="mend the weights, or the check that scores outside 0 to 1",
            )
        elif name == "garbage" and (play.reward >= CHEAP_LIMIT or play.grade.passed):
            yield finding(
                "M3",
                "/checks",
                f"malformed calls and an empty answer earn {play.reward:g}",
                hint="pay that check only together with an outcome",
                rule="require_outcome",
                title="pay it only together with an outcome",
                patch=gated(trial, play),
            )


def _play(
    trial: Trial, name: str, at: int, acts: Sequence[Act], calls: Sequence[tuple[str, bytes]]
) -> tuple[Play, Sequence[Call]]:
    world, mark = trial.world, trial.marks[at]
    world.restore(mark)
    for tool, raw in calls:
        if not at or len(raw) < len(HUGE):  # a letter too many is told by its own gates
            world.call(tool, raw)
    made = world.calls[len(mark.log) :]
    perform(world, acts)
    evidence = world.evidence()
    return Play(acts, evidence, trial.judged(name, evidence)), made


def garbage(trial: Trial) -> list[tuple[str, bytes]]:
    """Return malformed calls of a tool that writes and one that reads, with their arguments as raw
    text.
    """
    offered = sorted(trial.seed.offered, key=lambda n: not tools()[n].facts.text)
    writes = [name for name in offered if tools()[name].facts.writes]
    reads = [name for name in offered if tools()[name].facts.kind == "read"]
    chosen = [*writes[:1], *reads[:1]]
    calls = [(name, raw) for name in chosen for raw in _NO_ARGUMENTS]
    calls.append(("no_such_tool", b"{}"))
    calls.append(("", b"{}"))
    for name in chosen:
        texts = [a.name for a in arguments_of(name) if a.required and a.kind == "text"]
        real = next(likely(name, trial.seed.ground.start, most=1), dummy(name))
        calls.append((name, orjson.dumps({**real, **dict.fromkeys(texts, HUGE)})))
    for name in chosen[-1:]:
        calls += [(name, orjson.dumps(dummy(name)))] * REPEATED
    return calls
