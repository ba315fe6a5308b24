"""Predicates on records and texts: what `where`, `expect` and text groups mean.

A `where` is an object of field path → predicate; all must hold. A predicate is a literal (means
`eq`) or an object whose keys are all operators (conjunction). Text ignores case; numbers agree
within 0.005; two timestamps compare as instants, dates as dates; `between` includes both ends; an
order comparison of different types is false. A missing field is null; only `exists` tells the
difference.

Predicates are compiled to closures once and evaluated many times: a proof grades hundreds of runs.
Regular expressions run in a linear-time engine (RE2), since specs come from strangers.
"""

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import re2

from tasks_app.core.instants import parse_date, parse_instant
from tasks_app.core.values import LEAVES, LISTS, MISSING, NUMBERS, OBJECTS, follow, split_path

TOLERANCE: Final = 0.005 + 1e-9
OPERATORS: Final = frozenset(
    {
        "eq",
        "ne",
        "in",
        "not_in",
        "contains_any",
        "contains_all",
        "regex",
        "gt",
        "ge",
        "lt",
        "le",
        "between",
        "close",
        "exists",
        "nonempty",
    }
)

Test = Callable[[Any], bool]


class PredicateError(ValueError):
    """A predicate that means nothing: the message names the operator and what it expects."""


# --- comparing -----------------------------------------------------------------------------------


def same(left: Any, right: Any) -> bool:
    """Equality of the task format."""
    if isinstance(left, str):
        if not isinstance(right, str):
            return False
        if left == right or _plain(left) == _plain(right):
            return True
        if len(left) >= _SHORTEST_INSTANT and len(right) >= _SHORTEST_INSTANT:
            first, second = parse_instant(left), parse_instant(right)
            return first is not None and first == second
        return False
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, NUMBERS) and isinstance(right, NUMBERS):
        return abs(left - right) <= TOLERANCE
    if isinstance(left, LISTS) and isinstance(right, LISTS):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return left is None and right is None


_SHORTEST_INSTANT: Final = len("2031-03-20T09:10Z")


def _plain(text: str) -> str:
    """Return text as equality sees it: case folded, accents composed."""
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFC", text).casefold()


def order(left: Any, right: Any) -> int | None:
    """Return -1, 0 or 1; None for values that have no common order."""
    return compile_order(right)(left)


def compile_order(right: Any) -> Callable[[Any], int | None]:
    """Compile the comparison with a value: -1, 0 or 1; None for what has no order with it."""
    if isinstance(right, NUMBERS) and not isinstance(right, bool):

        def with_number(left: Any) -> int | None:
            if isinstance(left, NUMBERS) and not isinstance(left, bool):
                return (left > right) - (left < right)
            return None

        return with_number
    if not isinstance(right, str):
        return lambda _: None
    moment = parse_instant(right)
    if moment is not None:

        def with_instant(left: Any) -> int | None:
            at = parse_instant(left) if isinstance(left, str) else None
            return None if at is None else (at > moment) - (at < moment)

        return with_instant
    day = parse_date(right)
    if day is not None:

        def with_date(left: Any) -> int | None:
            on = parse_date(left) if isinstance(left, str) else None
            return None if on is None else (on > day) - (on < day)

        return with_date
    text = _plain(right)

    def with_text(left: Any) -> int | None:
        if not isinstance(left, str) or parse_instant(left) or parse_date(left):
            return None
        other = _plain(left)
        return (other > text) - (other < text)

    return with_text


def compile_same(operand: Any) -> Test:
    """Compile equality with a value; a missing field counts as null."""
    if isinstance(operand, str):
        plain, length, ascii_only = _plain(operand), len(operand), operand.isascii()
        moment = parse_instant(operand)

        def as_text(value: Any) -> bool:
            if value == operand:
                return True
            if not isinstance(value, str):
                return False
            if moment is not None and parse_instant(value) == moment:
                return True
            if ascii_only and len(value) != length and value.isascii():
                return False
            return _plain(value) == plain

        return as_text
    if isinstance(operand, bool):
        return lambda value: value is operand
    if isinstance(operand, NUMBERS):

        def as_number(value: Any) -> bool:
            return (
                isinstance(value, NUMBERS)
                and not isinstance(value, bool)
                and abs(value - operand) <= TOLERANCE
            )

        return as_number
    if operand is None:
        return lambda value: value is None or value is MISSING
    return lambda value: same(value, operand)


