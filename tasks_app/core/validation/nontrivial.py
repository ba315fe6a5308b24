"""Gates N: doing nothing earns nothing, and no cheap policy comes near."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tasks_app.core.cheap import CHEAP, first_candidates, first_program
from tasks_app.core.checks.tool_called import ToolCalled
from tasks_app.core.constraints.forbid_tool import ForbidTool
from tasks_app.core.program import Act
from tasks_app.core.results import FULL
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.structure import fitted
from tasks_app.core.validation.trial import Play, Trial

CHEAP_LIMIT: Final = 0.2
_WHAT: Final[Mapping[str, str]] = {
    "crawl": "reading everything and changing nothing",
    "spam": "calling every tool once with made-up arguments",
    "echo": "giving the request back as the answer",
    "paste": "answering with every word that the checks name",
    "first_record": "taking the first candidate in place of the right record",
    "errors_only": "making only calls that fail",
    "refuse": "refusing to help",
    "regex": "using what a regular expression finds in the request",
}


def does_nothing(trial: Trial) -> Iterator[Finding]:
    """N1: no calls and no answer earn exactly 0."""
    null = trial.null()
    if null.reward == 0 and not null.grade.passed:
        return
    for number, result in enumerate(null.grade.checks):
        check = trial.spec.checks[number]
        if result.score and isinstance(check, ToolCalled) and never(check):
            yield _not_to_call(trial, number, null.reward)
            return
    yield finding(
        "N1",
        _paid(null),
        f"doing nothing earns {null.reward:g}: {_payers(null)} holds from the start",
        hint="let it score only if an outcome check holds",
        rule="require_outcome",
        title="pay it only together with an outcome",
        patch=gated(trial, null),
    )


def never(check: ToolCalled) -> bool:
    """Whether a check pays for a call that was not made: no work can earn that."""
    return check.max == 0


def _not_to_call(trial: Trial, number: int, reward: float) -> Finding:
    """N1, of a check that pays for what was left undone: it comes out, and the others of its
    component share its weight.
    """
    check = trial.spec.checks[number]
    others = [
        i
        for i, other in enumerate(trial.spec.checks)
        if other.pays and other is not check and other.component == check.component
    ]
    required = any(check.id in other.requires for other in trial.spec.checks)
    patch: list[dict[str, object]] = []
    if others and not required:
        weights = [trial.spec.checks[i].weight for i in others]
        total = sum(weights)
        shared = fitted([w * (1 + check.weight / total) for w in weights], total + check.weight)
        patch = [
            operation("replace", pointer("checks", i, "weight"), weight)
            for i, weight in zip(others, shared, strict=True)
        ]
        patch.append(operation("remove", pointer("checks", number)))
    return finding(
        "N1",
        pointer("checks", number),
        f"doing nothing earns {reward:g}: {check.id} pays for a call that was not made",
        hint="forbid the call by a rule; nothing is paid for what was left undone",
        rule="drop_check",
        title=f"drop {check.id}",
        patch=patch,
    )


def cheap_plays(trial: Trial) -> list[tuple[str, Play]]:
    """Run every cheap policy but null."""
    found: list[tuple[str, Play]] = []
    for name, policy in CHEAP.items():
        if name == "null" or (name == "refuse" and _abstains(trial)):
            continue
        if name == "first_record":  # its acts are made by running it: once is enough
            play = trial.run_program(f"probe:{name}", first_program(trial.spec))
        else:
            play = trial.run(f"probe:{name}", policy(trial.spec))
        found.append((name, play))
    return found


def _abstains(trial: Trial) -> bool:
    return any(capability.id == "C13" for capability in trial.spec.capabilities) and not any(
        call.changes for call in trial.reference.calls
    )


def no_shortcut(trial: Trial, plays: Sequence[tuple[str, Play]]) -> Iterator[Finding]:
    """N2: every cheap policy earns less than 0.2 and never passes, also where it has read which
    tools are forbidden; one wrong choice costs something.
    """
    for name, play in [*plays, *_heeding(trial, plays)]:
        if play.reward >= CHEAP_LIMIT or play.grade.passed:
            yield finding(
                "N2",
                _paid(play),
                f"{_WHAT[name]} ({name}) earns {play.reward:g} through {_payers(play)}; "
                f"less than {CHEAP_LIMIT} is asked",
                hint="pay that check only together with an outcome",
                rule="require_outcome",
                title="pay it only together with an outcome",
                patch=gated(trial, play),
            )
    for position, step in enumerate(trial.spec.reference):
        other = first_candidates(step)
        if other is step:
            continue
        steps = [*trial.spec.reference[:position], other, *trial.spec.reference[position + 1 :]]
        play = trial.run_from_step(f"first:{position}", steps, position)
        if play.grade.passed and _writes(trial, play.acts) != _writes(trial, trial.acts):
            yield finding(
                "N2",
                pointer("reference", position),
                f"step {step.id} may take the first candidate instead of the right one "
                "and still pass",
                hint="put the right record in the middle of the list, or check the choice",
            )


def _heeding(trial: Trial, plays: Sequence[tuple[str, Play]]) -> Iterator[tuple[str, Play]]:
    """Cheap policies that a gate stopped, again without the calls that are forbidden: that one of
    them broke a rule for no gain hides what the rest of it earned.
    """
    forbidden = {
        tool
        for rule in trial.spec.constraints
        if isinstance(rule, ForbidTool) and not rule.arguments
        for tool in rule.pattern.tools
    }
    for name, play in plays:
        heeded = [act for act in play.acts if act.tool not in forbidden]
        if play.grade.gated and len(heeded) < len(play.acts):
            yield name, trial.run(f"heeding:{name}", heeded)


def _writes(trial: Trial, acts: Sequence[Act]) -> list[Act]:
    facts = trial.seed.ground.tools
    return [
        act._replace(step="")
        for act in acts
        if act.tool is not None and act.tool in facts and facts[act.tool].writes
    ]


def _payers(play: Play) -> str:
    names = [r.id for r in play.grade.checks if r.score]
    return ", ".join(names) or "no check"


def _paid(play: Play) -> str:
    for i, result in enumerate(play.grade.checks):
        if result.score:
            return pointer("checks", i)
    return "/checks"


def gated(trial: Trial, play: Play) -> list[dict[str, object]]:
    """Return a patch that lets what paid a shortcut require an outcome check that the shortcut
    failed.
    """
    results = play.grade.checks
    anchor = next(
        (
            r.id
            for r in results
            if r.component == "outcome"
            and r.unmet is None
            and r.score is not None
            and r.score < FULL
        ),
        None,
    )
    if anchor is None:
        return []
    needed = _ancestors(trial, anchor)
    patch: list[dict[str, object]] = []
    for i, (check, result) in enumerate(zip(trial.spec.checks, results, strict=True)):
        if result.score and check.id not in needed and check.pays:
            wanted = [*check.requires, anchor]
            patch.append(operation("add", pointer("checks", i, "requires"), wanted))
    return patch


def _ancestors(trial: Trial, name: str) -> set[str]:
    """Return a check and all it requires: none of those may require it."""
    by_id = {check.id: check for check in trial.spec.checks}
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found and current in by_id:
            found.add(current)
            waiting.extend(by_id[current].requires)
    return found
