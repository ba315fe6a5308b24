"""The filter language of list pages, commands, the API, saved views and batches.

``state:approved family:a,b -tag:"hard one" tokens:100..200 refund``: terms joined by blanks must
all hold; ``a,b`` means either; a leading ``-`` negates; quotes keep blanks (``\\"`` inside);
``>=``, ``<=`` and ``..`` compare numbers and dates; a bare word searches the text.

An app describes its list once::

    TASKS = FilterSet(
        "tasks",
        (
            choice("state", "state", lambda: TaskState.values),
            text("tag", "tags__name"),
            number("tokens", "token_count"),
            date("created", "created_at"),
            Key("service", lambda value: Q(services__contains=[exact(value)]), lambda: SERVICES),
        ),
        search=lambda word: Q(search_text__icontains=word),
    )
    rows = Task.objects.filter(TASKS.compile("state:approved tokens:>=100"))

``compile`` raises ``FilterError`` whose problems name the place (``start``, ``end``: characters of
the text) and, for an unknown key or value, the nearest valid one. ``parse`` alone gives the terms,
for chips; ``render`` writes terms back; ``filter_hash`` identifies a filter whatever its spacing.
"""

import datetime as dt
import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_
from typing import NamedTuple, TypeAlias

from django.db.models import Q
from django.utils import timezone

from studio.lib.hashing import content_hash
from studio.web.errors import FilterError, Problem

MAX_LENGTH = 2000
MAX_TERMS = 50
MAX_VALUES = 100
_LARGEST_NUMBER = 1e15
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_NEEDS_QUOTES = re.compile(r"[\s\",:]|^-|^[<>]|\.\.")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?")
_SECONDS = re.compile(r"T\d{2}:\d{2}:\d{2}")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")
_SHOWN_VALUES = 12


@dataclass(frozen=True)
class Value:
    """One alternative of a term: exactly ``low`` (is_range False), or a range of open ends."""

    low: str | None
    high: str | None
    is_range: bool
    start: int
    end: int
    quoted: bool = False

    @property
    def text(self) -> str:
        """The value as a person would write it, unquoted."""
        if not self.is_range:
            return self.low or ""
        if self.high is None:
            return f">={self.low}"
        if self.low is None:
            return f"<={self.high}"
        return f"{self.low}..{self.high}"


@dataclass(frozen=True)
class Term:
    """``key:values``, or a word to search where ``key`` is None."""

    key: str | None
    values: tuple[Value, ...]
    negated: bool
    start: int
    end: int

    def render(self) -> str:
        """The term in its shortest sure form."""
        sign = "-" if self.negated else ""
        shown = ",".join(_render_value(value) for value in self.values)
        return f"{sign}{self.key}:{shown}" if self.key is not None else f"{sign}{shown}"


@dataclass(frozen=True)
class Query:
    """A parsed filter: all terms must hold."""

    terms: tuple[Term, ...]

    def render(self) -> str:
        """The filter text in canonical spacing and quoting; parses to the same terms."""
        return " ".join(term.render() for term in self.terms)

    def without(self, term: Term) -> "Query":
        """The filter less one term: what a chip's cross leads to."""
        return Query(tuple(other for other in self.terms if other != term))

    def keys(self) -> list[str]:
        """The keys used, in order, each once."""
        return list(dict.fromkeys(term.key for term in self.terms if term.key is not None))


