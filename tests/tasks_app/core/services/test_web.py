"""Pages, searched and fetched without a connection."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import Office

PAGES: list[dict[str, Any]] = [
    {
        "url": "https://rates.example/2031",
        "title": "Rates 2031",
        "site": "rates.example",
        "text": "The base rate is 3.1 %. " + "Filler. " * 60 + "Penalty interest is 8.1 %.",
    },
    {
        "url": "https://blog.example/rates",
        "title": "A blog",
        "site": "blog.example",
        "text": "Somebody writes about rates.",
    },
]


@pytest.fixture
def office() -> Office:
    return Office({"web": {"pages": PAGES}})


def test_pages_with_the_word_in_their_title_come_first(office: Office) -> None:
    found = office.call("web_search", query="rates")
    assert [hit["url"] for hit in found["results"]] == [PAGES[0]["url"], PAGES[1]["url"]]
    assert office.call("web_search", query="rates", site="blog.example")["total"] == 1
    assert office.call("web_search", query="rates zebra") == {"results": [], "total": 0}


def test_a_snippet_shows_the_place_where_the_word_stands(office: Office) -> None:
    hit = office.call("web_search", query="penalty")["results"][0]
    assert "Penalty interest is 8.1 %." in hit["snippet"]
    assert len(hit["snippet"]) <= 160


@pytest.mark.parametrize(
    "url",
    [
        "https://rates.example/2031",
        "https://rates.example/2031#base",
        "https://rates.example/2031/",
    ],
)
def test_a_page_is_fetched_by_its_address_whatever_its_end(office: Office, url: str) -> None:
    assert office.call("web_fetch", url=url)["title"] == "Rates 2031"


@pytest.mark.parametrize("url", ["https://nowhere.example/", "file:///etc/passwd", "#", "/"])
def test_an_address_that_the_task_does_not_hold_is_not_found(office: Office, url: str) -> None:
    assert office.refusal("web_fetch", url=url) == "not_found"
