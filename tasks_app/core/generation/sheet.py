"""The sheet on which a family writes one draft: it gathers the parts of a spec and puts them
together, so that families hold their situation and their rules alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tasks_app.core.calls import ErrorCode
from tasks_app.core.generation.cast import MANNERS, Cast, Clock, Firm, Person
from tasks_app.core.generation.forms import Json, collateral, filled, step, weighted
from tasks_app.core.services.catalog import tools as all_tools

GATE: Final = "gate"
FAULT_CODES: Final[Sequence[ErrorCode]] = ("rate_limited", "unavailable", "timeout")


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
class Sheet:
    """The parts of one spec, filled in the order in which one works."""

    family: str
    subtype: str
    level: int
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
    claimed: set[str] = field(default_factory=lambda: {"C7", "C8", "C9", "C19"})
    people: list[Json] = field(default_factory=list)
    _titles: dict[str, str] = field(default_factory=dict)
    _sentences: dict[str, list[str]] = field(default_factory=dict)

    # --- rules -----------------------------------------------------------------------------------

    def document(self, policy: str, title: str) -> None:
        """Begin a document of rules; it is shown if something is said in it."""
        self._titles[policy] = title

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
        severity: Any = GATE,
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

    def looked(self, explain: str, *, first: Sequence[Json], then: str) -> None:
        """Check that something was looked at before an act."""
        self.check(
            1,
            {
                "id": "p_looked",
                "component": "process",
                "kind": "call_order",
                "explain": explain,
                "requires": [self.anchor],
                "order": [list(first), {"tool": then}],
            },
        )

    def answers(
        self,
        explain: str,
        groups: Sequence[Sequence[Any]],
        reply: str,
        values: Mapping[str, Any],
        *,
        forbidden: Sequence[Any] = (),
        because: Mapping[str, str] | None = None,
    ) -> None:
        """End with a reply that states what the groups ask for."""
        self.steps.append({"reply": filled(reply, **values) if values else reply})
        self.check(
            2,
            {
                "id": "r_reply",
                "component": "report",
                "kind": "answer",
                "explain": explain,
                "requires": [self.anchor],
                "text": [list(group) for group in groups],
                "forbidden": list(forbidden),
                **({"because": dict(because)} if because else {}),
            },
        )

    def fails_once(self, tool: str, policy: str, sentence: str) -> None:
        """Let the first call of a tool fail, and say what an error means."""
        rng = self.cast.rng
        self.faults.append(
            {
                "tool": tool,
                "calls": [1],
                "code": rng.choice(FAULT_CODES),
                "retry_after": rng.choice((5, 10, 20, 30)),
                "moment": "before",
            }
        )
        self.say(policy, sentence)
        self.claimed.add("C10")

    # --- put together ----------------------------------------------------------------------------

    def written(
        self,
        *,
        slug: Sequence[str],
        title: str,
        tags: Sequence[str],
        request: str,
        contract: str,
        distractors: int,
        parameters: Mapping[str, Any],
        language: str = "en",
        user: Json | None = None,
        calls: int = 45,
    ) -> Json:
        """Return the spec."""
        self.check(1, collateral(self.anchor))
        office, rng = self.office, self.cast.rng
        requester = {
            "name": office.lead.name,
            "role": office.lead_role,
            "mailbox": office.lead.email,
            "manner": rng.choice(MANNERS),
        }
        body: Json = {
            "format": "coworker-task/1",
            "slug": "-".join(slug).replace("_", "-").lower(),
            "title": title,
            "language": language,
            "tags": list(tags),
            "track": "claw_eval",
            "family": self.family,
            "subtype": self.subtype,
            "difficulty": {"level": self.level, "features": self._features(distractors, user)},
            "capabilities": [{"id": c} for c in sorted(self.claimed, key=lambda c: int(c[1:]))],
            "clock": {"start": self.clock.now, "zone": self.clock.zone.name},
            "seed": rng.randrange(1, 1_000_000),
            "workplace": {
                "organisation": f"{office.house.name}, {office.kind}",
                "coworker": {"role": office.own_role, "mailbox": office.mailbox},
                "requester": requester,
                "people": [{k: requester[k] for k in ("name", "role", "mailbox")}, *self.people],
                "policies": [
                    {"id": policy, "title": self._titles[policy], "text": " ".join(said)}
                    for policy, said in self._sentences.items()
                ],
                "output_contract": contract,
            },
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
            "provenance": {
                "origin": "built-in family",
                "family_parameters": {"level": self.level, **parameters},
            },
        }
        return body if user is None else {**body, "user": user}

    def _features(self, distractors: int, user: Json | None) -> Json:
        acts = [s["tool"] for s in self.steps if "tool" in s]
        known = all_tools()
        writing = [known[tool].facts.writes for tool in acts]
        return {
            "reads_before_first_write": writing.index(True),
            "services": len({known[tool].facts.service for tool in acts}),
            "writes": sum(writing),
            "distractors": distractors,
            "faults": len(self.faults),
            "stages": 1,
            "hidden_facts": len(user["facts"]) if user is not None else 0,
        }


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
