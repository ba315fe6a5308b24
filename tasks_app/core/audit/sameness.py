"""Defects of repeatability and of grading: programs that another seed breaks, and rigged checks
(gates D2, G1, M3; O1 for a check that raises).
"""

import random
import re
from typing import Final

from tasks_app.core.audit import rigs, spots
from tasks_app.core.audit.planter import SpecPlanter, Written
from tasks_app.core.audit.rigs import Judge, rigged_check
from tasks_app.core.program import ProgramRun, bind
from tasks_app.core.services.catalog import tools


def _by_position(data: Written, rng: random.Random) -> bool:
    """The reference takes the third of a list because that is the right one today."""
    own = []
    scope = spots.run(data)
    if scope is None:
        return False
    for step in data["reference"]:
        for holder in _bindings(step):
            named = holder.get("from")
            source = scope.results.get(named) if isinstance(named, str) else None
            path = holder.get("path", "")
            if not isinstance(holder.get("where"), dict) or holder.get("take", "only") != "only":
                continue
            if (
                not isinstance(source, dict)
                or "*" in path
                or not isinstance(source.get(path), list)
            ):
                continue
            wanted = _right(scope, source[path], holder)
            if wanted is not None and len(source[path]) > 1:
                own.append((holder, f"{path}.{wanted}.{holder['field']}"))
    found = spots.one(rng, own)
    if found is None:
        return False
    holder, path = found
    for key in ("where", "sort", "take", "field"):
        holder.pop(key, None)
    holder["path"] = path
    return True


def _bindings(value: object) -> list[Written]:
    if isinstance(value, dict):
        below = [found for item in value.values() for found in _bindings(item)]
        return [value, *below] if "from" in value else below
    if isinstance(value, list):
        return [found for item in value for found in _bindings(item)]
    return []


def _right(run: ProgramRun, rows: list[Written], holder: Written) -> int | None:
    """Where the chosen row stands: the one whose field an act names."""
    field = holder.get("field")
    if field is None:
        return None
    given = {v for act in run.acts for _, _, v in spots.leaves(dict(act.arguments))}
    own = (row.get(field) if isinstance(row, dict) else None for row in rows)
    found = [n for n, value in enumerate(own) if value is not None and value in given]
    return found[0] if len(found) == 1 and found[0] > 0 else None


def _first_of_two(data: Written, rng: random.Random) -> bool:
    """The record that is meant has a double, and the reference takes whichever comes first."""
    before = spots.run(data)
    own = [h for h in _bindings(data["reference"]) if h.get("field") == "id" and _one(h)]
    if before is None:
        return False
    rng.shuffle(own)
    for holder in own:
        found = _given(before, holder)
        place = next((p for p in spots.records(data) if found == [p.record.get("id")]), None)
        number = re.fullmatch(r"(.*?)(\d+)", str(place.record["id"])) if place else None
        if place is None or number is None:
            continue
        rows = data["services"][place.service][place.collection]
        at = rows.index(place.record)
        double = f"{number[1]}{int(number[2]) + 1:0{len(number[2])}d}"
        if any(p.record.get("id") == double for p in spots.records(data)):
            continue
        rows.insert(at + 1, {**place.record, "id": double})
        parts = ("from", "path", "where", "sort")
        alike = [
            h
            for h in _bindings(data["reference"])
            if _one(h) and all(h.get(part) == holder.get(part) for part in parts)
        ]
        for one in alike:
            one["take"] = "first"
        after = spots.run(data)
        if after is not None and len(_given(after, holder)) > 1 and after.acts == before.acts:
            return True
        for one in alike:
            one.pop("take")
        del rows[at + 1]
    return False


def _one(holder: Written) -> bool:
    return bool(holder.get("take", "only") == "only")


def _given(run: ProgramRun, holder: Written) -> list[object]:
    """What a choice would give if it took all that fit."""
    try:
        found = bind({**holder, "take": "all"}, run.results)
    except LookupError:
        return []
    return found if isinstance(found, list) else []


def _all_literal(data: Written, _rng: random.Random) -> bool:
    """The reference is the plain calls of one run."""
    data["reference"] = spots.literalise(data)
    return True


