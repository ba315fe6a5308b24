"""Gate K1: each constraint bites. A policy that breaks it is made, runs, loses, and cannot pass.

Candidates are tried in a fixed order until one breaks the constraint: first small changes of the
reference (so that all else is right), then calls on other records.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.constraints.argument_policy import ArgumentPolicy
from tasks_app.core.constraints.at_most import AtMost
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.constraints.confirm_with_user import ConfirmWithUser
from tasks_app.core.constraints.forbid_tool import ForbidTool
from tasks_app.core.constraints.no_disclosure import NoDisclosure
from tasks_app.core.constraints.only_when import OnlyWhen
from tasks_app.core.constraints.require_before import RequireBefore
from tasks_app.core.patterns import CallPattern
from tasks_app.core.predicates import compile_where, is_operators, literal_of
from tasks_app.core.program import Act
from tasks_app.core.samples import (
    DUMMY_ADDRESS,
    Argument,
    arguments_of,
    collection_for,
    field_values,
    likely,
    offered_values,
)
from tasks_app.core.services.catalog import tools
from tasks_app.core.validation.card import ConstraintProof, Finding
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.mutants import last_place
from tasks_app.core.validation.near_misses import swapped_digits
from tasks_app.core.validation.solvability import crowded
from tasks_app.core.validation.text_pieces import written
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import MISSING

MOST_TRIES: Final = 60
LEAST_COST: Final = 0.01
"""What breaking a rule takes away at least: less than a hundredth is lost among the rest."""

Plan = tuple[str, int, Sequence[Act]]
"""What it does as a person reads it, the first differing act, the acts from there on."""


def prove_constraints(trial: Trial) -> list[ConstraintProof]:
    """Find a violating policy for every constraint."""
    return [_proof(trial, constraint) for constraint in trial.spec.constraints]


def _proof(trial: Trial, constraint: BaseConstraint) -> ConstraintProof:
    kind = str(getattr(constraint, "kind", ""))
    best: tuple[Play, str, int, Sequence[Act]] | None = None
    for number, (title, at, acts) in enumerate(plans(trial, constraint)):
        if number >= MOST_TRIES:
            break
        if at + len(acts) > trial.spec.limits.tool_calls + len(trial.spec.stages):
            continue  # nobody may call that often
        play = trial.run(f"violates:{constraint.id}", acts, at)
        if constraint.id not in play.grade.violations:
            continue
        best = best or (play, title, at, acts)
        if any(result.score for result in play.grade.checks):
            best = (play, title, at, acts)  # all but the rule is well: the rule alone costs
            break
    if best is None:
        return ConstraintProof(
            id=constraint.id,
            kind=kind,
            sentence=constraint.sentence,
            gate=constraint.gate,
            bites=False,
        )
    play, title, at, acts = best
    return ConstraintProof(
        id=constraint.id,
        kind=kind,
        sentence=constraint.sentence,
        gate=constraint.gate,
        bites=_loses(play, constraint),
        violating=title,
        steps=tuple(act.written() for act in (*trial.acts[:at], *acts)),
        reward=play.reward,
    )


def _loses(play: Play, constraint: BaseConstraint) -> bool:
    component = play.grade.components["constraint"]
    lost = component is not None and component <= 1 - LEAST_COST
    return lost and not play.grade.passed and (play.reward == 0 or not constraint.gate)


def biting(trial: Trial, proofs: Sequence[ConstraintProof]) -> Iterator[Finding]:
    """K1: every constraint has a violating policy that loses."""
    for i, proof in enumerate(proofs):
        if proof.bites:
            continue
        place = pointer("constraints", i)
        if proof.reward is None and crowded(trial):
            # Not the rule's fault, and no reason to drop it: too few calls are left to break it.
            yield finding(
                "K1",
                place,
                f"too few calls are left to break {proof.id}: the reference takes "
                f"{len(trial.call_of)} of {trial.spec.limits.tool_calls}",
                hint="raise the limit of tool calls first; the rule can stay",
            )
        elif proof.reward is None:
            yield finding(
                "K1",
                place,
                f"no policy could be found that breaks {proof.id} ({proof.kind}): "
                "the rule tests nothing",
                hint="bind it to a tool and argument that the task offers, or drop it",
                rule="drop_impossible_constraint",
                title=f"drop {proof.id}, which nobody can break",
                patch=[operation("remove", place)],
            )
        else:
            yield finding(
                "K1",
                place,
                f"breaking {proof.id} costs nothing: {proof.violating} still "
                f"earns {proof.reward:g}",
                hint="raise what it deducts, or make it a gate",
            )


# --- plans per kind ------------------------------------------------------------------------------


def plans(trial: Trial, constraint: BaseConstraint) -> Iterator[Plan]:
    """Yield policies that may break a constraint."""
    if isinstance(constraint, ForbidTool):
        yield from _forbidden(trial, constraint.pattern)
    elif isinstance(constraint, ArgumentPolicy):
        yield from _arguments(trial, constraint)
    elif isinstance(constraint, RequireBefore):
        yield from _without(trial, constraint.write, constraint.needs)
    elif isinstance(constraint, ConfirmWithUser):
        yield from _without(trial, constraint.write, CallPattern(tool=constraint.channel))
    elif isinstance(constraint, AtMost):
        yield from _repeated(trial, constraint)
    elif isinstance(constraint, OnlyWhen):
        yield from _on_other_records(trial, constraint)
    elif isinstance(constraint, NoDisclosure):
        yield from _disclosed(trial, constraint)


def _insert(trial: Trial, title: str, *extra: Act) -> Plan:
    place = last_place(trial.acts)
    return f"the reference, and {title}", place, (*extra, *trial.acts[place:])


def _replace(trial: Trial, position: int, title: str, act: Act) -> Plan:
    return title, position, (act, *trial.acts[position + 1 :])


def _offered(trial: Trial, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in trial.seed.ground.tools and name in tools()]


def _used(trial: Trial, pattern: CallPattern) -> list[int]:
    """Return the acts of the reference that a pattern means, those that took effect first."""
    return [
        position
        for position, act in enumerate(trial.acts)
        if act.tool is not None
        and act.tool in pattern.names
        and (not pattern.arguments or pattern.holds(act.arguments))
        and trial.call(position).ok
    ]


def _forbidden(trial: Trial, pattern: CallPattern) -> Iterator[Plan]:
    tables = trial.reference.evidence.tables()
    for name in _offered(trial, pattern.tools):
        wanted = satisfying(pattern.arguments)
        for arguments in likely(name, tables, wanted):
            yield _insert(trial, f"also {name}", Act(name, arguments))


def _arguments(trial: Trial, rule: ArgumentPolicy) -> Iterator[Plan]:
    tables = trial.reference.evidence.tables()
    paths = (rule.argument,) if isinstance(rule.argument, str) else rule.argument
    for path in paths:
        name = path.partition(".")[0]
        for position in _used(trial, rule.pattern):
            act = trial.acts[position]
            argument = _argument(act.tool or "", name)
            if argument is None:
                continue
            for bad in outside(rule, argument, act.arguments.get(name), trial):
                wrong = act._replace(arguments={**act.arguments, name: bad})
                title = f"the reference, with {name} = {bad} in {act.tool}"
                yield _replace(trial, position, title, wrong)
        for tool in _offered(trial, rule.pattern.tools):
            argument = _argument(tool, name)
            if argument is None:
                continue
            for bad in outside(rule, argument, None, trial):
                fixed = {**satisfying(rule.arguments), name: bad}
                for arguments in _many(tool, tables, fixed):
                    yield _insert(trial, f"{tool} with {name} = {bad}", Act(tool, arguments))


def _argument(tool: str, name: str) -> Argument | None:
    return next((a for a in arguments_of(tool) if a.name == name), None)


def _many(tool: str, tables: Any, fixed: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield likely arguments, then each id with the small numbers 1 to 4 (lines of an order)."""
    yield from likely(tool, tables, fixed)
    wanted = [a for a in arguments_of(tool) if a.required and a.name not in fixed]
    small = [a.name for a in wanted if a.kind == "number" and a.integer]
    if small:
        for number in (2, 3, 4):
            yield from likely(tool, tables, {**fixed, small[0]: number})


