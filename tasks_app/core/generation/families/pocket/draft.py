"""A pocket spec while it is written, and what all pocket families share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.generation.cast import Cast, Clock
from tasks_app.core.generation.families.pocket import words
from tasks_app.core.generation.forms import (
    Json,
    collateral,
    reply,
    weighted,
)
from tasks_app.core.generation.talk import capital

TRACK: Final = "pocket"
HELD_OUT: Final = "held_out_names"
HELD_SHARE: Final = 0.25


@dataclass
class Draft:
    """The parts of a pocket spec while it is written."""

    family: str
    subtype: str
    cast: Cast

    def __post_init__(self) -> None:
        rng = self.cast.rng
        self.rng = rng
        self.clock: Clock = self.cast.clock()
        self.held_out = rng.random() < HELD_SHARE
        self.people = _pool(words.PEOPLE, words.HELD_PEOPLE, held_out=self.held_out)
        self.suppliers = _pool(words.SUPPLIERS, words.HELD_SUPPLIERS, held_out=self.held_out)
        self.services: Json = {}
        self.tools: list[str] = []
        self.steps: list[Json] = []
        self.checks: list[tuple[float, Json]] = []
        self.constraints: list[Json] = []
        self.write_set: list[Any] = []
        self.capabilities: list[str] = ["C1", "C7", "C8", "C9", "C19"]

    def rule(self, *sentences: str) -> None:
        """Set the policy."""
        self.policy = " ".join(sentences)

    def forbid(self, sentence: str, *tools: str) -> None:
        """A tool that this case must not use."""
        self.constraints.append(
            {
                "id": "k_never",
                "kind": "forbid_tool",
                "policy": "rule",
                "sentence": sentence,
                "severity": "gate",
                "tool": list(tools) if len(tools) > 1 else tools[0],
            }
        )

    def once(self, sentence: str, tool: str) -> None:
        """A tool that may be used once."""
        self.constraints.append(
            {
                "id": "k_once",
                "kind": "at_most",
                "policy": "rule",
                "sentence": sentence,
                "severity": {"deduct": 0.3},
                "tool": tool,
                "n": 1,
            }
        )

    def answer(self, template: str, groups: Sequence[Sequence[Any]], **values: Any) -> None:
        """The reply and its check."""
        self.steps.append(reply(template, **values))
        anchor = self.checks[0][1]["id"]
        self.checks += [
            (
                1,
                {
                    "id": "r_reply",
                    "component": "report",
                    "kind": "answer",
                    "explain": "The reply states the values",
                    "requires": [anchor],
                    "text": [list(group) for group in groups],
                },
            ),
            (1, collateral(anchor)),
        ]

    def looked(self, explain: str, *order: Json) -> None:
        """What was looked up before the write."""
        anchor = self.checks[0][1]["id"]
        self.checks.append(
            (
                1,
                {
                    "id": "p_looked",
                    "component": "process",
                    "kind": "call_order",
                    "explain": explain,
                    "requires": [anchor],
                    "order": list(order),
                },
            )
        )

    def request(self, who: str, **more: str) -> str:
        """The request in one of its wordings."""
        rng = self.rng
        opening, asking = words.REQUESTS[self.family]
        first = rng.choice(opening).format(who=who)
        greeting = rng.choice(words.GREETINGS)
        if greeting.endswith("."):
            first = capital(first)
        second = rng.choice(asking).format(**more)
        return f"{greeting} {first}: {second}. {rng.choice(words.CLOSINGS)}"

    def written(self, title: str, request: str, contract: str) -> Json:
        """Return the spec."""
        writes = sum(1 for tool in self.steps if tool.get("id") == "done")
        return {
            "format": "coworker-task/1",
            "slug": f"pocket-{self.family}-{self.subtype}-{self.rng.randrange(10**6)}".replace(
                "_", "-"
            ),
            "title": title,
            "language": "en",
            "tags": ["pocket", *([HELD_OUT] if self.held_out else [])],
            "track": TRACK,
            "family": f"pocket_{self.family}",
            "subtype": self.subtype,
            "difficulty": {
                "level": 1,
                "features": {
                    "reads_before_first_write": len(self.steps) - writes - 1,
                    "services": len(self.services),
                    "writes": writes,
                },
            },
            "capabilities": [
                {"id": c} for c in sorted(self.capabilities, key=lambda c: int(c[1:]))
            ],
            "clock": {"start": self.clock.now, "zone": self.clock.zone.name},
            "seed": self.rng.randrange(1, 1_000_000),
            "workplace": {
                "organisation": "Lantern Yard, a small shop",
                "coworker": {"role": "assistant", "mailbox": "desk@lanternyard.example"},
                "requester": {"name": "Wren Alder", "role": "shop manager"},
                "policies": [{"id": "rule", "title": "Rule", "text": self.policy}],
                "output_contract": contract,
            },
            "request": {"text": request},
            "services": self.services,
            "tools": self.tools,
            "constraints": self.constraints,
            "checks": weighted(self.checks),
            "write_set": self.write_set,
            "limits": {"turns": 10, "tool_calls": 10, "seconds": 60},
            "reference": self.steps,
            "provenance": {
                "origin": "built-in family",
                "family_parameters": {"held_out_names": self.held_out},
            },
        }


def _pool(names: Sequence[str], held: int, *, held_out: bool) -> Sequence[str]:
    return names[-held:] if held_out else names[:-held]


class PocketFamily:
    """What the four share: one level, the pocket track."""

    track = TRACK
    levels = (1,)
    capabilities = ("C1", "C7", "C8", "C9", "C19")
