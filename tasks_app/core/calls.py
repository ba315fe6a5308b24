"""A tool call as it happened, the errors a tool answers with, what a tool declares about itself.

Invariant: arguments and result are kept as the JSON bytes that crossed the boundary; those bytes
are at once the observation, the log entry and the copy isolation. Decoding is lazy and shared by
all readers.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from tasks_app.core.values import MODULUS, Change, Items, Record, digest, freeze

ErrorCode = Literal[
    "unknown_tool",
    "missing_argument",
    "unknown_argument",
    "wrong_type",
    "invalid_value",
    "not_found",
    "conflict",
    "forbidden",
    "rate_limited",
    "unavailable",
    "timeout",
    "internal_error",
]
SCHEMA_ERRORS: Final = frozenset(
    {"unknown_tool", "missing_argument", "unknown_argument", "wrong_type", "invalid_value"}
)
TRANSIENT_ERRORS: Final = frozenset({"rate_limited", "unavailable", "timeout"})

Tables = Mapping[str, Mapping[str, Record]]
"""Collection address (`service/collection`) → id → record, in id order."""


class ToolError(Exception):
    """A structured refusal by a tool: nothing was written."""

    def __init__(self, code: ErrorCode, message: str = "", *, retry_after: int | None = None):
        super().__init__(message or code)
        self.code: ErrorCode = code
        self.message = message or code.replace("_", " ")
        self.retry_after = retry_after

    def encoded(self) -> bytes:
        """The error object as the policy sees it."""
        body: dict[str, Any] = {"error": self.code, "message": self.message}
        if self.retry_after is not None:
            body["retry_after"] = self.retry_after
        return orjson.dumps(body)


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a tool declares, for checks, constraints, grading and replay."""

    name: str
    service: str
    kind: Literal["read", "write", "channel"]
    text: tuple[str, ...] = ()
    """Arguments that carry text somebody may read (no_disclosure looks there)."""
    recipients: tuple[str, ...] = ()
    """Arguments that name who receives that text; none means it stays where no outsider is allowed.
    """
    inside: bool | str = False
    """Whether its text stays in the house; a name: the argument that says so when true (an internal
    note).
    """
    fills: tuple[str, ...] = ()
    """Fields (`service/collection#field`) that only the handler fills: free without being declared.
    """
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    """JSON Schema of the arguments."""

    @property
    def writes(self) -> bool:
        """Whether the tool may change records."""
        return self.kind == "write"


class Call:
    """One tool call with its outcome. Equal in meaning to its bytes; never changed after it is
    logged.
    """

    __slots__ = (
        "_arguments",
        "_outcome",
        "_same",
        "before",
        "changes",
        "error",
        "index",
        "name",
        "observation",
        "raw",
        "stage",
        "state_key",
        "tool",
        "valid",
    )

    def __init__(
        self,
        *,
        index: int,
        name: str,
        tool: str,
        raw: bytes,
        observation: bytes,
        error: str | None,
        valid: bool,
        changes: tuple[Change, ...],
        stage: str,
        state_key: int,
        before: Tables,
    ):
        self.index = index
        """Position in the episode, from 0."""
        self.name = name
        """The name the policy used (an imported task's own name, or `tool`)."""
        self.tool = tool
        """The studio's tool name."""
        self.raw = raw
        """Arguments as JSON bytes, under the studio's argument names."""
        self.observation = observation
        """What the policy sees: the result, or the error object."""
        self.error = error
        """The error code, None for a success."""
        self.valid = valid
        """Whether tool name and arguments passed the schema."""
        self.changes = changes
        self.stage = stage
        self.state_key = state_key
        """Key of the records before the call."""
        self.before = before
        """The tables before the call; a reference, not a copy."""
        self._arguments: Mapping[str, Any] | None = None
        self._outcome: Any = None
        self._same: Call | None = None

    def again(self, index: int, state_key: int, stage: str) -> "Call":
        """Return this call as made once more on the same tables; both are decoded once."""
        if index == self.index and state_key == self.state_key and stage == self.stage:
            return self
        made = _new(Call)
        made.index, made.state_key, made.stage = index, state_key, stage
        made.name, made.tool, made.before = self.name, self.tool, self.before
        made.raw, made.observation = self.raw, self.observation
        made.error, made.valid, made.changes = self.error, self.valid, self.changes
        made._arguments, made._outcome = self._arguments, self._outcome
        made._same = self._same or self
        return made

    @property
    def ok(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments; empty where they are no JSON object."""
        if self._arguments is None:
            if self._same is not None:
                self._arguments = self._same.arguments
                return self._arguments
            try:
                value = orjson.loads(self.raw)
            except orjson.JSONDecodeError:
                value = {}
            self._arguments = value if isinstance(value, dict) else {}
        return self._arguments

    @property
    def outcome(self) -> Any:
        """The observation as a value."""
        if self._outcome is None:
            same = self._same
            self._outcome = same.outcome if same is not None else orjson.loads(self.observation)
        return self._outcome

    def __repr__(self) -> str:
        arguments = self.raw.decode(errors="replace")
        return f"Call({self.index} {self.tool} {arguments} → {self.error or 'ok'})"


_new: Final = object.__new__


def log_call(
    index: int,
    name: str,
    tool: str,
    raw: bytes,
    observation: bytes,
    error: str | None,
    valid: bool,  # noqa: FBT001 (by position, as everything here)
    changes: tuple[Change, ...],
    stage: str,
    state_key: int,
    before: Tables,
) -> Call:
    """Make a call by position: a class called by keywords costs as much as a simple read."""
    made = _new(Call)
    made.index, made.state_key = index, state_key
    made.name, made.tool, made.stage, made.before = name, tool, stage, before
    made.raw, made.observation = raw, observation
    made.error, made.valid, made.changes = error, valid, changes
    made._arguments = made._outcome = made._same = None
    return made


def anchor_keys(calls: Sequence[Call], facts: Mapping[str, ToolFacts]) -> list[int]:
    """Return, per call, state_key + Σ digests of the distinct successful reads made before it.

    The anchor of GiGPO: without the reads, all turns before the first write would share one state.
    """
    seen: set[int] = set()
    total, keys = 0, []
    for call in calls:
        keys.append((call.state_key + total) % MODULUS)
        declared = facts.get(call.tool)
        if call.ok and declared is not None and declared.kind == "read":
            read = digest(f"read/{call.tool}", {"a": call.arguments, "r": call.outcome})
            if read not in seen:
                seen.add(read)
                total += read
    return keys


def encode_arguments(arguments: str | bytes | Mapping[str, Any]) -> bytes:
    """Return arguments as JSON bytes; text is taken as it is, so malformed JSON stays what it
    was.
    """
    if type(arguments) is dict:
        return _encoded(arguments)
    if isinstance(arguments, bytes):
        return arguments
    if isinstance(arguments, str):
        return arguments.encode("utf-8", errors="replace")
    return _encoded(arguments)


def _encoded(arguments: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(arguments, default=_plain)
    except TypeError:
        # Half a surrogate pair, or a whole number that no machine holds: a policy may write it.
        text = json.dumps(arguments, default=str, ensure_ascii=False, skipkeys=True)
        return text.encode("utf-8", errors="replace")


def _plain(value: Any) -> Any:
    return freeze(value) if isinstance(value, Record | Items | Mapping) else str(value)
