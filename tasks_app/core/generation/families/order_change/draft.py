"""A draft written from its facts: the way to the order, the change, stock, checks, request."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from tasks_app.core.generation.days import spellings
from tasks_app.core.generation.families.order_change import words
from tasks_app.core.generation.families.order_change.facts import (
    ADDRESS,
    BACK,
    BARRED,
    LATE,
    LINE,
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
    asks,
    write_rules,
)
from tasks_app.core.generation.forms import Json, added, filled, fn, match, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper
from tasks_app.core.generation.talk import articled, excused, message

STOCK: Final = "inventory_adjust_stock"


class Change:
    """One draft being written: each part of the spec follows from the facts."""

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
        self.question = ""

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        write_rules(facts, paper)
        self._find()
        {WHOLE: self._cancel, LINE: self._line, ADDRESS: self._move, LATE: self._late}[
            facts.subtype
        ]()
        if facts.stocked:
            self._restore()
        if facts.level >= 2:
            self._looked()
        self._report()
        self._other_way()
        if facts.level >= 5:
            paper.fails_once(self._main, RULES, words.RULES["error"])
            other = next(o for o in facts.orders if o not in facts.meant and o["status"] in OPEN)
            orders = words.SEND_AGAIN if facts.subtype == LATE else words.DECLINE_IT
            other["remark"] = facts.rng.choice(orders)
        self._fill()
        return paper.spec(
            slug=("order-change", facts.subtype, facts.meant[0]["id"], facts.customer_id),
            title=f"{facts.customer}: {_TITLES[facts.subtype]}",
            tags=["orders", "service"],
            request=self._request(),
            distractors=len(facts.orders) - len(facts.meant),
            parameters={"orders": len(facts.meant), "end": facts.end or "changed"},
            user=self._colleague() if asks(facts) else None,
        )

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
            quantity = facts.keep if own and facts.fewer else row["quantity"]
            expect[f"lines.{place}.status"] = "cancelled" if cancelled else row["status"]
            expect[f"lines.{place}.quantity"] = quantity
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

    # --- the rest --------------------------------------------------------------------------------

    def _looked(self) -> None:
        needed = {"tool": "orders_get_order"}
        self.paper.looked(
            "The order was looked at before anything was changed", needed, {"tool": self._main}
        )

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        given = facts.lead.given
        groups: list[Any] = [[order["id"]] for order in facts.meant]
        if facts.all_orders:
            places: Json = {"ids": fn("join", fn("column", ref("changed"), "id"), ", ")}
            text, parts = "Changed: {ids}.", "the number of every order that was changed"
        else:
            places = {"ids": ref("order", "id")}
            text, parts = "Done with {ids}.", "the number of the order"
        if facts.subtype in (WHOLE, ADDRESS) and not facts.all_orders:
            parts += " and the day on which it was to leave"
            text = "{ids}, which was to leave on {day}, is done."
            places["day"] = ref("order", "leaves_on")
            groups.append(_spelled(facts.meant[0]["leaves_on"]))
        elif facts.subtype == LINE:
            left = (
                fn("sub", self._own_line("quantity"), self._kept())
                if facts.fewer
                else (self._own_line("quantity"))
            )
            parts += " and the value of what is no longer sent"
            text = "{ids}: {value} EUR less."
            places["value"] = fn("money", fn("mul", left, self._own_line("unit_price")))
            value = round(facts.restored(facts.line) * facts.line["unit_price"], 2)
            groups.append([{"number": value}])
        elif facts.subtype == LATE:
            if facts.end == BACK:
                parts += " and the number of the return"
                places["more"] = ref("changed", "id")
                own = {"order_id": facts.meant[0]["id"]}
                groups.append([{"record": "orders/returns", "where": own, "field": "id"}])
            else:
                parts += " and the reason of the refusal"
                places["more"] = self._reason
                groups.append([self._reason, self._reason.replace("_", " ")])
            text = "{ids}: {more}."
        paper.contract = f"Reply to {given} with {parts}."
        paper.answers(f"The reply gives {parts}", groups, text, places)

    def _kept(self) -> Any:
        changed = next(s for s in self.paper.steps if s.get("id") == "changed")
        return changed["arguments"]["quantity"]

    def _other_way(self) -> None:
        """Another solution: fewer reads, stock in another order, the ids written down."""
        facts = self.facts
        first = facts.meant[0]
        steps = [step("seen", "orders_get_order", order_id=first["id"])]
        if facts.confirms or facts.asks_number or facts.asks_address:
            text = {
                LINE: f"{facts.article} on {first['id']}: how many, and may I?",
                ADDRESS: "Which address is it?",
            }.get(facts.subtype, f"Is it {first['id']}?")
            steps.append(step("asked", ASK, text=text))
        steps += self._written_down()
        if facts.stocked:
            for place, row in reversed(list(enumerate(facts.not_sent()))):
                good = facts.goods[row["name"]]
                steps.append(
                    step(
                        f"stock{place}",
                        STOCK,
                        product_id=good["id"],
                        difference=facts.restored(row),
                        reason="correction",
                    )
                )
        told = ", ".join(order["id"] for order in reversed(facts.meant))
        more = _spelled(first["leaves_on"])[1]
        if facts.subtype == LINE:
            more = f"{facts.restored(facts.line) * facts.line['unit_price']:.2f}"
        if facts.subtype == LATE:
            more = self._reason.replace("_", " ")
        if facts.end == BACK:
            steps.append({"reply": filled("{id} for {order}", id=ref("way0", "id"), order=told)})
        else:
            steps.append(reply(f"{told} ({more})"))
        self.paper.alternatives.append(steps)

    def _written_down(self) -> list[Json]:
        facts = self.facts
        order, line = facts.meant[0]["id"], facts.line["line"] if not facts.all_orders else 0
        if facts.subtype == WHOLE:
            return [step("way0", CANCEL, order_id=order, reason="customer_request")]
        if facts.subtype == LATE and facts.end != BACK:
            return [step("way0", DECLINE, order_id=order, reason=self._reason)]
        if facts.subtype == LATE:
            quantity = facts.line["quantity"]
            return [
                step(
                    "way0", RETURN, order_id=order, line=line, reason="unwanted", quantity=quantity
                )
            ]
        if facts.subtype == ADDRESS:
            return [
                step(f"way{n}", MOVE, order_id=one["id"], address=facts.new_address)
                for n, one in enumerate(reversed(facts.meant))
            ]
        if facts.fewer:
            return [step("way0", FEWER, order_id=order, line=line, quantity=facts.keep)]
        return [step("way0", CANCEL_LINE, order_id=order, line=line)]

    def _colleague(self) -> Json:
        facts, rng = self.facts, self.facts.rng
        known: list[Json] = []
        if facts.confirms:
            yes = rng.choice(words.YES)
            known.append({"id": "yes", "text": yes, "asks": [[facts.meant[0]["id"]]]})
        if facts.asks_number:
            text = rng.choice(words.NUMBER_ANSWERS).format(number=facts.keep)
            known.append({"id": "number", "text": text, "asks": [[w] for w in _HOW_MANY]})
        if facts.asks_address:
            text = rng.choice(words.ADDRESS_ANSWERS).format(address=facts.new_address)
            known.append({"id": "address", "text": text, "asks": [[w] for w in _WHERE]})
        return {
            "kind": "rules",
            "name": facts.lead.name,
            "manner": "short",
            "patience": 3,
            "facts": known,
            "otherwise": "That is not what this is about, look again.",
            "out_of_patience": "I am on the telephone now.",
        }

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        key: str = facts.subtype
        more = ""
        if facts.subtype == LINE:
            key = "fewer" if facts.fewer else "line"
            if facts.fewer:
                numbers = words.UNSAID_NUMBER if facts.asks_number else words.NUMBERS
                more = rng.choice(numbers).format(number=facts.keep)
        elif facts.subtype == ADDRESS:
            key = "all_addresses" if facts.all_orders else "one_address"
            more = rng.choice(words.UNSAID_ADDRESS if facts.asks_address else words.SAME_ADDRESS)
            more = more.format(twin=facts.twin)
        news = rng.choice(words.NEWS[key]).format(
            customer=facts.customer, city=facts.city, article=facts.article
        )
        asked = rng.choice(words.ASKS)
        if rng.random() < 0.5:
            asked = excused(rng, facts.cast.person().given, asked)
        parts = [part for part in (news, more, asked) if part]
        return message(rng, facts.lead.given, [articled(p) for p in parts], words.REPORTS)

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        paper.services["orders"] = {"orders": facts.orders, "shipments": [], "returns": []}
        paper.tools += ["orders_search_orders", "orders_get_order"]
        own = [CANCEL, CANCEL_LINE, FEWER, MOVE, DECLINE, RETURN]
        if facts.level == 1:
            own = [name for name in own if name in (self._main, CANCEL, CANCEL_LINE)]
        paper.tools += own
        if facts.level >= 3:
            paper.tools.append("orders_reship_line")
        if facts.stocked or facts.barred:  # what may not come back is told by its category
            paper.services["inventory"] = {"products": facts.products, "purchase_orders": []}
            paper.tools += ["inventory_list_products", "inventory_get_product", STOCK]
        if asks(facts):
            paper.tools.append(ASK)
        paper.claimed.add("C1")
        if facts.dated and facts.subtype != LATE:
            paper.claimed.add("C20")
        if facts.level >= 5:
            paper.claimed.add("C18")
        if len(facts.meant) > 2:
            paper.claimed.add("C6")


def _spelled(day: str) -> list[Any]:
    return spellings(date.fromisoformat(day))


_HOW_MANY: Final = ("how many", "number", "pieces", "quantity", "count", "keep", "left")
_WHERE: Final = ("address", "where", "street", "place", "door")
"""Words that ask the one who knows a number, and those that ask for an address."""
_TITLES: Final[Mapping[str, str]] = {
    WHOLE: "an order called off",
    LINE: "one line of an order",
    ADDRESS: "another address",
    LATE: "a wish that comes late",
}
