"""Frozen JSON values, their digests and addresses: the atoms of the world.

Invariants:
- A `Record` and everything inside it never changes; a write replaces the whole record. So no
  result, log entry or snapshot can alias living state, and nothing is ever deep-copied.
- Numbers are canonical: an integral float becomes an int; NaN, infinities and integers beyond 2^53
  are refused. Equal records therefore have equal text and equal digests in every process.
- A digest belongs to one address (collection and id): `Collection.put` always makes a new Record.
"""

import functools
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, NoReturn

import orjson

from studio.lib.hashing import bytes_hash

LARGEST_INTEGER: Final = 2**53
MODULUS: Final = 2**128
DEEPEST: Final = 24
LONGEST_TEXT: Final = 1_000_000
NUMBERS: Final = (int, float)
LISTS: Final = (list, tuple)
OBJECTS: Final = (dict, Mapping)
PLAIN: Final = (str, int, float)
LEAVES: Final = (*PLAIN, NoneType)
"""Types to ask `isinstance` for, as tuples made once: `int | float` is made anew each time it is
asked, which costs ten times the answer. Leaves are asked for first: Mapping is slow to say no.
"""
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


class InvalidValueError(ValueError):
    """A value that no record may hold; the message says which and why."""


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("records are frozen; put() a new one instead")


class Items(list[Any]):
    """A frozen list. A list (not a tuple) so that it equals a spec's JSON list."""

    __slots__ = ()
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return Items, (list(self),)  # pickle's own way appends


class Record(dict[str, Any]):
    """A frozen JSON object; `digest` is set once by the collection that holds it.

    What was read out of it is kept with it and goes when it goes: its text, and its summaries by
    their fields. Copies and pickles leave both behind.
    """

    __slots__ = ("digest", "summaries", "text")
    digest: int
    summaries: dict[tuple[str, ...], "Record"]
    text: str
    __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (
            dict(self),
            getattr(self, "digest", None),
        )  # pickle's own way sets items


def _unpickled(values: dict[str, Any], known: int | None) -> Record:
    made = Record(values)
    if known is not None:
        made.digest = known
    return made


def freeze(value: Any, depth: int = 0) -> Any:
    """Return `value` as frozen canonical JSON. Raises InvalidValueError for what JSON cannot
    hold.
    """
    kind = type(value)
    if kind is str:
        if "\x00" in value:
            raise InvalidValueError("text must not contain the NUL character")
        if not value.isascii() and _HALF_PAIR.search(value):
            raise InvalidValueError("text holds half of a surrogate pair, which is no character")
        if len(value) > LONGEST_TEXT:
            raise InvalidValueError(f"text is longer than {LONGEST_TEXT} characters")
        return value
    if value is None or kind is bool:
        return value
    if kind is int:
        if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            raise InvalidValueError(f"{value} is beyond the exact range of JSON numbers")
        return value
    if kind is float:
        if not math.isfinite(value):
            raise InvalidValueError("numbers must be finite")
        return int(value) if value.is_integer() and abs(value) <= LARGEST_INTEGER else value
    if kind is Record or kind is Items:
        return value
    if depth >= DEEPEST:
        raise InvalidValueError(f"values are nested more than {DEEPEST} levels deep")
    listed = kind is list or kind is tuple  # told first: asking a list for Mapping is slow
    if kind is dict or (not listed and isinstance(value, Mapping)):
        for key in value:
            if not isinstance(key, str):
                raise InvalidValueError(f"object keys must be text, not {type(key).__name__}")
            if not key.isprintable():
                freeze(key)
        return freeze_values(value, depth + 1)
    if listed or isinstance(value, LISTS):
        return Items([freeze(item, depth + 1) for item in value])
    raise InvalidValueError(f"{type(value).__name__} is not a JSON value")


