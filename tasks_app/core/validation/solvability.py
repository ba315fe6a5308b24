"""Gates O: the reference solves the task, within its budget, from what can be known, and so do
others.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.constraints.at_most import AtMost
from tasks_app.core.evidence import EvidenceError
from tasks_app.core.predicates import contains_number, contains_piece, fold, same
from tasks_app.core.program import Act, is_binding
from tasks_app.core.results import FULL, CheckResult
from tasks_app.core.samples import Argument, arguments_of, likely
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import Step
from tasks_app.core.validation import text_pieces
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.near_misses import is_wording
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import LEAVES, LISTS, OBJECTS

BUDGET_SHARE: Final = 0.6


def solves(trial: Trial) -> Iterator[Finding]:
    """O1: the reference runs without an unexpected error and earns 1.0."""
    for problem in trial.program.problems[:5]:
        step = trial.spec.reference[problem.position]
        what = f"{problem.step} ({step.tool})" if step.tool is not None else "the reply"
        yield finding(
            "O1",
            pointer("reference", problem.position),
            f"the reference cannot do step {what}: {problem.message}",
            hint="mend the step, or put back the record that it looks for",
        )
    grade = trial.reference.grade
    for broken in (c for c in grade.constraints if c.broken):
        place = next(i for i, c in enumerate(trial.spec.constraints) if c.id == broken.id)
        yield finding(
            "O1",
            pointer("constraints", place),
            f"the reference itself breaks {broken.id}: {broken.detail}",
            hint="mend the reference, or the rule",
        )
    for i, (check, result) in enumerate(zip(trial.spec.checks, grade.checks, strict=True)):
        if result.score is None or result.score >= FULL or result.unmet is not None:
            continue
        promise = f" ({check.explain})" if check.explain else ""
        yield finding(
            "O1",
            pointer("checks", i),
            f"the reference solution earns {grade.total:g} instead of 1: "
            f"check {check.id}{promise} does not hold: {why(result)}",
            hint="expect what the reference's final records hold, or mend the reference",
        )


def why(result: CheckResult) -> str:
    """Return what decided a check, in words."""
    where = f" (in {', '.join(result.cites[:2])})" if result.cites else ""
    return f"{result.detail or result.failure or 'it scores 0'}{where}"


def crowded(trial: Trial) -> bool:
    """Say whether the reference leaves too few of the calls that are allowed for others to go
    another way: what breaks a rule then is not looked for in vain by the rule's own fault.
    """
    return len(trial.call_of) > BUDGET_SHARE * trial.spec.limits.tool_calls + 1e-9


def within_budget(trial: Trial) -> Iterator[Finding]:
    """O2: the reference takes at most 60 % of the calls and turns allowed."""
    limits = trial.spec.limits
    calls = sum(act.tool is not None for act in trial.acts)
    for name, used, allowed in (
        ("tool_calls", calls, limits.tool_calls),
        ("turns", len(trial.acts), limits.turns),
    ):
        if used > BUDGET_SHARE * allowed + 1e-9:
            enough = math.ceil(used / BUDGET_SHARE)
            place = pointer("limits", name)
            written = "limits" in trial.spec.written()
            patch = (
                [operation("add", place, enough)]
                if written
                else [operation("add", "/limits", {name: enough})]
            )
            yield finding(
                "O2",
                place,
                f"the reference takes {used} of {allowed} {name.replace('_', ' ')}; at most 60 % "
                "leaves room for a policy that looks around",
                hint=f"allow {enough}",
                rule="raise_budget",
                title=f"raise {name} to {enough}",
                patch=patch,
            )


# --- O3 ------------------------------------------------------------------------------------------


def reachable(trial: Trial) -> Iterator[Finding]:
    """O3: what the reference writes is said in the request, the rules, or an earlier read."""
    spec = trial.spec
    told = [
        spec.request.text,
        spec.workplace.organisation,
        spec.workplace.output_contract,
        *(f"{p.title} {p.text}" for p in spec.workplace.policies),
        *(
            f"{p.name} {p.role} {p.mailbox}"
            for p in (*spec.workplace.people, spec.workplace.requester)
        ),
        spec.workplace.coworker.role,
        spec.workplace.coworker.mailbox,
        *(f"{a.name} {a.sidecar}" for a in spec.request.attachments),
        *(stage.notification or "" for stage in spec.timeline),
    ]
    known = fold("\n".join(told))
    seen: list[str] = []
    first_act = {act.step: i for i, act in reversed(list(enumerate(trial.acts)))}
    upto = 0
    for i, step in enumerate(spec.reference):
        at = first_act.get(step.id or "")
        if at is None or step.tool is None or step.tool not in tools():
            continue
        while upto < at:
            if trial.acts[upto].tool is not None:
                call = trial.call(upto)
                if call.ok:
                    seen.append(fold(call.observation.decode(errors="replace")))
            upto += 1
        if not tools()[step.tool].facts.writes:
            continue
        texts = tools()[step.tool].facts.text
        for argument in arguments_of(step.tool):
            if argument.name not in step.arguments:
                continue
            for value in literals(step.arguments[argument.name]):
                if argument.name in texts and is_wording(value):
                    continue
                if not _known(value, argument, known, seen):
                    yield finding(
                        "O3",
                        pointer("reference", i, "arguments", argument.name),
                        f"step {step.id} writes {value!r}, which neither the request, the rules "
                        "nor an earlier read says",
                        hint="add a read that shows it, bind it to one, or say it in the request",
                    )


def literals(value: Any) -> Iterator[Any]:
    """Yield the plain values written into an argument: bindings and functions derive theirs."""
    if is_binding(value):
        return
    if isinstance(value, Mapping):
        for item in value.values():
            yield from literals(item)
    elif isinstance(value, LISTS):
        for item in value:
            yield from literals(item)
    elif value is not None and not isinstance(value, bool) and value != "":
        yield value


def _known(value: Any, argument: Argument, known: str, seen: Sequence[str]) -> bool:
    item = argument.item if argument.kind == "list" and argument.item is not None else argument
    if any(same(value, choice) for choice in item.choices):
        return True
    if isinstance(value, str):
        words = fold(value).replace("_", " ")
        spellings = {fold(value), words}
        return any(contains_piece(known, s) for s in spellings) or any(
            contains_piece(text, fold(value)) or fold(value) in text for text in reversed(seen)
        )
    if float(value).is_integer() and abs(value) <= 12:
        return True  # a count or a line, told by looking
    return contains_number(known, float(value)) or any(
        contains_number(text, float(value)) for text in reversed(seen)
    )


# --- O4 ------------------------------------------------------------------------------------------


def other_orders(trial: Trial) -> Iterator[Finding]:
    """O4: independent reads in another order, and a read too many, still earn 1.0."""
    blamed: set[str] = set()
    for name, steps, what in detours(trial):
        play = trial.run_program(f"detour:{name}", steps)
        culprit = "" if play.grade.passed else _culprit(trial, play)
        if culprit and culprit not in blamed:
            blamed.add(culprit)
            yield finding(
                "O4",
                culprit,
                f"the reference {what} earns {play.reward:g}: {_lost(play)}",
                hint="ask only for the order that the work itself needs",
            )


def detours(trial: Trial) -> Iterator[tuple[str, list[Step], str]]:
    """Yield variants of the reference that are as right as it is."""
    steps = trial.spec.reference
    turned = reordered(steps)
    if turned != list(steps):
        yield "reorder", turned, "with its independent reads in another order"
    gathered = reordered(steps, levelled)
    if gathered not in (list(steps), turned):
        yield "gather", gathered, "looking up everything of one kind before what follows from it"
    late = reordered(steps, put_off)
    if late not in (list(steps), turned, gathered):
        yield "put_off", late, "looking up late what nothing else waits for"
    last = max((i for i, s in enumerate(steps) if s.tool is None), default=len(steps))
    extra = extra_read(trial)
    if extra is not None:
        yield "extra_read", [*steps[:last], extra, *steps[last:]], f"with {extra.tool} once more"
    doubled = twice_read(trial)
    if len(doubled) > len(steps):
        yield "reads_twice", doubled, "looking at everything twice"


def twice_read(trial: Trial) -> list[Step]:
    """Return the reference with each of its reads done twice, those apart of which a rule counts
    the calls or a fault picks one.
    """
    spec = trial.spec
    counted = {fault.tool for fault in spec.faults}
    for rule in spec.constraints:
        if isinstance(rule, AtMost):
            counted.update(rule.pattern.tools)
    out: list[Step] = []
    for number, step in enumerate(spec.reference):
        out.append(step)
        known = tools().get(step.tool or "")
        if known is not None and known.facts.kind == "read" and step.tool not in counted:
            out.append(step.model_copy(update={"id": f"twice_{number}"}))
    return out


def reordered(
    steps: Sequence[Step], by: Callable[[Sequence[Step]], list[Step]] | None = None
) -> list[Step]:
    """Return a program whose runs of reads are turned round as far as their bindings allow, or
    put in another order.
    """
    order = by or _turned
    out: list[Step] = []
    block: list[Step] = []
    for step in steps:
        if step.tool is not None and step.tool in tools() and not tools()[step.tool].facts.writes:
            block.append(step)
            continue
        out.extend(order(block))
        block = []
        out.append(step)
    return [*out, *order(block)]


def levelled(block: Sequence[Step]) -> list[Step]:
    """Return reads with those first that need no other, then those that need these, and so on."""
    inside = {step.id for step in block}
    depth: dict[str | None, int] = {}
    for step in block:
        needs = sources([step.arguments, step.each]) & inside
        depth[step.id] = max((depth.get(name, 0) + 1 for name in needs), default=0)
    return sorted(block, key=lambda step: depth[step.id])


def put_off(block: Sequence[Step]) -> list[Step]:
    """Return reads with each as late as the others allow, those that came first the latest."""
    inside = {step.id for step in block}
    left = list(block)
    out: list[Step] = []
    while left:
        needed = {name for step in left for name in sources([step.arguments, step.each]) & inside}
        chosen = next((step for step in left if step.id not in needed), left[-1])
        left.remove(chosen)
        out.append(chosen)
    return out[::-1]


def _turned(block: Sequence[Step]) -> list[Step]:
    inside = {step.id for step in block}
    needs = {id(step): sources([step.arguments, step.each]) & inside for step in block}
    waiting = list(block)
    done: set[str | None] = set()
    out: list[Step] = []
    while waiting:
        ready = [step for step in waiting if needs[id(step)] <= done]
        chosen = ready[-1] if ready else waiting[0]
        waiting.remove(chosen)
        done.add(chosen.id)
        out.append(chosen)
    return out


def sources(value: Any) -> set[str | None]:
    """Return the step ids that a value's bindings name."""
    found: set[str | None] = set()
    _add_sources(value, found)
    return found


