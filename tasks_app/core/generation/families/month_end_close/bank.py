"""bank_reconciliation: money on the account that the cash book does not know."""

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

TABLE = "Cash book"


class Bank:
    """Receipts without an entry in the cash book."""

    table = "bank account"
    looking: Sequence[str] = ("finance_list_transactions", "finance_get_transaction")

    def __init__(self, facts: CloseFacts):
        self.facts = facts
        rng, cast = facts.rng, facts.cast
        self.table_id = f"TB-{rng.randrange(11, 40)}"
        self.payers = [cast.firm(trade).name for trade in cast.sample(words.PAYERS, 6)]
        count = {1: 2, 2: 3, 3: 3, 4: 4, 5: 5}[facts.level]
        rows = [self._row(amount) for amount in prices(facts, count, 180, 4200)]
        booked = [self._row(amount) for amount in prices(facts, 3, 180, 4200)]
        rows += booked
        for changed in (
            {"category": "internal"},
            {"category": "fee"},
            {"category": "internal"},
            {"status": "pending"},
            {"status": "pending"},
            {"status": "returned"},
            # The first of all: whoever takes every returned one for a row of the list meets it.
            {"status": "returned", "date": facts.day_of_month(1)},
        ):
            rows.append(self._row(cast.price(180, 4200), **changed))
        rows.sort(key=lambda row: (row["date"], row["amount"]))
        self.rows = rows
        number = rng.randrange(2000, 8000)
        for row in self.rows:
            number += rng.randrange(1, 9)
            row["id"] = f"TX-{number}"
        self.book = [self._booking(row) for row in cast.shuffled(booked)]
        number = rng.randrange(100, 700)
        for entry in self.book:
            number += rng.randrange(1, 6)
            entry["id"] = f"CB-{number}"
        known = {entry["receipt"] for entry in self.book}
        chosen = [
            row
            for row in self.rows
            if row["status"] == "booked"
            and row["category"] == "incoming"
            and row["id"] not in known
        ]
        self.entries = [
            Entry(row["id"], row["counterparty"], row["amount"], "unmatched") for row in chosen
        ]
        self.distractors = len(self.rows) - len(chosen) + len(self.book)
        drawn = cast.shuffled(self.entries[1:])
        self.moves = [
            Move(e, "finance/transactions", e.id, {"status": "returned"}, 0.0, "returned")
            for e in drawn[:2]
        ]
        self.letter = self._letter(drawn[-1])

    def _row(self, amount: float, **changed: Any) -> Json:
        rng, facts = self.facts.rng, self.facts
        row = {
            "id": "",
            "date": facts.day_of_month(rng.randrange(2, facts.last.day)),
            "amount": amount,
            "currency": "EUR",
            "counterparty": rng.choice(self.payers),
            "category": "incoming",
            "status": "booked",
        }
        return {**row, **changed}

    def _booking(self, row: Json) -> Json:
        return {
            "id": "",
            "table_id": self.table_id,
            "receipt": row["id"],
            "amount": row["amount"],
            "voucher": f"V-{self.facts.rng.randrange(100, 500)}",
        }

    def _letter(self, entry: Entry) -> Letter:
        facts, rng = self.facts, self.facts.rng
        other = next(row for row in self.rows if row["status"] == "pending")
        self.voucher = f"V-{rng.randrange(500, 999)}"
        return Letter(
            entry,
            facts.reader.email,
            f"Voucher for {entry.name}",
            rng.choice(words.VOUCHERS).format(receipt=entry.id, voucher=self.voucher),
            f"Search for {entry.name}",
            f"For {other['id']} I have found no paper yet, I am still looking.",
            entry.name,
            "matched",
            {"payer": entry.name, "reader": facts.reader.given},
        )

    # --- rules -----------------------------------------------------------------------------------

    def rules(self) -> Sequence[str]:
        """How the list is built, how a letter settles, how a row follows the register."""
        sheet = words.SHEETS[self.facts.subtype]
        return [rule.format(table=TABLE, sheet=sheet) for rule in words.BANK_RULES]

    # --- the way ---------------------------------------------------------------------------------

    def _listed(self, day: int, **select: Any) -> Any:
        where = {
            "category": "incoming",
            "status": "booked",
            "id": {"not_in": ref(f"book{day}", "rows", take="all", field="receipt")},
        }
        return ref(f"bank{day}", "transactions", where=where, take="all", **select)

    def read(self, paper: WeekPaper) -> None:
        """Look at the bank and at the cash book."""
        paper.do("bank1", "finance_list_transactions")
        paper.do("book1", "tables_query_rows", table_id=registers(paper, TABLE))

    def lines(self) -> Any:
        """What is unmatched, all at once."""
        return fn("rows", self._listed(1), ["id", "counterparty", "amount", "=unmatched"])

    def each(self) -> Any:
        """Nothing: all rows go in together."""
        return None

    def settle(self, paper: WeekPaper) -> Any:
        """Enter the receipt with the voucher that the letter names."""
        named = fn("regex", ref("letter", "body"), r"(TX-\d+)")
        receipt = ref("bank1", "transactions", where={"id": named}, field="amount")
        paper.do(
            "entered",
            "tables_insert_row",
            table_id=registers(paper, TABLE),
            values={
                "receipt": named,
                "amount": receipt,
                "voucher": fn("regex", ref("letter", "body"), r"(V-\d+)"),
            },
        )
        paper.may(
            "tables/rows/*",
            {"table_id": self.table_id, "receipt": self.letter.entry.id},
            change="add",
            max=1,
        )
        paper.check(
            2,
            {
                "id": "o_day2_entered",
                "component": "outcome",
                "kind": "record_match",
                "explain": "The cash book has the receipt with its voucher",
                "requires": [],
                "service": "tables",
                "collection": "rows",
                "where": {"table_id": self.table_id, "receipt": self.letter.entry.id},
                "expect": {"amount": self.letter.entry.amount, "voucher": self.voucher},
            },
        )
        return named

    def read_again(self, paper: WeekPaper) -> None:
        """Look at the bank anew, and at the cash book where it has changed."""
        paper.again(f"bank{paper.number}", "bank1")
        paper.again(f"book{paper.number}", "book1")

    def follow(self, paper: WeekPaper, before: int, cells: Json) -> None:
        """Empty the row of each receipt that was sent back since another day."""
        day = paper.number
        back = {"id": {"in": self._listed(before, field="id")}, "status": "returned"}
        paper.do(
            f"line{day}",
            "sheets_write_range",
            ref(f"bank{day}", "transactions", where=back, take="all"),
            sheet_id=cells["sheet"],
            cells={"text": "C{n}:D{n}", "with": {"n": row_number(day, ref("item", "id"))}},
            values=[[0.0, "returned"]],
        )

    def total(self, day: int) -> Any:
        """What is unmatched in all."""
        return fn("sum", self._listed(day, field="amount"))

    def fill(self, paper: WeekPaper) -> None:
        """Put the bank and the cash book in."""
        columns = (("receipt", "text"), ("amount", "number"), ("voucher", "text"))
        tables = paper.services.setdefault("tables", {"tables": [], "rows": []})
        tables["tables"].append(
            table(self.table_id, TABLE, "Receipts with their vouchers", "CB", columns)
        )
        tables["rows"] += self.book
        paper.services["finance"] = {"transactions": self.rows}
        paper.tools += list(self.looking)
