"""To-do lists: items with an owner, a due day and a state.

A done or dropped item changes only by being given another status.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, cast

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

Priority = Literal["low", "normal", "high"]
Status = Literal["open", "in_progress", "blocked", "done", "dropped"]
Tags = Annotated[Sequence[Word], Field(max_length=20)]

_SUMMARY: Final = ("id", "title", "owner", "status", "priority", "due_on", "tags")
_ENDED: Final = ("done", "dropped")


class Item(TypedDict, total=False):
    """Something to be done."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    description: ReadOnly[str | None]
    owner: ReadOnly[str | None]
    status: ReadOnly[str]
    priority: ReadOnly[str | None]
    due_on: ReadOnly[str | None]
    tags: ReadOnly[Sequence[str]]
    source: ReadOnly[str | None]
    created_at: ReadOnly[str]
    updated_at: ReadOnly[str]


class Todo(Service):
    """Items to do."""

    name = "todo"
    function = "scheduling"
    purpose = "See what is to be done by whom and when, add, change and finish it."

    items = collection(Item, prefix="TD", width=3)

    @tool()
    def list_items(
        self,
        status: Word | None = None,
        owner: Word | None = None,
        priority: Word | None = None,
        due_from: Day | None = None,
        due_until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List items by due day; those without one come first.

        Args:
            status: Only items in this state.
            owner: Only items of this person.
            priority: Only items of this priority.
            due_from: Only items due on this day or later.
            due_until: Only items due on this day or earlier.
            limit: How many to show at most.
        """
        rows = select(self.items, status=status, owner=owner, priority=priority)
        rows = in_days(rows, "due_on", due_from, due_until)
        return page("items", by_time(rows, "due_on"), limit, _SUMMARY)

    @tool()
    def search_items(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find items in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the item.
            limit: How many to show at most.
        """
        return page("items", search(self.items, query), limit, _SUMMARY)

    @tool()
    def get_item(self, item_id: RecordId) -> Item:
        """Show one item.

        Args:
            item_id: The item to show.
        """
        return self.items[item_id]

    @tool(
        writes=True,
        text=("title", "description"),
        inside=True,
        fills=("items#created_at", "items#updated_at", "items#status"),
    )
    def create_item(
        self,
        title: Word,
        description: Text | None = None,
        owner: Word | None = None,
        priority: Priority = "normal",
        due_on: Day | None = None,
        tags: Tags = (),
    ) -> Item:
        """Add an open item.

        Args:
            title: What is to be done.
            description: What one must know for it.
            owner: Who does it.
            priority: How important it is.
            due_on: By when.
            tags: Words to find it by.
        """
        return self.items.put(
            {
                "id": self.items.new_id(),
                "title": title,
                "description": description,
                "owner": owner,
                "status": "open",
                "priority": priority,
                "due_on": due_on,
                "tags": list(tags),
                "created_at": self.now,
                "updated_at": self.now,
            }
        )

    @tool(writes=True, text=("title", "description"), inside=True, fills=("items#updated_at",))
    def update_item(
        self,
        item_id: RecordId,
        title: Word | None = None,
        description: Text | None = None,
        owner: Word | None = None,
        status: Status | None = None,
        priority: Priority | None = None,
        due_on: Day | None = None,
        tags: Tags | None = None,
    ) -> Item:
        """Change an item; a finished one only together with its status.

        Args:
            item_id: The item to change.
            title: What is to be done.
            description: What one must know for it.
            owner: Who does it.
            status: Where it stands.
            priority: How important it is.
            due_on: By when.
            tags: Words to find it by, instead of those it had.
        """
        item = self.items[item_id]
        changes = given(
            title=title,
            description=description,
            owner=owner,
            status=status,
            priority=priority,
            due_on=due_on,
            tags=None if tags is None else list(tags),
        )
        if state_of(item) in _ENDED and status in (None, state_of(item)):
            raise ToolError("conflict", f"{item_id} is {state_of(item)}; give it another status")
        return self.items.put(cast(Item, {**item, **changes, "updated_at": self.now}))

    @tool(writes=True)
    def delete_item(self, item_id: RecordId) -> Item:
        """Delete an item; nothing of it stays.

        Args:
            item_id: The item to delete.
        """
        item = self.items[item_id]
        self.items.remove(item_id)
        return item
