"""Notes: minutes of meetings and other shared pages, with their action points."""

from collections.abc import Mapping, Sequence
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
    in_days,
    page,
    search,
    select,
)

Readers = Annotated[Sequence[Email], Field(min_length=1, max_length=50)]
Tags = Annotated[Sequence[Word], Field(max_length=20)]

_SUMMARY: Final = ("id", "title", "date", "author", "participants", "tags")


class Note(TypedDict, total=False):
    """A page: what was said, decided and promised."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    body: ReadOnly[str]
    date: ReadOnly[str | None]
    author: ReadOnly[str | None]
    participants: ReadOnly[Sequence[str]]
    tags: ReadOnly[Sequence[str]]
    shared_with: ReadOnly[Sequence[str]]
    updated_at: ReadOnly[str]


class Share(TypedDict, total=False):
    """That a note was sent to somebody."""

    id: ReadOnly[str]
    note_id: ReadOnly[str]
    recipients: ReadOnly[Sequence[str]]
    message: ReadOnly[str | None]
    date: ReadOnly[str]


class Notes(Service):
    """Shared notes."""

    name = "notes"
    function = "knowledge"
    purpose = "Read minutes and pages, write them, share them."

    notes = collection(Note, prefix="NT", width=3)
    shares = collection(Share, prefix="SH", width=3)

    @tool()
    def list_notes(
        self,
        tag: Word | None = None,
        participant: Word | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List notes by day, earliest first.

        Args:
            tag: Only notes with this tag.
            participant: Only notes of meetings with this person.
            since: Only notes of this day or later.
            until: Only notes of this day or earlier.
            limit: How many to show at most.
        """
        rows = select(self.notes, tags=tag, participants=participant)
        rows = in_days(rows, "date", since, until)
        return page("notes", by_time(rows, "date"), limit, _SUMMARY)

    @tool()
    def search_notes(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find notes in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the note.
            limit: How many to show at most.
        """
        return page("notes", search(self.notes, query), limit, _SUMMARY)

    @tool()
    def get_note(self, note_id: RecordId) -> Note:
        """Show a whole note.

        Args:
            note_id: The note to show.
        """
        return self.notes[note_id]

    @tool(
        writes=True,
        text=("title", "body"),
        inside=True,
        fills=("notes#updated_at", "notes#author", "notes#date", "notes#shared_with"),
    )
    def create_note(
        self,
        title: Word,
        body: Text,
        participants: Sequence[Word] = (),
        tags: Tags = (),
    ) -> Note:
        """Write a note; nobody else gets it until it is shared.

        Args:
            title: What it is about.
            body: The text.
            participants: Who took part, if it is about a meeting.
            tags: Words to find it by.
        """
        if not body.strip():
            raise ToolError("invalid_value", "the note is empty")
        return self.notes.put(
            {
                "id": self.notes.new_id(),
                "title": title,
                "body": body,
                "date": self.now[:10],
                "author": self.mailbox,
                "participants": list(participants),
                "tags": list(tags),
                "shared_with": [],
                "updated_at": self.now,
            }
        )

    @tool(writes=True, text=("text",), inside=True, fills=("notes#updated_at",))
    def append_text(self, note_id: RecordId, text: Text) -> Note:
        """Add a paragraph to the end of a note.

        Args:
            note_id: The note to add to.
            text: The paragraph.
        """
        note = self.notes[note_id]
        if not text.strip():
            raise ToolError("invalid_value", "the paragraph is empty")
        body = note.get("body")
        joined = f"{body}\n\n{text}" if isinstance(body, str) and body else text
        return self.notes.put(cast(Note, {**note, "body": joined, "updated_at": self.now}))

    @tool(
        writes=True,
        text=("message",),
        recipients=("recipients",),
        fills=("shares#date", "notes#updated_at"),
    )
    def share_note(
        self, note_id: RecordId, recipients: Readers, message: Text | None = None
    ) -> Mapping[str, Any]:
        """Send a note, as it stands, to people.

        Args:
            note_id: The note to share.
            recipients: Who gets it.
            message: What is said with it.
        """
        note = self.notes[note_id]
        new = list(dict.fromkeys(recipients))
        known = note.get("shared_with")
        there = [str(who) for who in known] if isinstance(known, list) else []
        share: dict[str, Any] = {
            "id": self.shares.new_id(),
            "note_id": note_id,
            "recipients": new,
            "message": message,
            "date": self.now,
        }
        made = self.shares.put(cast(Share, share))
        added = [who for who in new if who not in there]
        if added:
            self.notes.put(
                cast(Note, {**note, "shared_with": [*there, *added], "updated_at": self.now})
            )
        return made