def _own_retry(data: Written, rng: random.Random) -> bool:
    """The reference holds the repetition itself, at the very call that fails today."""
    known = tools()
    steps = [s for s in spots.steps(data, "read") if "each" not in s and s["arguments"]]
    step = spots.one(rng, steps)
    if step is None or data.get("faults") or known[step["tool"]].facts.kind != "read":
        return False
    data["faults"] = [{"tool": step["tool"], "calls": [1], "code": "conflict"}]
    at = data["reference"].index(step)
    data["reference"].insert(at, {**step, "id": f"{step['id']}_again"})
    return True


def _check(
    gate: str,
    name: str,
    title: str,
    judge: Judge,
    *,
    kind: str = "record_match",
    also: tuple[str, ...] = (),
    upstream: str = "",
) -> SpecPlanter:
    def plant(data: Written, rng: random.Random) -> bool:
        own = spots.checks(data, kind)
        if own:
            # Content of its own: nothing that is kept by a spec's hash is about the sound task.
            own[0]["explain"] = f"{own[0].get('explain', '')} ({name} {rng.randrange(10**6)})"
        return bool(own)

    return SpecPlanter(
        gate, name, title, plant, also=also, upstream=upstream, kind="check",
        rig=rigged_check(kind, judge),
    )  # fmt: skip


SAMENESS: Final = (
    SpecPlanter("D2", "by_position", "The reference takes the third of a list", _by_position,
                also=("N2",)),
    SpecPlanter("D2", "first_of_two", "The record that is meant has a double, and the first counts",
                _first_of_two, also=("N2",)),
    SpecPlanter("D2", "all_literal", "The reference is the plain calls of one run",
                _all_literal, also=("O3", "N2")),
    SpecPlanter("D2", "own_retry", "The reference repeats the call that fails today",
                _own_retry, also=("O1",)),
    _check("O1", "raising_check", "A check that raises", rigs.raises, also=("G1",),
           upstream="ClawMark: a checker that crashes is left out of the score"),
    _check("O1", "raising_report", "A check of the report that raises", rigs.raises,
           kind="answer", also=("G1",),
           upstream="ClawMark: a checker that crashes is left out of the score"),
    _check("N1", "always", "A check that always holds", rigs.always, also=("N2", "M1")),
    _check("M1", "always_report", "A check of the report that always holds", rigs.always,
           kind="answer", also=("N2",)),
    _check("M1", "always_letter", "A check of the letter that always holds", rigs.always,
           kind="message_match", also=("N2",)),
    _check("X1", "always_collateral", "A check of the rest that always holds", rigs.always,
           kind="unchanged", also=("M1",)),
    _check("D1", "judged_by_chance", "A check that fails by chance", rigs.judged_by_chance,
           also=("G1", "O1", "M1", "O4", "O5"),
           upstream="Claw-Eval: a model as judge, asked once"),
    _check("D1", "judged_by_count", "A check that judges every second time otherwise",
           rigs.judged_by_count, also=("G1", "O1", "M1", "O4", "O5")),
    _check("G1", "judged_by_clock", "A check that puts the time into its reason",
           rigs.judged_by_clock, also=("D1",)),
    _check("G1", "judged_by_file", "A check that writes a file", rigs.judged_by_file,
           upstream="Claw-Eval: grader.py reads the agent's files itself"),
    _check("G1", "judged_by_file_report", "A check of the report that writes a file",
           rigs.judged_by_file, kind="answer",
           upstream="Claw-Eval: grader.py reads the agent's files itself"),
    _check("G1", "judged_by_network", "A check that asks the network", rigs.judged_by_network,
           upstream="Claw-Eval: 312 llm_judge checks ask a model"),
    _check("M3", "silence", "A check that falls over an empty reply", rigs.raises_on_silence,
           kind="answer", also=("N1", "N2", "G1")),
    _check("M3", "unbounded", "A check that scores above 1", rigs.unbounded, kind="answer",
           also=("O1", "G1", "O5")),
)  # fmt: skip
"""In the order of the gates."""
