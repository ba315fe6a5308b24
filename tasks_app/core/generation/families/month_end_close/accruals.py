"""accruals_and_handover: what came in the month and has no invoice yet."""

from collections.abc import Sequence
from typing import Any

from tasks_app.core.generation.families.month_end_close import words
from tasks_app.core.generation.families.month_end_close.book import (
    Entry,
    Letter,
    Move,
    prices,
    registers,
    row_number,
    table,
)
from tasks_app.core.generation.families.month_end_close.facts import CloseFacts
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.week import WeekPaper

TABLE = "Commitments"


class Accruals:
    """Commitments of suppliers: accrued while their invoice is missing."""

    table = f"table {TABLE}"
    looking: Sequence[str] = ("tables_query_rows", "tables_search_rows", "tables_get_row")

    def __init__(self, facts: CloseFacts):
        self.facts = facts
        rng, cast = facts.rng, facts.cast
        self.limit = rng.choice((250, 300, 400, 500, 600))
        self.last = facts.last.isoformat()
        self.table_id = f"TB-{rng.randrange(11, 40)}"
        trades = cast.sample(words.SUPPLIERS, 5)
        self.suppliers = {cast.firm(trade).name: goods for trade, goods in trades}
        self._notes = rng.randrange(3000, 8000)
        count = {1: 2, 2: 3, 3: 3, 4: 4, 5: 5}[facts.level]
        amounts = prices(facts, count, self.limit * 2, self.limit * 9)
        rows = [self._row(amount) for amount in amounts]
        rows += self._near_misses()
        self.rows = cast.shuffled(rows)
        number = rng.randrange(200, 800)
        for row in self.rows:
            number += rng.randrange(1, 5)
            row["id"] = f"CM-{number}"
        chosen = [row for row in self.rows if self._belongs(row)]
        self.entries = [
            Entry(row["id"], row["supplier"], row["amount"], "accrued") for row in chosen
        ]
        self.distractors = len(self.rows) - len(chosen)
        drawn = cast.shuffled(self.entries[1:])
        self.moves = [self._move(entry) for entry in drawn[:2]]
        self.letter = self._letter(drawn[-1])

    def _row(self, amount: float, **changed: Any) -> Json:
        rng, facts = self.facts.rng, self.facts
        supplier = rng.choice(list(self.suppliers))
        self._notes += rng.randrange(1, 9)
        row = {
            "id": "",
            "table_id": self.table_id,
            "supplier": supplier,
            "description": rng.choice(self.suppliers[supplier]),
            "amount": amount,
            "received_on": facts.day_of_month(rng.randrange(3, 28)),
            "delivery_note": f"DN-{self._notes}",
            "invoice_no": None,
            "kind": "opex",
        }
        return {**row, **changed}

    def _near_misses(self) -> list[Json]:
        """Two commitments for each criterion that fail it alone."""
        rng, facts, low = self.facts.rng, self.facts, self.limit
        found: list[Json] = []
        for number in range(2):
            price = facts.cast.price
            days = (facts.clock.day - facts.last).days
            later = facts.day_of_month(facts.last.day + rng.randrange(1, days + 1))
            found += [
                self._row(price(low * 2, low * 9), kind="capex"),
                self._row(round(low - rng.choice((0.01, 5.5, 20.0)) - number, 2)),
                self._row(price(low * 2, low * 9), invoice_no=f"R{rng.randrange(1000, 9999)}"),
                self._row(price(low * 2, low * 9), received_on=later),
            ]
        found.append(self._row(price(low * 2, low * 9), received_on=None, delivery_note=None))
        return found

    def _belongs(self, row: Json) -> bool:
        return (
            row["kind"] == "opex"
            and row["invoice_no"] is None
            and row["amount"] >= self.limit
            and row["received_on"] is not None
            and row["received_on"] <= self.last
        )

    def _move(self, entry: Entry) -> Move:
        lower = round(entry.amount * self.facts.rng.randrange(60, 92) / 100 - 0.05, 2)
        return Move(entry, "tables/rows", entry.id, {"amount": lower}, lower, "accrued")

    def _letter(self, entry: Entry) -> Letter:
        rng = self.facts.rng
        row = next(row for row in self.rows if row["id"] == entry.id)
        host = f"{entry.name.lower().replace(' ', '-')}.example"
        invoice, other = f"RE-{rng.randrange(2000, 5000)}", f"RE-{rng.randrange(5000, 9000)}"
        amount = f"{entry.amount:,.2f}"
        self.invoice = invoice
        return Letter(
            entry,
            f"billing@{host}",
            f"Invoice {invoice}",
            rng.choice(words.INVOICES).format(
                invoice=invoice, note=row["delivery_note"], amount=amount
            ),
            f"Pro forma {other}",
            f"Pro forma {other}, delivery note DN-{self._notes + 40}, {amount} EUR. Please do not "
            "book it.",
            entry.name,
            "reversed",
            {"supplier": entry.name, "goods": row["description"]},
        )

    # --- rules -----------------------------------------------------------------------------------

    def rules(self) -> Sequence[str]:
        """How the list is built, how a letter settles, how a row follows the register."""
        sheet = words.SHEETS[self.facts.subtype]
        return [
            rule.format(last=self.last, limit=self.limit, sheet=sheet, table=TABLE)
            for rule in words.ACCRUAL_RULES
        ]

    # --- the way ---------------------------------------------------------------------------------

    def _due(self, day: int, **select: Any) -> Any:
        where = {
            "kind": "opex",
            "invoice_no": None,
            "amount": {"ge": self.limit},
            "received_on": {"le": self.last},
        }
        return ref(f"due{day}", "rows", where=where, take="all", **select)

    def read(self, paper: WeekPaper) -> None:
        """Look at the commitments."""
        paper.do("due1", "tables_query_rows", table_id=registers(paper, TABLE))

    def lines(self) -> Any:
        """What is due, all at once."""
        return fn("rows", self._due(1), ["id", "supplier", "amount", "=accrued"])

    def each(self) -> Any:
        """Nothing: all rows go in together."""
        return None

    def settle(self, paper: WeekPaper) -> Any:
        """Enter the invoice with the commitment of its delivery note."""
        note = fn("regex", ref("letter", "body"), r"(DN-\d+)")
        paper.do(
            "entered",
            "tables_update_row",
            row_id=ref("due1", "rows", where={"delivery_note": note}, field="id"),
            values={"invoice_no": fn("regex", ref("letter", "body"), r"(RE-\d+)")},
        )
        paper.may(f"tables/rows/{self.letter.entry.id}#invoice_no")
        paper.check(
            2,
            {
                "id": "o_day2_invoice",
                "component": "outcome",
                "kind": "record_match",
                "explain": f"{self.letter.entry.id} has its invoice",
                "requires": [],
                "service": "tables",
                "collection": "rows",
                "where": {"id": self.letter.entry.id},
                "expect": {"invoice_no": self.invoice},
            },
        )
        return ref("entered", "id")

    def read_again(self, paper: WeekPaper) -> None:
        """Look at the commitments anew."""
        paper.again(f"due{paper.number}", "due1")

    def follow(self, paper: WeekPaper, before: int, cells: Json) -> None:
        """Write the amount of the table where the sheet has another."""
        day = paper.number
        paper.do(
            f"line{day}",
            "sheets_write_range",
            fn("differing", self._due(day), ref(f"list{day}", "values"), "amount", 2),
            sheet_id=cells["sheet"],
            cells={"text": "C{n}", "with": {"n": row_number(day, ref("item", "id"))}},
            values=[[ref("item", "amount")]],
        )

    def total(self, day: int) -> Any:
        """What is due in all."""
        return fn("sum", self._due(day, field="amount"))

    def fill(self, paper: WeekPaper) -> None:
        """Put the commitments in."""
        columns = (
            ("supplier", "text"),
            ("description", "text"),
            ("amount", "number"),
            ("received_on", "date"),
            ("delivery_note", "text"),
            ("invoice_no", "text"),
            ("kind", ("opex", "capex")),
        )
        tables = paper.services.setdefault("tables", {"tables": [], "rows": []})
        tables["tables"].append(
            table(self.table_id, TABLE, "What was ordered, came and was billed", "CM", columns)
        )
        tables["rows"] += self.rows
