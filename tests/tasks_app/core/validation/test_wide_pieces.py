"""Near misses for pieces that hold more than one value."""

from typing import Any

import pytest

from tasks_app.core.validation.wide_pieces import is_wide, near_words


@pytest.mark.parametrize(
    ("piece", "wide"),
    [
        ("IN-3338", False),
        (76.6, False),
        ({"number": 76.6}, False),
        ({"number": 76.6, "within": 0.5}, True),
        ({"regex": "April"}, True),
    ],
)
def test_a_tolerance_and_an_expression_hold_more_than_one_value(piece: Any, wide: bool) -> None:
    assert is_wide(piece) is wide


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("Due on 2031-04-24.", {"regex": r"20\d\d"}, [("2031-04-24", "2031-04-25")]),
        (
            "At 2031-04-08T10:00:00-05:00, as said.",
            {"regex": "T10"},
            [("2031-04-08T10:00:00-05:00", "2031-04-09T10:00:00-05:00")],
        ),
        ("IN-52 is held.", {"regex": r"IN-\d+"}, [("IN-52", "IN-25")]),
        ("All is held.", {"regex": "held"}, []),
        ("0.00 are open, 101.60 left.", {"number": 101.6, "within": 500}, [("101.60", "112.76")]),
        ("About 99 left.", {"number": 101.6, "within": 500}, []),
    ],
)
def test_a_near_miss_stands_for_the_whole_word(
    text: str, piece: Any, expected: list[tuple[str, str]]
) -> None:
    assert list(near_words(text, piece)) == expected
