"""The log of a recall: its lines as the days go by, and how registers and letters are read."""

from collections.abc import Sequence
from typing import Any, Final

from tasks_app.core.generation.families.batch_recall import words
from tasks_app.core.generation.families.batch_recall.facts import MIXED, WRONG, RecallFacts
from tasks_app.core.generation.families.batch_recall.rules import RULES
from tasks_app.core.generation.forms import Json, fn, match, ref, step
from tasks_app.core.generation.paper import Kind, Office
from tasks_app.core.generation.talk import sentence
from tasks_app.core.generation.week import WeekPaper

UPDATE: Final = "tables_update_row"
WRITE: Final = "sheets_write_range"
SHEET: Final = "Recall log"


class Log:
    """What a draft is written with, and what its log holds."""

    def __init__(self, kind: Kind, facts: RecallFacts):
        self.facts = facts
        office = Office(
            facts.house, facts.trade, facts.lead, facts.lead_role, facts.own_role, facts.mailbox
        )
        self.paper = WeekPaper(kind, facts.cast, facts.clock, office)
        self.sheet_id = f"SH-{facts.rng.randrange(20, 60)}"
        self.log: dict[str, list[Any]] = {}
        """Pallet → its line of the log, as the days go by."""
        self.other: list[Json] = []
        """Another solution."""

    def table(self, name: str) -> Any:
        """Return the id of a register by its name."""
        return ref("registers", "tables", where={"name": name}, field="id")

    def sheet(self) -> Any:
        """Return the id of the log."""
        return ref("sheets", "sheets", where={"title": SHEET}, field="id")

    def batches(self, letter: str) -> Any:
        """What a letter says of the batch: a predicate on the batch of a pallet."""
        body = ref(letter, "body")
        if self.facts.subtype == WRONG and letter == "complaint":
            where = {
                "line": fn("regex", body, r"(line \d)"),
                "packed_on": fn("regex", body, r"(\d{4}-\d\d-\d\d)"),
                "product": self.facts.product,
            }
            return ref("batches", "rows", where=where, field="id")
        named = fn("regex", body, r"(L\d{4})")
        return {"regex": named} if self.facts.subtype == MIXED else named

    def hit(self, letter: str = "complaint", **select: Any) -> Any:
        """Choose the pallets that a letter calls back."""
        where = {"batch": self.batches(letter), "status": "shipped"}
        return ref("pallets", "rows", where=where, take="all", **select)

    def ship(self, day: int, field: str) -> Any:
        """A field of the shipment of an item, as the shipments were read on a day."""
        return ref(f"ships{day}", "rows", where={"id": ref("item", "shipment")}, field=field)

    def log_check(self) -> None:
        """Check the whole log as things stand."""
        today = self.paper.today
        names = ("shipment", "pallet", "customer", "units", "state")
        self.paper.check(
            2,
            {
                "id": f"o_{today}_log",
                "component": "outcome",
                "kind": "table_rows",
                "explain": f"{today}: the log is as things stand, and has no other line",
                "requires": [],
                "sheet": self.sheet_id,
                "key": "pallet",
                "exact": True,
                "rows": [dict(zip(names, line, strict=True)) for line in self.log.values()],
                "because": dict.fromkeys(("customer", "units", "state"), RULES),
            },
        )

    def row_of(self, name: str, shipment: Any) -> Any:
        """Return the number of a shipment's line."""
        return fn("row_of", ref(name, "values"), shipment)

    def cells(self, pallet: Json, column: str, values: list[Any]) -> Json:
        """Write cells of a line, in the other solution."""
        order = list(self.log)
        number = order.index(pallet["id"]) + 2
        name = f"c{self.paper.number}_{number}_{column}"
        cells = f"{column}{number}"
        return step(name, WRITE, sheet_id=self.sheet_id, cells=cells, values=[values])

    def line_check(self, pallet: Json, name: str, what: str) -> None:
        """Check one line of the log, and allow it to change today."""
        line = self.log[pallet["id"]]
        paper = self.paper
        paper.check(
            2,
            match(
                f"o_{paper.today}_{name}",
                f"{paper.today}: the line of {pallet['id']} {what}",
                "sheets/rows",
                {"sheet_id": self.sheet_id, "B": pallet["id"]},
                {"A": line[0], "C": line[2], "D": line[3], "E": line[4]},
                because={"C": RULES, "D": RULES, "E": RULES},
            ),
        )
        paper.may("sheets/rows/*#C,D,E", {"sheet_id": self.sheet_id, "B": pallet["id"]}, max=1)

    def morning(self, asks: Sequence[str]) -> None:
        """Begin the next day with a message of the lead."""
        facts = self.facts
        said = [facts.rng.choice(words.HELLOS), *map(sentence, asks), facts.lead.given]
        self.paper.morning(
            facts.mornings[len(self.paper.days)], " ".join(part for part in said if part)
        )
