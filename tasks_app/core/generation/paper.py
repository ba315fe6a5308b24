"""The paper on which a draft is written: the parts of a spec, gathered one by one and put together.

A family says what is done, what is checked and what the rules are; the paper keeps a rule and its
constraint together, counts what sets the difficulty, and writes the spec.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tasks_app.core.generation.cast import MANNERS, Cast, Clock, Person
from tasks_app.core.generation.forms import Json, collateral, weighted
from tasks_app.core.services.catalog import tools

Severity = str | float
"""`gate`, or what breaking the rule takes away."""

DELAYS: Final = (5, 10, 20, 30)
TRANSIENT: Final = ("rate_limited", "unavailable", "timeout")


class Kind(NamedTuple):
    """Which cell of which family is drafted."""

    family: str
    track: str
    subtype: str
    level: int


@dataclass(frozen=True, slots=True)
class Desk:
    """Who asks whom, and where."""

    organisation: str
    coworker_role: str
    mailbox: str
    requester: Person
    requester_role: str
    others: tuple[tuple[Person, str], ...] = ()
    """Colleagues who are named to the coworker, with their roles."""

    def written(self, manner: str) -> Json:
        """Return the people of a spec's workplace."""
        asks = _card(self.requester, self.requester_role)
        return {
            "organisation": self.organisation,
            "coworker": {"role": self.coworker_role, "mailbox": self.mailbox},
            "requester": {**asks, "manner": manner},
            "people": [asks, *(_card(person, role) for person, role in self.others)],
        }


def _card(person: Person, role: str) -> Json:
    return {"name": person.name, "role": role, "mailbox": person.email}