def _contains(pieces: Sequence[Any], combine: Callable[[Iterable[bool]], bool]) -> Test:
    equal = [compile_same(piece) for piece in pieces]
    within: list[Callable[[str], bool]] = []
    for piece in pieces:
        try:
            within.append(compile_piece(piece))
        except PredicateError:  # a list may hold what no text can: null, objects
            within.append(lambda _: False)

    def holds(value: Any) -> bool:
        if isinstance(value, LISTS):
            return combine(any(map(test, value)) for test in equal)
        if isinstance(value, str):
            folded = fold(value)
            return combine(test(folded) for test in within)
        return False

    return holds


def _ordered(operand: Any, wanted: tuple[int, ...]) -> Test:
    compare = compile_order(operand)
    return lambda value: compare(value) in wanted


def _test(operator: str, operand: Any) -> Test:
    """Compile one operator. Only `exists` and `nonempty` see MISSING; it is null for all others."""
    match operator:
        case "eq":
            return compile_same(operand)
        case "ne":
            equal = compile_same(operand)
            return lambda v: not equal(v)
        case "in" | "not_in":
            if not isinstance(operand, LISTS):
                raise PredicateError(f"{operator} expects a list")
            options = [compile_same(option) for option in operand]
            if operator == "in":
                return lambda v: any(option(v) for option in options)
            return lambda v: not any(option(v) for option in options)
        case "contains_any" | "contains_all":
            pieces = operand if isinstance(operand, LISTS) else (operand,)
            return _contains(pieces, any if operator == "contains_any" else all)
        case "regex":
            compiled = compile_regex(operand)
            return lambda v: isinstance(v, str) and compiled.search(v) is not None
        case "gt":
            return _ordered(operand, (1,))
        case "ge":
            return _ordered(operand, (0, 1))
        case "lt":
            return _ordered(operand, (-1,))
        case "le":
            return _ordered(operand, (-1, 0))
        case "between":
            if not isinstance(operand, LISTS) or len(operand) != 2:
                raise PredicateError("between expects a list of two values")
            low, high = compile_order(operand[0]), compile_order(operand[1])
            return lambda v: low(v) in (0, 1) and high(v) in (-1, 0)
        case "close":
            target, tolerance = _close(operand)
            return lambda v: (n := read_number(v)) is not None and abs(n - target) <= tolerance
        case "exists" | "nonempty":
            if not isinstance(operand, bool):
                raise PredicateError(f"{operator} expects true or false")
            if operator == "exists":
                return lambda v: (v is not MISSING) is operand
            return lambda v: (v is not MISSING and v is not None and v not in _EMPTY) is operand
        case _:
            raise PredicateError(f"unknown operator {operator}")


_EMPTY: Final[tuple[Any, ...]] = ("", [], {})
_CLOSE: Final = frozenset({"target", "absolute", "relative"})


def _close(operand: Any) -> tuple[float, float]:
    if isinstance(operand, Mapping):
        known = "target" in operand and operand.keys() <= _CLOSE
        if known and all(_is_number(value) for value in operand.values()):
            target = float(operand["target"])
            relative = abs(target) * operand.get("relative", 0)
            return target, max(operand.get("absolute", 0), relative) + 1e-9
    elif _is_number(operand):
        return float(operand), TOLERANCE
    raise PredicateError("close expects a number or {target, absolute, relative} of numbers")


def is_operators(predicate: Any) -> bool:
    """Say whether a predicate is an object of operators (else it is a literal)."""
    if isinstance(predicate, LEAVES) or not isinstance(predicate, OBJECTS):
        return False
    return bool(predicate) and predicate.keys() <= OPERATORS


def compile_predicate(predicate: Any) -> Test:
    """Compile one predicate. The value MISSING stands for a field that isn't there."""
    if not is_operators(predicate):
        if not isinstance(predicate, LEAVES) and isinstance(predicate, OBJECTS):
            unknown = [key for key in predicate if key not in OPERATORS]
            if any(key in OPERATORS for key in predicate):
                raise PredicateError(f"unknown operator {unknown[0]}")
            raise PredicateError('a literal object is written {"eq": {…}}')
        return compile_same(predicate)
    tests = [_test(operator, operand) for operator, operand in predicate.items()]
    if len(tests) == 1:
        return tests[0]
    return lambda value: all(test(value) for test in tests)


