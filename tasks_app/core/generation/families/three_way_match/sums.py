"""The sum in question of a three_way_match draft: how it is found, and how it is told."""

from datetime import date
from typing import Any

from tasks_app.core.generation import days
from tasks_app.core.generation.families.three_way_match.facts import (
    OVER,
    PART,
    SECOND,
    SHORT,
    MatchFacts,
)
from tasks_app.core.generation.forms import Json, fn, ref


class Sums(MatchFacts):
    """Facts, with the bindings and words of the sum that is in question."""

    @property
    def sum_in_question(self) -> Any:
        """The binding of the sum in question."""
        total = ref("invoice", "amount")
        if self.subtype == SECOND or self.reason in ("", "over_limit"):
            return total
        if not self.stock:
            noted = "ordered_value" if self.subtype == OVER else "received_value"
            if self.subtype == PART:
                return fn("sub", self._all_parts, ref("invoice", noted))
            return fn("sub", total, ref("invoice", noted))
        if self.subtype == SHORT:
            missing = fn(
                "sub", self._of_line("invoice", "quantity"), self._of_line("order", "received")
            )
            return fn("mul", missing, self._of_line("order", "unit_price"))
        if self.subtype == OVER:
            more = fn(
                "sub", self._of_line("invoice", "unit_price"), self._of_line("order", "unit_price")
            )
            return fn("mul", more, self._of_line("invoice", "quantity"))
        came = fn("mul", self._of_line("order", "received"), self._of_line("order", "unit_price"))
        return fn("sub", self._all_parts, came)

    @property
    def _all_parts(self) -> Json:
        where: Json = {"purchase_order_id": ref("invoice", "purchase_order_id")}
        if self.stock:
            where["status"] = {"ne": "rejected"}
        return fn("sum", ref("invoices", "invoices", where=where, take="all", field="amount"))

    def _of_line(self, step: str, name: str) -> Json:
        where: Json = {"name": self.goods.spoken}
        if len(self.right["lines"]) == 1:
            return ref(step, f"lines.0.{name}")
        return ref(step, "lines", where=where, field=name)

    @property
    def difference_words(self) -> str:
        """What the sum in question is where the papers do not agree."""
        return {
            SHORT: "what the missing pieces come to",
            OVER: "what it is too dear by in all",
            PART: "what the bills exceed the goods by",
        }[self.subtype]

    @property
    def asked(self) -> str:
        """What letter and reply name beside the invoice; it gives no decision away."""
        if self.subtype == SECOND:
            return "its sum"
        parts = ["if it is approved, the day on which it is due"]
        parts.append(f"if it is held because it does not agree, {self.difference_words}")
        if self.reports:
            parts.append("if it is held for the limit, its sum")
        return "; ".join(parts)

    def told(self) -> tuple[list[list[Any]], str, Json]:
        """What letter and reply state: groups, words, bindings."""
        if self.action == "approve":
            due = date.fromisoformat(self.invoice["due_on"])
            month = days.month_of(due)
            spelled = [self.invoice["due_on"], f"{due.day} {month}", f"{month} {due.day}"]
            return [spelled], "it is approved and due on {due}", {"due": ref("invoice", "due_on")}
        values = {"sum": fn("money", self.sum_in_question)}
        verb = "rejected" if self.action == "reject" else "on hold"
        return [[{"number": self.question}]], f"it is {verb} over {{sum}} EUR", values