class ValueProblem(ValueError):
    """Raised by a key's compile function; ``hint`` says what would be right."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


CompileValue: TypeAlias = Callable[[Value], Q]
Allowed: TypeAlias = Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Key:
    """One key of a list: its name, how a value becomes a condition, which values there are."""

    name: str
    compile: CompileValue
    allowed: Allowed | None = None
    """None where anything may be asked for (a person's own tag, a free text)."""
    help: str = ""


class AppliedTerm(NamedTuple):
    """A term beside its condition: for "drop this filter to see 214"."""

    term: Term
    condition: Q


@dataclass(frozen=True)
class FilterSet:
    """The keys of one list and how a bare word is searched."""

    name: str
    keys: tuple[Key, ...]
    search: Callable[[str], Q]
    _by_name: dict[str, Key] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for key in self.keys:
            if key.name in self._by_name:
                raise ValueError(f"the key {key.name} is listed twice in {self.name}")
            self._by_name[key.name] = key

    def compile(self, text: str) -> Q:
        """The condition of a filter text; the empty text matches everything."""
        return reduce(and_, (applied.condition for applied in self.apply(text)), Q())

    def apply(self, text: str) -> list[AppliedTerm]:
        """Each term with its condition; FilterError with every problem found."""
        problems: list[Problem] = []
        applied = []
        for term in parse(text).terms:
            condition = self._condition(term, problems)
            applied.append(AppliedTerm(term, ~condition if term.negated else condition))
        if problems:
            raise _error(problems)
        return applied

    def hash(self, text: str) -> str:
        """Identity of this list under this filter, for cursors; FilterError on a broken text."""
        return filter_hash(text, self.name)

    def _condition(self, term: Term, problems: list[Problem]) -> Q:
        if term.key is None:
            return reduce(or_, (self.search(value.text) for value in term.values))
        key = self._by_name.get(term.key)
        if key is None:
            start = term.start + (1 if term.negated else 0)
            problems.append(
                Problem(
                    "filter",
                    f"There is no filter “{term.key}” here.",
                    _nearest(term.key, [known.name for known in self.keys], "Filters"),
                    start,
                    start + len(term.key),
                    "unknown_key",
                )
            )
            return Q()
        alternatives = []
        allowed = list(key.allowed()) if key.allowed is not None else None
        for value in term.values:
            if allowed is not None and (value.is_range or value.low not in allowed):
                problems.append(
                    Problem(
                        "filter",
                        f"“{value.text}” is not a value of {key.name}.",
                        _nearest(value.text, allowed, "Values"),
                        value.start,
                        value.end,
                        "unknown_value",
                    )
                )
                continue
            try:
                alternatives.append(key.compile(value))
            except ValueProblem as problem:
                problems.append(
                    Problem(
                        "filter",
                        f"{key.name}: {problem.message}",
                        problem.hint,
                        value.start,
                        value.end,
                        "bad_value",
                    )
                )
        return reduce(or_, alternatives) if alternatives else Q()


# Keys of the usual kinds


def choice(name: str, lookup: str, allowed: Allowed, help_text: str = "") -> Key:
    """A key with a closed list of values, compared with ``lookup`` for equality."""
    return Key(name, lambda value: Q(**{lookup: exact(value)}), allowed, help_text)


def text(name: str, lookup: str, help_text: str = "", allowed: Allowed | None = None) -> Key:
    """A key whose value is compared as text; ``lookup`` may end in __icontains and the like."""
    return Key(name, lambda value: Q(**{lookup: exact(value)}), allowed, help_text)


def yes_no(name: str, lookup: str, help_text: str = "") -> Key:
    """A key answered by yes or no."""
    return Key(name, lambda value: Q(**{lookup: exact(value) == "yes"}), _yes_no, help_text)


def number(name: str, lookup: str, help_text: str = "") -> Key:
    """A key that takes 5, >=5, <=5 and 5..9 (both ends included)."""

    def compile_value(value: Value) -> Q:
        if not value.is_range:
            return Q(**{lookup: _number(value.low)})
        low = None if value.low is None else _number(value.low)
        high = None if value.high is None else _number(value.high)
        if low is not None and high is not None and low > high:
            raise ValueProblem(
                "the range ends before it begins", f"Write {value.high}..{value.low}."
            )
        return _between(lookup, low, high)

    return Key(name, compile_value, None, help_text or "number, >=5, <=5 or 5..9")


def date(name: str, lookup: str, help_text: str = "") -> Key:
    """A key that takes a day or an instant, >=, <= and ranges; a day means all of that day."""

    def compile_value(value: Value) -> Q:
        if not value.is_range:
            first, last = _moments(value.low or "")
            return _half_open(lookup, first, last)
        low = None if value.low is None else _moments(value.low)[0]
        high = None if value.high is None else _moments(value.high)[1]
        if low is not None and high is not None and low >= high:
            raise ValueProblem(
                "the range ends before it begins", f"Write {value.high}..{value.low}."
            )
        return _half_open(lookup, low, high)

    return Key(name, compile_value, None, help_text or "2026-11-30, >=2026-11-01 or a..b")


def exact(value: Value) -> str:
    """The one text of a value; a range is a ValueProblem."""
    if value.is_range:
        raise ValueProblem(f"“{value.text}” is a range", "This filter takes single values.")
    return value.low or ""


# Text to terms


def parse(source: str) -> Query:
    """The terms of a filter text; FilterError names every place that cannot be read."""
    if len(source) > MAX_LENGTH:
        raise _error(
            [
                Problem(
                    "filter",
                    f"The filter is longer than {MAX_LENGTH} characters.",
                    "Drop some terms.",
                    MAX_LENGTH,
                    len(source),
                    "too_long",
                )
            ]
        )
    problems = [
        Problem(
            "filter",
            "A character that cannot be searched.",
            "Delete it.",
            found.start(),
            found.end(),
            "bad_character",
        )
        for found in _UNSAFE.finditer(source)
    ]
    if problems:
        raise _error(problems)
    reader = _Reader(source)
    query = Query(tuple(reader.terms()))
    if reader.problems:
        raise _error(reader.problems)
    return query


def filter_hash(source: str, list_name: str = "") -> str:
    """The same for texts that mean the same terms in the same order, whatever the spacing."""
    return content_hash([list_name, parse(source).render()])[:16]


class _Piece(NamedTuple):
    """Raw text of one value with the positions of its quoted characters taken out."""

    text: str
    quoted: bool
    start: int
    end: int


class _Reader:
    """A hand-written scanner: it must know where each character stood."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.problems: list[Problem] = []

    def terms(self) -> Iterable[Term]:
        """Read to the end; faults are collected, the rest is still read."""
        count = 0
        while True:
            self._skip_blanks()
            if self.position >= len(self.source):
                return
            count += 1
            if count > MAX_TERMS:
                self._problem(
                    f"More than {MAX_TERMS} terms.",
                    "Drop some.",
                    self.position,
                    len(self.source),
                    "too_many_terms",
                )
                return
            term = self._term()
            if term is not None:
                yield term

    def _term(self) -> Term | None:
        start = self.position
        negated = self._peek() == "-"
        if negated:
            self.position += 1
        found = _KEY.match(self.source, self.position)
        if found and self.source[found.end() : found.end() + 1] == ":":
            self.position = found.end() + 1
            return self._keyed(found.group().lower(), negated=negated, start=start)
        if self._peek() in ("", " ", "\t", "\n", "\r"):
            # A lone hyphen is a word like any other, unless it stands for a forgotten term.
            self._problem(
                "A “-” negates the term behind it.", "Add a term.", start, start + 1, "lone_sign"
            )
            return None
        piece = self._piece(stop_at_comma=False)
        if not piece.text:
            self._problem(
                "Nothing between the quotes.", "Add a word.", piece.start, piece.end, "empty"
            )
            return None
        if not piece.quoted and ":" in piece.text:
            self._problem(
                f"“{piece.text}” is not a filter.",
                "Put it in quotes to search for it.",
                piece.start,
                piece.end,
                "not_a_key",
            )
            return None
        value = Value(piece.text, None, False, piece.start, piece.end, piece.quoted)
        return Term(None, (value,), negated, start, self.position)

    def _keyed(self, key: str, *, negated: bool, start: int) -> Term | None:
        values: list[Value] = []
        while True:
            piece = self._piece(stop_at_comma=True)
            value = self._value(key, piece)
            if value is not None:
                values.append(value)
            if self._peek() != ",":
                break
            self.position += 1
        if len(values) > MAX_VALUES:
            self._problem(
                f"More than {MAX_VALUES} values.",
                "Drop some.",
                start,
                self.position,
                "too_many_values",
            )
        return Term(key, tuple(values), negated, start, self.position) if values else None

    def _value(self, key: str, piece: _Piece) -> Value | None:
        start, end = piece.start, piece.end
        if not piece.text:
            self._problem(
                f"{key}: a value is missing.",
                f"Write {key}:value.",
                start,
                max(end, start),
                "empty",
            )
            return None
        if piece.quoted:
            return Value(piece.text, None, False, start, end, True)
        if piece.text.startswith((">", "<")):
            sign, rest = piece.text[:2], piece.text[2:]
            if sign not in (">=", "<=") or not rest:
                self._problem(
                    f"“{piece.text}” is not a comparison.",
                    "Write >=5, <=5 or 5..9.",
                    start,
                    end,
                    "bad_comparison",
                )
                return None
            low_end, high_end = (rest, None) if sign == ">=" else (None, rest)
            return Value(low_end, high_end, True, start, end)
        low, dots, high = piece.text.partition("..")
        if not dots:
            return Value(piece.text, None, False, start, end)
        if not low and not high:
            self._problem(
                "A range needs an end.", "Write 5..9, 5.. or ..9.", start, end, "bad_comparison"
            )
            return None
        return Value(low or None, high or None, True, start, end)

    def _piece(self, *, stop_at_comma: bool) -> _Piece:
        """Up to the next blank (or comma); quotes may stand anywhere inside."""
        start = self.position
        parts: list[str] = []
        quoted = False
        while self.position < len(self.source):
            character = self.source[self.position]
            if character.isspace() or (stop_at_comma and character == ","):
                break
            if character == '"':
                quoted = True
                parts.append(self._quoted())
                continue
            parts.append(character)
            self.position += 1
        return _Piece("".join(parts), quoted, start, self.position)

    def _quoted(self) -> str:
        start = self.position
        self.position += 1
        parts: list[str] = []
        while self.position < len(self.source):
            character = self.source[self.position]
            following = self.source[self.position + 1 : self.position + 2]
            if character == "\\" and following in ('"', "\\") and following:
                parts.append(following)
                self.position += 2
                continue
            self.position += 1
            if character == '"':
                return "".join(parts)
            parts.append(character)
        self._problem(
            "A quote is not closed.", 'Add a closing ".', start, len(self.source), "open_quote"
        )
        return "".join(parts)

    def _skip_blanks(self) -> None:
        while self.position < len(self.source) and self.source[self.position].isspace():
            self.position += 1

    def _peek(self) -> str:
        return self.source[self.position : self.position + 1]

    def _problem(self, message: str, hint: str, start: int, end: int, code: str) -> None:
        self.problems.append(Problem("filter", message, hint, start, end, code))


def _render_value(value: Value) -> str:
    if value.is_range:
        return value.text
    plain = value.low or ""
    if _NEEDS_QUOTES.search(plain):
        escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return plain


def _error(problems: Sequence[Problem]) -> FilterError:
    first = problems[0]
    fault = first.message
    if first.start is not None and first.end is not None:
        # The place belongs to the fault, before its stop; what to do is a sentence of its own.
        stop = fault[-1] if fault.endswith((".", "!", "?")) else "."
        place = f"characters {first.start + 1} to {max(first.end, first.start + 1)}"
        fault = f"{fault.removesuffix(stop)} ({place}){stop}"
    return FilterError(Problem("filter", fault, first.hint).words, problems)


def _nearest(word: str, known: Sequence[str], label: str) -> str:
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    if close:
        return f"Did you mean “{close[0]}”?"
    shown = ", ".join(known[:_SHOWN_VALUES])
    if not known:
        return "There are none yet."
    return f"{label}: {shown}{', …' if len(known) > _SHOWN_VALUES else ''}."


def _yes_no() -> Iterable[str]:
    return ("yes", "no")


def _number(raw: str | None) -> int | float:
    if raw is None or not _NUMBER.fullmatch(raw):
        raise ValueProblem(f"“{raw}” is not a number", "Write 5, 0.5, >=5, <=5 or 5..9.")
    value = float(raw)
    if not math.isfinite(value) or abs(value) > _LARGEST_NUMBER:
        raise ValueProblem(f"“{raw}” is too large", "")
    return int(value) if value.is_integer() else value


def _moments(raw: str) -> tuple[dt.datetime, dt.datetime]:
    """The first moment of what was written and the first one after it."""
    today = timezone.localdate()
    zone = timezone.get_current_timezone()
    try:
        day = {"today": today, "yesterday": today - dt.timedelta(days=1)}.get(raw)
        if day is None:
            if not _DATE.fullmatch(raw):
                raise ValueError(raw)
            if "T" in raw:
                moment = dt.datetime.fromisoformat(raw)
                moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
                # Written to the minute it means that minute, else that second.
                seconds = 1 if _SECONDS.search(raw) else 60
                return moment, moment + dt.timedelta(seconds=seconds)
            day = dt.date.fromisoformat(raw)
        midnight = dt.datetime.combine(day, dt.time(), zone)
        return midnight, dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), zone)
    except (ValueError, OverflowError) as error:
        raise ValueProblem(
            f"“{raw}” is not a date", "Write 2026-11-30, 2026-11-30T14:00, today or yesterday."
        ) from error


def _between(lookup: str, low: object | None, high: object | None) -> Q:
    condition = Q()
    if low is not None:
        condition &= Q(**{f"{lookup}__gte": low})
    if high is not None:
        condition &= Q(**{f"{lookup}__lte": high})
    return condition


def _half_open(lookup: str, low: dt.datetime | None, high: dt.datetime | None) -> Q:
    condition = Q()
    if low is not None:
        condition &= Q(**{f"{lookup}__gte": low})
    if high is not None:
        condition &= Q(**{f"{lookup}__lt": high})
    return condition
