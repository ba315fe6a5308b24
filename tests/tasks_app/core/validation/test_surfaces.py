"""How people say days, times, numbers and ids."""

import pytest

from tasks_app.core.validation.surfaces import Heard

AT = "2031-03-20T09:10:00+01:00"  # a Thursday


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("Move it to tomorrow.", "2031-03-21", "tomorrow"),
        ("Können wir morgen?", "2031-03-21", "morgen"),
        ("By Monday, please.", "2031-03-24", "monday"),
        ("Next Friday at noon", "2031-03-28T12:00:00+01:00", "friday"),
        ("on 3 March", "2031-03-03", "3 March"),
        ("on March 3rd", "2031-03-03", "March 3rd"),
        ("am 3. März", "2031-03-03", "3. März"),
        ("bis 24.3.", "2031-03-24", "24.3."),
        ("in two weeks", "2031-04-03", "in two weeks"),
        ("half past two", "2031-05-01T14:30:00+02:00", "half past two"),
        ("at 3 pm", "2031-05-01T15:00:00+02:00", "3 pm"),
        ("two dozen eggs", 24, "two dozen"),
        ("a half-hour call", 30, "half-hour"),
        ("1.5 kg of flour", 1500, "1.5 kg"),
        ("three days", 3, "three days"),
        ("see tk 2041", "TK-2041", "tk 2041"),
        ("invoice in5521", "IN-5521", "in5521"),
    ],
)
def test_words_mean_what_they_say(text: str, value: object, said: str) -> None:
    assert Heard.of(text, AT).means(value) == said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Move it to tomorrow.", "2031-03-22"),
        ("on 31 April", "2031-04-30"),
        ("two dozen eggs", 12),
        ("TK-2041", "TK-2042"),
        ("in may cases", "2031-05-01"),
        ("", "2031-03-20"),
        ("99999999999999999999 March", "2031-03-01"),
        ("hello", None),
        ("hello", True),
    ],
)
def test_what_is_not_said_means_nothing(text: str, value: object) -> None:
    assert Heard.of(text, AT).means(value) is None