@dataclass
class Paper:
    """One draft being written."""

    kind: Kind
    cast: Cast
    clock: Clock
    steps: list[Json] = field(default_factory=list)
    checks: list[tuple[float, Json]] = field(default_factory=list)
    constraints: list[Json] = field(default_factory=list)
    write_set: list[Any] = field(default_factory=list)
    free: list[Json] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)
    alternatives: list[list[Json]] = field(default_factory=list)
    policies: dict[str, Json] = field(default_factory=dict)
    parameters: Json = field(default_factory=dict)
    """What the draw came to, for the provenance."""
    contract: str = ""

    # --- rules -----------------------------------------------------------------------------------

    def policy(self, policy_id: str, title: str, *sentences: str) -> None:
        """Open a document of rules, in the order of opening."""
        self.policies[policy_id] = {"id": policy_id, "title": title, "text": list(sentences)}

    def rule(self, policy_id: str, *sentences: str) -> None:
        """Add sentences to a document."""
        self.policies[policy_id]["text"] += sentences

    def red_line(
        self, policy_id: str, sentence: str, severity: Severity, kind: str, name: str, **keys: Any
    ) -> None:
        """Add a sentence that is graded: a constraint of that kind."""
        self.rule(policy_id, sentence)
        self.constraints.append(
            {
                "id": name,
                "kind": kind,
                "policy": policy_id,
                "sentence": sentence,
                "severity": severity if isinstance(severity, str) else {"deduct": severity},
                **keys,
            }
        )

    def fault(self, tool: str, call: int = 1) -> None:
        """Let a call of a tool fail once before it did anything."""
        self.faults.append(
            {
                "tool": tool,
                "calls": [call],
                "code": self.cast.rng.choice(TRANSIENT),
                "retry_after": self.cast.rng.choice(DELAYS),
                "moment": "before",
            }
        )

    # --- checks ----------------------------------------------------------------------------------

    @property
    def anchor(self) -> str:
        """The check that all others rest on: the first one."""
        name: str = self.checks[0][1]["id"]
        return name

    def report(
        self,
        weight: float,
        explain: str,
        groups: Sequence[Any],
        *,
        forbidden: Sequence[Any] = (),
        requires: str = "",
    ) -> None:
        """Check the final reply."""
        self.checks.append(
            (
                weight,
                {
                    "id": "r_reply",
                    "component": "report",
                    "kind": "answer",
                    "explain": explain,
                    "requires": [requires or self.anchor],
                    "text": list(groups),
                    "forbidden": list(forbidden),
                },
            )
        )

    def told(
        self,
        weight: float,
        name: str,
        explain: str,
        mailbox: str,
        groups: Sequence[Any],
        *,
        forbidden: Sequence[Any] = (),
        where: Mapping[str, Any] | None = None,
        to: Sequence[str] = (),
        requires: str = "",
    ) -> None:
        """Check what a message says."""
        self.checks.append(
            (
                weight,
                {
                    "id": name,
                    "component": "report",
                    "kind": "message_match",
                    "explain": explain,
                    "requires": [requires or self.anchor],
                    "mailbox": mailbox,
                    "to": list(to),
                    "where": dict(where or {}),
                    "text": list(groups),
                    "forbidden": list(forbidden),
                    "min": 1,
                },
            )
        )

    def looked(self, weight: float, explain: str, *order: Any) -> None:
        """Check that some calls came in an order."""
        self.checks.append(
            (
                weight,
                {
                    "id": "p_looked",
                    "component": "process",
                    "kind": "call_order",
                    "explain": explain,
                    "requires": [self.anchor],
                    "order": list(order),
                },
            )
        )

    # --- the whole -------------------------------------------------------------------------------

    def spec(
        self,
        *,
        slug: Sequence[str],
        title: str,
        tags: Sequence[str],
        desk: Desk,
        request: str,
        services: Json,
        offered: Sequence[str],
        claims: Sequence[str],
        distractors: int,
        calls: int = 40,
    ) -> Json:
        """Return the spec, with the collateral check added last."""
        self.checks.append((1, collateral(self.anchor)))
        used = [step["tool"] for step in self.steps if "tool" in step]
        writing = [tools()[name].facts.writes for name in used]
        workplace = desk.written(self.cast.rng.choice(MANNERS))
        return {
            "format": "coworker-task/1",
            "slug": "-".join(slug).lower().replace("_", "-").replace(" ", "-"),
            "title": title,
            "language": "en",
            "tags": list(tags),
            "track": self.kind.track,
            "family": self.kind.family,
            "subtype": self.kind.subtype,
            "difficulty": {
                "level": self.kind.level,
                "features": {
                    "reads_before_first_write": writing.index(True),
                    "services": len({name.split("_")[0] for name in used}),
                    "writes": sum(writing),
                    "distractors": distractors,
                    "faults": len(self.faults),
                    "stages": 1,
                    "hidden_facts": 0,
                },
            },
            "capabilities": [{"id": c} for c in sorted(claims, key=lambda c: int(c[1:]))],
            "clock": {"start": self.clock.now, "zone": self.clock.zone.name},
            "seed": self.cast.rng.randrange(1, 1_000_000),
            "workplace": {
                **workplace,
                "policies": [
                    {**document, "text": " ".join(document["text"])}
                    for document in self.policies.values()
                ],
                "output_contract": self.contract,
            },
            "request": {"text": request},
            "services": services,
            "tools": list(offered),
            "faults": self.faults,
            "constraints": self.constraints,
            "checks": weighted(self.checks),
            "write_set": self.write_set,
            "free": self.free,
            "limits": {"turns": calls, "tool_calls": calls, "seconds": 600},
            "reference": self.steps,
            "alternatives": self.alternatives,
            "provenance": {
                "origin": "built-in family",
                "family_parameters": {**self.parameters, "level": self.kind.level},
            },
        }


def listed(parts: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def sentence(text: str) -> str:
    """A text with a capital letter and a mark at its end."""
    text = f"{text[0].upper()}{text[1:]}" if text else text
    return text if text.endswith((".", "?", "!")) else f"{text}."
