"""The days on which returns are counted and what is still out is reported."""

from collections.abc import Sequence
from typing import Any

from tasks_app.core.generation.families.batch_recall import words
from tasks_app.core.generation.families.batch_recall.log import WRITE, Log
from tasks_app.core.generation.forms import Json, filled, fn, ref, reply, step


class Counting(Log):
    """Take returns off, and report."""

    def _left(self, name: str) -> Any:
        """What is out of an item's pallet once its return is taken off."""
        units = ref("pallets", "rows", where={"id": ref("item", "pallet")}, field="units")
        return fn("sub", units, ref("item", "units")) if name else units

    def _returned(self, day: int) -> Any:
        where = {"shipment": {"in": ref(f"lines{day}", "values", take="all", field="0")}}
        return ref(f"returns{day}", "rows", where=where, take="all")

    def _take_off(self, day: int, rows: Any) -> None:
        """Write what is left out, and whether a line is closed."""
        left = self._left("return")
        self.paper.do(
            f"counted{day}",
            WRITE,
            rows,
            sheet_id=self.sheet(),
            cells=filled("D{n}:E{n}", n=self.row_of(f"lines{day}", ref("item", "shipment"))),
            values=[[left, fn("pick_at_least", left, 1, "open", "closed")]],
        )

    def count(self) -> None:
        """Take returns off in the log."""
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        self.morning([rng.choice(words.COUNT_ASKS)])
        for row in facts.returns:
            paper.arrives("tables/rows", row)
        paper.do("returns3", "tables_query_rows", table_id=self.table("Returns"))
        paper.do("lines3", "sheets_read_range", sheet_id=self.sheet())
        self._take_off(3, self._returned(3))
        for row in facts.returns:
            pallet = next(p for p in facts.pallets if p["id"] == row["pallet"])
            if pallet in facts.out:
                self._count_line(pallet, row["units"])
        paper.may(f"sheets/sheets/{self.sheet_id}#updated_at")
        self._outstanding(3, words.COUNTED)

    def _count_line(self, pallet: Json, units: int) -> None:
        left = pallet["units"] - units
        line = self.log[pallet["id"]]
        line[3:] = [left, "open" if left else "closed"]
        self.line_check(pallet, pallet["id"].lower().replace("-", ""), "has what is still out")
        self.other.append(self.cells(pallet, "D", line[3:]))

    def _outstanding(self, day: int, texts: Sequence[str]) -> None:
        """End the day with what is out."""
        facts, paper = self.facts, self.paper
        left = sum(line[3] for line in self.log.values())
        self.other.append(reply(f"Still out: {left}"))
        paper.closes(
            f"{paper.today}: the reply states the {left} units that are still out",
            [[{"number": left}]],
            facts.rng.choice(texts),
            {"left": self._total(day)},
        )

    def _total(self, day: int) -> Any:
        back = fn("sum", fn("column", self._returned(day), "units"))
        called = fn("sum", self.hit(field="units"))
        if self.facts.extra:
            called = fn("sum", [called, fn("sum", self.hit("result", field="units"))])
        if self.facts.cleared is not None:
            named = fn("regex", ref("result", "body"), r"(PL-\d+)")
            fine = ref("pallets", "rows", where={"id": named}, field="units")
            called = fn("sub", called, fine)
        return fn("sub", called, back)

    def report(self) -> None:
        """Follow a count that was corrected, and report what is out."""
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        self.morning([rng.choice(words.REPORT_ASKS).format(officer=facts.officer.given)])
        paper.moves("tables/rows", facts.late["id"], {"units": facts.late_units})
        paper.again("returns4", "returns3")
        paper.do("lines4", "sheets_read_range", sheet_id=self.sheet())
        known = fn("rows", ref("returns3", "rows"), ["id", "units"])
        self._take_off(4, fn("differing", self._returned(4), known, "units", 1))
        pallet = next(p for p in facts.pallets if p["id"] == facts.late["pallet"])
        self._count_line(pallet, facts.late_units)
        paper.may(f"sheets/sheets/{self.sheet_id}#updated_at")
        left = sum(line[3] for line in self.log.values())
        self.other += [
            step("look4", "tables_get_row", row_id=facts.late["id"]),
            step(
                "r4",
                "mail_send_message",
                to=[facts.officer.email],
                subject="Recall",
                body=f"Units still with customers: {left}",
            ),
        ]
        paper.sends(
            "report",
            f"day4: {facts.officer.given} has the {left} units that are still out",
            [facts.officer.email],
            f"Recall of {facts.product}",
            rng.choice(words.REPORTS).format(officer=facts.officer.given),
            {"left": self._total(4)},
            [[{"number": left}]],
        )
        self._outstanding(4, words.REPORTED)
