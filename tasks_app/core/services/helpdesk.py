"""The helpdesk: tickets with their states, and comments inside or towards the customer.

A ticket is open (or in progress, waiting, on hold), escalated, merged or closed. A closed or merged
one changes only by being reopened.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field
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
    given,
    in_days,
    page,
    search,
    select,
    state_of,
)

Severity = Literal["low", "normal", "high", "urgent"]
WorkingStatus = Literal["open", "in_progress", "waiting", "on_hold"]
Resolution = Literal[
    "answered",
    "resolved",
    "refunded",
    "replaced",
    "declined",
    "duplicate",
    "withdrawn",
    "no_reply",
    "spam",
]
Tags = Annotated[Sequence[Word], Field(max_length=20)]

_SUMMARY: Final = (
    "id",
    "subject",
    "customer_id",
    "reporter",
    "queue",
    "status",
    "severity",
    "category",
    "assignee",
    "created_at",
)
_ENDED: Final = ("closed", "merged")


class Ticket(TypedDict, total=False):
    """A matter that somebody raised."""

    id: ReadOnly[str]
    customer_id: ReadOnly[str | None]
    reporter: ReadOnly[str | None]
    subject: ReadOnly[str]
    description: ReadOnly[str]
    queue: ReadOnly[str | None]
    status: ReadOnly[str]
    severity: ReadOnly[str | None]
    category: ReadOnly[str | None]
    assignee: ReadOnly[str | None]
    tags: ReadOnly[Sequence[str]]
    resolution: ReadOnly[str | None]
    reference: ReadOnly[str | None]
    note: ReadOnly[str | None]
    created_at: ReadOnly[str]
    updated_at: ReadOnly[str]


class Comment(TypedDict, total=False):
    """A remark under a ticket."""

    id: ReadOnly[str]
    ticket_id: ReadOnly[str]
    author: ReadOnly[str | None]
    internal: ReadOnly[bool]
    body: ReadOnly[str]
    created_at: ReadOnly[str]


class Helpdesk(Service):
    """Tickets and their comments."""

    name = "helpdesk"
    function = "customers"
    purpose = "Find tickets, answer, sort, hand on and close them."

    tickets = collection(Ticket, prefix="TK")
    comments = collection(Comment, prefix="CM", width=3)

    @tool()
    def search_tickets(
        self,
        query: Query,
        status: Word | None = None,
        queue: Word | None = None,
        customer_id: RecordId | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """Find tickets in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the ticket.
            status: Only tickets with this status.
            queue: Only tickets in this queue.
            customer_id: Only tickets of this customer.
            limit: How many to show at most.
        """
        rows = select(
            search(self.tickets, query), status=status, queue=queue, customer_id=customer_id
        )
        return page("tickets", rows, limit, _SUMMARY)

    @tool()
    def list_tickets(
        self,
        status: Word | None = None,
        queue: Word | None = None,
        severity: Word | None = None,
        assignee: Word | None = None,
        customer_id: RecordId | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List tickets, oldest first.

        Args:
            status: Only tickets with this status.
            queue: Only tickets in this queue.
            severity: Only tickets of this severity.
            assignee: Only tickets that this person works on.
            customer_id: Only tickets of this customer.
            since: Only tickets created on this day or later.
            until: Only tickets created on this day or earlier.
            limit: How many to show at most.
        """
        rows = select(
            self.tickets,
            status=status,
            queue=queue,
            severity=severity,
            assignee=assignee,
            customer_id=customer_id,
        )
        rows = in_days(rows, "created_at", since, until)
        return page("tickets", by_time(rows, "created_at"), limit, _SUMMARY)

    @tool()
    def get_ticket(self, ticket_id: RecordId) -> Ticket:
        """Show one ticket with its comments.

        Args:
            ticket_id: The ticket to show.
        """
        ticket = self.tickets[ticket_id]
        comments = [c for c in self.comments if c.get("ticket_id") == ticket_id]
        if "comments" in ticket and not comments:
            return ticket
        return cast(Ticket, {**ticket, "comments": comments})

    @tool()
    def list_comments(self, ticket_id: RecordId, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List the comments of a ticket, oldest first.

        Args:
            ticket_id: The ticket whose comments are wanted.
            limit: How many to show at most.
        """
        _ = self.tickets[ticket_id]
        rows = [c for c in self.comments if c.get("ticket_id") == ticket_id]
        return page("comments", by_time(rows, "created_at"), limit)

    @tool(
        writes=True,
        text=("subject", "description"),
        inside=True,
        fills=("tickets#created_at", "tickets#updated_at", "tickets#reporter"),
    )
    def create_ticket(
        self,
        subject: Word,
        description: Text,
        queue: Word,
        severity: Severity = "normal",
        customer_id: RecordId | None = None,
        reference: Word | None = None,
    ) -> Ticket:
        """Open a new ticket.

        Args:
            subject: What it is about, in a few words.
            description: What happened and what is wanted.
            queue: The queue that it goes to.
            severity: How pressing it is.
            customer_id: The customer whom it concerns.
            reference: The number of what it is about, such as an order.
        """
        ticket: dict[str, Any] = {
            "id": self.tickets.new_id(),
            "customer_id": customer_id,
            "reporter": self.mailbox,
            "subject": subject,
            "description": description,
            "queue": queue,
            "status": "open",
            "severity": severity,
            "resolution": None,
            "reference": reference,
            "created_at": self.now,
            "updated_at": self.now,
        }
        return self.tickets.put(cast(Ticket, ticket))

    @tool(
        writes=True,
        text=("body",),
        inside="internal",
        fills=("comments#created_at", "comments#author"),
    )
    def add_comment(
        self,
        ticket_id: RecordId,
        body: Text,
        internal: bool = True,  # noqa: FBT001, FBT002 (a tool's argument, always passed by name)
    ) -> Comment:
        """Add a comment to a ticket; a closed ticket takes comments too.

        Args:
            ticket_id: The ticket to comment on.
            body: The text.
            internal: Whether it stays inside the house; false shows it to the customer.
        """
        _ = self.tickets[ticket_id]
        if not body.strip():
            raise ToolError("invalid_value", "the comment is empty")
        return self.comments.put(
            {
                "id": self.comments.new_id(),
                "ticket_id": ticket_id,
                "author": self.mailbox,
                "internal": internal,
                "body": body,
                "created_at": self.now,
            }
        )

    @tool(writes=True, fills=("tickets#updated_at",))
    def update_ticket(
        self,
        ticket_id: RecordId,
        status: WorkingStatus | None = None,
        severity: Severity | None = None,
        category: Word | None = None,
        queue: Word | None = None,
        subject: Word | None = None,
        customer_id: RecordId | None = None,
        due_on: Day | None = None,
        tags: Tags | None = None,
    ) -> Ticket:
        """Change fields of a ticket that is not closed; what is left out stays as it is.

        Args:
            ticket_id: The ticket to change.
            status: How far the work on it is.
            severity: How pressing it is.
            category: The kind of matter.
            queue: The queue that it belongs to.
            subject: A better subject line.
            customer_id: The customer whom it concerns.
            due_on: The day by which it must be answered.
            tags: All its tags; the old ones go.
        """
        ticket = self.tickets[ticket_id]
        values = given(
            status=status,
            severity=severity,
            category=category,
            queue=queue,
            subject=subject,
            customer_id=customer_id,
            due_on=due_on,
            tags=tags,
        )
        return self._change(ticket, values)

    @tool(writes=True, fills=("tickets#updated_at",))
    def assign_ticket(
        self, ticket_id: RecordId, assignee: Word, queue: Word | None = None
    ) -> Ticket:
        """Give a ticket to somebody.

        Args:
            ticket_id: The ticket to assign.
            assignee: Who works on it from now on: a name, a team or an address.
            queue: The queue that it moves to, if it does.
        """
        values = {"assignee": assignee} if queue is None else {"assignee": assignee, "queue": queue}
        return self._change(self.tickets[ticket_id], values)

    @tool(writes=True, text=("reference", "note"), inside=True, fills=("tickets#updated_at",))
    def escalate_ticket(
        self,
        ticket_id: RecordId,
        queue: Word,
        severity: Severity | None = None,
        reference: Word | None = None,
        note: Text | None = None,
    ) -> Ticket:
        """Hand a ticket over to the queue of specialists; its status becomes escalated.

        Args:
            ticket_id: The ticket to hand over.
            queue: The queue that takes it, such as security.
            severity: How pressing it is.
            reference: The number that proves or explains the hand-over.
            note: What the specialists should know.
        """
        values = given(queue=queue, severity=severity, reference=reference, note=note)
        return self._change(self.tickets[ticket_id], {**values, "status": "escalated"})

    @tool(writes=True, fills=("tickets#updated_at",))
    def close_ticket(
        self, ticket_id: RecordId, resolution: Resolution, reference: Word | None = None
    ) -> Ticket:
        """Close a ticket.

        Args:
            ticket_id: The ticket to close.
            resolution: How it ended.
            reference: The number of what settled it, such as a refund; for a duplicate the ticket
                that stays.
        """
        ticket = self.tickets[ticket_id]
        if resolution == "duplicate":
            if reference is None:
                raise ToolError("invalid_value", "reference: name the ticket that stays")
            _ = self.tickets[reference]
            if reference == ticket_id:
                raise ToolError("invalid_value", "a ticket is no duplicate of itself")
        values = given(status="closed", resolution=resolution, reference=reference)
        return self._change(ticket, values)

    @tool(writes=True, fills=("tickets#updated_at",))
    def merge_ticket(self, ticket_id: RecordId, target_ticket_id: RecordId) -> Ticket:
        """Merge a ticket into another about the same matter; it ends as merged.

        Args:
            ticket_id: The ticket that ends.
            target_ticket_id: The ticket that stays.
        """
        ticket, target = self.tickets[ticket_id], self.tickets[target_ticket_id]
        if ticket_id == target_ticket_id:
            raise ToolError("invalid_value", "a ticket cannot be merged into itself")
        if state_of(target) in _ENDED:
            raise ToolError("conflict", f"{target_ticket_id} is {state_of(target)}")
        return self._change(ticket, {"status": "merged", "reference": target_ticket_id})

    @tool(writes=True, fills=("tickets#updated_at",))
    def reopen_ticket(self, ticket_id: RecordId) -> Ticket:
        """Open a closed or merged ticket again; its resolution and reference are cleared.

        Args:
            ticket_id: The ticket to reopen.
        """
        ticket = self.tickets[ticket_id]
        if state_of(ticket) not in _ENDED:
            raise ToolError("conflict", f"{ticket_id} is not closed")
        return self.tickets.put(
            {
                **ticket,
                "status": "open",
                "resolution": None,
                "reference": None,
                "updated_at": self.now,
            }
        )

    def _change(self, ticket: Ticket, values: dict[str, Any]) -> Ticket:
        if state_of(ticket) in _ENDED:
            raise ToolError("conflict", f"{ticket['id']} is {state_of(ticket)}; reopen it first")
        return self.tickets.put(cast(Ticket, {**ticket, **values, "updated_at": self.now}))
