"""A support_resolution draft while it is written: facts, and what its parts add to one another."""

from typing import Any

from tasks_app.core.generation.families.support_resolution.facts import SupportFacts
from tasks_app.core.generation.forms import Json, ref


class Case(SupportFacts):
    """One draft being written: the parts of the spec, as each follows from the facts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.steps: list[Json] = []
        self.checks: list[tuple[float, Json]] = []
        self.constraints: list[Json] = []
        self.write_set: list[Any] = []
        self.damage_rules: list[str] = []
        self.letter_rules: list[str] = []
        self.has_article: Json = {"lines.*.name": {"contains_any": [self.ware.name]}}
        self.order: Json = ref("opened", where=self.has_article, field="id")
        """The id of the right order, as the reference finds it."""
        self.deciding_tool = ""
        """The write that settles the matter."""
        self.outcome_id: Json = {}
        """The id of the record that this write makes, as a check finds it."""
        self.resolution = ""
        """What the ticket is closed as; empty where it stays open."""
        self.told: list[list[Any]] = []
        """What letter and reply have to name."""
        self.say: tuple[str, Json] = ("", {})
        """How the outcome is told, and the values of its places."""
        self.contract_parts: list[str] = []
        self.contract = ""

    def line_field(self, name: str) -> Json:
        """Bind a field of the line that the matter is about."""
        return ref("opened", "*.lines.*", where={"name": self.ware.name}, field=name)

    def once(self, tool: str, sentence: str) -> None:
        """Say and hold that an order gets this once."""
        self.damage_rules.append(sentence)
        self.constraints.append(
            {
                "id": "k_once",
                "kind": "at_most",
                "policy": "settling",
                "sentence": sentence,
                "severity": "gate",
                "tool": tool,
                "per": "order_id",
                "n": 1,
            }
        )

    def never_another(self, sentence: str) -> None:
        """Say and hold that no other article is sent."""
        self.damage_rules.append(sentence)
        self.constraints.append(
            {
                "id": "k_article",
                "kind": "argument_policy",
                "policy": "settling",
                "sentence": sentence,
                "severity": "gate",
                "tool": "orders_reship_line",
                "argument": "sku",
                "allow": [self.ware.sku],
            }
        )