def _add_sources(value: Any, found: set[str | None]) -> None:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, OBJECTS):
        if "from" in value and is_binding(value):
            found.add(value["from"])
        for item in value.values():
            _add_sources(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _add_sources(item, found)


def extra_read(trial: Trial) -> Step | None:
    """Return a read that the reference does not need: another tool, else one of its own again."""
    used = {step.tool for step in trial.spec.reference}
    reads = [n for n in trial.seed.offered if tools()[n].facts.kind == "read"]
    tables = trial.seed.ground.start
    for name in sorted(reads, key=lambda n: n in used):
        for arguments in likely(name, tables, most=3):
            call = trial.tries(0, Act(name, arguments))
            if call is not None and call.ok:
                return Step(id="extra_read", tool=name, arguments=arguments)
    return None


def _culprit(trial: Trial, play: Play) -> str:
    for i, result in enumerate(play.grade.checks):
        if result.score is not None and result.score < FULL and result.unmet is None:
            return pointer("checks", i)
    for i, broken in enumerate(play.grade.constraints):
        if broken.broken:
            return pointer("constraints", i)
    return "/reference"


def _lost(play: Play) -> str:
    for broken in play.grade.constraints:
        if broken.broken:
            return f"{broken.id} is broken: {broken.detail}"
    for result in play.grade.checks:
        if result.score is not None and result.score < FULL and result.unmet is None:
            return f"{result.id}: {why(result)}"
    return "nothing is left to score"


# --- O5 ------------------------------------------------------------------------------------------


def other_solutions(trial: Trial) -> Iterator[Finding]:
    """O5: the spec's other solutions, and other wordings and number spellings of all, earn 1.0."""
    programs: list[tuple[str, str, Sequence[Act]]] = [("the reference", "/reference", trial.acts)]
    for number, steps in enumerate(trial.spec.alternatives):
        play = trial.run_program(f"alternative:{number}", steps)
        place = pointer("alternatives", number)
        if not play.grade.passed:
            yield finding(
                "O5",
                place,
                f"another right solution (alternative {number + 1}) earns {play.reward:g}: "
                f"{_lost(play)}",
                hint="loosen the check to what the rules entail",
            )
            continue
        programs.append((f"alternative {number + 1}", place, play.acts))
    for name, _, acts in programs:
        for wording, what in rewordings(trial, acts):
            play = trial.run(f"wording:{name}:{what}", wording)
            if not play.grade.passed:
                yield finding(
                    "O5",
                    _culprit(trial, play),
                    f"{name} {what} earns {play.reward:g}: {_lost(play)}",
                    hint="loosen the check to what the rules entail",
                )


def rewordings(trial: Trial, acts: Sequence[Act]) -> Iterator[tuple[list[Act], str]]:
    """Yield acts with the checked numbers spelled otherwise, and with the other allowed words."""
    try:
        readings = trial.readings_of(acts)
    except EvidenceError:
        return
    for what, respell in (
        ("with decimal commas", _comma),
        ("with thousands separated", _thousands),
    ):
        changed = list(acts)
        for reading in readings:
            numbers = [p for g in reading.groups for p in g if text_pieces.number_of(p) is not None]
            for piece in numbers:
                _reword(changed, reading, piece, respell)
        if changed != list(acts):
            yield changed, what
    changed = list(acts)
    swaps: dict[tuple[int, tuple[str, ...]], dict[str, str]] = {}
    for reading in readings:
        for group in reading.groups:
            words = [p for p in group if isinstance(p, str)]
            if len(words) < 2:
                continue
            for position, names in reading.acts.items():
                said = text_pieces.said(acts[position], names)
                here = [w for w in words if text_pieces.holds(said, w)]
                others = [w for w in words if w not in here]
                if here and others:
                    swaps.setdefault((position, tuple(names)), {})[here[0]] = others[-1]
    for (position, names), pairs in swaps.items():
        changed[position] = text_pieces.rewritten(changed[position], names, _swap(pairs))
    if changed != list(acts):
        yield changed, "in other allowed words"
    respelt = [_said(act, _commas) for act in acts]
    for reading in readings:  # a file that people read as well, where a check looks into it
        for position, names in reading.acts.items():
            respelt[position] = text_pieces.rewritten(acts[position], names, _commas)
    if respelt != list(acts):
        yield respelt, "with decimal commas throughout"
    if not _EXACT.search(trial.spec.workplace.output_contract):
        polite = [_said(act, _politely) for act in acts]
        if polite != list(acts):
            yield polite, "with a polite sentence before and after"


_MONEY: Final = re.compile(r"(?<![\w.,:-])\d+\.\d{1,2}(?![\w:]|[.,]\d)")
_EXACT: Final = re.compile(r"\b(only|nothing else|exactly|json)\b", re.IGNORECASE)
"""What a contract says that wants a reply of a fixed form."""


def _said(act: Act, change: Callable[[str], str]) -> Act:
    """Return an act whose free wording went through a change: a reply, or the body of a letter."""
    if act.tool is None:
        return text_pieces.rewritten(act, (), change) if act.reply.strip() else act
    known = tools().get(act.tool)
    if known is None or not known.facts.recipients or not known.facts.text:
        return act
    return text_pieces.rewritten(act, known.facts.text[-1:], change)


def _commas(text: str) -> str:
    return _MONEY.sub(lambda found: _in_cents(found.group()).replace(".", ","), text)


def _in_cents(found: str) -> str:
    """Return an amount with two decimals: 11.8 is 11.80."""
    return found if found[-3] == "." else f"{found}0"


def _politely(text: str) -> str:
    if text.lstrip()[:1] in ("{", "[") or not text.strip():
        return text
    return f"I have looked into it. {text} That is all for now."


def _reword(
    changed: list[Act], reading: text_pieces.Reading, piece: Any, respell: Callable[[str], str]
) -> None:
    for position, names in reading.acts.items():
        changed[position] = text_pieces.rewritten(
            changed[position], names, lambda text: text_pieces.replaced(text, piece, respell)
        )


def _swap(pairs: Mapping[str, str]) -> Callable[[str], str]:
    """Return what puts other words in place of several, all at once: one of the new may hold one
    of the old.
    """

    def swapped(text: str) -> str:
        found = sorted(
            (start, end, other)
            for piece, other in pairs.items()
            for start, end in text_pieces.spans(text, piece)
        )
        parts: list[str] = []
        at = 0
        for start, end, other in found:
            if start >= at:
                parts += [text[at:start], other]
                at = end
        return "".join([*parts, text[at:]])

    return swapped


def _comma(found: str) -> str:
    whole, dot, cents = found.rpartition(".")
    return f"{whole},{cents}" if dot and len(cents) == 2 and "," not in whole else found


def _thousands(found: str) -> str:
    whole, dot, cents = found.partition(".")
    if not whole.isdigit() or len(whole) < 4 or (dot and len(cents) != 2):
        return found
    return f"{int(whole):,}{dot}{cents}"