def freeze_values(values: Mapping[str, Any], depth: int = 0) -> Record:
    """Return an object of text keys with every value frozen. Raises InvalidValueError as
    `freeze` does.
    """
    return Record(  # most values are plain text: told here, which saves a call
        {
            key: item
            if type(item) is str
            and item.isascii()
            and "\x00" not in item
            and len(item) <= LONGEST_TEXT
            else freeze(item, depth)
            for key, item in values.items()
        }
    )


def in_order(value: Any, first: Iterable[str] = ()) -> Any:
    """Return a JSON value whose objects hold their keys in one order: those named first, the rest
    (and whatever is nested) sorted.

    Equal values then read the same, however they were written: the hash of a spec leaves order out.
    """
    if isinstance(value, LEAVES):
        return value
    if isinstance(value, LISTS):
        return [in_order(item) for item in value]
    if isinstance(value, Mapping):
        ahead = [key for key in first if key in value]
        keys = [*ahead, *sorted(value.keys() - set(ahead))]
        return {key: in_order(value[key]) for key in keys}
    return value


def thaw(value: Any) -> Any:
    """Return plain dicts and lists; the copy may be changed freely."""
    if isinstance(value, LEAVES):
        return value
    if isinstance(value, LISTS):
        return [thaw(item) for item in value]
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return value


def encode(value: Any) -> bytes:
    """Return `value` as compact JSON in the order of its keys."""
    return orjson.dumps(value)


def canonical(value: Any) -> bytes:
    """Return the one canonical JSON text of a value: frozen numbers, sorted keys.

    `studio.lib.hashing.canonical_json` tells 1 from 1.0; to a record they are one number.
    """
    return orjson.dumps(freeze(value), option=orjson.OPT_SORT_KEYS)


