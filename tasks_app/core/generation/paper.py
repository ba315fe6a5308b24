"""The paper on which a family writes one draft: the parts of a spec, gathered in the order in which
one works, and put together.

A family says what is done, what is checked and what the rules are; the paper keeps a rule and its
constraint together, counts what sets the difficulty, and writes the spec.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import ErrorCode
from tasks_app.core.generation.cast import MANNERS, Cast, Clock, Firm, Person
from tasks_app.core.generation.forms import Json, collateral, filled, step, weighted
from tasks_app.core.services.catalog import tools as all_tools

Severity = str | float
"""`gate`, or what breaking the rule takes away."""

GATE: Final = "gate"
FAULT_CODES: Final[Sequence[ErrorCode]] = ("rate_limited", "unavailable", "timeout")
DELAYS: Final = (5, 10, 20, 30)


class Kind(NamedTuple):
    """Which cell of which family is drafted."""

    family: str
    track: str
    subtype: str
    level: int


@dataclass(frozen=True, slots=True)
class Office:
    """Where it plays: the house, who asks, and as whom the coworker works."""

    house: Firm
    kind: str
    """What the house does, in a few words."""
    lead: Person
    lead_role: str
    own_role: str
    mailbox: str


@dataclass
class Paper:
    """The parts of one spec."""

    kind: Kind
    cast: Cast
    clock: Clock
    office: Office
    steps: list[Json] = field(default_factory=list)
    checks: list[tuple[float, Json]] = field(default_factory=list)
    constraints: list[Json] = field(default_factory=list)
    write_set: list[Any] = field(default_factory=list)
    free: list[Json] = field(default_factory=list)
    faults: list[Json] = field(default_factory=list)
    services: Json = field(default_factory=dict)
    tools: list[str] = field(default_factory=list)
    alternatives: list[list[Json]] = field(default_factory=list)
    claimed: set[str] = field(default_factory=lambda: {"C7", "C8", "C9", "C19"})
    people: list[Json] = field(default_factory=list)
    """Colleagues and rooms that are named to the coworker, beside the one who asks."""
    contract: str = ""
    """What the reply has to hold, as the coworker is told it."""
    _titles: dict[str, str] = field(default_factory=dict)
    _sentences: dict[str, list[str]] = field(default_factory=dict)

    # --- rules -----------------------------------------------------------------------------------

    def document(self, policy: str, title: str, *sentences: str) -> None:
        """Begin a document of rules; it is shown from the first thing on that is said in it."""
        self._titles[policy] = title
        if sentences:
            self.say(policy, *sentences)

    def say(self, policy: str, *sentences: str) -> None:
        """Add sentences to a document, each once."""
        said = self._sentences.setdefault(policy, [])
        said += [sentence for sentence in sentences if sentence not in said]

    def bind(
        self,
        constraint: str,
        kind: str,
        policy: str,
        sentence: str,
        severity: Severity = GATE,
        **keys: Any,
    ) -> None:
        """Say a rule and grade it."""
        self.say(policy, sentence)
        self.constraints.append(
            {
                "id": constraint,
                "kind": kind,
                "policy": policy,
                "sentence": sentence,
                "severity": severity if severity == GATE else {"deduct": severity},
                **keys,
            }
        )

    def fails_once(self, tool: str, policy: str, sentence: str) -> None:
        """Let the first call of a tool fail before it did anything, and say what an error means."""
        rng = self.cast.rng
        self.faults.append(
            {
                "tool": tool,
                "calls": [1],
                "code": rng.choice(FAULT_CODES),
                "retry_after": rng.choice(DELAYS),
                "moment": "before",
            }
        )
        self.say(policy, sentence)
        self.claimed.add("C10")

    # --- the way and the end ---------------------------------------------------------------------

    def do(self, step_id: str, tool: str, each: Any = None, **arguments: Any) -> None:
        """Add a step to the reference."""
        self.steps.append(step(step_id, tool, each, **arguments))

    def check(self, weight: float, body: Json) -> None:
        """Add a check; its weight counts among those of its component."""
        self.checks.append((weight, body))

    @property
    def anchor(self) -> str:
        """The check that all others lean on: the first."""
        return str(self.checks[0][1]["id"])

    def looked(self, explain: str, *order: Any) -> None:
        """Check that something was looked at before an act: calls that came in an order."""
        self.check(
            1,
            {
                "id": "p_looked",
                "component": "process",
                "kind": "call_order",
                "explain": explain,
                "requires": [self.anchor],
                "order": list(order),
            },
        )

    def told(
        self,
        weight: float,
        name: str,
        explain: str,
        mailbox: str,
        groups: Sequence[Any],
        *,
        where: Mapping[str, Any],
    ) -> None:
        """Check what a message says."""
        self.check(
            weight,
            {
                "id": name,
                "component": "report",
                "kind": "message_match",
                "explain": explain,
                "requires": [self.anchor],
                "mailbox": mailbox,
                "where": dict(where),
                "text": list(groups),
                "min": 1,
            },
        )

    def answers(
        self,
        explain: str,
        groups: Sequence[Sequence[Any]],
        reply: str,
        values: Mapping[str, Any],
        *,
        weight: float = 2,
        forbidden: Sequence[Any] = (),
        requires: str = "",
    ) -> None:
        """End with a reply that states what the groups ask for."""
        self.steps.append({"reply": filled(reply, **values)})
        self.check(
            weight,
            {
                "id": "r_reply",
                "component": "report",
                "kind": "answer",
                "explain": explain,
                "requires": [requires or self.anchor],
                "text": [list(group) for group in groups],
                "forbidden": list(forbidden),
            },
        )

    # --- put together ----------------------------------------------------------------------------

    def spec(
        self,
        *,
        slug: Sequence[str],
        title: str,
        tags: Sequence[str],
        request: str,
        distractors: int,
        parameters: Mapping[str, Any],
        user: Json | None = None,
        calls: int = 40,
    ) -> Json:
        """Return the spec, with the collateral check added last.

        Args:
            slug: Parts of its address.
            title: What a researcher reads first.
            tags: Words to filter by.
            request: What the coworker is asked.
            distractors: How many records lie there beside the right ones.
            parameters: What the draw came to, for the provenance.
            user: Somebody who answers questions.
            calls: The most turns and calls.
        """
        self.check(1, collateral(self.anchor))
        office, rng = self.office, self.cast.rng
        asks = {"name": office.lead.name, "role": office.lead_role, "mailbox": office.lead.email}
        body: Json = {
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
                "features": features(
                    self.steps,
                    distractors=distractors,
                    faults=len(self.faults),
                    hidden_facts=len(user["facts"]) if user is not None else 0,
                ),
            },
            "capabilities": [{"id": c} for c in sorted(self.claimed, key=lambda c: int(c[1:]))],
            "clock": {"start": self.clock.now, "zone": self.clock.zone.name},
            "workplace": {
                "organisation": f"{office.house.name}, {office.kind}",
                "coworker": {"role": office.own_role, "mailbox": office.mailbox},
                "requester": {**asks, "manner": rng.choice(MANNERS)},
                "people": [asks, *self.people],
                "policies": [
                    {"id": policy, "title": self._titles[policy], "text": " ".join(said)}
                    for policy, said in self._sentences.items()
                ],
                "output_contract": self.contract,
            },
            "seed": rng.randrange(1, 1_000_000),
            "request": {"text": request},
            "services": self.services,
            "tools": self.tools,
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
                "family_parameters": {"level": self.kind.level, **parameters},
            },
        }
        return body if user is None else {**body, "user": user}


def features(
    steps: Sequence[Json], *, distractors: int, faults: int, hidden_facts: int
) -> dict[str, int]:
    """Count what makes a task hard; what writes is what the tools say of themselves."""
    used = [all_tools()[s["tool"]].facts for s in steps if "tool" in s]
    writing = [facts.writes for facts in used]
    return {
        "reads_before_first_write": writing.index(True),
        "services": len({facts.service for facts in used}),
        "writes": sum(writing),
        "distractors": distractors,
        "faults": faults,
        "stages": 1,
        "hidden_facts": hidden_facts,
    }
