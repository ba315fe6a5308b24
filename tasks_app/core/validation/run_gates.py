"""The gates that need runs, in the order in which they are looked at."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from tasks_app.core.validation.ablation import needed
from tasks_app.core.validation.attempts import Attempts
from tasks_app.core.validation.capabilities import unproven_claims
from tasks_app.core.validation.card import Finding, MutantResult, Witness
from tasks_app.core.validation.citations import disclosed, entailed
from tasks_app.core.validation.collateral import costs, inside
from tasks_app.core.validation.consistency import consistent
from tasks_app.core.validation.determinism import same_again
from tasks_app.core.validation.distractors import telling
from tasks_app.core.validation.flow import grounded
from tasks_app.core.validation.gate import finding
from tasks_app.core.validation.leaks import leaked
from tasks_app.core.validation.malformed import survives
from tasks_app.core.validation.mutants import Judged, survivors
from tasks_app.core.validation.nontrivial import does_nothing, no_shortcut
from tasks_app.core.validation.pictures import NONE, decide, pictures
from tasks_app.core.validation.purity import pure
from tasks_app.core.validation.solvability import (
    other_orders,
    other_solutions,
    solves,
    within_budget,
)
from tasks_app.core.validation.states import overlooked
from tasks_app.core.validation.suggestions import with_suggestions
from tasks_app.core.validation.variation import solves_again, stable
from tasks_app.core.validation.violations import biting
from tasks_app.core.validation.work import enough

Needs = Literal["world", "reference", "solution"]
"""What there must be before a gate is looked at: records that make a world, a reference program,
one that solves the task.
"""


class RunGate(NamedTuple):
    """A gate that looks at runs of the task."""

    id: str
    title: str
    needs: Needs
    look: Callable[[Attempts], Iterable[Finding]]
    reason: Callable[[Attempts], str] = lambda _tried: ""
    """What it counted, asked after it looked."""
    beside_the_point: Callable[[Attempts], str] = lambda _tried: ""
    """Why this task has nothing for it to look at; empty where it has."""


def _solves(tried: Attempts) -> Iterable[Finding]:
    if not tried.trial.spec.reference:
        return [
            finding(
                "O1",
                "/reference",
                "there is no reference solution, so nothing shows that the task can be solved",
                hint="play the task and take your calls as the reference",
            )
        ]
    return with_suggestions(tried.trial, solves(tried.trial))


def _earned(tried: Attempts) -> str:
    return f"earns {tried.trial.reference.reward:g}" if tried.trial.spec.reference else ""


def _costs(tried: Attempts) -> Iterable[Finding]:
    strays, damaged = tried.strays, tried.damaged
    return [*inside(tried.trial), *costs(tried.trial, strays, damaged)]


def _lose(tried: Attempts) -> Iterable[Finding]:
    found = survivors(tried.trial, tried.mutants)
    return with_suggestions(tried.trial, found, tried.mutants)


def _best(tried: Attempts) -> str:
    name, play = max(tried.cheap, key=lambda pair: pair[1].reward)
    return f"best {name} {play.reward:g}"


def _biting(tried: Attempts) -> str:
    proofs = tried.violations
    return f"{sum(proof.bites for proof in proofs)} of {len(proofs)} bite"


def _verdicts(judged: Sequence[Judged]) -> str:
    verdicts: list[str] = [result.verdict for _, result in judged]
    kinds = ("killed", "equivalent", "survived")
    return ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds)


def _lost(states: Sequence[MutantResult]) -> str:
    return f"{sum(state.verdict == 'killed' for state in states)} of {len(states)} lose"


def _shown(claims: Sequence[Witness]) -> str:
    return f"{sum(bool(claim.held) for claim in claims)} of {len(claims)} shown"


RUN_GATES: Final = (
    RunGate(
        "O1", "the reference solves it", "world", _solves, _earned
    ),
    RunGate(
        "O2", "the budget leaves room", "reference",
        lambda tried: within_budget(tried.trial),
        lambda tried: f"{len(tried.trial.acts)} acts",
    ),
    RunGate(
        "N1", "doing nothing earns nothing", "world",
        lambda tried: does_nothing(tried.trial),
        lambda tried: f"earns {tried.trial.null().reward:g}",
    ),
    RunGate(
        "N2", "no cheap policy comes near", "world",
        lambda tried: no_shortcut(tried.trial, tried.cheap), _best,
    ),
    RunGate(
        "K2", "constraints go together", "reference", lambda tried: consistent(tried.trial)
    ),
    RunGate("G1", "grading sees the task alone", "world", lambda tried: pure(tried.trial.spec)),
    RunGate(
        "O3", "what is written can be known", "solution", lambda tried: grounded(tried.trial)
    ),
    RunGate(
        "O4", "another order works too", "solution",
        lambda tried: with_suggestions(tried.trial, other_orders(tried.trial)),
    ),
    RunGate(
        "O5", "other right solutions pass", "solution",
        lambda tried: other_solutions(tried.trial),
        lambda tried: f"{len(tried.trial.spec.alternatives)} written",
    ),
    RunGate(
        "K1", "every constraint bites", "solution",
        lambda tried: biting(tried.trial, tried.violations), _biting,
    ),
    RunGate(
        "X1", "collateral damage costs", "solution", _costs,
        lambda tried: f"{len(tried.strays)} strays tried",
    ),
    RunGate(
        "M1", "wrong solutions lose", "solution", _lose, lambda tried: _verdicts(tried.mutants)
    ),
    RunGate("N3", "there is work to do", "solution", lambda tried: enough(tried.trial)),
    RunGate(
        "I1", "pictures decide", "solution", lambda tried: decide(tried.trial),
        beside_the_point=lambda tried: "" if pictures(tried.trial.spec) else NONE,
    ),
    RunGate("N4", "nothing is given away", "solution", lambda tried: leaked(tried.trial)),
    RunGate("N5", "every criterion decides", "solution", lambda tried: telling(tried.trial)),
    RunGate(
        "N6", "all that is used is needed", "solution",
        lambda tried: needed(tried.trial, tried.mutants),
    ),
    RunGate(
        "M3", "malformed rollouts are bounded", "solution", lambda tried: survives(tried.trial)
    ),
    RunGate(
        "X2", "no field is unstable", "solution",
        lambda tried: stable(tried.trial, tried.varied),
    ),
    RunGate(
        "D2", "another seed is solved too", "solution",
        lambda tried: solves_again(tried.trial, tried.varied),
    ),
    RunGate(
        "K3", "what is graded is said", "solution",
        lambda tried: itertools.chain(disclosed(tried.trial.spec), entailed(tried.trial)),
    ),
    RunGate(
        "M2", "altered results lose", "solution",
        lambda tried: overlooked(tried.trial, tried.states), lambda tried: _lost(tried.states),
    ),
    RunGate(
        "D1", "the same again, every time", "solution", lambda tried: same_again(tried.trial)
    ),
    RunGate(
        "V3", "what it claims is shown", "solution",
        lambda tried: unproven_claims(tried.trial, tried.witnesses),
        lambda tried: _shown(tried.witnesses),
    ),
)  # fmt: skip
