"""News feeds: what they brought, and digests that are published from it."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, cast

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
    in_days,
    page,
    search,
    select,
)

Subscribers = Annotated[Sequence[Word], Field(max_length=200)]
Sources = Annotated[Sequence[RecordId], Field(max_length=100)]

_ARTICLE: Final = ("id", "feed_id", "title", "category", "published_at", "url")


class Feed(TypedDict, total=False):
    """A source of articles."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    url: ReadOnly[str | None]
    category: ReadOnly[str | None]
    trust: ReadOnly[str | None]
    active: ReadOnly[bool]


class Article(TypedDict, total=False):
    """What a feed brought."""

    id: ReadOnly[str]
    feed_id: ReadOnly[str]
    title: ReadOnly[str]
    content: ReadOnly[str]
    author: ReadOnly[str | None]
    category: ReadOnly[str | None]
    url: ReadOnly[str | None]
    published_at: ReadOnly[str]


class Digest(TypedDict, total=False):
    """What was published to subscribers."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    content: ReadOnly[str]
    article_ids: ReadOnly[Sequence[str]]
    recipients: ReadOnly[Sequence[str]]
    published_at: ReadOnly[str]


class Rss(Service):
    """Feeds and articles."""

    name = "rss"
    function = "content"
    purpose = "Follow feeds, read articles, publish a digest."

    feeds = collection(Feed, prefix="FD", width=3)
    articles = collection(Article, prefix="AR")
    digests = collection(Digest, prefix="DG", width=3)

    @tool()
    def list_feeds(self, category: Word | None = None, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List feeds in the order of their ids.

        Args:
            category: Only feeds of this category.
            limit: How many to show at most.
        """
        return page("feeds", select(self.feeds, category=category), limit)

    @tool()
    def get_feed(self, feed_id: RecordId) -> Feed:
        """Show one feed.

        Args:
            feed_id: The feed to show.
        """
        return self.feeds[feed_id]

    @tool()
    def list_articles(
        self,
        feed_id: RecordId | None = None,
        category: Word | None = None,
        since: Day | None = None,
        until: Day | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List articles without their text, latest first.

        Args:
            feed_id: Only articles of this feed.
            category: Only articles of this category.
            since: Only articles of this day or later.
            until: Only articles of this day or earlier.
            limit: How many to show at most.
        """
        rows = select(self.articles, feed_id=feed_id, category=category)
        rows = by_time(in_days(rows, "published_at", since, until), "published_at")
        return page("articles", rows[::-1], limit, _ARTICLE)

    @tool()
    def search_articles(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find articles in which every word occurs, latest first.

        Args:
            query: Words that must all occur somewhere in the article.
            limit: How many to show at most.
        """
        rows = by_time(search(self.articles, query), "published_at")
        return page("articles", rows[::-1], limit, _ARTICLE)

    @tool()
    def get_article(self, article_id: RecordId) -> Article:
        """Show a whole article.

        Args:
            article_id: The article to show.
        """
        return self.articles[article_id]

    @tool(
        writes=True,
        text=("title", "content"),
        recipients=("recipients",),
        fills=("digests#published_at",),
    )
    def publish_digest(
        self, title: Word, content: Text, recipients: Subscribers = (), article_ids: Sources = ()
    ) -> Digest:
        """Publish a digest to subscribers; it cannot be called back.

        Args:
            title: Its headline.
            content: Its text.
            recipients: Who gets it; all subscribers if left out.
            article_ids: The articles it is made from.
        """
        if not content.strip():
            raise ToolError("invalid_value", "the digest is empty")
        for article_id in article_ids:
            _ = self.articles[article_id]
        made: dict[str, Any] = {
            "id": self.digests.new_id(),
            "title": title,
            "content": content,
            "article_ids": list(dict.fromkeys(article_ids)),
            "recipients": list(dict.fromkeys(recipients)),
            "published_at": self.now,
        }
        return self.digests.put(cast(Digest, made))
