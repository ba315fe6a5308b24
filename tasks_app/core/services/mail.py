"""Mail of the coworker: messages received, drafts, and the outbox of what was sent."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, cast

from pydantic import Field
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import (
    Day,
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
    in_days,
    page,
    search,
    select,
)

Recipients = Annotated[Sequence[Email], Field(min_length=1, max_length=50)]
Copies = Annotated[Sequence[Email], Field(max_length=50)]

_SUMMARY: Final = ("id", "from", "subject", "date", "labels", "is_read")
_SENT: Final = ("id", "to", "cc", "subject", "date")

Message = TypedDict(
    "Message",
    {
        "id": ReadOnly[str],
        "mailbox": ReadOnly[str],
        "from": ReadOnly[str | None],
        "reply_to": ReadOnly[str | None],
        "to": ReadOnly[Sequence[str]],
        "cc": ReadOnly[Sequence[str]],
        "subject": ReadOnly[str],
        "date": ReadOnly[str],
        "body": ReadOnly[str],
        "in_reply_to": ReadOnly[str],
        "labels": ReadOnly[Sequence[str]],
        "is_read": ReadOnly[bool],
    },
    total=False,
)


class Mail(Service):
    """The mail of the coworker."""

    name = "mail"
    function = "communication"
    purpose = "Read, sort, write and answer mail."

    messages = collection(Message, prefix="M")
    drafts = collection(Message, prefix="DR")
    outbox = collection(Message, prefix="SENT")

    @tool()
    def list_messages(
        self,
        label: Word | None = None,
        sender: Word | None = None,
        is_read: bool | None = None,  # noqa: FBT001 (a tool's argument, always passed by name)
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List received messages, oldest first.

        Args:
            label: Only messages with this label, such as inbox.
            sender: Only messages from this address.
            is_read: Only read or only unread messages.
            since: Only messages from this day on.
            until: Only messages up to this day.
            limit: How many to show at most.
        """
        rows = select(self.messages, labels=label, **{"from": sender})
        if is_read is not None:
            rows = [row for row in rows if bool(row.get("is_read")) is is_read]
        return page(
            "messages", by_time(in_days(rows, "date", since, until), "date"), limit, _SUMMARY
        )

    @tool()
    def search_messages(
        self,
        query: Query,
        sender: Word | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """Find received messages in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the message.
            sender: Only messages from this address.
            since: Only messages from this day on.
            until: Only messages up to this day.
            limit: How many to show at most.
        """
        rows = select(search(self.messages, query), **{"from": sender})
        return page("messages", in_days(rows, "date", since, until), limit, _SUMMARY)

    @tool()
    def get_message(self, message_id: RecordId) -> Message:
        """Read one message, received or sent.

        Args:
            message_id: The message to read.
        """
        sent = self.outbox.get(message_id) if message_id not in self.messages else None
        return self.messages[message_id] if sent is None else sent

    @tool()
    def list_outbox(self, recipient: Email | None = None, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List the messages that were sent, oldest first.

        Args:
            recipient: Only messages to this address, copies included.
            limit: How many to show at most.
        """
        rows: Sequence[Message] = by_time(self.outbox, "date")
        if recipient is not None:
            to = {row["id"] for row in select(rows, to=recipient)}
            copied = {row["id"] for row in select(rows, cc=recipient)}
            rows = [row for row in rows if row["id"] in to or row["id"] in copied]
        return page("messages", rows, limit, _SENT)

    @tool(
        writes=True,
        text=("subject", "body"),
        recipients=("to", "cc"),
        fills=("outbox#date", "outbox#from"),
    )
    def send_message(self, to: Recipients, subject: Text, body: Text, cc: Copies = ()) -> Message:
        """Send a new message.

        Args:
            to: The addresses of the recipients.
            subject: The subject line.
            body: The text.
            cc: Addresses that get a copy.
        """
        return self._send(to, cc, subject, body)

    @tool(
        writes=True,
        text=("body",),
        recipients=("to", "cc"),
        fills=("outbox#date", "outbox#from", "outbox#subject"),
    )
    def reply_message(
        self, message_id: RecordId, to: Recipients, body: Text, cc: Copies = ()
    ) -> Message:
        """Answer a received message under its subject.

        Args:
            message_id: The message that is answered.
            to: The addresses of the recipients; name them, a reply-to may differ from the sender.
            body: The text.
            cc: Addresses that get a copy.
        """
        subject = str(self.messages[message_id].get("subject") or "")
        if not subject.casefold().startswith("re:"):
            subject = f"Re: {subject}".rstrip()
        return self._send(to, cc, subject, body, message_id)

    def _send(
        self,
        to: Sequence[str],
        cc: Sequence[str],
        subject: str,
        body: str,
        in_reply_to: str | None = None,
    ) -> Message:
        message: dict[str, Any] = {
            "id": self.outbox.new_id(),
            "from": self.mailbox,
            "to": to,
            "cc": cc,
            "subject": subject,
            "body": body,
            "date": self.now,
        }
        if in_reply_to is not None:
            message["in_reply_to"] = in_reply_to
        return self.outbox.put(cast(Message, message))

    @tool()
    def list_drafts(self, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List the drafts, oldest first.

        Args:
            limit: How many to show at most.
        """
        return page("drafts", by_time(self.drafts, "date"), limit, _SENT)

    @tool()
    def get_draft(self, draft_id: RecordId) -> Message:
        """Read one draft.

        Args:
            draft_id: The draft to read.
        """
        return self.drafts[draft_id]

    @tool(
        writes=True,
        text=("subject", "body"),
        recipients=("to", "cc"),
        fills=("drafts#date", "drafts#from"),
    )
    def save_draft(
        self,
        to: Recipients,
        subject: Text,
        body: Text,
        cc: Copies = (),
        message_id: RecordId | None = None,
    ) -> Message:
        """Save a message as a draft; nothing is sent.

        Args:
            to: The addresses of the recipients.
            subject: The subject line.
            body: The text.
            cc: Addresses that get a copy.
            message_id: The received message that the draft answers.
        """
        draft: dict[str, Any] = {
            "id": self.drafts.new_id(),
            "from": self.mailbox,
            "to": to,
            "cc": cc,
            "subject": subject,
            "body": body,
            "date": self.now,
        }
        if message_id is not None:
            draft["in_reply_to"] = self.messages[message_id]["id"]
        return self.drafts.put(cast(Message, draft))

    @tool(writes=True)
    def delete_draft(self, draft_id: RecordId) -> Message:
        """Delete a draft and show what it held.

        Args:
            draft_id: The draft to delete.
        """
        draft = self.drafts[draft_id]
        self.drafts.remove(draft_id)
        return draft

    @tool(writes=True)
    def move_message(self, message_id: RecordId, label: Word) -> Message:
        """Move a received message under another label; it keeps no other.

        Args:
            message_id: The message to move.
            label: The new label, such as archive.
        """
        message = self.messages[message_id]
        if message.get("labels") == [label]:
            raise ToolError("conflict", f"{message_id} is under {label} already")
        return self.messages.put({**message, "labels": [label]})

    @tool(writes=True)
    def mark_message(
        self,
        message_id: RecordId,
        is_read: bool | None = None,  # noqa: FBT001 (a tool's argument, always passed by name)
        is_flagged: bool | None = None,  # noqa: FBT001 (a tool's argument, always passed by name)
    ) -> Message:
        """Mark a received message as read or unread, or set or clear its flag.

        Args:
            message_id: The message to mark.
            is_read: Whether it counts as read.
            is_flagged: Whether it carries a flag.
        """
        message = self.messages[message_id]
        marks = given(is_read=is_read, is_flagged=is_flagged)
        return self.messages.put(cast(Message, {**message, **marks}))
