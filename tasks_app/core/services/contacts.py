"""The directory of people: who does what, where, and how to reach them."""

from collections.abc import Sequence
from typing import Final

from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Limit, Query, RecordId, Service, Text, collection, tool
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    by_time,
    page,
    search,
    select,
)

_SUMMARY: Final = ("id", "name", "role", "team", "department", "organisation", "site", "status")


class Person(TypedDict, total=False):
    """Somebody in the directory."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    role: ReadOnly[str]
    team: ReadOnly[str]
    department: ReadOnly[str]
    organisation: ReadOnly[str]
    site: ReadOnly[str]
    email: ReadOnly[str | None]
    phone: ReadOnly[str | None]
    deputy_id: ReadOnly[str | None]
    manager_id: ReadOnly[str | None]
    languages: ReadOnly[Sequence[str]]
    status: ReadOnly[str]


class Note(TypedDict, total=False):
    """A short message to a person of the directory."""

    id: ReadOnly[str]
    person_id: ReadOnly[str]
    to: ReadOnly[str | None]
    text: ReadOnly[str]
    date: ReadOnly[str]


class Contacts(Service):
    """The directory of people."""

    name = "contacts"
    function = "communication"
    purpose = "Find people by name, role, team or site, and reach them."

    people = collection(Person, prefix="PE", width=3)
    messages = collection(Note, prefix="CN")

    @tool(name="contacts_search")
    def search(
        self,
        query: Query,
        team: Word | None = None,
        site: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """Find people in whose entry every word occurs.

        Args:
            query: Words that must all occur, such as parts of a name or a role.
            team: Only people of this team.
            site: Only people at this site.
            limit: How many to show at most.
        """
        rows = select(search(self.people, query), team=team, site=site)
        return page("people", rows, limit, _SUMMARY)

    @tool()
    def list_people(
        self,
        team: Word | None = None,
        role: Word | None = None,
        site: Word | None = None,
        status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List people in the order of their ids.

        Args:
            team: Only people of this team.
            role: Only people with this role.
            site: Only people at this site.
            status: Only people with this status, such as active or on_leave.
            limit: How many to show at most.
        """
        rows = select(self.people, team=team, role=role, site=site, status=status)
        return page("people", rows, limit, _SUMMARY)

    @tool()
    def get_person(self, person_id: RecordId) -> Person:
        """Show the whole entry of one person.

        Args:
            person_id: The person to show.
        """
        return self.people[person_id]

    @tool(
        writes=True,
        text=("text",),
        recipients=("person_id",),
        fills=("messages#date", "messages#to"),
    )
    def send_message(self, person_id: RecordId, text: Text) -> Note:
        """Send a person of the directory a short message.

        Args:
            person_id: The person who gets it.
            text: The message.
        """
        person = self.people[person_id]
        if not text.strip():
            raise ToolError("invalid_value", "the message is empty")
        return self.messages.put(
            {
                "id": self.messages.new_id(),
                "person_id": person_id,
                "to": person.get("email"),
                "text": text,
                "date": self.now,
            }
        )

    @tool()
    def list_messages(
        self, person_id: RecordId | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """List the short messages that were sent, oldest first.

        Args:
            person_id: Only messages to this person.
            limit: How many to show at most.
        """
        rows = select(self.messages, person_id=person_id)
        return page("messages", by_time(rows, "date"), limit)