def outside(rule: ArgumentPolicy, argument: Argument, right: Any, trial: Trial) -> Iterator[Any]:
    """Yield values of an argument that the rule does not allow."""
    tables = trial.reference.evidence.tables()
    listed = argument.kind == "list"
    item = argument.item if listed and argument.item is not None else argument
    bad: list[Any] = list(rule.deny)
    if rule.allow is not None:
        allowed = [str(v).casefold() for v in rule.allow]
        options = [
            *(item.choices or ()),
            *offered_values(item, tools()[rule.pattern.tools[0]].facts.service, tables, most=4),
            *field_values(tables, item.name)[:12],
        ]
        bad.extend(v for v in options if str(v).casefold() not in allowed)
        bad.extend(
            turned
            for v in rule.allow
            if isinstance(v, str) and (turned := swapped_digits(v)) is not None
        )
    if rule.limit is not None:
        bad.extend(breaking(rule.limit))
    if rule.own_domain:
        bad.append(DUMMY_ADDRESS)
        known = (
            *rule.also,
            *((rule.own_domain,) if isinstance(rule.own_domain, str) else rule.own_domain),
        )
        bad.extend(
            v
            for v in field_values(tables, "email")[:6]
            if not any(str(v).endswith(k) for k in known)
        )
    for value in bad:
        if not listed:
            yield value
            continue
        held = list(right) if isinstance(right, list | tuple) else []
        yield [*held, value]
        yield [value]


