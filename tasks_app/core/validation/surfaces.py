"""How people say days, times, numbers and ids, and what that means under a frozen clock.

A request says “tomorrow”, “Friday”, “3 March”, “half past two”, “two dozen”, “tk 2041”; the
argument is a date, a time, a number, an id. English and German are read; what is not understood
means nothing.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final, NamedTuple

from tasks_app.core.instants import is_date, is_instant, parse_date, parse_instant
from tasks_app.core.values import NUMBERS

_DAYS: Final[Mapping[str, int]] = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "day after tomorrow": 2,
    "heute": 0, "morgen": 1, "gestern": -1, "übermorgen": 2, "vorgestern": -2,
}  # fmt: skip
_WEEKDAYS: Final = (
    ("monday", "montag"), ("tuesday", "dienstag"), ("wednesday", "mittwoch"),
    ("thursday", "donnerstag"), ("friday", "freitag"), ("saturday", "samstag"),
    ("sunday", "sonntag"),
)  # fmt: skip
_MONTHS: Final = (
    ("january", "januar"), ("february", "februar"), ("march", "märz"), ("april", "april"),
    ("may", "mai"), ("june", "juni"), ("july", "juli"), ("august", "august"),
    ("september", "september"), ("october", "oktober"), ("november", "november"),
    ("december", "dezember"),
)  # fmt: skip
_COUNTS: Final[Mapping[str, int]] = {
    word: number
    for number, pair in enumerate(
        (
            ("one", "eins"), ("two", "zwei"), ("three", "drei"), ("four", "vier"),
            ("five", "fünf"), ("six", "sechs"), ("seven", "sieben"), ("eight", "acht"),
            ("nine", "neun"), ("ten", "zehn"), ("eleven", "elf"), ("twelve", "zwölf"),
        ),
        start=1,
    )
    for word in pair
}  # fmt: skip
_UNITS: Final[Mapping[str, tuple[float, ...]]] = {
    "dozen": (12,), "dutzend": (12,), "hour": (60, 1), "hours": (60, 1), "stunde": (60, 1),
    "stunden": (60, 1), "minutes": (1,), "minuten": (1,), "day": (24, 1), "days": (24, 1),
    "week": (7,), "weeks": (7,), "woche": (7,), "wochen": (7,), "kg": (1000, 1), "km": (1000, 1),
    "m": (100, 1000), "k": (1000,), "thousand": (1000,), "tausend": (1000,), "percent": (0.01, 1),
    "%": (0.01, 1),
}  # fmt: skip
"""Unit → how many of a smaller one it may mean."""
_HALVES: Final[Mapping[str, float]] = {
    "half an hour": 30, "half-hour": 30, "half hour": 30, "halbe stunde": 30,
    "halben stunde": 30, "quarter of an hour": 15, "viertelstunde": 15,
    "an hour and a half": 90, "eineinhalb stunden": 90, "half a dozen": 6,
}  # fmt: skip
_COUNTED: Final = re.compile(
    r"(?<![\w.,])(?:(\d+(?:[.,]\d+)?)\s*-?\s*|([a-zäöüß]+)[\s-]+)(%|[a-zäöüß]+)", re.IGNORECASE
)
_MONTH_WORDS: Final = "|".join(
    sorted({*(n for names in _MONTHS for n in names), *(n[:3] for names in _MONTHS for n in names)},
           key=len, reverse=True)
)  # fmt: skip
_DATED: Final = (
    re.compile(
        rf"(?<![\w.])(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month>{_MONTH_WORDS})\b"
        r"(?:,?\s+(?P<year>\d{4}))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<!\w)(?P<month>{_MONTH_WORDS})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)"
        r"(?:,?\s+(?P<year>\d{4}))?",
        re.IGNORECASE,
    ),
)
_NUMERIC: Final = re.compile(r"(?<!\d)(\d{1,2})[./](\d{1,2})[./]?(\d{4})?(?!\d)")
_CLOCKED: Final = re.compile(
    r"(?<![\d.:])(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|uhr|o’clock|o'clock)?(?![\d:])",
    re.IGNORECASE,
)
_HOURS: Final[Mapping[str, int]] = {"noon": 720, "midday": 720, "mittag": 720, "midnight": 0}


class Heard(NamedTuple):
    """What a text says, as it may be meant; each meaning with the words that say it."""

    days: Mapping[date, str]
    minutes: Mapping[int, str]
    """Minutes after midnight."""
    numbers: Mapping[float, str]
    letters: Mapping[str, str]
    """Letters and digits of each word that has digits, in lower case."""

    @classmethod
    def of(cls, text: str, at: str) -> "Heard":
        """Read a text said at a moment."""
        today = parse_date(at[:10]) or date(2031, 1, 1)
        return cls(
            dict(reversed(list(_days(text, today)))),
            dict(reversed(list(_minutes(text)))),
            dict(reversed(list(_numbers(text)))),
            dict(_ids(text)),
        )

    def means(self, value: Any) -> str | None:
        """Return the words that mean a value, None if none do."""
        if isinstance(value, NUMBERS) and not isinstance(value, bool):
            return self.numbers.get(float(value))
        if not isinstance(value, str):
            return None
        if is_instant(value):
            moment = parse_instant(value)
            day = parse_date(value[:10])
            said = self.days.get(day) if day is not None else None
            if said is not None or moment is None:
                return said
            return self.minutes.get(int(value[11:13]) * 60 + int(value[14:16]))
        if is_date(value):
            day = parse_date(value)
            return self.days.get(day) if day is not None else None
        return self.letters.get(_squeezed(value)) if any(c.isdigit() for c in value) else None


def _days(text: str, today: date) -> Iterator[tuple[date, str]]:
    lower = text.lower()
    for words, offset in _DAYS.items():
        if re.search(rf"(?<!\w){words}(?!\w)", lower):
            yield today + timedelta(days=offset), words
    for number, names in enumerate(_WEEKDAYS):
        for name in names:
            if re.search(rf"(?<!\w){name}s?(?!\w)", lower):
                ahead = (number - today.weekday()) % 7
                for days in (ahead or 7, ahead + 7, ahead - 7, ahead):
                    yield today + timedelta(days=days), name
    for expression in _DATED:
        for match in expression.finditer(text):
            month = match["month"].lower()
            which = next(i for i, names in enumerate(_MONTHS, 1) if _is_month(month, names))
            yield from _dates(int(match["day"]), which, match["year"], today, match[0].strip())
    for match in _NUMERIC.finditer(text):
        yield from _dates(int(match[1]), int(match[2]), match[3], today, match[0])
    for match in re.finditer(r"\bin (\d+|[a-zäöüß]+) (days?|weeks?|tage?n?|wochen?)\b", lower):
        count = _count(match[1])
        if count is not None:
            week = match[2][0] == "w"
            yield today + timedelta(days=int(count) * (7 if week else 1)), match[0]


def _is_month(word: str, names: tuple[str, ...]) -> bool:
    return any(word == name or (len(word) == 3 and name.startswith(word)) for name in names)


def _dates(
    day: int, month: int, year: str | None, today: date, said: str
) -> Iterator[tuple[date, str]]:
    for number in (int(year),) if year else (today.year, today.year + 1, today.year - 1):
        found = parse_date(f"{number:04d}-{month:02d}-{day:02d}")
        if found is not None:
            yield found, said


def _minutes(text: str) -> Iterator[tuple[int, str]]:
    lower = text.lower()
    for word, minutes in _HOURS.items():
        if re.search(rf"(?<!\w){word}(?!\w)", lower):
            yield minutes, word
    for words, before in (("half past", 30), ("quarter past", 15), ("quarter to", -15)):
        for match in re.finditer(rf"{words} (\d+|[a-z]+)", lower):
            hour = _count(match[1])
            if hour is not None and hour <= 12:
                yield int(hour) * 60 + before, match[0]
                yield (int(hour) + 12) % 24 * 60 + before, match[0]
    for match in _CLOCKED.finditer(text):
        hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "").lower()
        if hour > 24 or minute > 59 or not (match[2] or half):
            continue
        if half.startswith("p") and hour < 12:
            hour += 12
        yield hour % 24 * 60 + minute, match[0].strip()


def _numbers(text: str) -> Iterator[tuple[float, str]]:
    lower = text.lower()
    for words, value in _HALVES.items():
        if words in lower:
            yield value, words
    for match in _COUNTED.finditer(lower):
        count = _count(match[1] or match[2])
        if count is None:
            continue
        for factor in _UNITS.get(match[3], ()):
            if factor != 1 or match[1] is None:
                yield round(count * factor, 6), match[0].strip()


def _count(word: str) -> float | None:
    if word[0].isdigit():
        return float(word.replace(",", "."))
    return _COUNTS.get(word, 1 if word in ("a", "an", "ein", "eine") else None)


def _ids(text: str) -> Iterator[tuple[str, str]]:
    words = re.findall(r"[^\s,;:!?()“”\"]+", text)
    for number, word in enumerate(words):
        word = word.strip(".'’")
        if any(c.isdigit() for c in word):
            yield _squeezed(word), word
            if number and words[number - 1].isalpha():
                yield _squeezed(words[number - 1] + word), f"{words[number - 1]} {word}"


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()