class Entry(NamedTuple):
    """One compiled entry of a `where`."""

    path: str
    parts: tuple[str, ...]
    predicate: Any
    test: Test


def compile_fields(where: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Compile an object of field path → predicate, each for itself. Raises PredicateError."""
    found: list[Entry] = []
    if not isinstance(where, OBJECTS):
        raise PredicateError("expected an object of field → predicate")
    for path, predicate in where.items():
        try:
            found.append(Entry(path, split_path(path), predicate, compile_predicate(predicate)))
        except PredicateError as problem:
            raise PredicateError(f"{path}: {problem}") from problem
    return tuple(found)


def compile_where(where: Mapping[str, Any]) -> Test:
    """Compile an object of field path → predicate into one test of a record."""
    fields = [(entry.parts, entry.test) for entry in compile_fields(where)]
    plain = all(len(parts) == 1 and parts[0] != "*" for parts, _ in fields)
    flat = tuple((parts[0], test) for parts, test in fields) if plain else ()

    def holds(record: Any) -> bool:
        if plain and isinstance(record, dict):  # nearly always: no path to follow
            for name, test in flat:  # noqa: SIM110 (a loop is twice as fast as all() here)
                if not test(record.get(name, MISSING)):
                    return False
            return True
        return all(test(follow(record, parts)) for parts, test in fields)

    return holds


_WORDS: Final[Mapping[str, str]] = {
    "eq": "{}",
    "ne": "not {}",
    "in": "one of {}",
    "not_in": "none of {}",
    "contains_any": "any of {}",
    "contains_all": "all of {}",
    "regex": "text like /{}/",
    "gt": "more than {}",
    "ge": "at least {}",
    "lt": "less than {}",
    "le": "at most {}",
    "between": "between {}",
    "close": "about {}",
}


def in_words(predicate: Any, say: Callable[[Any], str] | None = None) -> str:
    """Return what a predicate demands, as a person says it: `one of a, b`, `at least 3`.

    Grading and pages use the same words; `say` is how a page writes the values in them.
    """
    say = say or shown
    if not is_operators(predicate):
        return say(predicate)
    parts = []
    for operator, operand in predicate.items():
        if operator in ("exists", "nonempty"):
            thing = "there" if operator == "exists" else "filled"
            parts.append(thing if operand else f"not {thing}")
        elif operator == "between" and isinstance(operand, LISTS) and len(operand) == 2:
            parts.append(f"between {say(operand[0])} and {say(operand[1])}")
        else:
            parts.append(_WORDS[operator].format(say(operand)))
    return " and ".join(parts)


def shown(value: Any) -> str:
    """Return a value as a person reads it: no quotes, `nothing` for null, lists by comma."""
    if isinstance(value, str):
        return value or "nothing"
    if value is None or value is MISSING:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, LISTS):
        return ", ".join(shown(item) for item in value) or "an empty list"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {shown(item)}" for key, item in value.items()) or "nothing"
    return str(value)


def literal_of(predicate: Any) -> Any:
    """Return the one literal that a predicate demands, MISSING if it leaves a choice."""
    if not isinstance(predicate, Mapping):
        return predicate
    return predicate["eq"] if predicate.keys() == {"eq"} else MISSING


# --- text ----------------------------------------------------------------------------------------

_SPACE: Final = re.compile(r"\s+")
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Scripts written without spaces between words (Thai to Khmer, CJK): their letters bound nothing.
"""
_BOUND: Final = f"[^\\W{_UNSPACED}]"
_BOUND_LATIN: Final = "[0-9_a-z\u00aa-\u058f]"
"""Neighbours that continue a Latin, Greek or Cyrillic piece: an Arabic or Hebrew prefix doesn't."""
_INVISIBLE: Final = re.compile(r"[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


_LONGEST_KEPT: Final = 4096
"""Characters up to which what was read out of a text is kept: longer ones would fill the memory."""


def fold(text: str) -> str:
    """Return text as it is compared: case folded, white space collapsed, invisible marks removed.

    Compatible forms become one (NFKC: full width, ligatures, composed accents).
    """
    return _kept_fold(text) if len(text) <= _LONGEST_KEPT else _fold(text)


def _fold(text: str) -> str:
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_ARABIC_MARKS)
    words = " ".join(text.split())  # far faster than a substitution at every blank
    head = " " if text[:1].isspace() else ""
    tail = " " if words and text[-1:].isspace() else ""
    return f"{head}{words}{tail}".casefold()


_kept_fold: Final = functools.lru_cache(maxsize=2048)(_fold)
_ARABIC_MARKS: Final = {0x066B: ".", 0x066C: ",", 0x2019: "'"}
"""Arabic decimal and thousands marks as their Western forms; one apostrophe."""


@functools.cache
def _boundary(expression: str) -> Callable[[str, int], object]:
    """Compile one of the few zero-width tests; a pattern a piece would cost a millisecond each."""
    return re.compile(expression).match


def _edge(character: str) -> str | None:
    """Return the class of characters that must not stand beside a piece's edge; None for any."""
    if re.fullmatch(_BOUND, character) is None:
        return None
    return _BOUND_LATIN if character < "\u0590" else _BOUND


def _head(folded: str) -> str:
    edge = _edge(folded[0]) if folded else None
    if edge is None:
        return ""
    digits = len(folded) - len(folded.lstrip("0123456789"))
    if digits == 0:
        return f"(?<!{edge})"
    # 5.10 isn't in 185.10 nor 10 in 85,10; four and more digits after a comma are an item of a list
    return f"(?<!{edge})" + (r"(?<!\d[.,])" if digits < 4 else r"(?<!\d\.)")


def _tail(folded: str) -> str:
    edge = _edge(folded[-1]) if folded else None
    if edge is None:
        return ""
    return f"(?!{edge})" + (r"(?!\.\d|,\d{1,3}(?!\d))" if folded[-1].isdigit() else "")


def check_piece(piece: Any) -> None:
    """Raise PredicateError unless the value is a text piece."""
    if isinstance(piece, str):
        if not fold(piece).strip():
            raise PredicateError("a text piece must not be empty")
    elif isinstance(piece, Mapping):
        if "number" in piece and piece.keys() <= {"number", "within"}:
            if not all(_is_number(value) for value in piece.values()):
                raise PredicateError('{"number": x, "within": y} expects numbers')
        elif piece.keys() == {"regex"}:
            compile_regex(piece["regex"])
        else:
            raise PredicateError('a text piece is a string, {"number": x} or {"regex": …}')
    elif not _is_number(piece):
        raise PredicateError('a text piece is a string, {"number": x} or {"regex": …}')


def _is_number(value: Any) -> bool:
    return isinstance(value, NUMBERS) and not isinstance(value, bool) and math.isfinite(value)


@functools.lru_cache(maxsize=1024)
def _compile_text(piece: str) -> Callable[[str], bool]:
    wanted = fold(piece).strip()
    if not wanted:
        return lambda _: False  # an empty field stands nowhere
    begins, ends, length = _boundary(_head(wanted)), _boundary(_tail(wanted)), len(wanted)

    def stands(folded: str) -> bool:
        at = folded.find(wanted)
        while at >= 0:  # find is far faster than a search that begins with a look behind
            if begins(folded, at) and ends(folded, at + length):
                return True
            at = folded.find(wanted, at + 1)
        return False

    return stands


def is_whole(folded: str, start: int, end: int) -> bool:
    """Say whether what stands somewhere in a folded text is a piece of its own there: 6930 is none
    in 36930.60.
    """
    piece = folded[start:end]
    begins, ends = _boundary(_head(piece)), _boundary(_tail(piece))
    return begins(folded, start) is not None and ends(folded, end) is not None


def compile_piece(piece: Any) -> Callable[[str], bool]:
    """Compile a text piece to a test of folded text. Raises PredicateError."""
    if isinstance(piece, str):
        return _compile_text(piece)
    check_piece(piece)
    if isinstance(piece, Mapping):
        if "regex" in piece:
            found = compile_regex(piece["regex"]).search
            return lambda folded: found(folded) is not None
        target, within = float(piece["number"]), float(piece.get("within", 0))
    else:
        target, within = float(piece), 0.0
    return lambda folded: contains_number(folded, target, within)


def contains_piece(folded: str, piece: Any) -> bool:
    """Say whether folded text holds a piece: a string between non-word characters, {number} or
    {regex}.
    """
    if isinstance(piece, bool) or piece is None:
        return False
    return compile_piece(piece)(folded)


def contains_number(text: str, target: float, within: float = 0.0) -> bool:
    """Say whether a text states a number in any spelling (76.6, 76,60, 1,234.50, 1.234,50)."""
    tolerance = max(within, 0.0) + TOLERANCE
    return any(abs(n - target) <= tolerance for n in numbers_in(text))


_NUMBER: Final = re.compile(r"\d\d*(?:[.,']\d+)*")
"""It begins with one class of characters: the search skips to those many times faster."""
_MAY_BE_SPACED: Final = re.compile(r"\d[ \u00a0\u202f]\d{3}")
_NAMES: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[tT]\d{2}:[\d:.]+(?:[zZ]|[-+]\d{2}:\d{2})?)?"
    r"|(?<![^\W_])[^\W\d_]{1,20}(?:-[^\W\d_]{1,20}){0,3}-\d+(?:-\w+)*(?![.,]?\d)"
)
"""Dates and identifiers: their figures state no number. Bounded, or a-a-a… would take for ever."""
_SPACED: Final = re.compile(
    r"(?<![\d.,'])[-+−]?\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?![\d.,']*\d)"
)


