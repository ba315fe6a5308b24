"""What types a service's records declare for their fields, and where a value has another."""

import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from typing_extensions import ReadOnly, is_typeddict

from tasks_app.core.services.catalog import record_types
from tasks_app.core.values import LISTS, NUMBERS, OBJECTS


class Misfit(NamedTuple):
    """A value of another type than its field declares."""

    path: tuple[str | int, ...]
    """Below the field: empty for the value itself."""
    found: str
    wanted: str


class Shape(NamedTuple):
    """What a field declares."""

    plain: frozenset[type]
    """Types of values that fit without another look; empty where a look is needed."""
    misfits: Callable[[Any], Iterator[Misfit]]
    """Yields what does not fit in a value."""


def _nothing(_value: Any) -> Iterator[Misfit]:
    return iter(())


_NUMBER: Final = frozenset({int, float, type(None)})
ANYTHING: Final = Shape(frozenset(), _nothing)


@functools.cache
def record_shapes() -> Mapping[str, Mapping[str, Shape]]:
    """Collection address → field → the shape of its values, where not anything fits. Nothing (null)
    fits everywhere: it stands for what is not known.
    """
    return {place: _fields(record) for place, record in record_types().items()}


@functools.cache
def number_fields() -> Mapping[str, frozenset[str]]:
    """Collection address → fields that hold a number, or nothing."""
    return {
        place: frozenset(
            name for name, shape in shapes.items() if shape.plain and shape.plain <= _NUMBER
        )
        for place, shapes in record_shapes().items()
    }


def _fields(record: Any) -> dict[str, Shape]:
    shapes = {name: _shape(hint) for name, hint in get_type_hints(record).items()}
    return {name: shape for name, shape in shapes.items() if shape is not ANYTHING}


def _shape(hint: Any) -> Shape:
    """Return the shape of a declared type."""
    origin = get_origin(hint)
    if origin in (ReadOnly, NotRequired):
        return _shape(get_args(hint)[0])
    if origin in (Union, types.UnionType):
        return _any_of([_shape(part) for part in get_args(hint) if part is not type(None)])
    if origin is Literal:
        texts = all(isinstance(value, str) for value in get_args(hint))
        return _plain(*_PLAIN[str]) if texts else ANYTHING
    if hint in _PLAIN:
        return _plain(*_PLAIN[hint])
    if is_typeddict(hint):
        return _object(_fields(hint))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return _list(_shape(get_args(hint)[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _object({})
    return ANYTHING


_PLAIN: Final[Mapping[Any, tuple[frozenset[type], str]]] = {
    str: (frozenset({str}), "text"),
    int: (frozenset({int}), "a whole number"),
    float: (frozenset({int, float}), "a number"),
    bool: (frozenset({bool}), "true or false"),
}


def _plain(kinds: frozenset[type], words: str) -> Shape:
    fits = kinds | {type(None)}

    def misfits(value: Any) -> Iterator[Misfit]:
        if type(value) not in fits:
            yield Misfit((), called(value), words)

    return Shape(fits, misfits)


def _any_of(shapes: Sequence[Shape]) -> Shape:
    if ANYTHING in shapes:
        return ANYTHING

    def misfits(value: Any) -> Iterator[Misfit]:
        each = [list(shape.misfits(value)) for shape in shapes]
        if all(each):
            yield from each[0]

    return Shape(frozenset().union(*(shape.plain for shape in shapes)), misfits)


def _list(item: Shape) -> Shape:
    def misfits(value: Any) -> Iterator[Misfit]:
        if value is None:
            return
        if not isinstance(value, LISTS):
            yield Misfit((), called(value), "a list")
            return
        for i, one in enumerate(value):
            for misfit in item.misfits(one):
                yield misfit._replace(path=(i, *misfit.path))

    return Shape(frozenset(), misfits)


def _object(fields: Mapping[str, Shape]) -> Shape:
    def misfits(value: Any) -> Iterator[Misfit]:
        if value is None:
            return
        if not isinstance(value, OBJECTS):
            yield Misfit((), called(value), "an object")
            return
        for name, one in value.items():
            for misfit in fields.get(name, ANYTHING).misfits(one):
                yield misfit._replace(path=(name, *misfit.path))

    return Shape(frozenset(), misfits)


def called(value: Any) -> str:
    """Return what a value is, as a person says it."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, NUMBERS):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, LISTS) else "an object"
