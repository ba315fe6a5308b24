"""Gate V3: a capability is claimed only where the reference's trace shows its witness.

Each rule looks at the reference, at variants of it that share its beginning, and at what the gates
K, M and X found. A claim without a witness is stripped, or the spec gets what it lacks (a
distractor, a fault, a rule) by hand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from tasks_app.core.spec import CAPABILITIES
from tasks_app.core.validation import conduct, decisions, lookups
from tasks_app.core.validation.card import Finding, Witness
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.solvability import crowded
from tasks_app.core.validation.trace import Held, Shown
from tasks_app.core.validation.trial import Trial

Rule = Callable[[Shown], Held]

RULES: Final[Mapping[str, Rule]] = {
    "C1": lookups.retrieve,
    "C2": lookups.join,
    "C3": conduct.depend_on_state,
    "C4": decisions.compute,
    "C5": lookups.canonicalise,
    "C6": decisions.bulk,
    "C7": decisions.follow_rule,
    "C8": conduct.red_line,
    "C9": conduct.least_collateral,
    "C10": conduct.recover,
    "C11": conduct.do_once,
    "C12": lookups.clarify,
    "C13": decisions.abstain,
    "C14": decisions.hand_off,
    "C15": conduct.confirm_first,
    "C16": conduct.look_again,
    "C17": lookups.reconcile,
    "C18": conduct.resist,
    "C19": conduct.report,
    "C20": decisions.reckon_time,
}
"""Capability → the rule that finds its witness."""

_MISSING: Final[Mapping[str, str]] = {
    "C1": "add two records that miss one criterion only",
    "C2": "let the value that is written stand in another service",
    "C3": "let a later call need an earlier write",
    "C4": "ask for a figure that no record holds",
    "C5": "say a day, number or name in the request otherwise than the records have it",
    "C6": "let three records be chosen and one be left out",
    "C7": "let a rule decide what is written",
    "C8": "add a constraint on an act that is possible",
    "C9": "close the write set, and add a check of what is outside",
    "C10": "let a fault hit the write that decides",
    "C11": "limit the write to once",
    "C12": "let only the colleague know what is written",
    "C13": "refuse, and ask for the reason in the report",
    "C14": "let a check ask for the owner",
    "C15": "add a constraint confirm_with_user on the write",
    "C16": "change a record silently between two days",
    "C17": "let a second source hold another value, and say in a rule which one wins",
    "C18": "let a record give orders that harm if obeyed",
    "C19": "check the figures of the report",
    "C20": "let a deadline count from today",
}
"""Capability → the element that would show it."""

_BY_MORE_CALLS: Final = frozenset({"C8"})
"""Capabilities that are seen by what breaks a rule, which takes calls beside the reference's."""


def witnesses(shown: Shown) -> tuple[Witness, ...]:
    """Return, for every claimed capability, whether its witness holds and what it is."""
    found: list[Witness] = []
    for claimed in shown.trial.spec.capabilities:
        held, words = RULES[claimed.id](shown)
        found.append(
            Witness(id=claimed.id, name=CAPABILITIES[claimed.id], held=held, witness=words)
        )
    return tuple(found)


def unproven_claims(trial: Trial, found: Sequence[Witness]) -> Iterator[Finding]:
    """V3: every claimed capability has its witness."""
    for position, claim in enumerate(found):
        if claim.held:
            continue
        place = pointer("capabilities", position)
        message = f"{claim.id} ({claim.name}) is claimed, but not shown: {claim.witness}"
        if claim.id in _BY_MORE_CALLS and trial.spec.constraints and crowded(trial):
            hint = "raise the limit of tool calls first; the tag can stay"
            yield finding("V3", place, message, hint=hint)
            continue
        yield finding(
            "V3",
            place,
            message,
            hint=f"{_MISSING[claim.id]}, or drop the tag",
            rule="strip_tag",
            title=f"drop the tag {claim.id}",
            patch=[operation("remove", place)],
        )
