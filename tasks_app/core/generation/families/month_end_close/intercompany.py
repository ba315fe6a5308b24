"""intercompany: our balances with sister firms against what they confirm."""

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
    sheet_id,
    table,
)
from tasks_app.core.generation.families.month_end_close.facts import CloseFacts
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.week import WeekPaper

TABLE = "Balances"
CONFIRMED = "Confirmations"


class Intercompany:
    """Balances that differ from what the other side confirms."""

    table = f"table {TABLE}"
    looking: Sequence[str] = ("tables_query_rows", "tables_search_rows", "tables_get_row")

    def __init__(self, facts: CloseFacts):
        self.facts = facts
        rng, cast = facts.rng, facts.cast
        self.table_id = f"TB-{rng.randrange(11, 40)}"
        self.confirmed_id = f"SH-{rng.randrange(61, 90)}"
        stem = cast.firm().name
        partners = [f"{stem} {place}" for place in cast.sample(words.PLACES, 6)]
        count = {1: 2, 2: 3, 3: 3, 4: 4, 5: 5}[facts.level]
        amounts = prices(facts, count + 6, 900, 9000)
        gaps = prices(facts, count + 4, 12, 480)
        rows: list[Json] = []
        self.theirs: dict[int, float] = {}
        kinds = ["goods"] * count + ["loan"] * 2 + ["services"] * 2 + ["goods"] * 2
        for place, (kind, amount) in enumerate(zip(kinds, amounts, strict=True)):
            settled = place >= count + 4
            same = count + 2 <= place < count + 4
            sign = rng.choice((1, 1, -1))
            gap = 0.0 if same else sign * gaps[place - 2 * settled]
            rows.append(
                {
                    "id": "",
                    "table_id": self.table_id,
                    "partner": rng.choice(partners),
                    "kind": rng.choice(("goods", "services")) if kind == "goods" else kind,
                    "amount": amount,
                    "status": "agreed" if settled else "open",
                    "theirs": round(amount - gap, 2),
                }
            )
        self.rows = cast.shuffled(rows)
        number = rng.randrange(200, 800)
        for row in self.rows:
            number += rng.randrange(1, 5)
            row["id"] = f"IC-{number}"
        self.confirmed = {row["id"]: row.pop("theirs") for row in self.rows}
        chosen = [
            row
            for row in self.rows
            if row["status"] == "open"
            and row["kind"] != "loan"
            and row["amount"] != self.confirmed[row["id"]]
        ]
        self.entries = [
            Entry(row["id"], row["partner"], self._gap(row, row["amount"]), "open")
            for row in chosen
        ]
        self.distractors = len(self.rows) - len(chosen)
        drawn = cast.shuffled(self.entries[1:])
        self.moves = [self._move(entry) for entry in drawn[:2]]
        self.letter = self._letter(drawn[-1])

    def _gap(self, row: Json, amount: float) -> float:
        return float(round(amount - self.confirmed[row["id"]], 2))

    def _record(self, entry: Entry) -> Json:
        return next(row for row in self.rows if row["id"] == entry.id)

    def _move(self, entry: Entry) -> Move:
        row = self._record(entry)
        amount = round(row["amount"] + self.facts.cast.price(500, 780), 2)
        gap = self._gap(row, amount)
        return Move(entry, "tables/rows", entry.id, {"amount": amount}, gap, "open")

    def _letter(self, entry: Entry) -> Letter:
        rng, row = self.facts.rng, self._record(entry)
        place = entry.name.rsplit(" ", 1)[1]
        other = next(e for e in self.entries if e is not entry)
        return Letter(
            entry,
            f"accounts.{place.lower()}@{self.facts.house.domain}",
            f"Correction of our statement, {place}",
            rng.choice(words.CORRECTIONS).format(number=entry.id, amount=f"{row['amount']:,.2f}"),
            f"Question on your statement, {place}",
            f"We still look into {other.id} and cannot say yet which side is right.",
            place,
            "agreed",
            {"partner": entry.name},
        )

    # --- rules -----------------------------------------------------------------------------------

    def rules(self) -> Sequence[str]:
        """How the list is built, how a letter settles, how a row follows the register."""
        sheet = words.SHEETS[self.facts.subtype]
        return [
            rule.format(table=TABLE, confirmed=CONFIRMED, sheet=sheet)
            for rule in words.PARTNER_RULES
        ]

    # --- the way ---------------------------------------------------------------------------------

    def _listed(self, day: int) -> Any:
        where = {"status": "open", "kind": {"ne": "loan"}}
        ours = ref(f"ours{day}", "rows", where=where, take="all")
        return fn("differing", ours, ref("theirs", "values"), "amount", 2)

    def _theirs(self) -> Any:
        return ref("theirs", "values", where={"0": ref("item", "id")}, field="2")

    def read(self, paper: WeekPaper) -> None:
        """Look at both sides."""
        paper.do("ours1", "tables_query_rows", table_id=registers(paper, TABLE))
        paper.do("theirs", "sheets_read_range", sheet_id=sheet_id(paper, CONFIRMED))

    def each(self) -> Any:
        """Each balance that differs."""
        return self._listed(1)

    def lines(self) -> Any:
        """The row of one balance."""
        gap = fn("sub", ref("item", "amount"), self._theirs())
        return [[ref("item", "id"), ref("item", "partner"), gap, "open"]]

    def settle(self, paper: WeekPaper) -> Any:
        """Agree the balance that the letter names."""
        number = fn("regex", ref("letter", "body"), r"(IC-\d+)")
        paper.do("entered", "tables_update_row", row_id=number, values={"status": "agreed"})
        paper.may(f"tables/rows/{self.letter.entry.id}#status")
        paper.check(
            2,
            {
                "id": "o_day2_agreed",
                "component": "outcome",
                "kind": "record_match",
                "explain": f"{self.letter.entry.id} is agreed",
                "requires": [],
                "service": "tables",
                "collection": "rows",
                "where": {"id": self.letter.entry.id},
                "expect": {"status": "agreed"},
            },
        )
        return ref("entered", "id")

    def read_again(self, paper: WeekPaper) -> None:
        """Look at our side anew."""
        paper.again(f"ours{paper.number}", "ours1")

    def follow(self, paper: WeekPaper, before: int, cells: Json) -> None:
        """Write the new difference of each balance that moved since another day."""
        day = paper.number
        known = fn("rows", ref(f"ours{before}", "rows"), ["id", "amount"])
        paper.do(
            f"line{day}",
            "sheets_write_range",
            fn("differing", self._listed(day), known, "amount", 1),
            sheet_id=cells["sheet"],
            cells={"text": "C{n}", "with": {"n": row_number(day, ref("item", "id"))}},
            values=[[fn("sub", ref("item", "amount"), self._theirs())]],
        )

    def total(self, day: int) -> Any:
        """Our amounts less theirs."""
        ids = {"in": fn("column", self._listed(day), "id")}
        ours = fn("sum", fn("column", self._listed(day), "amount"))
        return fn(
            "sub", ours, fn("sum", ref("theirs", "values", where={"0": ids}, take="all", field="2"))
        )

    def fill(self, paper: WeekPaper) -> None:
        """Put both sides in."""
        columns = (
            ("partner", "text"),
            ("kind", ("goods", "services", "loan")),
            ("amount", "number"),
            ("status", ("open", "agreed")),
        )
        tables = paper.services.setdefault("tables", {"tables": [], "rows": []})
        tables["tables"].append(
            table(
                self.table_id, TABLE, "What sister firms owe us at the month's end", "IC", columns
            )
        )
        tables["rows"] += self.rows
        sheets = paper.services["sheets"]
        sheets["sheets"].append({"id": self.confirmed_id, "title": CONFIRMED})
        lines = [["balance", "partner", "amount"]]
        lines += [[r["id"], r["partner"], self.confirmed[r["id"]]] for r in self.rows]
        sheets["rows"] += [
            {
                "id": f"{self.confirmed_id}!{number}",
                "sheet_id": self.confirmed_id,
                "row": number,
                **dict(zip("ABC", line, strict=True)),
            }
            for number, line in enumerate(lines, start=1)
        ]
