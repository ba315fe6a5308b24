"""The way of a draft: from the request to the order that is meant, and what is done to it."""

from typing import Any, Final

from tasks_app.core.generation.families.order_change import words
from tasks_app.core.generation.families.order_change.facts import (
    BACK,
    BARRED,
    LATE,
    OLD,
    OPEN,
    WHOLE,
    OrderFacts,
)
from tasks_app.core.generation.families.order_change.rules import (
    ASK,
    CANCEL,
    CANCEL_LINE,
    DECLINE,
    FEWER,
    MOVE,
    RETURN,
    RULES,
)
from tasks_app.core.generation.forms import Json, added, filled, fn, match, ref
from tasks_app.core.generation.paper import Kind, Office, Paper

STOCK: Final = "inventory_adjust_stock"


class Way:
    """Finds the order and does what is still allowed; each step with its checks."""

    def __init__(self, kind: Kind, facts: OrderFacts):
        self.facts = facts
        office = Office(
            facts.house,
            facts.trade.kind,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            f"orders@{facts.house.domain}",
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)

    @property
    def _main(self) -> str:
        """The write that decides."""
        return str(next(s["tool"] for s in self.paper.steps if s.get("id") == "changed"))

    # --- the way to the order --------------------------------------------------------------------

    def _find(self) -> None:
        facts, paper = self.facts, self.paper
        paper.do("found", "orders_search_orders", query=facts.customer)
        status: Json = {"in": list(OPEN)}
        if facts.subtype == LATE:
            status = {"ne": "cancelled"}
        each = ref("found", "orders", where={"status": status}, take="all", field="id")
        paper.do("cards", "orders_get_order", each, order_id=ref("item"))
        if not facts.all_orders:
            chosen = ref("cards", **self._chosen(), field="id")
            paper.do("order", "orders_get_order", order_id=chosen)

    def _chosen(self) -> Json:
        """Which of the orders that were looked at is meant, as a choice."""
        facts = self.facts
        where: Json = {"address": {"contains_any": [facts.city]}}
        article = {"lines.*.name": {"contains_any": [facts.article]}}
        if facts.subtype == LATE:
            return {"where": {**where, **article}, "sort": "placed_on", "take": "last"}
        if facts.dated:
            days = fn("add_days", ref("clock", "today"), facts.days)
            where["leaves_on"] = {"gt": days}
        if facts.all_orders:
            return {"where": where, "take": "all"}
        return {"where": {**where, **article}}

    def _own_line(self, name: str) -> Json:
        return ref("order", "lines", where={"name": self.facts.article}, field=name)

    # --- what is done ----------------------------------------------------------------------------

    def _confirm(self, what: str, **places: Any) -> None:
        facts, paper = self.facts, self.paper
        if not facts.confirms:
            return
        question = facts.rng.choice(words.QUESTIONS).format(what=what)
        paper.do("asked", ASK, text=filled(question, **places))
        paper.claimed.add("C15")

    def _cancel(self) -> None:
        facts, paper = self.facts, self.paper
        self._confirm(
            "the order {id} of {customer}", id=ref("order", "id"), customer=facts.customer
        )
        paper.do("changed", CANCEL, order_id=ref("order", "id"), reason="customer_request")
        target = facts.meant[0]
        self._expect(
            target,
            "the order is cancelled, as the customer wished",
            {"status": "cancelled", "cancel_reason": "customer_request"},
        )
        self._may(target, "status,cancel_reason")

    def _line(self) -> None:
        facts, paper = self.facts, self.paper
        order, line = ref("order", "id"), self._own_line("line")
        target = facts.meant[0]
        if facts.fewer:
            keep: Any = facts.keep
            if facts.asks_number:
                question = facts.rng.choice(words.NUMBER_QUESTIONS).format(article=facts.article)
                paper.do("asked", ASK, text=question)
                told = fn("regex", ref("asked", "reply"), r"\b([246])\b")
                keep = fn("lookup", told, {"2": 2, "4": 4, "6": 6})
            paper.do("changed", FEWER, order_id=order, line=line, quantity=keep)
        else:
            self._confirm(
                "the line of the {article} on {id}",
                article=facts.article,
                id=ref("order", "id"),
            )
            paper.do("changed", CANCEL_LINE, order_id=order, line=line)
        expect: Json = {}
        for place, row in enumerate(target["lines"]):
            own = row is facts.line
            cancelled = own and not facts.fewer
            expect[f"lines.{place}.status"] = "cancelled" if cancelled else row["status"]
            if own and facts.fewer:
                expect[f"lines.{place}.quantity"] = facts.keep
        self._expect(target, "that line is changed, and no other one", expect)
        self._may(target, "lines")

    def _move(self) -> None:
        facts, paper = self.facts, self.paper
        address: Any
        if facts.asks_address:
            question = facts.rng.choice(words.ADDRESS_QUESTIONS).format(customer=facts.customer)
            paper.do("asked", ASK, text=question)
            address = fn("regex", ref("asked", "reply"), r": (.+)\.$")
            paper.claimed.add("C12")
        else:
            twin = {"lines.*.name": {"contains_any": [facts.twin]}}
            address = ref("cards", where=twin, field="address")
        if facts.all_orders:
            each = ref("cards", **self._chosen(), field="id")
            paper.do("changed", MOVE, each, order_id=ref("item"), address=address)
        else:
            paper.do("changed", MOVE, order_id=ref("order", "id"), address=address)
        for target in facts.meant:
            self._expect(target, "it goes to the new address", {"address": facts.new_address})
            self._may(target, "address")

    def _late(self) -> None:
        facts, paper = self.facts, self.paper
        target, order = facts.meant[0], ref("order", "id")
        if facts.end == BACK:
            line = self._own_line("line")
            paper.do("changed", RETURN, order_id=order, line=line, reason="unwanted")
            own = {"order_id": target["id"]}
            paper.check(
                3,
                match(
                    "o_order0",
                    "The article comes back",
                    "orders/returns",
                    own,
                    {"line": facts.line["line"], "quantity": facts.line["quantity"]},
                    because={"order_id": RULES},
                ),
            )
            paper.check(
                1,
                match(
                    "o_reason",
                    "It comes back as unwanted",
                    "orders/returns",
                    own,
                    {"reason": "unwanted"},
                    requires=["o_order0"],
                    because={"order_id": RULES, "reason": RULES},
                ),
            )
            paper.write_set.append(added("orders/returns/*", own))
            return
        reason: Any = self._reason
        if facts.end == BARRED:
            paper.do("product", "inventory_get_product", sku=self._own_line("sku"))
            reason = fn("lookup", ref("product", "category"), {facts.category: reason})
        paper.do("changed", DECLINE, order_id=order, reason=reason)
        self._expect(
            target,
            "the wish is declined, with the reason that the rules give it",
            {"request": "declined", "decline_reason": self._reason},
        )
        self._may(target, "request,decline_reason")
        paper.claimed.add("C13")

    @property
    def _reason(self) -> str:
        return "too_old" if self.facts.end == OLD else "not_permitted"

    def _expect(self, order: Json, explain: str, expect: Json) -> None:
        number = sum(str(c["id"]).startswith("o_order") for _, c in self.paper.checks)
        self.paper.check(
            3,
            match(
                f"o_order{number}",
                f"{order['id']}: {explain}",
                "orders/orders",
                {"id": order["id"]},
                expect,
                because=dict.fromkeys(expect, RULES) if "address" not in expect else {},
            ),
        )

    def _may(self, order: Json, fields: str) -> None:
        self.paper.write_set.append(f"orders/orders/{order['id']}#{fields},updated_at")

    def _restore(self) -> None:
        """What is not sent goes back on stock."""
        facts, paper = self.facts, self.paper
        paper.claimed.add("C2")
        if facts.subtype == WHOLE:
            each = ref("order", "lines", where={"status": {"ne": "cancelled"}}, take="all")
            paper.do(
                "stock",
                STOCK,
                each,
                sku=ref("item", "sku"),
                difference=ref("item", "quantity"),
                reason="correction",
            )
        else:
            back: Json = self._own_line("quantity")
            if facts.fewer:
                left = next(s for s in paper.steps if s.get("id") == "changed")
                back = fn("sub", back, left["arguments"]["quantity"])
            sku = self._own_line("sku")
            paper.do("stock", STOCK, sku=sku, difference=back, reason="correction")
        for place, row in enumerate(facts.not_sent()):
            good = facts.goods[row["name"]]
            paper.check(
                1,
                match(
                    f"o_stock{place}",
                    f"{row['name']}: back on stock",
                    "inventory/products",
                    {"id": good["id"]},
                    {"on_hand": good["on_hand"] + facts.restored(row)},
                    requires=["o_order0"],
                    because={"on_hand": RULES},
                ),
            )
            paper.write_set.append(f"inventory/products/{good['id']}#on_hand")
