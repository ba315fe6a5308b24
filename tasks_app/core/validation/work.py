"""Gate N3: a task asks for work: something is looked up, and something is written.

A task to report on or to refuse writes nothing; then the reply must state values, read off at
least two records.
"""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import Tables
from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.number_close import NumberClose
from tasks_app.core.checks.text_match import TextMatch
from tasks_app.core.program import Act
from tasks_app.core.samples import arguments_of, holders, id_field
from tasks_app.core.services.catalog import tools
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding
from tasks_app.core.validation.text_pieces import replaced
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair, Written, as_suggestion, tried_out
from tasks_app.core.values import LISTS

LEAST: Final = 2
"""Different tools, or reads of different records where nothing is written."""
_REPORTING: Final = frozenset({"C13", "C19"})


def enough(trial: Trial) -> Iterator[Finding]:
    """N3: two tools and a write, or a report of values that were read."""
    problem = _too_little(trial)
    if problem:
        yield finding(
            "N3",
            "/reference",
            f"there is too little to do: {problem}",
            hint="describe the record instead of naming it, so that it must be looked up",
        ).model_copy(update={"suggestion": as_suggestion(trial, looked_up(trial))})


def _too_little(trial: Trial) -> str:
    done = [call for call in trial.reference.calls if call.ok]
    used = {call.tool for call in done}
    if any(call.changes for call in done):
        return "" if len(used) >= LEAST else f"{', '.join(used)} alone does it"
    if not any(claim.id in _REPORTING for claim in trial.spec.capabilities):
        return "the right solution changes nothing, and is neither a report nor a refusal"
    if not any(isinstance(c, Answer | TextMatch | NumberClose) for c in trial.spec.checks):
        return "the right solution changes nothing, and no value is asked for in the reply"
    if len({(call.tool, call.raw) for call in done}) < LEAST:
        return "the answer is read off one record"
    return ""


# --- look_up_first -------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A record that the reference names outright."""

    step: int
    record: str
    collection: str


def looked_up(trial: Trial) -> Repair | None:
    """Return the spec in which a record that was named is looked up by what describes it."""
    for place in _named(trial):
        service = place.collection.partition("/")[0]
        reads = [n for n, t in tools().items() if t.facts.kind == "read"]
        near = [n for n in reads if tools()[n].facts.service == service]
        for tool in sorted(near, key=lambda n: n not in trial.seed.offered):
            for repair in _through(trial, place, tool):
                tried = tried_out(repair.written)
                if tried is not None and tried.reference.grade.passed and not _too_little(tried):
                    return repair
    return None


def _named(trial: Trial) -> Iterator[_Place]:
    homes = holders(trial.seed.ground.start)
    for number, step in enumerate(trial.spec.reference):
        for value in step.arguments.values():
            if isinstance(value, str) and value in homes:
                yield _Place(number, value, homes[value][0])


def _through(trial: Trial, place: _Place, tool: str) -> Iterator[Repair]:
    """Yield specs that find a record with one tool."""
    written = copy.deepcopy(trial.spec.written())
    offering = trial
    if tool not in trial.seed.offered:
        written["tools"].append(tool)
        tried = tried_out(written)
        if tried is None:
            return
        offering = tried
    for arguments in _lookups(tool, trial.seed.ground.start, place):
        call = offering.tries(0, Act(tool, arguments))
        if call is None or not call.ok or not isinstance(call.outcome, Mapping):
            continue
        for path, items in call.outcome.items():
            described = _described(items, id_field(place.collection), place.record)
            if described is not None:
                yield _bound(written, place, tool, arguments, path, described)


def _lookups(tool: str, tables: Tables, place: _Place) -> Iterator[dict[str, Any]]:
    required = [a for a in arguments_of(tool) if a.required]
    if not required:
        yield {}
    elif len(required) == 1 and required[0].kind == "text":
        row = tables[place.collection][place.record]
        for name, value in row.items():
            if isinstance(value, str) and name != id_field(place.collection):
                yield {required[0].name: value.split()[0] if value.split() else value}


def _described(items: Any, key: str, wanted: str) -> tuple[str, str, str] | None:
    """Return id field, field and text that tell one listed record from all others."""
    if not isinstance(items, LISTS) or not all(isinstance(item, Mapping) for item in items):
        return None
    right = next((item for item in items if item.get(key) == wanted), None)
    if right is None or len(items) < LEAST:
        return None
    for name, value in right.items():
        if name == key or not isinstance(value, str) or len(value) < 3 or "T" in value[10:11]:
            continue
        if sum(item.get(name) == value for item in items) == 1:
            return key, name, value
    return None


def _bound(
    written: Written,
    place: _Place,
    tool: str,
    arguments: Mapping[str, Any],
    path: str,
    described: tuple[str, str, str],
) -> Repair:
    key, field, text = described
    changed = copy.deepcopy(written)
    binding = {"from": "looked_up", "path": path, "where": {field: text}, "field": key}
    for step in changed["reference"]:
        for name, value in step.get("arguments", {}).items():
            if value == place.record:
                step["arguments"][name] = binding
    first = {"id": "looked_up", "tool": tool, "arguments": dict(arguments)}
    changed["reference"].insert(place.step, first)
    request = changed["request"]["text"]
    changed["request"]["text"] = replaced(request, place.record, lambda _: text)
    title = f"let {place.record} be found with {tool} by its {field.replace('_', ' ')}"
    return Repair("look_up_first", title, changed)
