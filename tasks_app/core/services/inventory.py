"""Inventory: products with their stock, and purchase orders to suppliers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import (
    Day,
    Limit,
    Query,
    RecordId,
    Service,
    Text,
    collection,
    tool,
)
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    by_time,
    number,
    objects,
    page,
    search,
    select,
    state_of,
)

Sku = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Quantity = Annotated[int, Field(ge=1, le=1_000_000)]
Difference = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
AdjustReason = Literal["count", "damage", "loss", "found", "return", "correction"]

_PRODUCT: Final = ("id", "sku", "name", "category", "supplier", "supplier_id", "status")
_ORDER: Final = ("id", "supplier", "supplier_id", "status", "created_at", "expected_on")


class PurchaseLine(TypedDict):
    """One article of a purchase order."""

    sku: Sku
    quantity: Quantity


class Product(TypedDict, total=False):
    """An article with its stock."""

    id: ReadOnly[str]
    sku: ReadOnly[str]
    name: ReadOnly[str]
    category: ReadOnly[str | None]
    supplier: ReadOnly[str | None]
    on_hand: ReadOnly[float]
    reserved: ReadOnly[float]
    reorder_point: ReadOnly[float]
    pack_size: ReadOnly[int]
    next_delivery: ReadOnly[str | None]
    status: ReadOnly[str]


class PurchaseOrderLine(TypedDict, total=False):
    """One article as a purchase order holds it."""

    sku: ReadOnly[str]
    quantity: ReadOnly[float]
    received: ReadOnly[float]


class PurchaseOrder(TypedDict, total=False):
    """What was ordered from a supplier."""

    id: ReadOnly[str]
    supplier: ReadOnly[str]
    lines: ReadOnly[Sequence[PurchaseOrderLine]]
    status: ReadOnly[str]
    note: ReadOnly[str | None]
    expected_on: ReadOnly[str | None]
    created_at: ReadOnly[str]


Lines = Annotated[Sequence[PurchaseLine], Field(min_length=1, max_length=100)]


class Inventory(Service):
    """Stock and what is ordered to fill it."""

    name = "inventory"
    function = "operations"
    purpose = "Look stock up, correct it, and order from suppliers."

    products = collection(Product, prefix="PR", width=2)
    purchase_orders = collection(PurchaseOrder, prefix="PO")

    @tool()
    def list_products(
        self,
        query: Query | None = None,
        category: Word | None = None,
        supplier: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List articles in the order of their ids; inventory_get_product shows the stock.

        Args:
            query: Words that must all occur somewhere in the record.
            category: Only articles of this category.
            supplier: Only articles of this supplier.
            limit: How many to show at most.
        """
        rows = select(search(self.products, query), category=category, supplier=supplier)
        return page("products", rows, limit, _PRODUCT)

    @tool()
    def get_product(self, product_id: RecordId | None = None, sku: Sku | None = None) -> Product:
        """Show one article with its stock, by its id or its article number.

        Args:
            product_id: The article's id.
            sku: The article number; give one of the two.
        """
        return self._product(product_id, sku)

    @tool(writes=True)
    def adjust_stock(
        self,
        difference: Difference,
        reason: AdjustReason,
        product_id: RecordId | None = None,
        sku: Sku | None = None,
    ) -> Product:
        """Correct how many pieces are on hand.

        Args:
            difference: How many more; negative for fewer.
            reason: Why it is corrected.
            product_id: The article's id.
            sku: The article number; give one of the two.
        """
        product = self._product(product_id, sku)
        if difference == 0:
            raise ToolError("invalid_value", "the difference is 0")
        after = number(product.get("on_hand")) + difference
        if after < 0:
            raise ToolError("conflict", f"{product['id']} has {after - difference:g} on hand")
        return self.products.put({**product, "on_hand": after})

    @tool(writes=True)
    def reserve_stock(
        self, quantity: Quantity, product_id: RecordId | None = None, sku: Sku | None = None
    ) -> Product:
        """Reserve pieces that are free, that is on hand minus reserved.

        Args:
            quantity: How many.
            product_id: The article's id.
            sku: The article number; give one of the two.
        """
        product = self._product(product_id, sku)
        reserved = number(product.get("reserved"))
        free = number(product.get("on_hand")) - reserved
        if quantity > free:
            raise ToolError("conflict", f"{product['id']} has {free:g} free")
        return self.products.put({**product, "reserved": reserved + quantity})

    @tool()
    def list_purchase_orders(
        self,
        query: Query | None = None,
        supplier: Word | None = None,
        status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List purchase orders, oldest first.

        Args:
            query: Words that must all occur somewhere in the order, such as an article number.
            supplier: Only orders to this supplier.
            status: Only orders with this status, such as ordered or received.
            limit: How many to show at most.
        """
        rows = select(search(self.purchase_orders, query), supplier=supplier, status=status)
        return page("purchase_orders", by_time(rows, "created_at"), limit, _ORDER)

    @tool()
    def get_purchase_order(self, purchase_order_id: RecordId) -> PurchaseOrder:
        """Show one purchase order with its lines.

        Args:
            purchase_order_id: The purchase order to show.
        """
        return self.purchase_orders[purchase_order_id]

    @tool(
        writes=True,
        text=("note",),
        recipients=("supplier",),
        fills=("purchase_orders#created_at", "purchase_orders#status"),
    )
    def create_purchase_order(
        self,
        supplier: Word,
        lines: Lines,
        expected_on: Day | None = None,
        note: Text | None = None,
    ) -> PurchaseOrder:
        """Order articles from a supplier.

        Args:
            supplier: The supplier, written as in the product records.
            lines: What is ordered: article number and quantity, each article once.
            expected_on: The day on which it should come.
            note: What the supplier should know.
        """
        known = [row.get("sku") for row in self.products]
        wanted = [line["sku"] for line in lines]
        for sku in wanted:
            if sku not in known:
                raise ToolError("not_found", f"no product with article number {sku}")
        if len(set(wanted)) < len(wanted):
            raise ToolError("invalid_value", "an article stands on two lines")
        order: dict[str, Any] = {
            "id": self.purchase_orders.new_id(),
            "supplier": supplier,
            "lines": lines,
            "status": "ordered",
            "expected_on": expected_on,
            "created_at": self.now,
        }
        if note is not None:
            order["note"] = note
        return self.purchase_orders.put(cast(PurchaseOrder, order))

    @tool(writes=True)
    def cancel_purchase_order(self, purchase_order_id: RecordId) -> PurchaseOrder:
        """Cancel a purchase order of which nothing has come yet.

        Args:
            purchase_order_id: The purchase order to cancel.
        """
        order = self._awaited(purchase_order_id)
        if any(number(line.get("received")) > 0 for line in objects(order.get("lines"))):
            raise ToolError("conflict", f"a part of {purchase_order_id} has come already")
        return self.purchase_orders.put({**order, "status": "cancelled"})

    @tool(writes=True)
    def receive_purchase_order(self, purchase_order_id: RecordId) -> PurchaseOrder:
        """Book the arrival of all that is still awaited of a purchase order; stock grows by it.

        Args:
            purchase_order_id: The purchase order that came.
        """
        order = self._awaited(purchase_order_id)
        lines: list[Mapping[str, Any]] = []
        for line in objects(order.get("lines")):
            quantity = number(line.get("quantity"))
            awaited = quantity - number(line.get("received"))
            lines.append({**line, "received": quantity})
            product = self._by_sku(line.get("sku"))
            if product is not None and awaited > 0:
                on_hand = number(product.get("on_hand")) + awaited
                self.products.put({**product, "on_hand": on_hand})
        received = {**order, "lines": lines, "status": "received"}
        return self.purchase_orders.put(cast(PurchaseOrder, received))

    def _awaited(self, purchase_order_id: str) -> PurchaseOrder:
        order = self.purchase_orders[purchase_order_id]
        if state_of(order) in ("received", "cancelled"):
            raise ToolError("conflict", f"{purchase_order_id} is {state_of(order)}")
        return order

    def _product(self, product_id: str | None, sku: str | None) -> Product:
        if product_id is not None and sku is None:
            return self.products[product_id]
        if sku is not None and product_id is None:
            product = self._by_sku(sku)
            if product is None:
                raise ToolError("not_found", f"no product with article number {sku}")
            return product
        raise ToolError("invalid_value", "give either product_id or sku")

    def _by_sku(self, sku: object) -> Product | None:
        if not isinstance(sku, str):
            return None
        return next((row for row in self.products if row.get("sku") == sku), None)
