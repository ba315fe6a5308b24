"""A draft written from its facts: what is done, stock, the report, another way, the request."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from tasks_app.core.generation.days import spellings
from tasks_app.core.generation.families.order_change import words
from tasks_app.core.generation.families.order_change.facts import (
    ADDRESS,
    BACK,
    LATE,
    LINE,
    OPEN,
    WHOLE,
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
from tasks_app.core.generation.families.order_change.way import STOCK, Way
from tasks_app.core.generation.forms import Json, filled, fn, ref, reply, step
from tasks_app.core.generation.talk import articled, excused, message


class Change(Way):
    """One draft being written: each part of the spec follows from the facts."""

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
