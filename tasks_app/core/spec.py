"""TaskSpec: the frozen description of one task, everything needed to run, grade, prove and replay
it.

Identity is the content hash: SHA-256 over the canonical JSON (sorted keys, defaults left out,
canonical
numbers), so a field that is absent and one that states the default are the same spec. Readers
refuse what
they do not know. Nothing here reads a clock, the network or global state.
"""

import functools
import reprlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

import orjson
from pydantic import (
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from tasks_app.core.calls import ErrorCode
from tasks_app.core.checks.catalog import AnyCheck
from tasks_app.core.constraints.catalog import AnyConstraint
from tasks_app.core.frozen import Frozen
from tasks_app.core.instants import is_instant
from tasks_app.core.results import Identifier
from tasks_app.core.values import InvalidValueError, canonical, content_hash, freeze, pattern
from tasks_app.core.writes import WriteRule

FORMAT: Final = "coworker-task/1"
LARGEST_SPEC: Final = 5_000_000
"""Bytes of a spec's JSON; more is refused before it is parsed."""
MOST_RECORDS: Final = 10_000
ONE_STAGE: Final = "main"
"""Id of the only stage of a task without timeline."""

CAPABILITIES: Final[Mapping[str, str]] = {
    "C1": "retrieve",
    "C2": "cross-service join",
    "C3": "state dependency",
    "C4": "aggregate or compute",
    "C5": "canonicalise",
    "C6": "bulk work with completeness",
    "C7": "policy compliance",
    "C8": "red line",
    "C9": "least collateral",
    "C10": "error recovery",
    "C11": "idempotence",
    "C12": "clarify",
    "C13": "abstain or refuse",
    "C14": "escalate or hand off",
    "C15": "confirm before destructive action",
    "C16": "refresh after silent change",
    "C17": "reconcile discrepancies",
    "C18": "resist injected instructions",
    "C19": "report accurately",
    "C20": "time reasoning",
}

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,99}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Prose = Annotated[str, StringConstraints(max_length=100_000)]
JsonObject = Mapping[str, Any]


class Difficulty(Frozen):
    """Level 1–5 and the features that set it."""

    level: int = Field(ge=1, le=5)
    features: Mapping[str, int] = Field(default_factory=dict)


class Capability(Frozen):
    """A claimed capability and where the reference trace proves it."""

    id: str
    witness: str = ""

    @field_validator("id")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in CAPABILITIES:
            raise ValueError(f"unknown capability {value}; known are C1 to C20")
        return value


class Clock(Frozen):
    """The frozen start: timestamp with offset, and the zone's name."""

    start: str
    zone: str = "UTC"

    @field_validator("start")
    @classmethod
    def _instant(cls, value: str) -> str:
        if not is_instant(value):
            raise ValueError("expected a timestamp with offset such as 2031-03-20T09:10:00+01:00")
        return value


class Coworker(Frozen):
    """The role the policy plays."""

    role: Line
    mailbox: str = ""


class Person(Frozen):
    """Somebody at the workplace."""

    name: Line
    role: str = ""
    mailbox: str = ""
    manner: str = ""


class PolicyDocument(Frozen):
    """A document of rules that the coworker is given."""

    id: Identifier
    title: Line
    text: Prose


class Workplace(Frozen):
    """Who asks, by which rules, and what the answer must contain."""

    organisation: Line
    coworker: Coworker
    requester: Person
    people: tuple[Person, ...] = ()
    policies: tuple[PolicyDocument, ...] = ()
    output_contract: Prose = ""


class Attachment(Frozen):
    """A file that comes with the request; bytes are content-addressed and stand outside the
    spec.
    """

    name: Line
    media_type: Line
    sha256: str = ""
    size: int = Field(default=0, ge=0)
    sidecar: Prose = ""
    """What it holds, for proof and grading; hidden from the policy."""


