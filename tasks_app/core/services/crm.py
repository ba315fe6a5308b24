"""Customers: their records, notes about them, and exports of chosen fields."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, cast

from pydantic import Field
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import (
    Email,
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
    given,
    page,
    search,
    select,
    state_of,
)

CustomerIds = Annotated[Sequence[RecordId], Field(min_length=1, max_length=500)]
FieldNames = Annotated[Sequence[Word], Field(min_length=1, max_length=30)]

_SUMMARY: Final = ("id", "name", "city", "company", "segment", "status")


class Customer(TypedDict, total=False):
    """Somebody who buys."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    company: ReadOnly[str | None]
    city: ReadOnly[str | None]
    address: ReadOnly[str | None]
    email: ReadOnly[str | None]
    phone: ReadOnly[str | None]
    segment: ReadOnly[str | None]
    status: ReadOnly[str]
    owner: ReadOnly[str | None]
    since: ReadOnly[str]
    merged_into: ReadOnly[str]
    updated_at: ReadOnly[str]


class CustomerNote(TypedDict, total=False):
    """A remark about a customer."""

    id: ReadOnly[str]
    customer_id: ReadOnly[str]
    author: ReadOnly[str | None]
    body: ReadOnly[str]
    created_at: ReadOnly[str]


class Export(TypedDict, total=False):
    """Fields of customers that were given to somebody."""

    id: ReadOnly[str]
    customer_ids: ReadOnly[Sequence[str]]
    fields: ReadOnly[Sequence[str]]
    recipient: ReadOnly[str]
    purpose: ReadOnly[str]
    note: ReadOnly[str]
    created_at: ReadOnly[str]


class Crm(Service):
    """Customers and what is known of them."""

    name = "crm"
    function = "customers"
    purpose = "Look customers up, keep their records right, and hand out no more than allowed."

    customers = collection(Customer, prefix="CU")
    notes = collection(CustomerNote, prefix="NO")
    exports = collection(Export, prefix="EX")

    @tool()
    def search_customers(
        self,
        query: Query,
        segment: Word | None = None,
        status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """Find customers in whose record every word occurs.

        Args:
            query: Words that must all occur, such as parts of a name or a city.
            segment: Only customers of this segment.
            status: Only customers with this status.
            limit: How many to show at most.
        """
        rows = select(search(self.customers, query), segment=segment, status=status)
        return page("customers", rows, limit, _SUMMARY)

    @tool()
    def list_customers(
        self,
        city: Word | None = None,
        segment: Word | None = None,
        status: Word | None = None,
        owner: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List customers in the order of their ids.

        Args:
            city: Only customers in this city.
            segment: Only customers of this segment.
            status: Only customers with this status.
            owner: Only customers whom this colleague looks after.
            limit: How many to show at most.
        """
        rows = select(self.customers, city=city, segment=segment, status=status, owner=owner)
        return page("customers", rows, limit, _SUMMARY)

    @tool()
    def get_customer(self, customer_id: RecordId) -> Customer:
        """Show the whole record of a customer.

        Args:
            customer_id: The customer to show.
        """
        return self.customers[customer_id]

    @tool(writes=True, fills=("customers#updated_at",))
    def update_customer(
        self,
        customer_id: RecordId,
        name: Word | None = None,
        company: Word | None = None,
        city: Word | None = None,
        address: Word | None = None,
        email: Email | None = None,
        phone: Word | None = None,
        segment: Word | None = None,
        status: Word | None = None,
        owner: Word | None = None,
    ) -> Customer:
        """Change fields of a customer; what is left out stays as it is.

        Args:
            customer_id: The customer to change.
            name: The name.
            company: The company.
            city: The city.
            address: The postal address in one line.
            email: The mail address.
            phone: The telephone number.
            segment: The segment.
            status: The status, such as active or inactive.
            owner: The colleague who looks after the customer.
        """
        customer = self.customers[customer_id]
        values = given(
            name=name,
            company=company,
            city=city,
            address=address,
            email=email,
            phone=phone,
            segment=segment,
            status=status,
            owner=owner,
        )
        if state_of(customer) == "merged":
            raise ToolError("conflict", f"{customer_id} was merged into another")
        changed = {**customer, **values, "updated_at": self.now}
        return self.customers.put(cast(Customer, changed))

    @tool(
        writes=True,
        fills=("customers#updated_at",),
    )
    def merge_customers(self, customer_id: RecordId, duplicate_customer_id: RecordId) -> Customer:
        """Merge two records of one customer; the duplicate ends as merged and its notes move.

        Args:
            customer_id: The record that stays.
            duplicate_customer_id: The record that ends.
        """
        kept, duplicate = self.customers[customer_id], self.customers[duplicate_customer_id]
        if customer_id == duplicate_customer_id:
            raise ToolError("invalid_value", "a record cannot be merged into itself")
        for row in (kept, duplicate):
            if state_of(row) == "merged":
                raise ToolError("conflict", f"{row['id']} was merged already")
        for note in tuple(self.notes):
            if note.get("customer_id") == duplicate_customer_id:
                self.notes.put({**note, "customer_id": customer_id})
        self.customers.put(
            {
                **duplicate,
                "status": "merged",
                "merged_into": customer_id,
                "updated_at": self.now,
            }
        )
        return kept

    @tool()
    def list_notes(self, customer_id: RecordId, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List the notes about a customer, oldest first.

        Args:
            customer_id: The customer whose notes are wanted.
            limit: How many to show at most.
        """
        _ = self.customers[customer_id]
        rows = [note for note in self.notes if note.get("customer_id") == customer_id]
        return page("notes", by_time(rows, "created_at"), limit)

    @tool(writes=True, text=("body",), inside=True, fills=("notes#created_at", "notes#author"))
    def add_note(self, customer_id: RecordId, body: Text) -> CustomerNote:
        """Add a note about a customer; it stays inside the house.

        Args:
            customer_id: The customer whom it concerns.
            body: The text.
        """
        _ = self.customers[customer_id]
        if not body.strip():
            raise ToolError("invalid_value", "the note is empty")
        return self.notes.put(
            {
                "id": self.notes.new_id(),
                "customer_id": customer_id,
                "author": self.mailbox,
                "body": body,
                "created_at": self.now,
            }
        )

    @tool(
        writes=True,
        text=("purpose", "fields", "note"),
        recipients=("recipient",),
        fills=("exports#created_at",),
    )
    def export_customers(
        self,
        customer_ids: CustomerIds,
        fields: FieldNames,
        recipient: Email,
        purpose: Word,
        note: Text | None = None,
    ) -> Export:
        """Give somebody chosen fields of chosen customers.

        Args:
            customer_ids: The customers whose data leave.
            fields: The names of the fields that leave, such as name and city.
            recipient: The address that gets them.
            purpose: What they are for.
            note: What is said with them.
        """
        rows = [self.customers[customer_id] for customer_id in customer_ids]
        for field in fields:
            if not any(field in row for row in rows):
                raise ToolError("invalid_value", f"no such field: {field}")
        export: dict[str, Any] = {
            "id": self.exports.new_id(),
            "customer_ids": customer_ids,
            "fields": fields,
            "recipient": recipient,
            "purpose": purpose,
            **({} if note is None else {"note": note}),
            "created_at": self.now,
        }
        return self.exports.put(cast(Export, export))

    @tool()
    def list_exports(self, recipient: Email | None = None, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List exports, oldest first.

        Args:
            recipient: Only exports to this address.
            limit: How many to show at most.
        """
        rows = select(self.exports, recipient=recipient)
        return page("exports", by_time(rows, "created_at"), limit)