def content_hash(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON text, as 64 hex digits."""
    return bytes_hash(canonical(value))


def digest(address: str, value: Mapping[str, Any], unstable: Iterable[str] = ()) -> int:
    """Return the 128-bit digest of a record at its address, less the fields declared unstable."""
    stable = {k: v for k, v in value.items() if k not in unstable} if unstable else value
    text = orjson.dumps(stable, option=orjson.OPT_SORT_KEYS)
    return int.from_bytes(hashlib.sha256(address.encode() + b"\x00" + text).digest()[:16])


# --- addresses: service/collection/id#field.path -------------------------------------------------

_ESCAPES: Final = (("~", "~0"), ("/", "~1"), (".", "~2"), ("#", "~3"), ("*", "~4"), (",", "~5"))


@functools.lru_cache(maxsize=1024)
def escape_id(record_id: str) -> str:
    """Write an id so that it can stand inside an address."""
    for plain, written in _ESCAPES:
        record_id = record_id.replace(plain, written)
    return record_id


def unescape_id(written_id: str) -> str:
    """Read an id out of an address; the inverse of `escape_id`."""
    for plain, written in reversed(_ESCAPES):
        written_id = written_id.replace(written, plain)
    return written_id


def address(collection: str, record_id: str, field: str | None = None) -> str:
    """Return `service/collection/id` or `service/collection/id#field`."""
    whole = f"{collection}/{escape_id(record_id)}"
    return whole if field is None else f"{whole}#{field}"


ChangeKind = Literal["add", "update", "delete"]


class Change(NamedTuple):
    """One record before and after: an addition has no `before`, a deletion no `after`."""

    collection: str
    id: str
    before: Record | None
    after: Record | None

    @property
    def kind(self) -> ChangeKind:
        """What happened to the record as a whole."""
        if self.before is None:
            return "add"
        return "delete" if self.after is None else "update"

    @property
    def address(self) -> str:
        """The address of the record."""
        return address(self.collection, self.id)

    def differing(self) -> set[str]:
        """Names of the top-level fields that differ."""
        before: Mapping[str, Any] = self.before or {}
        after: Mapping[str, Any] = self.after or {}
        names = {
            name
            for name, value in after.items()
            if (old := before.get(name, _GONE)) is not value and old != value
        }
        names.update(name for name in before if name not in after)
        return names

    def fields(self) -> tuple[str, ...]:
        """Names of the top-level fields that differ, sorted."""
        return tuple(sorted(self.differing()))


_GONE: Final = object()


class Pattern(NamedTuple):
    """A compiled address pattern; `*` stands for an id or part of one and never crosses `/`."""

    text: str
    collection: str
    matches_id: Callable[[str], bool]
    exact_id: str | None
    fields: frozenset[str] | None
    """Top-level field names; None means the whole record."""

    def covers_record(self, collection: str, record_id: str) -> bool:
        """Say whether a record lies under this pattern."""
        return collection == self.collection and self.matches_id(record_id)


@functools.lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Compile an address pattern. Raises ValueError with the place of what is wrong."""
    place, _, fields = text.partition("#")
    parts = place.split("/")
    if len(parts) != 3 or not all(parts):
        raise ValueError(f"{text!r} is not an address: expected service/collection/id#field")
    collection, written = f"{parts[0]}/{parts[1]}", parts[2]
    if "*" in collection:
        raise ValueError(f"{text!r}: '*' may stand in the id only")
    names = frozenset(f.split(".")[0].strip() for f in fields.split(",")) if fields else None
    if "*" not in written:
        exact = unescape_id(written)
        return Pattern(text, collection, exact.__eq__, exact, names)
    if written == "*":
        return Pattern(text, collection, _any_id, None, names)
    pieces = [re.escape(unescape_id(piece)) for piece in written.split("*")]
    compiled = re.compile(".*".join(pieces), re.DOTALL)
    return Pattern(
        text, collection, lambda value: compiled.fullmatch(value) is not None, None, names
    )


def _any_id(_: str) -> bool:
    return True


# --- paths inside a record -----------------------------------------------------------------------


class Missing:
    """The value of a path that leads nowhere; only the operator `exists` tells it from null."""

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()


@functools.lru_cache(maxsize=4096)
def split_path(path: str) -> tuple[str, ...]:
    """Split a dotted path; the empty path is the value itself. `items[0].id` equals
    `items.0.id`.
    """
    return tuple(part for part in path.replace("[", ".").replace("]", "").split(".") if part)


def follow(value: Any, path: str | Sequence[str]) -> Any:
    """Follow a dotted path: digits index lists, `*` collects over a list. MISSING if it leads
    nowhere.
    """
    parts = split_path(path) if isinstance(path, str) else path
    for position, part in enumerate(parts):
        if part == "*":
            if not isinstance(value, list):
                return MISSING
            rest = parts[position + 1 :]
            found: list[Any] = []
            for item in value:
                inner = follow(item, rest)
                if inner is MISSING:
                    continue
                if "*" in rest and isinstance(inner, list):
                    found.extend(inner)
                else:
                    found.append(inner)
            return found
        if isinstance(value, dict):
            value = value.get(part, MISSING)
            if value is MISSING:
                return MISSING
        elif isinstance(value, Mapping):
            if part not in value:
                return MISSING
            value = value[part]
        elif isinstance(value, list) and part.lstrip("-").isdigit():
            index = int(part)
            if not -len(value) <= index < len(value):
                return MISSING
            value = value[index]
        else:
            return MISSING
    return value


def column_name(number: int) -> str:
    """Return the name of a spreadsheet's column, counted from 1: A, B, … Z, AA, AB …"""
    name = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def column_number(name: str) -> int:
    """Return the number of a spreadsheet's column, counted from 1."""
    number = 0
    for sign in name:
        number = number * 26 + ord(sign) - 64
    return number


def is_column(name: str) -> bool:
    """Say whether a field of a spreadsheet's row is one of its columns: A to ZZ."""
    return 0 < len(name) <= 2 and all("A" <= sign <= "Z" for sign in name)
