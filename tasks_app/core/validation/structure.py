"""Gates S: the form of a spec. S1 (the typed models) is held by `load_spec`; these look at what it
admits.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tasks_app.core.checks.catalog import AnyCheck
from tasks_app.core.results import COMPONENTS
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import Gate, finding, operation, pointer

MOST_OF_ONE = 0.6 + 1e-9
LEAST_OUTCOME = 0.4 - 1e-9


def weights(spec: TaskSpec) -> Iterator[Finding]:
    """S2: the weights of scored checks sum to 1; no component over 0.6; outcome at least 0.4."""
    if spec.evaluation_only:
        return  # an upstream benchmark's weights are its own, and part of them is a judge's
    scored = [(i, c) for i, c in enumerate(spec.checks) if c.pays]
    if not scored:
        yield finding("S2", "/checks", "no check is scored", hint="add an outcome check")
        return
    total = math.fsum(c.weight for _, c in scored)
    patch = [
        operation("replace", pointer("checks", i, "weight"), share)
        for (i, c), share in zip(scored, _balanced([c for _, c in scored]), strict=True)
        if share != c.weight
    ]
    if abs(total - 1) > 1e-6:
        yield finding(
            "S2",
            "/checks",
            f"the weights of the checks sum to {total:g}, not 1",
            hint="scale the weights to sum to 1",
            rule="renormalise_weights",
            patch=patch,
        )
        return
    sums = {
        name: math.fsum(c.weight for _, c in scored if c.component == name) for name in COMPONENTS
    }
    for name, share in sums.items():
        if share > MOST_OF_ONE:
            yield finding(
                "S2",
                "/checks",
                f"{name} carries {share:.2f} of the weight; at most 0.6",
                hint=f"move weight from {name} checks to others",
                rule="renormalise_weights",
                patch=patch,
            )
    if sums["outcome"] < LEAST_OUTCOME:
        yield finding(
            "S2",
            "/checks",
            f"outcome carries {sums['outcome']:.2f} of the weight; at least 0.4",
            hint="move weight to the outcome checks",
            rule="renormalise_weights",
            patch=patch,
        )


def _balanced(checks: Sequence[AnyCheck]) -> list[float]:
    """Return weights that sum to 1, with each component's share clipped to what it may carry; the
    checks of a component keep their proportions.
    """
    total = math.fsum(c.weight for c in checks)
    sums = {name: math.fsum(c.weight for c in checks if c.component == name) for name in COMPONENTS}
    present = {name: value for name, value in sums.items() if value > 0}
    shares: dict[str, float] = {name: value / total for name, value in present.items()}
    if len(present) > 1:
        for name in present:
            shares = _clipped(shares, name)
    names = sorted(shares, key=lambda name: _room(name, shares[name]), reverse=True)
    parts = [round(shares[name], 4) for name in names]
    # What rounding left goes where it takes no share over its bounds.
    parts[0] = round(parts[0] + 1 - math.fsum(parts), 4)
    given: dict[int, float] = {}
    for component, part in zip(names, parts, strict=True):
        own = [i for i, check in enumerate(checks) if check.component == component]
        scale = part / sum(checks[i].weight for i in own)
        given |= zip(own, fitted([checks[i].weight * scale for i in own], part, 4), strict=True)
    return [given.get(i, 0.0) for i in range(len(checks))]


def fitted(weights: Sequence[float], total: float, digits: int = 9) -> list[float]:
    """Return the weights rounded so that they sum to a total: the largest takes what is left."""
    rounded = [round(weight, digits) for weight in weights]
    largest = rounded.index(max(rounded))
    rounded[largest] = round(rounded[largest] + total - math.fsum(rounded), digits)
    return rounded


def _room(name: str, share: float) -> float:
    """Return how far a component's share is from what it may carry at most and at least."""
    return min(0.6 - share, share - _least(name))


def _least(name: str) -> float:
    return 0.4 if name == "outcome" else 0.0


def _clipped(shares: Mapping[str, float], name: str) -> dict[str, float]:
    """Return the shares with one of them within its bounds, what it gave or took shared out."""
    least = _least(name)
    held = min(max(shares[name], least), 0.6)
    if held == shares[name]:
        return dict(shares)
    rest = (1 - held) / (1 - shares[name])
    return {other: held if other == name else share * rest for other, share in shares.items()}


