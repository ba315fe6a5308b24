"""Team chat: channels, threads, posts."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import MAILBOX, NOW, Office

CHANNELS: list[dict[str, Any]] = [
    {"id": "CH-001", "name": "ops", "topic": "Daily business", "members": ["Ada", "Ben"]},
    {"id": "CH-002", "name": "old", "archived": True},
]
POSTS: list[dict[str, Any]] = [
    {
        "id": "PO-0001",
        "channel_id": "CH-001",
        "thread_id": None,
        "author": "Ada",
        "text": "The relay is down",
        "date": "2031-03-19T08:00:00+01:00",
    },
    {
        "id": "PO-0002",
        "channel_id": "CH-001",
        "thread_id": "PO-0001",
        "author": "Ben",
        "text": "On it",
        "date": "2031-03-19T08:05:00+01:00",
    },
    {
        "id": "PO-0003",
        "channel_id": "CH-001",
        "thread_id": None,
        "author": "Ben",
        "text": "Lunch?",
        "date": "2031-03-19T12:00:00+01:00",
    },
]


@pytest.fixture
def office() -> Office:
    return Office({"chat": {"channels": CHANNELS, "posts": POSTS}})


def ids(page: dict[str, Any], noun: str = "posts") -> list[str]:
    return [row["id"] for row in page[noun]]


def test_a_channel_shows_its_posts_latest_first_without_the_answers(office: Office) -> None:
    assert ids(office.call("chat_list_posts", channel_id="CH-001")) == ["PO-0003", "PO-0001"]
    since = "2031-03-19T09:00:00Z"
    assert ids(office.call("chat_list_posts", channel_id="CH-001", since=since)) == ["PO-0003"]
    assert ids(office.call("chat_search_posts", query="on it")) == ["PO-0002"]
    assert ids(office.call("chat_list_channels", query="daily"), "channels") == ["CH-001"]


def test_a_thread_is_read_from_any_post_in_it(office: Office) -> None:
    for post_id in ("PO-0001", "PO-0002"):
        thread = office.call("chat_read_thread", post_id=post_id)
        assert thread["post"]["id"] == "PO-0001"
        assert ids(thread, "replies") == ["PO-0002"]


def test_an_answer_goes_to_the_thread_and_its_channel(office: Office) -> None:
    made = office.call("chat_reply_post", post_id="PO-0002", text="Thanks")
    assert made == {
        "id": "PO-0004",
        "channel_id": "CH-001",
        "thread_id": "PO-0001",
        "author": MAILBOX,
        "text": "Thanks",
        "date": NOW,
        "reactions": [],
        "pinned": False,
    }
    assert office.call("chat_create_post", channel_id="CH-001", text="Hi")["thread_id"] is None


def test_a_post_is_pinned_once(office: Office) -> None:
    office.call("chat_pin_post", post_id="PO-0001")
    assert office.changed() == ["chat/posts/PO-0001#pinned"]
    assert office.refusal("chat_pin_post", post_id="PO-0001") == "conflict"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("chat_list_posts", {"channel_id": "CH-9"}, "not_found"),
        ("chat_create_post", {"channel_id": "CH-002", "text": "x"}, "conflict"),
        ("chat_create_post", {"channel_id": "CH-001", "text": " \n"}, "invalid_value"),
        ("chat_reply_post", {"post_id": "PO-9", "text": "x"}, "not_found"),
        ("chat_create_post", {"text": "x"}, "missing_argument"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code
