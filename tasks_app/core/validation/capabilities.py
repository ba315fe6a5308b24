"""Witnesses of claimed capabilities on the reference trace (V3): what a tag says must be seen
there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from tasks_app.core.calls import Call
from tasks_app.core.predicates import contains_piece, fold
from tasks_app.core.program import is_binding
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import CAPABILITIES, Step
from tasks_app.core.validation.card import Witness
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS

Rule = Callable[[Trial], tuple[bool, str]]


def witnesses(trial: Trial) -> tuple[Witness, ...]:
    """Return, for every claimed capability, whether its witness holds; None where no rule decides
    it.
    """
    found: list[Witness] = []
    for claimed in trial.spec.capabilities:
        rule = RULES.get(claimed.id)
        held, witness = rule(trial) if rule is not None else (None, claimed.witness)
        found.append(
            Witness(id=claimed.id, name=CAPABILITIES[claimed.id], held=held, witness=witness)
        )
    return tuple(found)


def _writes(trial: Trial) -> list[Call]:
    return [call for call in trial.reference.calls if call.ok and call.changes]


def _service(call: Call) -> str:
    known = tools().get(call.tool)
    return known.facts.service if known is not None else ""


def _leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[Any]) -> None:
    if isinstance(value, LEAVES):
        if value is not None and not isinstance(value, bool):
            found.append(value)
    elif isinstance(value, OBJECTS):
        for item in value.values():
            _gather(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _gather(item, found)
    else:
        found.append(value)


def _retrieve(trial: Trial) -> tuple[bool, str]:
    writes = _writes(trial)
    if not writes:
        return False, "nothing is written"
    first = writes[0].index
    reads = [c for c in trial.reference.calls[:first] if c.ok and not c.changes]
    sizes = [len(items) for call in reads for items in _lists(call.outcome)]
    most = max(sizes, default=0)
    return bool(
        reads
    ) and most >= 3, f"{len(reads)} reads before {writes[0].tool}; lists of up to {most}"


def _lists(value: Any) -> list[Sequence[Any]]:
    if isinstance(value, LEAVES):
        return []
    if isinstance(value, Mapping):
        return [found for item in value.values() for found in _lists(item)]
    return [value] if isinstance(value, list) else []


def _join(trial: Trial) -> tuple[bool, str]:
    seen: dict[str, str] = {}
    for call in trial.reference.calls:
        for leaf in _leaves(call.arguments):
            home = seen.get(str(leaf))
            if call.changes and home is not None and home != _service(call):
                return True, f"{call.tool} uses {leaf}, first seen in {home}"
        if call.ok:
            for leaf in _leaves(call.outcome):
                seen.setdefault(str(leaf), _service(call))
    return False, "every value comes from the service it is written to"


def _compute(trial: Trial) -> tuple[bool, str]:
    held = {
        round(float(leaf), 2) for leaf in _leaves(trial.spec.services) if isinstance(leaf, NUMBERS)
    }
    for call in _writes(trial):
        for name, value in call.arguments.items():
            number = isinstance(value, NUMBERS) and not isinstance(value, bool)
            if number and abs(value) > 20 and round(float(value), 2) not in held:
                return True, f"{call.tool}.{name} = {value} occurs in no record"
    return False, "no written number is computed"


def _bulk(trial: Trial) -> tuple[bool, str]:
    counts: dict[str, int] = {}
    for call in _writes(trial):
        counts[call.tool] = counts.get(call.tool, 0) + 1
    most = max(counts, key=lambda n: counts[n], default="")
    return bool(most) and counts[
        most
    ] >= 3, f"{counts.get(most, 0)} × {most}" if most else "no write"


def _recovery(trial: Trial) -> tuple[bool, str]:
    met = [
        c for c in trial.reference.calls if c.error in ("rate_limited", "unavailable", "timeout")
    ]
    if not met:
        return False, "the reference meets no fault"
    play = trial.run_program("no_retry", trial.spec.reference, repetitions=0)
    return (
        not play.grade.passed,
        f"{met[0].tool} is {met[0].error}; without a retry {play.reward:g}",
    )


def _red_line(trial: Trial) -> tuple[bool, str]:
    rules = [c.id for c in trial.spec.constraints]
    return bool(
        rules
    ), f"{', '.join(rules)} (see the violating policies)" if rules else "no constraint"


def _least(trial: Trial) -> tuple[bool, str]:
    strays = trial.reference.evidence.strays()
    closed = any(getattr(c, "outside", None) == "write_set" for c in trial.spec.checks)
    rows = sum(len(table) for table in trial.seed.ground.start.values())
    return closed and not strays, f"{len(trial.spec.write_set)} rules over {rows} records"


def _clarify(trial: Trial) -> tuple[bool, str]:
    script = trial.spec.user
    asked = [c for c in trial.reference.calls if c.tool == "message_user" and c.ok]
    if script is None or not asked:
        return False, "the reference asks nobody"
    records = fold(orjson.dumps(trial.spec.services).decode())
    for call in _writes(trial):
        for leaf in _leaves(call.arguments):
            told = any(str(leaf) in fact.text for fact in script.facts)
            if (
                isinstance(leaf, str)
                and len(leaf) > 3
                and told
                and not contains_piece(records, leaf)
            ):
                return True, f"{leaf} stands in no record, only the colleague knows it"
    return False, "what is asked stands in the records too"


def _hand_off(trial: Trial) -> tuple[bool, str]:
    for call in _writes(trial):
        if any(word in call.tool for word in ("escalate", "assign", "hand_off")):
            return True, f"{call.tool}({', '.join(str(v)[:30] for v in call.arguments.values())})"
    return False, "nothing is handed off"


def _report(trial: Trial) -> tuple[bool, str]:
    reports = [c.id for c in trial.spec.checks if c.component == "report"]
    return bool(reports), f"checks {', '.join(reports)}" if reports else "no report check"


def _abstain(trial: Trial) -> tuple[bool, str]:
    writes = _writes(trial)
    refused = [
        c.tool for c in writes if c.tool not in ("helpdesk_add_comment", "mail_send_message")
    ]
    return not refused, "nothing but a note or a letter is written" if not refused else refused[0]


def _time(trial: Trial) -> tuple[bool, str]:
    def names_clock(value: Any) -> bool:
        if isinstance(value, Mapping):
            if is_binding(value) and value.get("from") == "clock":
                return True
            return any(names_clock(item) for item in value.values())
        return isinstance(value, LISTS) and any(names_clock(item) for item in value)

    def shown(step: Step) -> bool:
        return names_clock([step.arguments, step.each])

    for step in trial.spec.reference:
        if shown(step):
            return True, f"step {step.id} counts from the clock"
    for step in trial.spec.reference:
        if "add_days" in str(step.arguments) + str(step.each):
            return True, f"step {step.id} counts days"
    return False, "no step counts from the clock or in days"


RULES: Final[Mapping[str, Rule]] = {
    "C1": _retrieve,
    "C2": _join,
    "C4": _compute,
    "C6": _bulk,
    "C8": _red_line,
    "C9": _least,
    "C10": _recovery,
    "C12": _clarify,
    "C13": _abstain,
    "C14": _hand_off,
    "C19": _report,
    "C20": _time,
}
"""Capability → the rule that finds its witness; the others keep the claim as it is written."""