def unique_ids(spec: TaskSpec) -> Iterator[Finding]:
    """S3: checks, constraints, steps, stages, tools, policies and facts are named once."""
    facts = spec.user.facts if spec.user is not None else ()
    named: Sequence[tuple[str, Sequence[str]]] = (
        ("checks", [c.id for c in spec.checks]),
        ("constraints", [c.id for c in spec.constraints]),
        ("reference", [s.id or f"reply {i}" for i, s in enumerate(spec.reference)]),
        ("timeline", [s.id for s in spec.timeline]),
        ("tools", list(spec.tools)),
        ("workplace/policies", [p.id for p in spec.workplace.policies]),
        ("user/facts", [f.id for f in facts]),
    )
    for place, ids in named:
        for name, times in Counter(ids).items():
            if times < 2:
                continue
            second = [i for i, other in enumerate(ids) if other == name][1]
            patch = []
            if place == "tools":
                patch = [operation("remove", pointer("tools", second))]
            elif place in ("checks", "constraints"):
                patch = [operation("replace", f"/{place}/{second}/id", _free_name(name, ids))]
            yield finding(
                "S3",
                f"/{place}/{second}",
                f"{name} stands there {times} times",
                hint="give the second one a name of its own",
                rule="suffix_by_ordinal",
                patch=patch,
            )


def _free_name(name: str, taken: Iterable[str]) -> str:
    number, known = 2, set(taken)
    while f"{name}_{number}" in known:
        number += 1
    return f"{name}_{number}"


def well_formed_checks(spec: TaskSpec) -> Iterator[Finding]:
    """S4: requirements resolve without a cycle and lead to an outcome; stages exist; there is an
    anchor.
    """
    known = {c.id: c for c in spec.checks}
    stages = {s.id for s in spec.stages}
    for i, check in enumerate(spec.checks):
        for j, required in enumerate(check.requires):
            if required not in known:
                yield finding(
                    "S4",
                    pointer("checks", i, "requires", j),
                    f"{check.id} requires {required}, which does not exist",
                    hint="name an existing check, or remove the requirement",
                    rule="drop_requirement",
                    patch=[operation("remove", pointer("checks", i, "requires", j))],
                )
        if check.stage is not None and check.stage not in stages:
            yield finding(
                "S4",
                pointer("checks", i, "stage"),
                f"{check.id} reads stage {check.stage}, which does not exist",
                hint=f"stages are {', '.join(sorted(stages))}",
            )
        if _in_cycle(check.id, spec):
            yield finding(
                "S4",
                pointer("checks", i, "requires"),
                f"{check.id} requires itself in the end",
                hint="break the circle",
            )
    if spec.evaluation_only:
        return  # an upstream grader's declarations know no anchors
    anchors = [c.id for c in spec.checks if c.component == "outcome" and not c.requires]
    if not anchors:
        yield finding(
            "S4",
            "/checks",
            "no outcome check stands on its own (without `requires`)",
            hint="let the check of the right record require nothing",
        )
    for i, check in enumerate(spec.checks):
        if check.component != "outcome" and not _reaches_outcome(check.id, spec):
            patch = []
            if anchors:
                patch = [
                    operation(
                        "add", pointer("checks", i, "requires"), [*check.requires, anchors[0]]
                    )
                ]
            yield finding(
                "S4",
                pointer("checks", i, "requires"),
                f"{check.id} is a {check.component} check that requires no outcome: it can "
                "pay for nothing done",
                hint=f"let it require {anchors[0]}"
                if anchors
                else "let it require an outcome check",
                rule="require_anchor",
                patch=patch,
            )


def _requirements(check_id: str, spec: TaskSpec) -> set[str]:
    known = {c.id: c for c in spec.checks}
    seen: set[str] = set()
    waiting = list(known[check_id].requires)
    while waiting:
        name = waiting.pop()
        if name not in seen and name in known:
            seen.add(name)
            waiting.extend(known[name].requires)
    return seen


def _in_cycle(check_id: str, spec: TaskSpec) -> bool:
    return check_id in _requirements(check_id, spec)


def _reaches_outcome(check_id: str, spec: TaskSpec) -> bool:
    required = _requirements(check_id, spec)
    return any(c.id in required and c.component == "outcome" for c in spec.checks)


GATES: tuple[Gate, ...] = (
    Gate("S2", "weights", True, weights),
    Gate("S3", "ids are unique", True, unique_ids),
    Gate("S4", "checks are well formed", True, well_formed_checks),
)
