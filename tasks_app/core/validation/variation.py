"""Gates D2 and X2: under another seed the reference's program still solves the task, and writes
the very same.

Another seed moves the failures of tools to other calls and leaves one bystander in every
collection: a record that the reference does not name and that no other record names. The program
is bound anew. A field that it then writes otherwise is unstable: it may stand in no hash.

What another seed cannot move (the neighbour in a list is needed as well) is read off the program:
the third of several is a place in today's list, not a reason. Nor is the first of several that
fit alike (alike.py).
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tasks_app.core.calls import TRANSIENT_ERRORS, Tables
from tasks_app.core.evidence import Evidence
from tasks_app.core.program import ProgramRun, run_program
from tasks_app.core.records import diff
from tasks_app.core.services.catalog import collections
from tasks_app.core.spec import Fault
from tasks_app.core.validation.alike import unordered
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.trace import bindings
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import LEAVES, LISTS, OBJECTS, Record, follow, pattern, split_path
from tasks_app.core.world import faults
from tasks_app.core.world.world import World


class Varied:
    """The reference's program under another seed."""

    def __init__(self, trial: Trial):
        world = other_world(trial, vary=True)
        self.program: ProgramRun = run_program(world, trial.spec.reference)
        evidence = world.evidence()
        self.play = Play(self.program.acts, evidence, trial.judged("varied", evidence))


def other_world(trial: Trial, *, vary: bool) -> World:
    """Return a world of the same task under the next seed; varied, or with that alone."""
    seed = copy.copy(trial.seed)
    seed.spec = trial.spec.model_copy(update={"seed": trial.spec.seed + 1})
    if vary:
        seed.faults = faults.by_tool(moved(trial))
    world = World(seed)
    if vary:
        world.begin_with(without_bystanders(trial))
    return world


def moved(trial: Trial) -> list[Fault]:
    """Return the failures of tools, each on a call of another tool where the reference has one."""
    called = list(dict.fromkeys(c.tool for c in trial.reference.calls if c.ok))
    found: list[Fault] = []
    for number, fault in enumerate(trial.spec.faults):
        others = [name for name in called if name != fault.tool]
        if fault.code in TRANSIENT_ERRORS and others:
            tool = others[(trial.spec.seed + number) % len(others)]
            fault = fault.model_copy(update={"tool": tool, "calls": (1,)})
        found.append(fault)
    return found


def without_bystanders(trial: Trial) -> Tables:
    """Return the records at the start; of the bystanders of a collection the seed leaves one."""
    start = trial.seed.ground.start
    named: set[str] = set()
    for call in trial.reference.calls:
        _add_texts(call.arguments, named)
    held: dict[str, int] = {}
    for rows in start.values():
        for row in rows.values():
            for value in row.values():
                if type(value) is str:
                    held[value] = held.get(value, 0) + 1
    left: dict[str, Mapping[str, Record]] = {}
    for place, rows in start.items():
        free = [key for key, row in rows.items() if _stands_by(key, row, named, held)]
        gone = {key for n, key in enumerate(free) if n != trial.spec.seed % len(free)}
        left[place] = {k: r for k, r in rows.items() if k not in gone} if gone else rows
    return left


def _stands_by(key: str, row: Record, named: set[str], held: Mapping[str, int]) -> bool:
    if key in named or held.get(key, 0) > 1:
        return False
    return not any(
        type(value) is str and value in named and any(c.isdigit() or c.isupper() for c in value)
        for value in row.values()
    )


def _add_texts(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        found.add(value)
    elif isinstance(value, LEAVES):
        return
    elif isinstance(value, OBJECTS):
        for item in value.values():
            _add_texts(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _add_texts(item, found)


def solves_again(trial: Trial, varied: Varied) -> Iterator[Finding]:
    """D2: the program solves the task under another seed, and counts on no place in a list.

    Taking one of several that fit alike blocks: the task itself does not say which is meant.
    """
    yield from unordered(trial)
    if varied.play.grade.passed:
        yield from _counted(trial)
        return
    problem = next(iter(varied.program.problems), None)
    what = f"step {problem.step}: {problem.message}" if problem is not None else "a check fails"
    place = pointer("reference", problem.position) if problem is not None else "/reference"
    yield finding(
        "D2",
        place,
        f"under another seed the reference earns {varied.play.reward:g} ({what})",
        hint="bind the step to what it reads instead of writing a value down",
        severity="warn",
    )


def _counted(trial: Trial) -> Iterator[Finding]:
    """Yield the steps that take one of several by its place; the first is what gate N2 tries."""
    for number, step in enumerate(trial.spec.reference):
        for binding in bindings([step.arguments, step.each, step.reply]):
            path = str(binding.get("path", ""))
            if "from" not in binding or not any(map(str.isdigit, path)):
                continue
            way = split_path(path)
            for depth, part in enumerate(way):
                if not part.isdigit() or int(part) == 0:
                    continue
                rows = follow(trial.program.results.get(binding["from"]), way[:depth])
                if isinstance(rows, list) and len(rows) > 1 and isinstance(rows[0], OBJECTS):
                    who = f"step {step.id}" if step.id is not None else "the reply"
                    yield finding(
                        "D2",
                        pointer("reference", number),
                        f"{who} takes number {int(part) + 1} of the {len(rows)} {way[depth - 1]} "
                        f"of {binding['from']} by its place",
                        hint="choose it by what the request or a rule says of it",
                        severity="warn",
                    )


def stable(trial: Trial, varied: Varied) -> Iterator[Finding]:
    """X2: fields that another seed writes otherwise are declared so, and stand in no hash."""
    right = trial.reference.evidence
    if not _unlike(trial, right, varied.play.evidence):
        return
    world = other_world(trial, vary=False)  # what was varied may rightly change what is written
    run_program(world, trial.spec.reference)
    for place, name in _unlike(trial, right, world.evidence()):
        whole = f"{place}/*#{name}"
        free = {"address": whole, "reason": "it differs from seed to seed"}
        old = trial.spec.written().get("free")
        yield finding(
            "X2",
            "/services",
            f"{name} of {place} differs between two seeds, and stands in the hash of the records",
            hint="take it from the task's clock or its ids, or declare it free",
            rule="free_field",
            title=f"declare {whole} free",
            patch=[operation("add", "/free/-", free) if old else operation("add", "/free", [free])],
        )


def _unlike(trial: Trial, right: Evidence, other: Evidence) -> list[tuple[str, str]]:
    """Return collection and field of what both runs wrote, but not alike."""
    free = [pattern(f.address) for f in trial.spec.free]
    start: Tables = trial.seed.ground.start
    mine = {(c.collection, c.id): c for c in diff(start, right.tables())}
    found: dict[tuple[str, str], None] = {}
    for place, key in _written(start, other.tables()):
        change = mine.get((place, key))
        row = other.rows(place).get(key)
        if change is None or change.after is None or row is None:
            continue
        facts = collections().get(place)
        for name in sorted({*change.after, *row}):
            if change.after.get(name) == row.get(name) or (facts and name in facts.unstable):
                continue
            covered = (f for f in free if f.covers_record(place, key))
            if not any(f.fields is None or name in f.fields for f in covered):
                found.setdefault((place, name))
    return list(found)


def _written(start: Tables, end: Tables) -> Sequence[tuple[str, str]]:
    return [(c.collection, c.id) for c in diff(start, end) if c.after is not None]
