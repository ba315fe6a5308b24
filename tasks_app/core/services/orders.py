"""Orders of customers: lines, shipments and returns.

An order is placed, confirmed, packing or packed; then shipped and delivered, or cancelled. What
left the house cannot be cancelled or redirected; only what was delivered can be returned.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Day, Limit, Query, RecordId, Service, collection, tool
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    by_time,
    in_days,
    number,
    objects,
    page,
    search,
    select,
    state_of,
)

LineNumber = Annotated[int, Field(ge=1, le=10_000)]
Quantity = Annotated[int, Field(ge=1, le=100_000)]
CancelReason = Literal["customer_request", "out_of_stock", "payment_failed", "duplicate", "fraud"]
DeclineReason = Literal["too_old", "not_delivered", "not_permitted", "no_such_article"]
ReturnReason = Literal["damaged", "defective", "wrong_article", "not_as_described", "unwanted"]

_SENT: Final = ("shipped", "delivered", "returned")
_SUMMARY: Final = ("id", "customer_id", "customer_name", "placed_on", "delivered_on", "status")


class Line(TypedDict, total=False):
    """One article of an order."""

    line: ReadOnly[int]
    sku: ReadOnly[str]
    name: ReadOnly[str]
    quantity: ReadOnly[int]
    unit_price: ReadOnly[float]
    status: ReadOnly[str]


class Order(TypedDict, total=False):
    """What a customer ordered."""

    id: ReadOnly[str]
    customer_id: ReadOnly[str | None]
    customer_name: ReadOnly[str | None]
    placed_on: ReadOnly[str]
    delivered_on: ReadOnly[str | None]
    status: ReadOnly[str]
    voucher_percent: ReadOnly[float]
    delivery_charge: ReadOnly[float]
    currency: ReadOnly[str]
    address: ReadOnly[str | None]
    lines: ReadOnly[Sequence[Line]]
    cancel_reason: ReadOnly[str | None]
    request: ReadOnly[str | None]
    decline_reason: ReadOnly[str | None]
    updated_at: ReadOnly[str]


class Shipment(TypedDict, total=False):
    """A parcel on its way, or one sent again."""

    id: ReadOnly[str]
    order_id: ReadOnly[str]
    line: ReadOnly[int]
    sku: ReadOnly[str]
    quantity: ReadOnly[float]
    status: ReadOnly[str]
    carrier: ReadOnly[str | None]
    created_at: ReadOnly[str]


class Return(TypedDict, total=False):
    """An article that comes back."""

    id: ReadOnly[str]
    order_id: ReadOnly[str]
    line: ReadOnly[int]
    quantity: ReadOnly[float]
    reason: ReadOnly[str]
    status: ReadOnly[str]
    created_at: ReadOnly[str]


class Orders(Service):
    """Orders, shipments and returns."""

    name = "orders"
    function = "customers"
    purpose = "Look orders up, change what is still allowed, send again, take back."

    orders = collection(Order, prefix="OR", width=5)
    shipments = collection(Shipment, prefix="SH")
    returns = collection(Return, prefix="RT")

    @tool()
    def search_orders(
        self,
        query: Query | None = None,
        customer_id: RecordId | None = None,
        status: Word | None = None,
        placed_from: Day | None = None,
        placed_until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """Find orders; all that is given must hold. What was ordered is shown by orders_get_order.

        Args:
            query: Words that must all occur somewhere in the order, such as an article.
            customer_id: Only orders of this customer.
            status: Only orders with this status.
            placed_from: Only orders placed on this day or later.
            placed_until: Only orders placed on this day or earlier.
            limit: How many to show at most.
        """
        rows = select(search(self.orders, query), customer_id=customer_id, status=status)
        rows = in_days(rows, "placed_on", placed_from, placed_until)
        return page("orders", rows, limit, _SUMMARY)

    @tool()
    def get_order(self, order_id: RecordId) -> Order:
        """Show one order with its lines.

        Args:
            order_id: The order to show.
        """
        return self.orders[order_id]

    @tool(writes=True, fills=("orders#updated_at",))
    def cancel_order(self, order_id: RecordId, reason: CancelReason) -> Order:
        """Cancel a whole order that has not left the house.

        Args:
            order_id: The order to cancel.
            reason: Why it is cancelled.
        """
        order = self._open_order(order_id)
        return self._put(order, {"status": "cancelled", "cancel_reason": reason})

    @tool(writes=True, fills=("orders#updated_at",))
    def cancel_line(self, order_id: RecordId, line: LineNumber) -> Order:
        """Cancel one line of an order that has not left the house; the others stay.

        Args:
            order_id: The order that is changed.
            line: The number of the line to cancel.
        """
        wanted = _line(self.orders[order_id], line)
        order = self._open_order(order_id)
        if state_of(wanted) == "cancelled":
            raise ToolError("conflict", f"line {line} of {order_id} is cancelled already")
        left = [item for item in objects(order.get("lines")) if state_of(item) != "cancelled"]
        if len(left) == 1:
            raise ToolError("conflict", f"it is the last line; cancel {order_id} instead")
        return self._put(order, {"lines": _replaced(order, wanted, {"status": "cancelled"})})

    @tool(writes=True, fills=("orders#updated_at",))
    def change_quantity(self, order_id: RecordId, line: LineNumber, quantity: Quantity) -> Order:
        """Change how many of an article are sent, while the order has not left the house.

        Args:
            order_id: The order that is changed.
            line: The number of the line.
            quantity: The new number of pieces.
        """
        wanted = _line(self.orders[order_id], line)
        order = self._open_order(order_id)
        if state_of(wanted) == "cancelled":
            raise ToolError("conflict", f"line {line} of {order_id} is cancelled")
        return self._put(order, {"lines": _replaced(order, wanted, {"quantity": quantity})})

    @tool(writes=True, fills=("orders#updated_at",))
    def change_address(self, order_id: RecordId, address: Word) -> Order:
        """Change where an order goes, while it has not left the house.

        Args:
            order_id: The order that is changed.
            address: The new address in one line.
        """
        return self._put(self._open_order(order_id), {"address": address})

    @tool(writes=True, fills=("orders#updated_at",))
    def decline_request(self, order_id: RecordId, reason: DeclineReason) -> Order:
        """Decline what a customer asked about an order, with the reason.

        Args:
            order_id: The order that it is about.
            reason: Why it is declined.
        """
        order = self.orders[order_id]
        if order.get("request") == "declined":
            raise ToolError("conflict", f"the request about {order_id} is declined already")
        return self._put(order, {"request": "declined", "decline_reason": reason})

    @tool(
        writes=True,
        fills=("shipments#created_at", "shipments#status"),
    )
    def reship_line(
        self,
        order_id: RecordId,
        line: LineNumber,
        sku: Word,
        quantity: Quantity | None = None,
    ) -> Shipment:
        """Send an article of an order again, free of charge.

        Args:
            order_id: The order that it belongs to.
            line: The number of the line.
            sku: The article to send, normally that of the line.
            quantity: How many; left out, as many as were ordered.
        """
        order = self.orders[order_id]
        wanted = _line(order, line)
        ordered = max(1, int(number(wanted.get("quantity"))))
        if quantity is not None and quantity > ordered:
            raise ToolError("invalid_value", f"only {ordered} were ordered on line {line}")
        if state_of(order) not in _SENT:
            raise ToolError("conflict", f"{order_id} has not been sent yet")
        return self.shipments.put(
            {
                "id": self.shipments.new_id(),
                "order_id": order_id,
                "line": line,
                "sku": sku,
                "quantity": ordered if quantity is None else quantity,
                "status": "preparing",
                "created_at": self.now,
            }
        )

    @tool()
    def list_shipments(
        self,
        order_id: RecordId | None = None,
        status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List shipments, oldest first.

        Args:
            order_id: Only shipments of this order.
            status: Only shipments with this status.
            limit: How many to show at most.
        """
        rows = select(self.shipments, order_id=order_id, status=status)
        return page("shipments", by_time(rows, "created_at"), limit)

    @tool()
    def get_shipment(self, shipment_id: RecordId) -> Shipment:
        """Show one shipment.

        Args:
            shipment_id: The shipment to show.
        """
        return self.shipments[shipment_id]

    @tool(writes=True, fills=("returns#created_at", "returns#status"))
    def create_return(
        self,
        order_id: RecordId,
        line: LineNumber,
        reason: ReturnReason,
        quantity: Quantity | None = None,
    ) -> Return:
        """Announce that an article of a delivered order comes back.

        Args:
            order_id: The order that it belongs to.
            line: The number of the line.
            reason: Why it comes back.
            quantity: How many; left out, as many as were ordered.
        """
        order = self.orders[order_id]
        ordered = max(1, int(number(_line(order, line).get("quantity"))))
        if quantity is not None and quantity > ordered:
            raise ToolError("invalid_value", f"only {ordered} were ordered on line {line}")
        if state_of(order) not in ("delivered", "returned"):
            raise ToolError("conflict", f"{order_id} has not been delivered")
        return self.returns.put(
            {
                "id": self.returns.new_id(),
                "order_id": order_id,
                "line": line,
                "quantity": ordered if quantity is None else quantity,
                "reason": reason,
                "status": "announced",
                "created_at": self.now,
            }
        )

    @tool()
    def list_returns(
        self,
        order_id: RecordId | None = None,
        status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List returns, oldest first.

        Args:
            order_id: Only returns of this order.
            status: Only returns with this status.
            limit: How many to show at most.
        """
        rows = select(self.returns, order_id=order_id, status=status)
        return page("returns", by_time(rows, "created_at"), limit)

    def _open_order(self, order_id: str) -> Order:
        order = self.orders[order_id]
        if state_of(order) in (*_SENT, "cancelled"):
            raise ToolError("conflict", f"{order_id} is {state_of(order)}; it cannot be changed")
        return order

    def _put(self, order: Order, values: dict[str, Any]) -> Order:
        return self.orders.put(cast(Order, {**order, **values, "updated_at": self.now}))


def _line(order: Order, line: int) -> Mapping[str, Any]:
    for item in objects(order.get("lines")):
        if item.get("line") == line:
            return item
    raise ToolError("not_found", f"{order.get('id')} has no line {line}")


def _replaced(
    order: Order, wanted: Mapping[str, Any], values: dict[str, Any]
) -> list[Mapping[str, Any]]:
    lines: Sequence[Any] = order.get("lines") or ()
    return [{**item, **values} if item is wanted else item for item in lines]