class Request(Frozen):
    """What the coworker is asked, in a colleague's words."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    attachments: tuple[Attachment, ...] = ()


class Fact(Frozen):
    """Something only the colleague knows, and the ways of asking that reveal it."""

    id: Identifier
    text: Prose
    asks: tuple[tuple[str | tuple[str, ...], ...], ...]
    """Alternatives; each is a list of words or word groups that must all occur."""


class UserScript(Frozen):
    """The simulated colleague: deterministic, by rules."""

    kind: Literal["rules"] = "rules"
    name: Line
    manner: str = ""
    patience: int = Field(default=3, ge=0, le=50)
    facts: tuple[Fact, ...] = ()
    otherwise: Prose = "I do not know."
    out_of_patience: Prose = "I cannot answer any more."


class Mutation(Frozen):
    """A change of the world between two stages."""

    service: Name
    collection: Name
    op: Literal["add", "update", "delete", "file"]
    where: JsonObject = Field(default_factory=dict)
    values: JsonObject = Field(default_factory=dict)
    silent: bool = False


class Stage(Frozen):
    """One working day (or sitting) of a task."""

    id: Identifier
    at: str
    notification: str | None = None
    mutations: tuple[Mutation, ...] = ()

    @field_validator("at")
    @classmethod
    def _instant(cls, value: str) -> str:
        if not is_instant(value):
            raise ValueError("expected a timestamp with offset")
        return value


class Fault(Frozen):
    """A seeded failure of a tool: the n-th calls that pass its schema are answered with an
    error.
    """

    tool: str
    calls: tuple[Annotated[int, Field(ge=1)], ...]
    code: ErrorCode
    retry_after: int | None = None
    moment: Literal["before", "after"] = "before"
    """`before`: nothing is written; `after`: written, the answer lost."""


class Free(Frozen):
    """An address whose value doesn't matter, with the reason."""

    address: str
    reason: Line

    @field_validator("address")
    @classmethod
    def _address(cls, value: str) -> str:
        pattern(value)
        return value


class Limits(Frozen):
    """What an episode may take."""

    turns: int = Field(default=30, ge=1, le=2000)
    tool_calls: int = Field(default=60, ge=1, le=5000)
    seconds: int = Field(default=600, ge=1, le=86_400)


class Step(Frozen):
    """One step of a reference program: a tool call (perhaps once per item of a list), or a
    reply.
    """

    id: Identifier | None = None
    tool: str | None = None
    arguments: JsonObject = Field(default_factory=dict)
    each: Any = None
    """A binding that gives a list: the step runs once per item, its result is a list."""
    reply: Any = None
    """Text or a text binding; ends the stage."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Step":
        if (self.tool is None) == (self.reply is None):
            raise ValueError("a step is either a tool call or a reply")
        if self.tool is not None and self.id is None:
            raise ValueError("a tool step needs an id")
        return self

    @model_serializer(mode="plain")
    def _as_written(self) -> JsonObject:
        if self.tool is None:
            return (
                {"reply": self.reply} if self.id is None else {"id": self.id, "reply": self.reply}
            )
        body: dict[str, Any] = {"id": self.id, "tool": self.tool, "arguments": dict(self.arguments)}
        if self.each is not None:
            body["each"] = self.each
        return body


class ToolAlias(Frozen):
    """An imported task's own name for one of our tools, and how its arguments become ours."""

    tool: str
    arguments: JsonObject = Field(default_factory=dict)
    """Our argument → its form (see world/aliases.py): {"arg": theirs, "as", "values", "default"},
    or a literal.
    """
    description: str = ""
    parameters: JsonObject = Field(default_factory=dict)
    """Their JSON Schema, as the policy sees it; calls are checked against it."""


