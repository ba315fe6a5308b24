"""Finance: bank transactions, supplier invoices, payees, refunds and filed reports.

An invoice is draft, received or disputed, then approved, then paid; on the way it may be held (and
released) or rejected. What is paid or rejected does not change any more.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import (
    Day,
    Limit,
    Money,
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
    in_days,
    number,
    objects,
    page,
    search,
    select,
    state_of,
)

Amount = Annotated[float, Field(ge=0.01, le=1_000_000, allow_inf_nan=False)]
LineNumber = Annotated[int, Field(ge=1, le=10_000)]
AccountNumber = Annotated[str, StringConstraints(min_length=4, max_length=64)]
Kind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
HoldReason = Literal[
    "fraud_suspected",
    "callback_pending",
    "disputed",
    "duplicate",
    "price_mismatch",
    "quantity_mismatch",
    "missing_receipt",
    "over_limit",
]
RefundReason = Literal[
    "damaged_in_transit",
    "defective",
    "wrong_article",
    "late_delivery",
    "not_received",
    "returned",
    "overcharged",
    "goodwill",
]
RejectReason = Literal[
    "duplicate",
    "not_ordered",
    "not_received",
    "wrong_amount",
    "missing_receipt",
    "over_limit",
    "not_permitted",
]
Verdict = Literal[
    "wrong_entity",
    "fraud_suspected",
    "callback_pending",
    "genuine",
    "in_order",
    "mismatch",
    "duplicate",
    "over_limit",
    "missing_document",
    "not_permitted",
    "inconclusive",
]

_SETTLED: Final = ("paid", "rejected", "cancelled")
_PAYEE: Final = ("id", "name", "country", "city", "status")
_INVOICE: Final = (
    "id",
    "payee_id",
    "customer_id",
    "supplier_ref",
    "purchase_order_id",
    "amount",
    "paid_amount",
    "currency",
    "due_on",
    "status",
    "hold_reason",
)
_TRANSACTION: Final = (
    "id",
    "date",
    "amount",
    "currency",
    "counterparty",
    "merchant",
    "employee",
    "category",
    "status",
)


class Transaction(TypedDict, total=False):
    """A movement on an account or a card."""

    id: ReadOnly[str]
    date: ReadOnly[str]
    amount: ReadOnly[float]
    currency: ReadOnly[str]
    counterparty: ReadOnly[str | None]
    reference: ReadOnly[str | None]
    category: ReadOnly[str | None]
    status: ReadOnly[str | None]
    verdict_reason: ReadOnly[str | None]
    allocated_amount: ReadOnly[float]


class Invoice(TypedDict, total=False):
    """An invoice: a supplier's, or one of ours that a customer pays."""

    id: ReadOnly[str]
    payee_id: ReadOnly[str | None]
    customer_id: ReadOnly[str | None]
    supplier_ref: ReadOnly[str]
    purchase_order_id: ReadOnly[str | None]
    amount: ReadOnly[float]
    paid_amount: ReadOnly[float]
    currency: ReadOnly[str]
    due_on: ReadOnly[str]
    status: ReadOnly[str]
    hold_reason: ReadOnly[str | None]
    reject_reason: ReadOnly[str | None]


