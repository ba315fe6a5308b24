"""Gate N6: what the reference uses is needed: without the tool or the record it fails.

A tool that is not needed is a distractor: it stays on offer and leaves the reference. What mutants
have shown already is not run again: a step whose loss they saw fail is needed, and so is whatever
it takes its values from.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Final

from tasks_app.core.calls import Tables
from tasks_app.core.program import perform
from tasks_app.core.samples import holders
from tasks_app.core.spec import Step
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, pointer
from tasks_app.core.validation.mutants import Judged
from tasks_app.core.validation.solvability import sources
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair, as_suggestion, tried_out

MOST_RECORDS: Final = 1
"""Records that are taken away: the first that is written to."""


def needed(trial: Trial, judged: Sequence[Judged]) -> Iterator[Finding]:
    """N6: the reference fails without any one of its tools, and without a record it writes to."""
    fatal = _fatal(trial, judged)
    needs = [sources([s.arguments, s.each, s.reply]) for s in trial.spec.reference]
    for tool in dict.fromkeys(s.tool for s in trial.spec.reference if s.tool is not None):
        lost = _lost(trial.spec.reference, needs, tool)
        if any(position in fatal for position in lost):
            continue
        kept = [step for step in trial.spec.reference if step.tool != tool]
        play = trial.run_program(f"without:{tool}", kept)
        if play.grade.passed:
            place = next(i for i, s in enumerate(trial.spec.reference) if s.tool == tool)
            yield finding(
                "N6",
                pointer("reference", place),
                f"the reference calls {tool}, and solves the task without it as well",
                hint="take the step out: the tool stays on offer as a distractor",
                severity="warn",
            ).model_copy(update={"suggestion": as_suggestion(trial, _left_out(trial, tool))})
    for record, collection in _written_to(trial)[:MOST_RECORDS]:
        if passes_without(trial, collection, record):
            yield finding(
                "N6",
                "/services",
                f"the reference writes to {record}, and solves the task where it does not exist",
                hint="let a check ask for what is written there",
                severity="warn",
            )


def _fatal(trial: Trial, judged: Sequence[Judged]) -> set[int]:
    """Return the steps whose loss a mutant has shown to fail."""
    place = {step.id: i for i, step in enumerate(trial.spec.reference) if step.id is not None}
    replies = {f"reply{i}": i for i, step in enumerate(trial.spec.reference) if step.tool is None}
    found: set[int] = set()
    for mutant, result in judged:
        if mutant.operator in ("drop_step", "empty_reply") and result.verdict == "killed":
            name = trial.acts[mutant.at].step
            number = place.get(name, replies.get(name))
            if number is not None:
                found.add(number)
    return found


def _lost(steps: Sequence[Step], needs: Sequence[set[str | None]], tool: str) -> list[int]:
    """Return the steps that cannot be done without a tool: its own, and those they feed.

    Args:
        steps: The program.
        needs: The steps that each of them reads.
        tool: The tool.
    """
    gone: set[str | None] = set()
    lost: list[int] = []
    for position, step in enumerate(steps):
        if step.tool == tool or needs[position] & gone:
            gone.add(step.id or f"reply{position}")
            lost.append(position)
    return lost


def _left_out(trial: Trial, tool: str) -> Repair | None:
    written = copy.deepcopy(trial.spec.written())
    written["reference"] = [step for step in written["reference"] if step.get("tool") != tool]
    tried = tried_out(written)
    if tried is None or not tried.reference.grade.passed or tried.program.problems:
        return None
    return Repair("mark_as_distractor", f"leave {tool} out of the reference", written)


def _written_to(trial: Trial) -> list[tuple[str, str]]:
    """Return the records that the reference's writes name, with their collections."""
    homes = holders(trial.seed.ground.start)
    found: dict[tuple[str, str], None] = {}
    for call in trial.reference.calls:
        if call.ok and call.changes:
            for value in call.arguments.values():
                if isinstance(value, str) and value in homes:
                    found.setdefault((value, homes[value][0]))
    return list(found)


def passes_without(trial: Trial, collection: str, record: str) -> bool:
    """Say whether the reference's acts pass in a world without a record."""
    world = trial.world
    world.restore(trial.start)
    tables: Tables = world.store.tables
    rows = {key: row for key, row in tables[collection].items() if key != record}
    world.begin_with({**tables, collection: rows})
    perform(world, trial.acts)
    return trial.judged(f"without:{record}", world.evidence()).passed
