"""How the reference reads stock, running orders, forecast and terms, and reckons what is short."""

from typing import Any

from tasks_app.core.generation.families.stock_replenishment.facts import Item
from tasks_app.core.generation.families.stock_replenishment.records import StockFacts
from tasks_app.core.generation.families.stock_replenishment.sheets import FORECAST, TERMS
from tasks_app.core.generation.forms import Json, filled, fn, ref, step


class Reckoning:
    """Reads, and gives bindings to what is read and reckoned."""

    def __init__(self, facts: StockFacts, steps: list[Json]):
        self.facts = facts
        self.steps = steps

    def read(self) -> None:
        """Steps to all that is reckoned with."""
        facts, steps = self.facts, self.steps
        if facts.forecast:
            steps += [
                step("sheets", "sheets_list_sheets"),
                self._range("forecast", FORECAST.format(range=facts.range)),
            ]
            if facts.terms:
                steps.append(self._range("terms", TERMS))
            skus = ref("forecast", "values", take="all", field="0")
        elif facts.level == 1:
            steps.append(step("listed", "inventory_list_products", query=facts.kind.name))
            skus = ref("listed", "products", take="all", field="sku")
        else:
            supplier = facts.receivers[0]
            steps.append(step("listed", "inventory_list_products", supplier=supplier))
            skus = ref("listed", "products", take="all", field="sku")
        steps.append(step("cards", "inventory_get_product", each=skus, sku=ref("item")))
        if facts.running:
            steps += [
                step("running", "inventory_list_purchase_orders", status="ordered"),
                step(
                    "coming",
                    "inventory_get_purchase_order",
                    each=ref("running", "purchase_orders", take="all", field="id"),
                    purchase_order_id=ref("item"),
                ),
            ]
        if facts.backorders:
            steps += [
                step("asked", "orders_search_orders", status="waiting"),
                step(
                    "waiting",
                    "orders_get_order",
                    each=ref("asked", "orders", take="all", field="id"),
                    order_id=ref("item"),
                ),
            ]

    def _range(self, name: str, title: str) -> Json:
        found = ref("sheets", "sheets", where={"title": title}, field="id")
        if name == "terms":
            return step(name, "sheets_read_range", sheet_id=found)
        last = ref("sheets", "sheets", where={"title": title}, field="rows")
        cells = filled("A2:H{last}", last=last)  # without the line that says which week is which
        return step(name, "sheets_read_range", sheet_id=found, cells=cells)

    # --- reckoning -------------------------------------------------------------------------------

    def of(self, item: Item, name: str) -> Json:
        """A field of an article's record."""
        return ref("cards", where={"name": item.name}, field=name)

    def sku(self, item: Item) -> Json:
        """Its number."""
        return self.of(item, "sku")

    def _free(self, item: Item) -> Json:
        return fn("sub", self.of(item, "on_hand"), self.of(item, "reserved"))

    def _lines(self, source: str, item: Item, name: str) -> Json:
        where = {"sku": self.sku(item)}
        return fn("sum", ref(source, "*.lines.*", where=where, take="all", field=name))

    def _there(self, item: Item) -> Json:
        parts: list[Json] = [self._free(item)]
        if self.facts.running:
            quantity, received = (self._lines("coming", item, n) for n in ("quantity", "received"))
            parts.append(fn("sub", quantity, received))
        if item.old is not None:
            parts.append(self._free(item.old))
        return parts[0] if len(parts) == 1 else fn("sum", parts)

    def _target(self, item: Item) -> Json:
        facts = self.facts
        if not facts.forecast:
            return fn("mul", self.of(item, "reorder_point"), facts.times)
        row = {"0": self.sku(item)}
        cells = [
            ref("forecast", "values", where=row, field=str(4 + place))
            for place in range(facts.ahead)
        ]
        parts: list[Any] = [*cells, facts.reserve]
        if facts.backorders:
            parts.append(self._lines("waiting", item, "quantity"))
        return fn("sum", parts)

    def quantity(self, item: Item) -> Json:
        """How many are to be ordered."""
        facts = self.facts
        need = fn("sub", self._target(item), self._there(item))
        if not facts.packed:
            return need
        pack = self.of(item, "pack_size")
        if facts.terms:
            pack = ref("terms", "values", where={"0": self.sku(item)}, field="2")
        return fn("round_up", need, pack)