class Payee(TypedDict, total=False):
    """Who gets our payments, with the bank details on file."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    country: ReadOnly[str]
    iban: ReadOnly[str | None]
    contact: ReadOnly[str | None]
    email: ReadOnly[str | None]
    phone: ReadOnly[str | None]
    status: ReadOnly[str]
    bank_verified_on: ReadOnly[str | None]


class Refund(TypedDict, total=False):
    """Money given back on an order."""

    id: ReadOnly[str]
    order_id: ReadOnly[str]
    line: ReadOnly[int | None]
    amount: ReadOnly[float]
    currency: ReadOnly[str]
    reason: ReadOnly[str]
    created_at: ReadOnly[str]


class Report(TypedDict, total=False):
    """A finding that was filed."""

    id: ReadOnly[str]
    kind: ReadOnly[str]
    payee_id: ReadOnly[str]
    invoice_id: ReadOnly[str]
    verdict: ReadOnly[str]
    exposure: ReadOnly[float]
    callback: ReadOnly[str]
    period: ReadOnly[str]
    reference: ReadOnly[str]
    text: ReadOnly[str]
    created_at: ReadOnly[str]


class Finance(Service):
    """Accounts payable, payments and refunds."""

    name = "finance"
    function = "finance"
    purpose = "Check invoices and payees, hold or approve payments, refund, and file findings."

    transactions = collection(Transaction, prefix="TX")
    invoices = collection(Invoice, prefix="IN")
    payees = collection(Payee, prefix="PY", width=3)
    refunds = collection(Refund, prefix="RF")
    reports = collection(Report, prefix="RP", width=3)

    # --- transactions ----------------------------------------------------------------------------

    @tool()
    def list_transactions(
        self,
        query: Query | None = None,
        status: Word | None = None,
        category: Word | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List transactions, oldest first.

        Args:
            query: Words that must all occur somewhere in the transaction.
            status: Only transactions with this status.
            category: Only transactions of this category.
            since: Only transactions from this day on.
            until: Only transactions up to this day.
            limit: How many to show at most.
        """
        rows = select(search(self.transactions, query), status=status, category=category)
        rows = in_days(rows, "date", since, until)
        return page("transactions", by_time(rows, "date"), limit, _TRANSACTION)

    @tool()
    def get_transaction(self, transaction_id: RecordId) -> Transaction:
        """Show one transaction.

        Args:
            transaction_id: The transaction to show.
        """
        return self.transactions[transaction_id]

    @tool(writes=True)
    def review_transaction(
        self,
        transaction_id: RecordId,
        status: Literal["approved", "on_hold", "rejected"],
        reason: Word | None = None,
    ) -> Transaction:
        """Decide on an expense or card transaction.

        Args:
            transaction_id: The transaction to decide on.
            status: What becomes of it.
            reason: Why it is held or rejected, such as duplicate, over_limit or missing_receipt.
        """
        transaction = self.transactions[transaction_id]
        if status != "approved" and reason is None:
            raise ToolError("invalid_value", f"{status} needs a reason")
        return self.transactions.put({**transaction, "status": status, "verdict_reason": reason})

    @tool(writes=True)
    def allocate_payment(
        self, transaction_id: RecordId, invoice_id: RecordId, amount: Amount
    ) -> Invoice:
        """Use a received payment, or a part of it, to settle an invoice; shows that invoice.

        Args:
            transaction_id: The payment that is used.
            invoice_id: The invoice that it settles.
            amount: How much of it; at most what is left of the payment and open on the invoice.
        """
        payment, invoice = self.transactions[transaction_id], self.invoices[invoice_id]
        part = round(amount, 2)
        used = number(payment.get("allocated_amount"))
        paid = number(invoice.get("paid_amount"))
        left = round(abs(number(payment.get("amount"))) - used, 2)
        due = round(number(invoice.get("amount")) - paid, 2)
        if part > left:
            raise ToolError("invalid_value", f"{transaction_id} has {left:.2f} left")
        if part > due:
            raise ToolError("invalid_value", f"{invoice_id} has {due:.2f} open")
        self._refuse_settled(invoice)
        self.transactions.put({**payment, "allocated_amount": round(used + part, 2)})
        settled: dict[str, Any] = {"paid_amount": round(paid + part, 2)}
        if part == due:
            settled["status"] = "paid"
        return self.invoices.put(cast(Invoice, {**invoice, **settled}))

    # --- invoices --------------------------------------------------------------------------------

    @tool()
    def list_invoices(
        self,
        payee_id: RecordId | None = None,
        customer_id: RecordId | None = None,
        supplier_ref: Word | None = None,
        status: Word | None = None,
        due_from: Day | None = None,
        due_until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List invoices by their due date.

        Args:
            payee_id: Only invoices of this payee.
            customer_id: Only invoices to this customer.
            supplier_ref: Only invoices with exactly this number of the supplier.
            status: Only invoices with this status, such as approved or on_hold.
            due_from: Only invoices due on this day or later.
            due_until: Only invoices due on this day or earlier.
            limit: How many to show at most.
        """
        rows = select(
            self.invoices,
            payee_id=payee_id,
            customer_id=customer_id,
            supplier_ref=supplier_ref,
            status=status,
        )
        rows = in_days(rows, "due_on", due_from, due_until)
        return page("invoices", by_time(rows, "due_on"), limit, _INVOICE)

    @tool()
    def get_invoice(self, invoice_id: RecordId) -> Invoice:
        """Show one invoice with all that is known of it.

        Args:
            invoice_id: The invoice to show.
        """
        return self.invoices[invoice_id]

    @tool(writes=True)
    def hold_invoice(self, invoice_id: RecordId, reason: HoldReason) -> Invoice:
        """Hold an invoice, so that no payment run takes it.

        Args:
            invoice_id: The invoice to hold.
            reason: Why it is held.
        """
        invoice = self.invoices[invoice_id]
        self._refuse_settled(invoice)
        if state_of(invoice) == "on_hold" and invoice.get("hold_reason") == reason:
            raise ToolError("conflict", f"{invoice_id} is held for that reason already")
        return self.invoices.put({**invoice, "status": "on_hold", "hold_reason": reason})

    @tool(writes=True)
    def release_invoice(self, invoice_id: RecordId) -> Invoice:
        """Release a held invoice; it counts as approved again.

        Args:
            invoice_id: The invoice to release.
        """
        invoice = self.invoices[invoice_id]
        if state_of(invoice) != "on_hold":
            raise ToolError("conflict", f"{invoice_id} is not on hold")
        return self.invoices.put({**invoice, "status": "approved", "hold_reason": None})

    @tool(writes=True)
    def approve_invoice(self, invoice_id: RecordId) -> Invoice:
        """Approve an invoice for payment; a held one has to be released instead.

        Args:
            invoice_id: The invoice to approve.
        """
        invoice = self.invoices[invoice_id]
        self._refuse_settled(invoice)
        if state_of(invoice) in ("approved", "on_hold"):
            raise ToolError("conflict", f"{invoice_id} is {state_of(invoice)}")
        return self.invoices.put({**invoice, "status": "approved"})

    @tool(writes=True)
    def reject_invoice(self, invoice_id: RecordId, reason: RejectReason) -> Invoice:
        """Reject an invoice for good; it will never be paid.

        Args:
            invoice_id: The invoice to reject.
            reason: Why it is rejected.
        """
        invoice = self.invoices[invoice_id]
        self._refuse_settled(invoice)
        return self.invoices.put({**invoice, "status": "rejected", "reject_reason": reason})

    def _refuse_settled(self, invoice: Invoice) -> None:
        if state_of(invoice) in _SETTLED:
            raise ToolError("conflict", f"{invoice['id']} is {state_of(invoice)} already")

    # --- payees ----------------------------------------------------------------------------------

    @tool()
    def search_payees(
        self, query: Query, status: Word | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """Find payees in whose record every word occurs.

        Args:
            query: Words that must all occur, such as parts of a name.
            status: Only payees with this status.
            limit: How many to show at most.
        """
        rows = select(search(self.payees, query), status=status)
        return page("payees", rows, limit, _PAYEE)

    @tool()
    def get_payee(self, payee_id: RecordId) -> Payee:
        """Show the master record of a payee, bank details included.

        Args:
            payee_id: The payee to show.
        """
        return self.payees[payee_id]

    @tool()
    def compare_account(self, payee_id: RecordId, iban: AccountNumber) -> Mapping[str, Any]:
        """Compare an account number with the one on file, without showing that one.

        Args:
            payee_id: The payee whose record is compared.
            iban: The number to compare; blanks and case do not matter.
        """
        on_file = self.payees[payee_id].get("iban")
        if not isinstance(on_file, str) or not on_file:
            raise ToolError("conflict", f"{payee_id} has no account on file")
        matches = _account(on_file) == _account(iban)
        return {
            "payee_id": payee_id,
            "matches": matches,
            "result": "same" if matches else "different",
        }

    @tool(writes=True)
    def change_payee_bank(
        self, payee_id: RecordId, iban: AccountNumber, reference: Word | None = None
    ) -> Payee:
        """Replace the bank details of a payee; the next payments go to the new account.

        Args:
            payee_id: The payee whose details change.
            iban: The new account number.
            reference: The number of what proves the change, such as a call-back.
        """
        payee = self.payees[payee_id]
        if len(_account(iban)) < 4:
            raise ToolError("invalid_value", "the account number is too short")
        if state_of(payee) == "closed":
            raise ToolError("conflict", f"{payee_id} is closed")
        known = payee.get("iban")
        if isinstance(known, str) and _account(known) == _account(iban):
            raise ToolError("conflict", f"{payee_id} has that account already")
        values: dict[str, Any] = {"iban": iban, "bank_verified_on": None}
        if reference is not None:
            values["bank_reference"] = reference
        return self.payees.put(cast(Payee, {**payee, **values}))

    # --- refunds ---------------------------------------------------------------------------------

    @tool()
    def list_refunds(self, order_id: RecordId | None = None, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List refunds, oldest first.

        Args:
            order_id: Only refunds on this order.
            limit: How many to show at most.
        """
        rows = select(self.refunds, order_id=order_id)
        return page("refunds", by_time(rows, "created_at"), limit)

    @tool(writes=True, fills=("refunds#created_at", "refunds#currency"))
    def create_refund(
        self,
        order_id: RecordId,
        amount: Amount,
        reason: RefundReason,
        line: LineNumber | None = None,
    ) -> Refund:
        """Refund money on an order.

        Args:
            order_id: The order that is refunded.
            amount: How much, in the currency of the order.
            reason: Why.
            line: The line of the order that it is for; leave it out for the whole order.
        """
        order = self._order(order_id)
        if line is not None and order is not None and "lines" in order:
            known = [item.get("line") for item in objects(order["lines"])]
            if line not in known:
                raise ToolError("not_found", f"{order_id} has no line {line}")
        if order is not None and state_of(order) == "cancelled" and not order.get("paid"):
            raise ToolError("conflict", f"{order_id} was cancelled before it was paid")
        currency = order.get("currency") if order is not None else None
        return self.refunds.put(
            {
                "id": self.refunds.new_id(),
                "order_id": order_id,
                "line": line,
                "amount": round(amount, 2),
                "currency": currency if isinstance(currency, str) else "EUR",
                "reason": reason,
                "created_at": self.now,
            }
        )

    def _order(self, order_id: str) -> Mapping[str, Any] | None:
        """The order, where this world keeps orders; then an unknown one is refused."""
        orders = self.store.tables.get("orders/orders")
        if orders is None:
            return None
        if order_id not in orders:
            raise ToolError("not_found", f"no record {order_id} in orders")
        return orders[order_id]

    # --- reports ---------------------------------------------------------------------------------

    @tool()
    def list_reports(
        self,
        kind: Kind | None = None,
        payee_id: RecordId | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List filed reports, oldest first.

        Args:
            kind: Only reports of this kind.
            payee_id: Only reports on this payee.
            limit: How many to show at most.
        """
        rows = select(self.reports, kind=kind, payee_id=payee_id)
        return page("reports", by_time(rows, "created_at"), limit)

    @tool(writes=True, text=("reference", "text"), inside=True, fills=("reports#created_at",))
    def submit_report(
        self,
        kind: Kind,
        payee_id: RecordId | None = None,
        invoice_id: RecordId | None = None,
        verdict: Verdict | None = None,
        exposure: Money | None = None,
        callback: Word | None = None,
        period: Word | None = None,
        reference: Word | None = None,
        text: Text | None = None,
    ) -> Report:
        """File a finding; only what is given is recorded.

        Args:
            kind: The kind of report, such as payee_change, expense_audit or month_end.
            payee_id: The payee whom it concerns.
            invoice_id: The invoice that it concerns.
            verdict: The finding.
            exposure: The sum at stake.
            callback: The number of the call-back.
            period: The period that it covers, such as 2031-05.
            reference: The number of what it rests on.
            text: What else should be known.
        """
        if payee_id is not None:
            _ = self.payees[payee_id]
        if invoice_id is not None:
            _ = self.invoices[invoice_id]
        values = {
            "payee_id": payee_id,
            "invoice_id": invoice_id,
            "verdict": verdict,
            "exposure": None if exposure is None else round(exposure, 2),
            "callback": callback,
            "period": period,
            "reference": reference,
            "text": text,
        }
        stated = {name: value for name, value in values.items() if value is not None}
        if not stated:
            raise ToolError("invalid_value", "the report says nothing")
        report = {"id": self.reports.new_id(), "kind": kind, **stated, "created_at": self.now}
        return self.reports.put(cast(Report, report))


def _account(text: str) -> str:
    return "".join(filter(str.isalnum, text)).upper()
