"""The knowledge base: articles that the house keeps up to date, and policies that it only reads."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, cast

from pydantic import StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Limit, Query, RecordId, Service, Text, collection, tool
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    given,
    page,
    search,
    select,
    state_of,
)

Passage = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]

_ARTICLE: Final = ("id", "title", "category", "status", "updated_at")
_POLICY: Final = ("id", "title", "category", "valid_from", "valid_until", "version")


class Article(TypedDict, total=False):
    """A text that tells how something is done."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    category: ReadOnly[str | None]
    body: ReadOnly[str]
    tags: ReadOnly[Sequence[str]]
    status: ReadOnly[str]
    replaced_by: ReadOnly[str | None]
    updated_at: ReadOnly[str]


class Policy(TypedDict, total=False):
    """A rule of the house."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    category: ReadOnly[str | None]
    text: ReadOnly[str]
    valid_from: ReadOnly[str | None]
    valid_until: ReadOnly[str | None]


class Kb(Service):
    """Articles and policies."""

    name = "kb"
    function = "knowledge"
    purpose = "Look up how things are done, and correct the articles that say so."

    articles = collection(Article, prefix="KB", width=3)
    policies = collection(Policy, prefix="PL", width=2)

    @tool(name="kb_search")
    def search(
        self, query: Query, category: Word | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """Find articles in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the article.
            category: Only articles of this category.
            limit: How many to show at most.
        """
        rows = select(search(self.articles, query), category=category)
        return page("articles", rows, limit, _ARTICLE)

    @tool()
    def list_articles(
        self,
        category: Word | None = None,
        status: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List articles in the order of their ids.

        Args:
            category: Only articles of this category.
            status: Only articles with this status, such as published or archived.
            limit: How many to show at most.
        """
        rows = select(self.articles, category=category, status=status)
        return page("articles", rows, limit, _ARTICLE)

    @tool()
    def get_article(self, article_id: RecordId) -> Article:
        """Read one article.

        Args:
            article_id: The article to read.
        """
        return self.articles[article_id]

    @tool()
    def list_policies(
        self,
        query: Query | None = None,
        category: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List the policies of the house in the order of their ids.

        Args:
            query: Words that must all occur somewhere in the policy.
            category: Only policies of this category.
            limit: How many to show at most.
        """
        rows = select(search(self.policies, query), category=category)
        return page("policies", rows, limit, _POLICY)

    @tool()
    def get_policy(self, policy_id: RecordId) -> Policy:
        """Read one policy.

        Args:
            policy_id: The policy to read.
        """
        return self.policies[policy_id]

    @tool(writes=True, text=("title", "body"), fills=("articles#updated_at",))
    def create_article(self, title: Word, body: Text, category: Word | None = None) -> Article:
        """Publish a new article.

        Args:
            title: The title.
            body: The text.
            category: The category that it belongs to.
        """
        if not body.strip():
            raise ToolError("invalid_value", "the article is empty")
        article: dict[str, Any] = {
            "id": self.articles.new_id(),
            "title": title,
            "category": category,
            "body": body,
            "status": "published",
            "updated_at": self.now,
        }
        return self.articles.put(cast(Article, article))

    @tool(writes=True, text=("title", "body"), fills=("articles#updated_at",))
    def update_article(
        self,
        article_id: RecordId,
        title: Word | None = None,
        body: Text | None = None,
        category: Word | None = None,
    ) -> Article:
        """Replace the title, the whole text or the category of an article.

        Args:
            article_id: The article to change.
            title: The new title.
            body: The new text; all of the old one goes.
            category: The new category.
        """
        article = self.articles[article_id]
        values = given(title=title, body=body, category=category)
        if body is not None and not body.strip():
            raise ToolError("invalid_value", "the article would be empty")
        return self._change(article, values)

    @tool(writes=True, text=("new_text",), fills=("articles#updated_at",))
    def replace_passage(self, article_id: RecordId, old_text: Passage, new_text: Text) -> Article:
        """Replace one passage of an article; all else of its text stays.

        Args:
            article_id: The article to change.
            old_text: The passage as it stands; it must occur exactly once.
            new_text: What stands there afterwards.
        """
        article = self.articles[article_id]
        body = article.get("body")
        occurrences = body.count(old_text) if isinstance(body, str) else 0
        if occurrences != 1 or not isinstance(body, str):
            raise ToolError("invalid_value", f"the passage occurs {occurrences} times")
        return self._change(article, {"body": body.replace(old_text, new_text)})

    @tool(writes=True, fills=("articles#updated_at",))
    def archive_article(
        self, article_id: RecordId, replacement_article_id: RecordId | None = None
    ) -> Article:
        """Take an article out of use.

        Args:
            article_id: The article that ends.
            replacement_article_id: The article that holds from now on.
        """
        article = self.articles[article_id]
        if replacement_article_id is not None:
            _ = self.articles[replacement_article_id]
            if replacement_article_id == article_id:
                raise ToolError("invalid_value", "an article cannot replace itself")
        values = {"status": "archived", "replaced_by": replacement_article_id}
        return self._change(article, values)

    def _change(self, article: Article, values: dict[str, Any]) -> Article:
        if state_of(article) == "archived":
            raise ToolError("conflict", f"{article['id']} is archived")
        return self.articles.put(cast(Article, {**article, **values, "updated_at": self.now}))
