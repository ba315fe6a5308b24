import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from studio.web import words
from studio.web.choices import Role
from studio.web.models import User

NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("word", "value", "shown"),
    [
        (words.initial, "step opened", "Step opened"),
        (words.initial, "r_reply pays for nothing", "r_reply pays for nothing"),
        (words.initial, "finance/invoices IN-1", "finance/invoices IN-1"),
        (words.initial, "", ""),
        (words.sentence, "nothing holds", "Nothing holds."),
        (words.sentence, "did you mean IN-2?", "Did you mean IN-2?"),
        (words.sentence, "", ""),
        (words.number, 12345, "12,345"),
        (words.number, 0, "0"),
        (words.number, 1234.5, "1,234.50"),
        (words.compact, 999, "999"),
        (words.compact, 1200, "1.2k"),
        (words.compact, 14_400, "14k"),
        (words.compact, 3_400_000, "3.4M"),
        (words.score, 0.0, "0.00"),
        (words.score, 1, "1.00"),
        (words.signed, 0.19, "+0.19"),
        (words.signed, -0.24, "−0.24"),
        (words.signed, -0.004, "0.00"),
        (words.signed, 0, "0.00"),
        (words.percent, 0.0, "0 %"),
        (words.percent, 0.001, "<1 %"),
        (words.percent, 0.999, ">99 %"),
        (words.percent, 1.0, "100 %"),
        (words.duration, 0.44, "0.4 s"),
        (words.duration, 59.4, "59 s"),
        (words.duration, 200, "3 min"),
        (words.duration, 7500, "2 h 5 min"),
        (words.duration, 7200, "2 h"),
        (words.duration, 400_000, "4 d"),
        (words.size, 950, "950 B"),
        (words.size, 1234, "1.2 kB"),
        (words.size, 14_000_000, "14 MB"),
    ],
)
def test_a_value_reads_as_people_write_it(
    word: Callable[[Any], str], value: float, shown: str
) -> None:
    assert word(value) == shown


@pytest.mark.parametrize(
    "word",
    [
        words.number,
        words.compact,
        words.score,
        words.signed,
        words.percent,
        words.duration,
        words.size,
    ],
)
def test_what_is_not_scored_is_a_dash_and_not_a_nought(word: Callable[[Any], str]) -> None:
    assert word(None) == "–"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "just now"),
        (4, "just now"),
        (12, "12 s ago"),
        (61, "1 min ago"),
        (7300, "2 h ago"),
        (100_000, "1 d ago"),
        (40 * 86_400, "2026-10-21"),
    ],
)
def test_the_past_is_told_by_distance(seconds: int, shown: str) -> None:
    assert words.ago(NOW - dt.timedelta(seconds=seconds), NOW) == shown


def test_templates_have_the_same_words_and_ask_for_permissions() -> None:
    template = Template(
        "{% load studio_ui %}{{ n|number }} {{ none|score }} "
        '{% if request|may:"edit" %}edit{% endif %}{% if request|may:"delete" %}delete{% endif %} '
        '{% query page=None q="a b" %} {% query q=None page=None %}'
    )
    request = RequestFactory().get("/", {"q": "old", "page": "3"})
    request.user = User(username="e", role=Role.EDITOR)
    shown = template.render(Context({"n": 1234, "none": None, "request": request}))
    assert shown == "1,234 – edit ?q=a+b ?"