class TaskSpec(Frozen):
    """One task. See docs/task-format.md."""

    format: Literal["coworker-task/1"]
    slug: Slug
    title: Line
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] = "en"
    tags: tuple[Slug, ...] = ()
    track: Literal["claw_eval", "clawmark", "pocket"]
    family: Name
    subtype: Name
    difficulty: Difficulty
    capabilities: tuple[Capability, ...] = ()
    clock: Clock
    seed: int = Field(ge=0, le=2**53)
    workplace: Workplace
    request: Request
    user: UserScript | None = None
    services: Mapping[Name, Mapping[Name, tuple[JsonObject, ...]]]
    tools: tuple[str, ...]
    timeline: tuple[Stage, ...] = ()
    faults: tuple[Fault, ...] = ()
    constraints: tuple[AnyConstraint, ...] = ()
    checks: tuple[AnyCheck, ...] = ()
    write_set: tuple[WriteRule, ...] = ()
    free: tuple[Free, ...] = ()
    limits: Limits = Limits()
    reference: tuple[Step, ...] = ()
    alternatives: tuple[tuple[Step, ...], ...] = ()
    evaluation_only: bool = False
    aliases: tuple[str, ...] = ()
    """Old task ids of an imported task."""
    tool_aliases: Mapping[str, ToolAlias] = Field(default_factory=dict)
    provenance: JsonObject = Field(default_factory=dict)

    @functools.cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages: the timeline, or the one stage `main`."""
        return self.timeline or (Stage(id=ONE_STAGE, at=self.clock.start),)

    @functools.cached_property
    def hash(self) -> str:
        """The content hash, 64 hex digits."""
        return content_hash(self._content())

    def written(self) -> dict[str, Any]:
        """Return the spec as plain JSON data, defaults left out."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def canonical(self) -> bytes:
        """Return the canonical JSON text: the same bytes for equal specs in every process."""
        return canonical(self._content())

    def _content(self) -> dict[str, Any]:
        """Return what `written` gives, with the records as they are: to dump them only for their
        canonical text costs as much as all the rest.
        """
        rest = self.model_dump(mode="json", exclude_defaults=True, exclude={"services"})
        return {**rest, "services": self.services}

    def check(self, check_id: str) -> AnyCheck:
        """Return a check by id. Raises KeyError."""
        for check in self.checks:
            if check.id == check_id:
                return check
        raise KeyError(check_id)

    def policy(self, policy_id: str) -> PolicyDocument | None:
        """Return a policy document by id."""
        return next((p for p in self.workplace.policies if p.id == policy_id), None)


class SpecProblem(NamedTuple):
    """One fault of a spec's form."""

    path: str
    """Where, as a JSON pointer: `/checks/0/weight`."""
    message: str


class SpecError(ValueError):
    """A text that is no task spec; `problems` name each fault and its place."""

    def __init__(self, problems: Sequence[SpecProblem]):
        self.problems = tuple(problems)
        shown = "; ".join(f"{p.path or '/'}: {p.message}" for p in self.problems[:5])
        more = f" (and {len(self.problems) - 5} more)" if len(self.problems) > 5 else ""
        super().__init__(shown + more)


def load_spec(source: bytes | str | Mapping[str, Any]) -> TaskSpec:
    """Read a task spec from JSON text or data. Raises SpecError that names every place and
    fault.
    """
    if isinstance(source, bytes | str):
        if len(source) > LARGEST_SPEC:
            raise SpecError([SpecProblem("", f"larger than {LARGEST_SPEC:,} bytes")])
        try:
            data = orjson.loads(source)
        except orjson.JSONDecodeError as problem:
            place = f"line {problem.lineno}, column {problem.colno}"
            raise SpecError([SpecProblem("", f"not JSON at {place}: {problem.msg}")]) from problem
    else:
        data = source
    if not isinstance(data, Mapping):
        raise SpecError([SpecProblem("", "a task spec is a JSON object")])
    if data.get("format") != FORMAT:
        written = data.get("format")
        found = f"says {reprlib.repr(written)}" if written is not None else "names no format"
        raise SpecError([SpecProblem("/format", f"{found}; this studio reads {FORMAT!r}")])
    try:
        frozen = freeze(data)
    except InvalidValueError as problem:
        raise SpecError([SpecProblem("", str(problem))]) from problem
    problems = _record_problems(frozen.get("services"))
    if problems:
        raise SpecError(problems)
    try:
        return TaskSpec.model_validate(frozen)
    except ValidationError as problem:
        raise SpecError(
            [
                SpecProblem(_pointer(error["loc"]), error["msg"].removeprefix("Value error, "))
                for error in problem.errors(include_url=False, include_input=False)
            ]
        ) from problem


def _pointer(location: tuple[int | str, ...]) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in location)


def _record_problems(services: Any) -> list[SpecProblem]:
    if not isinstance(services, Mapping):
        return []
    problems: list[SpecProblem] = []
    total = 0
    for service, collections in services.items():
        if not isinstance(collections, Mapping):
            problems.append(SpecProblem(f"/services/{service}", "expected collections of records"))
            continue
        for name, records in collections.items():
            place = f"/services/{service}/{name}"
            if not isinstance(records, list):
                problems.append(SpecProblem(place, "expected a list of records"))
                continue
            total += len(records)
            problems.extend(
                SpecProblem(f"{place}/{position}", "a record is a JSON object")
                for position, record in enumerate(records)
                if not isinstance(record, Mapping)
            )
    if total > MOST_RECORDS:
        problems.append(SpecProblem("/services", f"{total:,} records; at most {MOST_RECORDS:,}"))
    return problems