def numbers_in(text: str) -> tuple[float, ...]:
    """Return every number that a text may state; an ambiguous spelling gives both readings.

    The figures of a date or of an identifier (2031-06-05, TK-17) are none.
    """
    return _kept_numbers(text) if len(text) <= _LONGEST_KEPT else _numbers(text)


def _numbers(text: str) -> tuple[float, ...]:
    if not text.isascii():
        text = text.translate(_ARABIC_MARKS)
    if "-" in text:  # in every name, and no name holds a blank
        words = text.split(" ")
        text = " ".join([_NAMES.sub(" ", word) if "-" in word else word for word in words])
    found: list[float] = []
    for match in _NUMBER.finditer(text):
        start = match.start()
        signed = start > 0 and text[start - 1] in _SIGNS
        found.extend(_readings(_signed(text, start - signed, match.end())))
    if _MAY_BE_SPACED.search(text) is not None:
        for match in _SPACED.finditer(text):
            found.extend(_readings(_SPACE.sub("", _signed(text, *match.span()))))
    return tuple(found)


_SIGNS: Final = "-+−"
_kept_numbers: Final = functools.lru_cache(maxsize=2048)(_numbers)


def _signed(text: str, start: int, end: int) -> str:
    """Return the figures, with the sign unless it joins them to what stands before (a range)."""
    if text[start] in _SIGNS and start > 0:
        before = text[start - 1]
        if before.isalnum() or before in ".,":
            start += 1
    return text[start:end]


