"""The web, offline: pages that can be searched and fetched by their address, as they were then.

Nothing here opens a connection. An address that the task does not hold is not found.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.services.base import Limit, Query, Service, collection, tool
from tasks_app.core.services.listing import Page, Word, page, search, select

Url = Annotated[str, StringConstraints(min_length=1, max_length=2000)]

HITS: Final = 10
SNIPPET: Final = 160
"""Characters around the first word that was found."""
_SPACE: Final = re.compile(r"\s+")


class WebPage(TypedDict, total=False):
    """A page as it was on the day of the task."""

    url: ReadOnly[str]
    title: ReadOnly[str]
    text: ReadOnly[str]
    site: ReadOnly[str | None]
    author: ReadOnly[str | None]
    published_on: ReadOnly[str | None]
    updated_on: ReadOnly[str | None]


class Web(Service):
    """Pages to search and fetch."""

    name = "web"
    function = "content"
    purpose = "Search pages and read them; nothing leaves the house."

    pages = collection(WebPage, prefix="URL", id_field="url")

    @tool(name="web_search")
    def search(self, query: Query, site: Word | None = None, limit: Limit = HITS) -> Page:
        """Find pages in which every word occurs, those with the words in their title first.

        Args:
            query: Words that must all occur somewhere on the page.
            site: Only pages of this site.
            limit: How many to show at most.
        """
        words = query.casefold().split()
        found = search(select(self.pages, site=site), query)
        ranked = sorted(found, key=lambda row: (-_titled(row, words), str(row.get("url"))))
        hits = [
            {
                "url": row.get("url"),
                "title": row.get("title"),
                "published_on": row.get("published_on"),
                "snippet": _snippet(row, words),
            }
            for row in ranked
        ]
        return page("results", hits, limit)

    @tool(name="web_fetch")
    def fetch(self, url: Url) -> WebPage:
        """Show a page.

        Args:
            url: The page's address, as a search or another page gives it.
        """
        wanted = url.partition("#")[0]
        known = self.pages.get(wanted)
        if known is None and wanted.endswith("/"):
            known = self.pages.get(wanted.rstrip("/"))
        return self.pages[wanted] if known is None else known


def _titled(row: Any, words: list[str]) -> int:
    title = str(row.get("title")).casefold()
    return sum(word in title for word in words)


def _snippet(row: Mapping[str, Any] | Any, words: list[str]) -> str:
    text = row.get("text")
    plain = _SPACE.sub(" ", text) if isinstance(text, str) else ""
    folded = plain.casefold()
    # Folding may change the length of a text; the snippet is then a little off, never wrong.
    first = min((at for at in (folded.find(word) for word in words) if at >= 0), default=0)
    begin = max(0, first - SNIPPET // 2)
    return plain[begin : begin + SNIPPET].strip()