def _without(trial: Trial, write: CallPattern, needs: CallPattern) -> Iterator[Plan]:
    acts = trial.acts
    needed = {
        position
        for position, act in enumerate(acts)
        if act.tool in needs.names and (not needs.arguments or needs.holds(act.arguments))
    }
    writes = _used(trial, write)
    if needed and writes:
        first = min(needed)
        rest = [act for i, act in enumerate(acts) if i > first and i not in needed]
        names = " or ".join(needs.tools)
        yield f"the reference without {names}", first, rest
    for position in writes:
        moved = acts[position]
        rest = [moved, *(act for i, act in enumerate(acts) if i != position)]
        yield f"{moved.tool} before everything else", 0, rest
    tables = trial.reference.evidence.tables()
    for name in _offered(trial, write.tools):
        for arguments in _many(name, tables, satisfying(write.arguments)):
            act = Act(name, arguments)
            yield f"{name} first, then the reference", 0, (act, *acts)


def _repeated(trial: Trial, rule: AtMost) -> Iterator[Plan]:
    acts = trial.acts
    tables = trial.reference.evidence.tables()
    for position in _used(trial, rule.pattern):
        act = acts[position]
        for extra in _variants(act, rule.per):
            times = [extra] * max(rule.n, 1)
            yield (
                f"the reference, with {act.tool} {len(times)} times more",
                position + 1,
                (*times, *acts[position + 1 :]),
            )
    for name in _offered(trial, rule.pattern.tools):
        options = list(_many(name, tables, satisfying(rule.arguments)))
        for arguments in options:
            act = Act(name, arguments)
            for extra in _variants(act, rule.per):
                yield _insert(trial, f"{name} {rule.n + 1} times", act, *[extra] * rule.n, extra)
        if rule.per is None and options:
            many = [Act(name, arguments) for arguments in options]
            yield _insert(trial, f"{name} on many records", *many)
    if rule.per is None:
        yield from _on_records_beside(trial, rule)


def _on_records_beside(trial: Trial, rule: AtMost) -> Iterator[Plan]:
    """Yield the reference that does the same to other records as well: a change that is there
    already, or one that changes nothing, is refused and counts for nothing.
    """
    tables = trial.reference.evidence.tables()
    for position in _used(trial, rule.pattern)[:1]:
        act = trial.acts[position]
        tool = act.tool or ""
        named = next((a.name for a in arguments_of(tool) if a.required and a.kind == "id"), None)
        home = named and collection_for(named, tools()[tool].facts.service, tables)
        if named is None or not home:
            continue
        others = [i for i in tables[home] if i != act.arguments.get(named)][: rule.n + 2]
        more = [act._replace(arguments={**act.arguments, named: other}) for other in others]
        yield (
            f"the reference, with {tool} on {len(more)} records more",
            position + 1,
            (*more, *trial.acts[position + 1 :]),
        )


def _variants(act: Act, per: str | None) -> Iterator[Act]:
    """Yield a call again as it is, then with smaller amounts: a second refund must fit what is
    left.
    """
    yield act
    for name, value in act.arguments.items():
        if (
            name != per
            and isinstance(value, float | int)
            and not isinstance(value, bool)
            and value > 0.01
        ):
            yield act._replace(
                arguments={**act.arguments, name: 0.01 if value != int(value) else 1}
            )


def _on_other_records(trial: Trial, rule: OnlyWhen) -> Iterator[Plan]:
    tables = trial.reference.evidence.tables()
    holds = compile_where(rule.where)
    argument = rule.record.id_argument.partition(".")[0]
    bad = [i for i, row in tables.get(rule.place, {}).items() if not holds(row)]
    for position in _used(trial, rule.pattern)[:1]:
        act = trial.acts[position]
        for record_id in bad[:20]:
            named: Any = [record_id] if isinstance(act.arguments.get(argument), list) else record_id
            extra = act._replace(arguments={**act.arguments, argument: named})
            yield _insert(trial, f"also {act.tool} on {record_id}", extra)
    for name in _offered(trial, rule.pattern.tools):
        known = _argument(name, argument)
        for record_id in bad[:20]:
            named = [record_id] if known is not None and known.kind == "list" else record_id
            fixed = {**satisfying(rule.arguments), argument: named}
            for arguments in likely(name, tables, fixed, most=2):
                yield _insert(trial, f"{name} on {record_id}", Act(name, arguments))
    for position in _used(
        trial, rule.pattern
    ):  # the state that allows it comes about in the episode
        moved = trial.acts[position]
        rest = [moved, *(act for i, act in enumerate(trial.acts) if i != position)]
        yield f"{moved.tool} before everything else", 0, rest