def _readings(written: str) -> list[float]:
    sign = -1.0 if written[0] in "-−" else 1.0
    body = written.lstrip("+-−").replace("'", "")
    dots, commas = body.count("."), body.count(",")
    texts: list[str] = []
    if dots and commas:
        decimal = "." if body.rfind(".") > body.rfind(",") else ","
        other = "," if decimal == "." else "."
        if body.count(decimal) == 1:
            texts.append(body.replace(other, "").replace(decimal, "."))
    elif dots + commas == 1:
        mark = "." if dots else ","
        texts.append(body.replace(mark, "."))
        if len(body) - body.index(mark) == 4 and body.index(mark) in (1, 2, 3):
            texts.append(body.replace(mark, ""))
    else:
        texts.append(body.replace(".", "").replace(",", ""))
    return [sign * float(text) for text in texts]


def read_number(value: Any) -> float | None:
    """Return a number, also from text with commas, currency or percent; None if there is not
    exactly one.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, NUMBERS):
        return float(value)
    if isinstance(value, str):
        found = numbers_in(value)
        return found[0] if len(set(found)) == 1 else None
    return None


def compile_regex(expression: Any) -> Any:
    """Compile a regular expression for the linear-time engine; ignores case. Raises
    PredicateError.
    """
    if not isinstance(expression, str) or len(expression) > 1000:
        raise PredicateError("a regex is text of at most 1000 characters")
    return _compiled_regex(expression)


@functools.lru_cache(maxsize=4096)
def _compiled_regex(expression: str) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(expression, options)
    except re2.error as problem:
        raise PredicateError(f"not a regular expression: {problem}") from problem
