"""A draft written from its facts: reading, reckoning, orders, rules, checks and the request."""

from collections.abc import Mapping
from itertools import permutations
from typing import Any, Final

from tasks_app.core.generation.families.stock_replenishment import words
from tasks_app.core.generation.families.stock_replenishment.facts import (
    PACK,
    POINT,
    SEASON,
    SUBSTITUTE,
)
from tasks_app.core.generation.families.stock_replenishment.reckoning import Reckoning
from tasks_app.core.generation.families.stock_replenishment.records import StockFacts
from tasks_app.core.generation.families.stock_replenishment.sheets import sheets_of
from tasks_app.core.generation.forms import Json, added, fn, match, record, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper
from tasks_app.core.generation.talk import OPENINGS, capital, listed, marked, sentence
from tasks_app.core.instants import WEEKDAYS

ORDER: Final = "inventory_create_purchase_order"
RULES: Final = "ordering"


class Refill:
    """One draft being written: each part of the spec follows from the facts."""

    def __init__(self, kind: Kind, facts: StockFacts):
        self.facts = facts
        office = Office(
            facts.shop,
            facts.trade.kind,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            f"orders@{facts.shop.domain}",
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)
        self.reckoning = Reckoning(facts, self.paper.steps)

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        self._rules()
        self.reckoning.read()
        for place, supplier in enumerate(facts.receivers):
            self._order(place, supplier)
        self._report()
        self._other_way()
        if facts.level >= 5:
            paper.fails_once(ORDER, RULES, words.RULES["error"])
        self._fill()
        return paper.spec(
            slug=("stock", facts.subtype, facts.range, facts.wanted[0].sku),
            title=f"{facts.range}: {_TITLES[facts.subtype]}",
            tags=["purchasing", "stock"],
            request=self._request(),
            distractors=len(facts.items) - len(facts.wanted) + len(facts.purchases),
            parameters={"orders": len(facts.receivers), "lines": len(facts.wanted)},
            calls=70 if facts.forecast else 40,
        )

    # --- rules -----------------------------------------------------------------------------------

    def _rules(self) -> None:
        facts, paper, said = self.facts, self.paper, words.RULES
        paper.document(RULES, "Ordering", said["free"])
        if facts.running:
            paper.say(RULES, said["coming"])
        if facts.subtype == SUBSTITUTE:
            paper.say(RULES, said["substitute"])
        paper.say(RULES, said["point"])
        if facts.forecast:
            paper.say(RULES, said["forecast"].format(ahead=facts.ahead, reserve=facts.reserve))
        else:
            paper.say(RULES, said["times"].format(times=facts.times))
        if facts.backorders:
            paper.say(RULES, said["waiting"])
        if facts.packed:
            paper.say(RULES, said["pack"])
        if facts.terms:
            paper.say(RULES, said["terms"])
        if facts.subtype == SEASON:
            paper.say(RULES, said["season"].format(days=facts.season_days))
        paper.say(RULES, said["day"].format(days=facts.lead_days))
        if facts.level == 1:
            paper.bind("k_one", "at_most", RULES, said["only"], 0.4, tool=ORDER, n=1)
        else:
            severity = "gate" if facts.level >= 3 else 0.4
            paper.bind(
                "k_one", "at_most", RULES, said["one"], severity, tool=ORDER, per="supplier", n=1
            )
            paper.bind(
                "k_blocked",
                "argument_policy",
                RULES,
                said["blocked"].format(blocked=facts.blocked),
                tool=ORDER,
                argument="supplier",
                deny=[facts.blocked],
            )
        if facts.running and facts.rng.random() < 0.5:
            paper.bind(
                "k_running",
                "require_before",
                RULES,
                said["look"],
                0.3,
                write={"tool": ORDER},
                needs={"tool": "inventory_list_purchase_orders"},
            )
        if facts.forecast and facts.rng.random() < 0.7:
            paper.bind("k_figures", "forbid_tool", RULES, said["figures"], tool=list(_FORBIDDEN))

    # --- orders and checks -----------------------------------------------------------------------

    def _order(self, place: int, supplier: str) -> None:
        facts, paper = self.facts, self.paper
        items = [item for item in facts.wanted if item.supplier == supplier]
        day = facts.clock.date(facts.lead_days)
        paper.do(
            f"order{place}",
            ORDER,
            supplier=self.reckoning.of(items[0], "supplier"),
            lines=[
                {"sku": self.reckoning.sku(i), "quantity": self.reckoning.quantity(i)}
                for i in items
            ],
            expected_on=fn("add_days", ref("clock", "today"), facts.lead_days),
        )
        where = {"supplier": supplier, "created_at": facts.clock.now}
        lines = [{"sku": i.sku, "quantity": facts.quantity(i)} for i in items]
        because = {"created_at": RULES}
        found, right = f"o_articles{place}", f"o_lines{place}"
        paper.checks += [
            (
                2,
                match(
                    found,
                    f"{supplier} has an order with {listed([i.name for i in items])}",
                    "inventory/purchase_orders",
                    where,
                    {"lines.*.sku": {"contains_all": [i.sku for i in items]}},
                    because=because,
                ),
            ),
            (
                3,
                match(
                    right,
                    "Its lines have these quantities and there are no others",
                    "inventory/purchase_orders",
                    where,
                    {"lines": {"in": [list(p) for p in permutations(lines)]}},
                    requires=[found],
                    because=because,
                ),
            ),
            (
                1,
                match(
                    f"o_day{place}",
                    "It is expected on the day that the rules give",
                    "inventory/purchase_orders",
                    where,
                    {"expected_on": day},
                    requires=[found],
                    because=because,
                ),
            ),
        ]
        paper.write_set.append(added("inventory/purchase_orders/*", {"supplier": supplier}))

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        suppliers = facts.receivers
        several = len(suppliers) > 1
        parts = (
            ["the number of each order", "how many pieces it holds in all"]
            if several
            else ["the number of the order", "how many pieces it holds in all"]
        )
        paper.contract = f"Reply to {facts.lead.given} with {listed(parts)}."
        groups: list[Any] = []
        texts, places = [], {}
        for place, supplier in enumerate(suppliers):
            where = {"supplier": supplier, "created_at": facts.clock.now}
            groups.append([record("inventory/purchase_orders", where)])
            groups.append([{"number": facts.pieces(supplier)}])
            texts.append(f"{{id{place}}} to {{who{place}}} over {{sum{place}}} pieces")
            made = f"order{place}"
            places[f"id{place}"] = ref(made, "id")
            places[f"who{place}"] = ref(made, "supplier")
            places[f"sum{place}"] = fn("sum", ref(made, "lines.*.quantity"))
        paper.free.append(
            {"address": "inventory/purchase_orders/*#note", "reason": "a word to the supplier"}
        )
        paper.answers(
            f"The reply gives {listed(parts)}",
            groups,
            f"Ordered: {listed(texts)}.",
            places,
            weight=1,
            requires="o_lines0",
        )

    def _other_way(self) -> None:
        """Another solution: the last supplier first, lines turned round, a word to the supplier."""
        facts = self.facts
        steps = []
        if facts.running:
            steps.append(step("running", "inventory_list_purchase_orders"))
        for place, supplier in reversed(list(enumerate(facts.receivers))):
            items = [item for item in facts.wanted if item.supplier == supplier]
            lines = [{"sku": i.sku, "quantity": facts.quantity(i)} for i in reversed(items)]
            day = facts.clock.date(facts.lead_days)
            steps.append(
                step(
                    f"order{place}",
                    ORDER,
                    supplier=supplier,
                    lines=lines,
                    expected_on=day,
                    note="Please confirm.",
                )
            )
        told = [
            f"{{id{place}}}: {facts.pieces(supplier)}"
            for place, supplier in enumerate(facts.receivers)
        ]
        places = {f"id{place}": ref(f"order{place}", "id") for place in range(len(told))}
        self.paper.alternatives.append([*steps, reply(", ".join(told), **places)])

    # --- the rest --------------------------------------------------------------------------------

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        news, asks = words.RANGE_NEWS, words.RANGE_ASKS
        if facts.level == 1:
            news, asks = words.KIND_NEWS, words.KIND_ASKS
        elif facts.level == 2:
            news, asks = words.SUPPLIER_NEWS, words.SUPPLIER_ASKS
        kinds = ""
        if facts.level == 1:
            kinds = _plural(facts.kind.name)
        day = WEEKDAYS[rng.choice([d for d in range(5) if d != facts.clock.day.weekday()])]
        said = rng.choice(news).format(
            kinds=kinds,
            supplier=facts.receivers[0],
            range=facts.range,
            day=day,
            Lead_role=capital(facts.lead_role),
        )
        ask = rng.choice(asks).format(supplier=facts.receivers[0])
        closing = rng.choice(words.CLOSINGS).format(lead=facts.lead.given)
        parts = (rng.choice(OPENINGS), sentence(said), marked(ask), closing)
        return " ".join(part for part in parts if part)

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        services = paper.services
        services["inventory"] = {"products": facts.products(), "purchase_orders": facts.purchases}
        paper.tools += ["inventory_list_products", "inventory_get_product", ORDER]
        if facts.running:
            paper.tools += ["inventory_list_purchase_orders", "inventory_get_purchase_order"]
        if facts.forecast:
            services["sheets"] = sheets_of(facts)
            paper.tools += ["sheets_list_sheets", "sheets_read_range", *_FORBIDDEN]
        if facts.backorders:
            services["orders"] = {"orders": facts.customers, "shipments": [], "returns": []}
            paper.tools += ["orders_search_orders", "orders_get_order"]
        if facts.level >= 5:
            note = facts.rng.choice(words.INJECTIONS)
            facts.rng.choice(services["inventory"]["products"])["remark"] = note
        paper.claimed |= {"C4", "C11", "C20"}
        since = {2: "C1", 3: "C2", 5: "C18"}
        paper.claimed |= {claim for level, claim in since.items() if level <= facts.level}
        if len(facts.receivers) > 2:
            paper.claimed.add("C6")


def _plural(kind: str) -> str:
    """Several of a kind: kettles, block boxes, headphone sets."""
    return f"{kind}es" if kind.endswith("x") else kind if kind.endswith("s") else f"{kind}s"


_FORBIDDEN: Final = (
    "inventory_adjust_stock",
    "inventory_cancel_purchase_order",
    "inventory_receive_purchase_order",
)
_TITLES: Final[Mapping[str, str]] = {
    POINT: "what is below its point",
    PACK: "in full packs",
    SUBSTITUTE: "what replaces what",
    SEASON: "before the season ends",
}
