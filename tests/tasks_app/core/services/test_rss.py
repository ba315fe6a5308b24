"""Feeds, articles, digests."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

FEEDS: list[dict[str, Any]] = [{"id": "FD-001", "name": "Trade Weekly", "category": "trade"}]
ARTICLES: list[dict[str, Any]] = [
    {
        "id": "AR-0001",
        "feed_id": "FD-001",
        "title": "Steel dearer",
        "content": "By 4 %.",
        "category": "prices",
        "published_at": "2031-03-18T08:00:00Z",
    },
    {
        "id": "AR-0002",
        "feed_id": "FD-002",
        "title": "Copper steady",
        "content": "No change.",
        "category": "prices",
        "published_at": "2031-03-19T08:00:00Z",
    },
]


@pytest.fixture
def office() -> Office:
    return Office({"rss": {"feeds": FEEDS, "articles": ARTICLES}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["articles"]]


def test_articles_come_latest_first_without_their_text(office: Office) -> None:
    listed = office.call("rss_list_articles")
    assert ids(listed) == ["AR-0002", "AR-0001"]
    assert all("content" not in row for row in listed["articles"])
    assert ids(office.call("rss_list_articles", feed_id="FD-001")) == ["AR-0001"]
    assert ids(office.call("rss_list_articles", until="2031-03-18")) == ["AR-0001"]
    assert ids(office.call("rss_search_articles", query="change copper")) == ["AR-0002"]
    assert office.call("rss_get_article", article_id="AR-0001")["content"] == "By 4 %."
    assert office.call("rss_list_feeds", category="TRADE")["total"] == 1
    assert office.call("rss_get_feed", feed_id="FD-001")["name"] == "Trade Weekly"


def test_a_digest_names_its_articles_and_readers_once(office: Office) -> None:
    made = office.call(
        "rss_publish_digest",
        title="Metals",
        content="Steel up, copper steady.",
        recipients=["a@firm.example", "a@firm.example"],
        article_ids=["AR-0001", "AR-0002"],
    )
    assert made == {
        "id": "DG-001",
        "title": "Metals",
        "content": "Steel up, copper steady.",
        "article_ids": ["AR-0001", "AR-0002"],
        "recipients": ["a@firm.example"],
        "published_at": NOW,
    }
    assert office.changed() == ["add rss/digests/DG-001"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"content": " "}, "invalid_value"),
        ({"recipients": [""]}, "invalid_value"),
        ({"recipients": "all"}, "wrong_type"),
        ({"article_ids": ["AR-9"]}, "not_found"),
    ],
)
def test_a_digest_that_does_not_fit_is_refused(
    office: Office, change: dict[str, Any], code: str
) -> None:
    whole = {"title": "x", "content": "y", "recipients": ["a@firm.example"], **change}
    assert office.refusal("rss_publish_digest", **whole) == code
