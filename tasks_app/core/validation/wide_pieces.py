"""Near misses for pieces that hold more than one value: a number with a tolerance, an expression.

A tolerance allows for rounding, and an expression for another way to write the same. Where the next
day, a number with two digits swapped or a sum a tenth higher fits as well, the check does not look
at the value.
"""

from collections.abc import Iterator
from typing import Any, Final

from tasks_app.core.instants import add_days, add_minutes, is_date, is_instant
from tasks_app.core.predicates import contains_number
from tasks_app.core.validation import near_misses, text_pieces
from tasks_app.core.values import OBJECTS

MARKS: Final = ".,;:!?)"
"""Marks that may end a word and are none of it."""
_DAY: Final = 1440


def is_wide(piece: Any) -> bool:
    """Say whether a piece holds more than one value."""
    return isinstance(piece, OBJECTS) and ("regex" in piece or bool(piece.get("within")))


def near_words(text: str, piece: Any) -> Iterator[tuple[str, str]]:
    """Yield the words in which a piece finds its value, and a near miss of each. Of the numbers
    that a tolerance lets pass only the one that it is about is meant.
    """
    target = text_pieces.number_of(piece)
    words = [text[slice(*_word(text, start, end))] for start, end in text_pieces.spans(text, piece)]
    if target is not None:
        words = [word for word in words if contains_number(word, target)][:1]
    for word in dict.fromkeys(words):
        wrong = _near(word, target)
        if wrong is not None:
            yield word, wrong


def _word(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the whole word that a find lies in."""
    while start and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    while text[end - 1] in MARKS:
        end -= 1
    return start, end


def _near(word: str, number: float | None) -> str | None:
    if number is not None:
        return f"{number * 1.1 + 1:.2f}"
    if is_date(word):
        return add_days(word, 1)
    if is_instant(word):
        return add_minutes(word, _DAY)
    return near_misses.swapped_digits(word)
