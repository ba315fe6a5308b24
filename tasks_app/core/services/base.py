"""What a simulated office service is made of: collections, typed tools, and their compilation.

A service is a class; its collections are class attributes made by `collection(...)`, its tools are
typed, documented methods under `@tool(...)`. From a method's signature and docstring come the
arguments model (strict, unknown arguments refused), its JSON Schema and its `ToolFacts`.

Order inside a call: unknown_tool, schema, fault, not_found, invalid_value, conflict or forbidden,
write. A handler sees its collections, `self.now` and nothing else; it raises ToolError, and writes
last.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    TypeVar,
    cast,
    get_type_hints,
    overload,
)

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, create_model
from pydantic.functional_validators import AfterValidator

from tasks_app.core.calls import ErrorCode, ToolError, ToolFacts
from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.records import Collection, CollectionFacts, Store
from tasks_app.core.values import encode

R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

LARGEST_ARGUMENTS: Final = 256_000
"""Bytes of argument text; more is refused before it is parsed."""
_MOST_REFUSALS: Final = 256
_LONGEST_REFUSED: Final = 1000
"""Bytes of argument text up to which a refusal is kept."""


def _instant(text: str) -> str:
    if not is_instant(text):
        raise ValueError("must be a timestamp with offset, such as 2031-03-20T09:10:00+01:00")
    return text


def _day(text: str) -> str:
    if not is_date(text):
        raise ValueError("must be a date, such as 2031-03-20")
    return text


RecordId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=100_000)]
Query = Annotated[str, StringConstraints(max_length=500)]
Email = Annotated[
    str,
    StringConstraints(pattern=r"^[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+$", max_length=254),
    Field(json_schema_extra={"format": "email"}),
]
Money = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=200)]
Instant = Annotated[str, AfterValidator(_instant), Field(json_schema_extra={"format": "date-time"})]
Day = Annotated[str, AfterValidator(_day), Field(json_schema_extra={"format": "date"})]


class collection(Generic[R]):  # noqa: N801 (reads as a declaration: tickets = collection(Ticket, …))
    """Declare a collection of a service: `tickets = collection(Ticket, prefix="TK")`."""

    def __init__(
        self,
        record: type[R],
        *,
        prefix: str = "",
        id_field: str = "id",
        unstable: tuple[str, ...] = (),
        width: int = 4,
    ):
        self.record = record
        self._facts: dict[str, CollectionFacts] = {}
        self.prefix, self.id_field, self.unstable, self.width = prefix, id_field, unstable, width
        self.name = ""

    def __set_name__(self, owner: type["Service"], name: str) -> None:
        self.name = name

    def facts(self, service: str) -> CollectionFacts:
        """Return the declaration under a service's name; made once, for every world asks."""
        known = self._facts.get(service)
        if known is None:
            known = self._facts[service] = CollectionFacts(
                f"{service}/{self.name}",
                self.id_field,
                self.prefix,
                self.unstable,
                self.width,
                tuple(getattr(self.record, "__annotations__", ())),
            )
        return known

    @overload
    def __get__(self, instance: None, owner: type["Service"]) -> "collection[R]": ...
    @overload
    def __get__(self, instance: "Service", owner: type["Service"]) -> Collection[R]: ...
    def __get__(
        self, instance: "Service | None", owner: type["Service"]
    ) -> "Collection[R] | collection[R]":
        if instance is None:
            return self
        made = cast(Collection[R], Collection(instance.store, self.facts(owner.name)))
        instance.__dict__[self.name] = made  # non-data descriptor: found first from now on
        return made


