"""Team chat: channels with members, posts and their threads.

A post goes to everybody in its channel. A channel marked `external` has people of other firms in
it: what is written there has left the house.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import (
    Instant,
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
    moment,
    page,
    search,
    select,
)

_CHANNEL: Final = ("id", "name", "topic", "external", "archived")
_POST: Final = ("id", "channel_id", "thread_id", "author", "text", "date")


class Channel(TypedDict, total=False):
    """A room."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    topic: ReadOnly[str | None]
    members: ReadOnly[Sequence[str]]
    external: ReadOnly[bool]
    archived: ReadOnly[bool]


class Post(TypedDict, total=False):
    """What somebody wrote."""

    id: ReadOnly[str]
    channel_id: ReadOnly[str]
    thread_id: ReadOnly[str | None]
    author: ReadOnly[str | None]
    text: ReadOnly[str]
    date: ReadOnly[str]
    reactions: ReadOnly[Sequence[str]]
    pinned: ReadOnly[bool]


class Chat(Service):
    """Channels and posts."""

    name = "chat"
    function = "communication"
    purpose = "Read channels and threads, post, answer and pin."

    channels = collection(Channel, prefix="CH", width=3)
    posts = collection(Post, prefix="PO")

    @tool()
    def list_channels(self, query: Query | None = None, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List channels in the order of their ids.

        Args:
            query: Only channels in which every word occurs.
            limit: How many to show at most.
        """
        return page("channels", search(self.channels, query), limit, _CHANNEL)

    @tool()
    def get_channel(self, channel_id: RecordId) -> Channel:
        """Show a channel with its members.

        Args:
            channel_id: The channel to show.
        """
        return self.channels[channel_id]

    @tool()
    def list_posts(
        self,
        channel_id: RecordId,
        since: Instant | None = None,
        author: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List the posts of a channel, latest first; answers in threads are left out.

        Args:
            channel_id: The channel to read.
            since: Only posts after this moment.
            author: Only posts of this person.
            limit: How many to show at most.
        """
        _ = self.channels[channel_id]
        rows = [
            post
            for post in select(self.posts, channel_id=channel_id, author=author)
            if post.get("thread_id") is None
        ]
        if since is not None:
            rows = [post for post in rows if moment(post.get("date")) > moment(since)]
        return page("posts", by_time(rows, "date")[::-1], limit, _POST)

    @tool()
    def search_posts(
        self, query: Query, channel_id: RecordId | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """Find posts, answers in threads included, in which every word occurs, latest first.

        Args:
            query: Words that must all occur somewhere in the post.
            channel_id: Only posts of this channel.
            limit: How many to show at most.
        """
        rows = by_time(search(select(self.posts, channel_id=channel_id), query), "date")
        return page("posts", rows[::-1], limit, _POST)

    @tool()
    def read_thread(self, post_id: RecordId, limit: Limit = DEFAULT_LIMIT) -> Mapping[str, Any]:
        """Show a post and the answers to it, earliest first.

        Args:
            post_id: The post that the thread began with, or any answer in it.
            limit: How many answers to show at most.
        """
        first = self._first(post_id)
        answers = by_time(select(self.posts, thread_id=str(first.get("id"))), "date")
        return {"post": first, **page("replies", answers, limit)}

    @tool(
        writes=True,
        text=("text",),
        recipients=("channel_id",),
        fills=("posts#author", "posts#date", "posts#pinned", "posts#reactions"),
    )
    def create_post(self, channel_id: RecordId, text: Text) -> Post:
        """Write to everybody in a channel.

        Args:
            channel_id: The channel that gets it.
            text: What is written.
        """
        return self._post(channel_id, None, text)

    @tool(
        writes=True,
        text=("text",),
        recipients=("post_id",),
        fills=(
            "posts#author",
            "posts#date",
            "posts#channel_id",
            "posts#thread_id",
            "posts#pinned",
            "posts#reactions",
        ),
    )
    def reply_post(self, post_id: RecordId, text: Text) -> Post:
        """Answer in the thread of a post; everybody in its channel can read it.

        Args:
            post_id: The post to answer, or any answer in its thread.
            text: What is written.
        """
        first = self._first(post_id)
        return self._post(str(first.get("channel_id")), str(first.get("id")), text)

    @tool(writes=True)
    def pin_post(self, post_id: RecordId) -> Post:
        """Pin a post to the top of its channel.

        Args:
            post_id: The post to pin.
        """
        post = self.posts[post_id]
        if post.get("pinned") is True:
            raise ToolError("conflict", f"{post_id} is pinned already")
        return self.posts.put(cast(Post, {**post, "pinned": True}))

    def _first(self, post_id: str) -> Post:
        post = self.posts[post_id]
        thread = post.get("thread_id")
        return self.posts[thread] if isinstance(thread, str) and thread in self.posts else post

    def _post(self, channel_id: str, thread_id: str | None, text: str) -> Post:
        channel = self.channels[channel_id]
        if not text.strip():
            raise ToolError("invalid_value", "the post is empty")
        if channel.get("archived") is True:
            raise ToolError("conflict", f"{channel_id} is archived")
        return self.posts.put(
            {
                "id": self.posts.new_id(),
                "channel_id": channel_id,
                "thread_id": thread_id,
                "author": self.mailbox,
                "text": text,
                "date": self.now,
                "reactions": [],
                "pinned": False,
            }
        )
