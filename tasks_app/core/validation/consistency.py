"""Gate K2: the constraints of a task can be kept together, and the reference keeps them.

Two rules contradict each other if no call that one of them governs can keep both: no value of an
argument, no state of a record is allowed by both, a tool must come first that is forbidden, or
each of two tools must come before the other. The weaker of the two is then the one to go.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from tasks_app.core.constraints.argument_policy import ArgumentPolicy
from tasks_app.core.constraints.at_most import AtMost
from tasks_app.core.constraints.base import BaseConstraint, names_of
from tasks_app.core.constraints.confirm_with_user import ConfirmWithUser
from tasks_app.core.constraints.forbid_tool import ForbidTool
from tasks_app.core.constraints.only_when import OnlyWhen
from tasks_app.core.constraints.require_before import RequireBefore
from tasks_app.core.predicates import compile_predicate, is_operators
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.trial import Trial

_STEPS: Final = (0, 0.01, 1)
"""How far beside a bound a value is tried."""


def consistent(trial: Trial) -> Iterator[Finding]:
    """K2: no two constraints exclude each other; the reference breaks none."""
    rules = trial.spec.constraints
    results = trial.reference.grade.constraints
    broken = {result.id: result for result in results if result.broken}
    for (i, first), (j, second) in combinations(enumerate(rules), 2):
        reason = conflict(first, second)
        if not reason:
            continue
        weaker, other = _weaker((i, first), (j, second), frozenset(broken))
        yield finding(
            "K2",
            pointer("constraints", weaker),
            f"{rules[weaker].id} and {rules[other].id} cannot both be kept: {reason}",
            hint=f"drop {rules[weaker].id}, or word it so that both can be kept",
            rule="drop_weaker_constraint",
            title=f"drop {rules[weaker].id}, the weaker of the two",
            patch=[operation("remove", pointer("constraints", weaker))],
        )
    for i, rule in enumerate(rules):
        if rule.id in broken:
            yield finding(
                "K2",
                pointer("constraints", i),
                f"the reference breaks {rule.id}: {broken[rule.id].detail}",
                hint="a rule that the right solution breaks is no rule: mend it or the reference",
            )


def _weaker(
    first: tuple[int, BaseConstraint], second: tuple[int, BaseConstraint], broken: frozenset[str]
) -> tuple[int, int]:
    """Return the places of the weaker and the stronger rule: one that the reference breaks goes
    first, then the one that costs less, then the later.
    """

    def strength(place: int, rule: BaseConstraint) -> tuple[bool, bool, float, int]:
        return rule.id not in broken, rule.gate, rule.deduct, -place

    weak, strong = sorted((first, second), key=lambda pair: strength(*pair))
    return weak[0], strong[0]


def conflict(first: BaseConstraint, second: BaseConstraint) -> str:
    """Return why two rules cannot both be kept where they apply; empty if they can."""
    for one, other in ((first, second), (second, first)):
        reason = _unreachable(one, other)
        if reason:
            return reason
    if isinstance(first, ArgumentPolicy) and isinstance(second, ArgumentPolicy):
        return _no_value(first, second)
    if isinstance(first, OnlyWhen) and isinstance(second, OnlyWhen):
        return _no_state(first, second)
    if isinstance(first, RequireBefore) and isinstance(second, RequireBefore):
        return _circle(first, second)
    return ""


def forbidden(rule: BaseConstraint) -> frozenset[str]:
    """Return the tools that a rule forbids outright, whatever their arguments."""
    never = isinstance(rule, ForbidTool) or (isinstance(rule, AtMost) and rule.n == 0)
    if not never or not isinstance(rule, ForbidTool | AtMost):
        return frozenset()
    if rule.arguments or rule.stage is not None:
        return frozenset()
    return rule.pattern.names


def _unreachable(rule: BaseConstraint, other: BaseConstraint) -> str:
    """Say why what a rule asks for first is never allowed."""
    never = forbidden(other)
    if not never:
        return ""
    if isinstance(rule, RequireBefore):
        needs, writes = rule.needs.names, rule.write.names
    elif isinstance(rule, ConfirmWithUser):
        needs, writes = frozenset({rule.channel}), rule.write.names
    else:
        return ""
    if needs <= never and not writes <= never:
        return (
            f"{' or '.join(sorted(needs))} must come before {' or '.join(sorted(writes))}, "
            "and is forbidden"
        )
    return ""


def _circle(first: RequireBefore, second: RequireBefore) -> str:
    if first.needs.names <= second.write.names and second.needs.names <= first.write.names:
        if any(p.arguments or p.stage for p in (first.needs, first.write)):
            return ""
        if any(p.arguments or p.stage for p in (second.needs, second.write)):
            return ""
        names = sorted(first.needs.names), sorted(second.needs.names)
        return f"{' or '.join(names[0])} and {' or '.join(names[1])} each have to come first"
    return ""


def _same_calls(first: ArgumentPolicy | OnlyWhen, second: ArgumentPolicy | OnlyWhen) -> list[str]:
    """Return the tools of which both rules judge every call that one of them judges."""
    if first.stage != second.stage and None not in (first.stage, second.stage):
        return []
    if first.arguments != second.arguments and first.arguments and second.arguments:
        return []
    return sorted(first.pattern.names & second.pattern.names)


def _no_value(first: ArgumentPolicy, second: ArgumentPolicy) -> str:
    shared = sorted({*names_of(first.argument)} & {*names_of(second.argument)})
    tools = _same_calls(first, second)
    if not shared or not tools:
        return ""
    candidates = [*_values(first), *_values(second)]
    if any(first.allows(value) and second.allows(value) for value in candidates):
        return ""
    closed = [rule for rule in (first, second) if _is_closed(rule)]
    if not closed:
        return ""  # both only deny: everything else is allowed
    return f"no value of {shared[0]} in {tools[0]} is allowed by both"


def _is_closed(rule: ArgumentPolicy) -> bool:
    return rule.allow is not None or rule.limit is not None or bool(rule.own_domain)


def _values(rule: ArgumentPolicy) -> Iterator[Any]:
    """Yield values on both sides of every bound of a rule."""
    yield from rule.allow or ()
    yield from rule.also
    for domain in names_of(rule.own_domain):
        yield f"somebody@{domain}"
    if rule.limit is not None:
        yield from _around(rule.limit)


def _around(predicate: Any) -> Iterator[Any]:
    """Yield the operands of a predicate, and of numbers what lies just beside them."""
    operands: Sequence[Any] = (
        list(predicate.values())
        if isinstance(predicate, Mapping) and is_operators(predicate)
        else [predicate]
    )
    for operand in operands:
        for value in operand if isinstance(operand, list | tuple) else (operand,):
            if isinstance(value, int | float) and not isinstance(value, bool):
                for step in _STEPS:
                    yield from (value - step, value + step)
            else:
                yield value


def _no_state(first: OnlyWhen, second: OnlyWhen) -> str:
    tools = _same_calls(first, second)
    same_record = first.place == second.place and (
        first.record.id_argument == second.record.id_argument
    )
    if not tools or not same_record:
        return ""
    for path in sorted({*first.where} & {*second.where}):
        one, other = first.where[path], second.where[path]
        tests = compile_predicate(one), compile_predicate(other)
        candidates = [*_around(one), *_around(other), None]
        if not any(all(test(value) for test in tests) for value in candidates):
            return f"{path} of a record of {first.place} would have to be two things at once"
    return ""