class Service:
    """A simulated office system: its name, what it is for, its collections and tools."""

    name: ClassVar[str]
    function: ClassVar[str]
    """The group of work it belongs to: communication, scheduling, customers, finance, …"""
    purpose: ClassVar[str] = ""
    """One sentence for the catalogue page."""

    def __init__(
        self,
        store: Store,
        now: str,
        answer: Callable[[str], str] | None = None,
        mailbox: str | None = None,
    ):
        self.store = store
        self.now = now
        """The frozen clock: ISO 8601 with offset; the world sets it at each stage."""
        self.answer = answer
        """The simulated colleague, for the channel tool alone."""
        self.mailbox = mailbox
        """The coworker's own address: what it sends comes from here."""

    @classmethod
    def collections(cls) -> dict[str, CollectionFacts]:
        """Collection address → declaration, in order of declaration."""
        return {facts.address: facts for facts in (d.facts(cls.name) for d in cls._declared())}

    @classmethod
    def record_types(cls) -> dict[str, Any]:
        """Collection address → the type of its records."""
        return {d.facts(cls.name).address: d.record for d in cls._declared()}

    @classmethod
    def _declared(cls) -> list["collection[Any]"]:
        found = [v for k in reversed(cls.__mro__) for v in vars(k).values()]
        return [value for value in found if isinstance(value, collection)]

    @classmethod
    def tools(cls) -> dict[str, "Tool"]:
        """Tool name → compiled tool, in order of declaration."""
        made: dict[str, Tool] = {}
        for value in vars(cls).values():
            options = getattr(value, "__tool__", None)
            if options is not None:
                compiled = compile_tool(cls, value, options)
                made[compiled.facts.name] = compiled
        return made


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What `@tool` was told."""

    kind: Literal["read", "write", "channel"]
    name: str | None
    text: tuple[str, ...]
    recipients: tuple[str, ...]
    inside: bool | str
    fills: tuple[str, ...]


def tool(
    *,
    writes: bool = False,
    channel: bool = False,
    name: str | None = None,
    text: tuple[str, ...] = (),
    recipients: tuple[str, ...] = (),
    inside: bool | str = False,
    fills: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Make a method a tool.

    Args:
        writes: Whether it may change records.
        channel: Whether it talks to the simulated colleague (neither reads nor writes).
        name: The tool's name where it isn't `<service>_<method>`.
        text: Arguments that carry text somebody may read.
        recipients: Arguments that name who receives that text.
        inside: Whether that text stays in the house, or the argument that says so when true.
        fills: Fields only the handler fills, as `collection#field` of this service.
    """
    kind: Literal["read", "write", "channel"] = (
        "channel" if channel else "write" if writes else "read"
    )

    def mark(function: F) -> F:
        function.__tool__ = ToolOptions(kind, name, text, recipients, inside, fills)  # type: ignore[attr-defined]  # read back by Service.tools
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Tool:
    """A compiled tool."""

    facts: ToolFacts
    service: type[Service]
    function: Callable[..., Any]
    model: type[BaseModel]
    parse: Callable[[bytes], BaseModel] = field(repr=False, compare=False)
    """The model's validator, looked up once."""
    refused: dict[bytes, tuple[ErrorCode, str]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Short texts that were refused: finding the words for it costs ten times the finding out."""

    def validate(self, raw: bytes) -> dict[str, Any]:
        """Parse and check argument text. Raises ToolError with the first schema code that holds."""
        if len(raw) > LARGEST_ARGUMENTS:
            raise ToolError("invalid_value", f"arguments are longer than {LARGEST_ARGUMENTS} bytes")
        known = self.refused.get(raw)
        if known is not None:
            raise ToolError(*known)
        try:
            arguments: dict[str, Any] = self.parse(raw).__dict__
            return arguments
        except ValidationError as problem:
            raise self._refusal(raw, problem) from problem

    def _refusal(self, raw: bytes, problem: ValidationError) -> ToolError:
        """Put a refusal into words and keep it. Made here and not where it is raised: a frame that
        held its own exception would be a cycle, and keep all that its callers hold.
        """
        found = schema_error(problem)
        if len(raw) <= _LONGEST_REFUSED:
            if len(self.refused) >= _MOST_REFUSALS:
                self.refused.clear()
            self.refused[raw] = (found.code, found.message)
        return found

    def run(self, service: Service, arguments: dict[str, Any]) -> bytes:
        """Run the handler and return its result as JSON."""
        return encode(self.function(service, **arguments))


_SCHEMA_ORDER: Final[tuple[ErrorCode, ...]] = (
    "missing_argument",
    "unknown_argument",
    "wrong_type",
    "invalid_value",
)


def schema_error(problem: ValidationError) -> ToolError:
    """Translate a validation error: first code in the fixed order, all faults in the message."""
    faults: list[tuple[ErrorCode, str]] = []
    for error in problem.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(str(part)[:80] for part in error["loc"]) or "arguments"
        kind = error["type"]
        code: ErrorCode
        if kind == "missing":
            code = "missing_argument"
        elif kind == "extra_forbidden":
            code = "unknown_argument"
        elif kind.endswith(("_type", "_parsing")) or kind == "json_invalid":
            code = "wrong_type"
        else:
            code = "invalid_value"
        faults.append((code, f"{place}: {error['msg']}"))
    first = min((code for code, _ in faults), key=_SCHEMA_ORDER.index)
    return ToolError(first, "; ".join(text for _, text in faults[:8]))


_ARGUMENT: Final = re.compile(r"^\s{4,}(\w+): (.*)$")


def read_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return a docstring's description and the texts of its `Args:`."""
    lines = inspect.cleandoc(function.__doc__ or "").splitlines()
    head: list[str] = []
    arguments: dict[str, str] = {}
    current = None
    for position, line in enumerate(lines):
        if line.strip() == "Args:":
            for following in lines[position + 1 :]:
                found = _ARGUMENT.match(following)
                if found:
                    current = found[1]
                    arguments[current] = found[2].strip()
                elif current is not None and following.strip():
                    arguments[current] += " " + following.strip()
            break
        head.append(line)
    return " ".join(" ".join(head).split()), arguments


_CONFIG: Final = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def compile_tool(
    service: type[Service], function: Callable[..., Any], options: ToolOptions
) -> Tool:
    """Derive arguments model, JSON Schema and declaration from a typed, documented method."""
    description, documented = read_docstring(function)
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (
            hints[parameter.name],
            Field(default, description=documented.get(parameter.name)),
        )
    name = options.name or f"{service.name}_{function.__name__}"
    model = create_model(name, __config__=_CONFIG, **fields)
    schema = model.model_json_schema()
    facts = ToolFacts(
        name=name,
        service=service.name,
        kind=options.kind,
        text=options.text,
        recipients=options.recipients,
        inside=options.inside,
        fills=tuple(f"{service.name}/{field}" for field in options.fills),
        description=description,
        parameters=tidy_schema(schema),
    )
    return Tool(facts, service, function, model, model.__pydantic_validator__.validate_json)


def tidy_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON Schema without pydantic's titles; definitions stay."""

    def walk(value: Any, *, named: bool = False) -> Any:
        if isinstance(value, Mapping):
            return {
                key: walk(item, named=key in ("properties", "$defs"))
                for key, item in value.items()
                if named or key != "title" or not isinstance(item, str)
            }
        return [walk(item) for item in value] if isinstance(value, list) else value

    return cast(dict[str, Any], walk(schema))