def _disclosed(trial: Trial, rule: NoDisclosure) -> Iterator[Plan]:
    secrets = [text for piece in rule.values if (text := written(piece)) is not None]
    tables = trial.reference.evidence.tables()
    carrying = [
        name
        for name, facts in trial.seed.ground.tools.items()
        if facts.text
        and facts.kind == "write"
        and name in (rule.tools or (name,))
        and name in tools()
    ]
    for secret in secrets:
        for position, act in enumerate(trial.acts):
            if act.tool not in carrying:
                continue
            facts = tools()[act.tool].facts
            told = _append(act, facts.text[-1], secret)
            yield _replace(
                trial, position, f"the reference, telling {secret!r} in {act.tool}", told
            )
            for name in facts.recipients:
                held = act.arguments.get(name)
                if held:
                    outsider: Any = [DUMMY_ADDRESS] if isinstance(held, list) else DUMMY_ADDRESS
                    away = told._replace(arguments={**told.arguments, name: outsider})
                    yield _replace(
                        trial, position, f"{act.tool} telling {secret!r} to a stranger", away
                    )
        for name in carrying:
            facts = tools()[name].facts
            inside = {facts.inside: False} if isinstance(facts.inside, str) else {}
            for arguments in likely(
                name, tables, {facts.text[-1]: f"Note: {secret}", **inside}, most=4
            ):
                yield _insert(trial, f"{name} telling {secret!r}", Act(name, arguments))


def _append(act: Act, name: str, text: str) -> Act:
    return act._replace(arguments={**act.arguments, name: f"{act.arguments.get(name, '')} {text}"})


# --- predicates turned into values ---------------------------------------------------------------


def satisfying(where: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that a `where` on them accepts, as far as its operators tell."""
    found: dict[str, Any] = {}
    for path, predicate in where.items():
        if "." in path:
            continue
        value = _satisfying(predicate)
        if value is not MISSING:
            found[path] = value
    return found


def _satisfying(predicate: Any) -> Any:
    literal = literal_of(predicate)
    if literal is not MISSING:
        return literal
    for operator, value in predicate.items():
        made = _MEETS.get(operator)
        if made is not None:
            return made(value)
    return MISSING


_MEETS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "eq": lambda v: v,
    "in": lambda v: v[0] if v else MISSING,
    "contains_any": lambda v: v[0] if isinstance(v, list | tuple) and v else v,
    "contains_all": lambda v: " ".join(map(str, v)) if isinstance(v, list | tuple) else v,
    "ge": lambda v: v,
    "le": lambda v: v,
    "gt": lambda v: v + 1 if isinstance(v, int | float) else MISSING,
    "lt": lambda v: v - 1 if isinstance(v, int | float) else MISSING,
    "between": lambda v: v[0],
    "close": lambda v: v["target"] if isinstance(v, Mapping) else v,
}


def breaking(limit: Mapping[str, Any]) -> Iterator[Any]:
    """Yield values that break a limit, the nearest first."""
    if not is_operators(limit):
        return
    for operator, value in limit.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            match operator:
                case "lt":
                    yield from (value, value + 1, round(value * 1.2, 2))
                case "le":
                    yield from (round(value + 0.01, 2), value + 1, round(value * 1.2, 2))
                case "gt":
                    yield from (value, value - 1)
                case "ge":
                    yield from (round(value - 0.01, 2), value - 1)
                case "eq":
                    yield from (value + 1, value - 1)
                case "ne":
                    yield value
        elif operator == "between" and isinstance(value, list | tuple):
            yield from (value[1] + 1, value[0] - 1) if isinstance(value[0], int | float) else ()
        elif operator in ("not_in", "ne"):
            yield from value if isinstance(value, list | tuple) else (value,)
        elif operator == "in" and isinstance(value, list | tuple) and value:
            first = value[0]
            turned = swapped_digits(first) if isinstance(first, str) else None
            yield (
                turned
                if turned is not None
                else f"{first}x"
                if isinstance(first, str)
                else first + 1
            )
        elif operator == "eq" and isinstance(value, str):
            yield f"{value}x"
