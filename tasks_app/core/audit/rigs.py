"""Rigged code: tools that misbehave, offered beside the real ones, and checks that judge wrongly.

A rigged tool lives in a service that the task has, under a name of its own, so whatever is kept by
a tool's name or by a spec's content is never about the real one.
"""

import contextlib
import dataclasses
import random
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Any, Final

from pydantic import Field

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import Written
from tasks_app.core.calls import ToolFacts
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.catalog import CHECKS
from tasks_app.core.evidence import Evidence
from tasks_app.core.records import Collection
from tasks_app.core.results import Judgement
from tasks_app.core.services.base import RecordId, Service, Text, ToolOptions, compile_tool
from tasks_app.core.services.catalog import beside, services

Handler = Callable[..., Any]
Facts = Callable[[ToolFacts], ToolFacts]


class Rigged:
    """A tool that misbehaves: how it is offered, and how it is put in place."""

    def __init__(
        self,
        verb: str,
        handler: Handler,
        *,
        kind: Any = "read",
        name: str = "",
        facts: Facts = lambda facts: facts,
        called: bool = False,
    ):
        self.verb = verb
        self.handler = handler
        self.kind = kind
        self.fixed = name
        self.facts = facts
        self.called = called
        """Whether the reference calls it, before all else."""

    def tool_name(self, data: Written) -> str:
        """What it is called in this task."""
        return self.fixed or f"{spots.home(data)[0]}_{self.verb}"

    def plant(self, data: Written, _rng: random.Random) -> bool:
        """Offer the tool, and call it where the defect needs that."""
        name = self.tool_name(data)
        data["tools"].append(name)
        if self.called:
            data["reference"].insert(0, {"id": "rigged", "tool": name, "arguments": {}})
        limits = data.setdefault("limits", {})
        limits["tool_calls"] = limits.get("tool_calls", 60) + 4
        limits["turns"] = limits.get("turns", 30) + 4
        return True

    @contextmanager
    def rig(self, data: Written) -> Iterator[None]:
        """Have the tool for as long as the task is looked at."""
        name = self.tool_name(data)
        service = services()[spots.home(data)[0]]
        options = ToolOptions(self.kind, name, (), (), False, ())
        made = compile_tool(service, self.handler, options)
        with beside({name: dataclasses.replace(made, facts=self.facts(made.facts))}):
            yield


def rows(service: Service) -> Collection[Any]:
    """The first collection of the service that holds records: where a rigged tool works."""
    facts = type(service).collections()
    place = next(address for address in facts if service.store.tables.get(address))
    return Collection(service.store, facts[place])


# Handlers. Each is documented as a real tool is, the one without a description apart.


def count_rows(self: Service) -> dict[str, int]:
    """Say how many records there are."""
    return {"count": len(rows(self))}


def undescribed(self: Service) -> dict[str, int]:
    return {"count": len(rows(self))}


def undescribed_argument(self: Service, limit: int = 5) -> dict[str, int]:
    """Say how many records there are."""
    return {"count": min(limit, len(rows(self)))}


def untyped_argument(self: Service, limit: Any = 5) -> dict[str, int]:
    """Say how many records there are.

    Args:
        limit: The most to count.
    """
    return {"count": len(rows(self)), "limit": limit if isinstance(limit, int) else 5}


def writes_as_read(self: Service) -> dict[str, int]:
    """Say how many records there are."""
    own = rows(self)
    first = next(iter(own))
    own.put({**first, "seen": True})
    return {"count": len(own)}


def never_writes(self: Service) -> dict[str, int]:
    """Mark all records as seen."""
    return {"marked": len(rows(self))}


def key_error(self: Service, record_id: RecordId) -> Any:
    """Show a record.

    Args:
        record_id: The record to show.
    """
    return {row["id"]: dict(row) for row in rows(self)}[record_id]


def index_error(self: Service, position: int) -> Any:
    """Show the record at a position.

    Args:
        position: Which one, from 0.
    """
    return dict(list(rows(self))[position])


def division(self: Service, parts: int) -> dict[str, float]:
    """Share the records out.

    Args:
        parts: Among how many.
    """
    return {"each": len(rows(self)) / parts}


def unencodable(self: Service) -> Any:
    """List what the records are called."""
    return {"ids": {str(row["id"]) for row in rows(self)} and {1, 2}}


def deep(self: Service, text: Text) -> dict[str, int]:
    """Find how deep a text is.

    Args:
        text: What to look at.
    """

    def depth(left: str) -> int:
        return 1 + depth(left[1:]) if left else 0

    return {"depth": depth(text)}


def ignores_filter(
    self: Service, status: Annotated[str, Field(max_length=50)] = "open"
) -> dict[str, Any]:
    """List the records in a state.

    Args:
        status: Only records in this state.
    """
    del status
    return {"records": [dict(row) for row in rows(self)]}


def by_clock(self: Service) -> dict[str, float]:
    """Say how many records there are, and when."""
    return {"count": len(rows(self)), "at": time.time_ns() / 1e9}


def by_chance(self: Service) -> dict[str, Any]:
    """Say how many records there are, under a new number."""
    return {"count": len(rows(self)), "number": secrets.token_hex(8)}


def by_address(self: Service) -> dict[str, int]:
    """Say how many records there are, and where."""
    return {"count": len(rows(self)), "place": id(self)}


_CALLS: Final = iter(range(10**12))


def by_counter(self: Service) -> dict[str, int]:
    """Say how many records there are, and how often that was asked."""
    return {"count": len(rows(self)), "asked": next(_CALLS)}


def stamps_by_clock(self: Service) -> dict[str, Any]:
    """Mark the first record as seen."""
    own = rows(self)
    return dict(own.put({**next(iter(own)), "seen_at": str(time.time_ns())}))


def stamps_by_chance(self: Service) -> dict[str, Any]:
    """Give the first record a number."""
    own = rows(self)
    return dict(own.put({**next(iter(own)), "token": secrets.token_hex(8)}))


def stamps_by_counter(self: Service) -> dict[str, Any]:
    """Count how often the first record was seen."""
    own = rows(self)
    return dict(own.put({**next(iter(own)), "seen": next(_CALLS)}))


# Declarations.


def declared(**changes: Any) -> Facts:
    """Return a change of what a tool declares."""
    return lambda facts: dataclasses.replace(facts, **changes)


def with_schema(change: Callable[[dict[str, Any]], None]) -> Facts:
    """Return a change of a tool's schema."""

    def changed(facts: ToolFacts) -> ToolFacts:
        schema = dict(facts.parameters or {})
        schema["properties"] = {k: dict(v) for k, v in schema.get("properties", {}).items()}
        change(schema)
        return dataclasses.replace(facts, parameters=schema)

    return changed


# Checks.

Judge = Callable[[BaseCheck, Evidence, Callable[[Evidence], Judgement]], Judgement]
"""Judges in place of a check; it gets the check's own way of judging as well."""


def rigged_check(kind: str, judge: Judge) -> Callable[[Written], AbstractContextManager[None]]:
    """Return what lets every check of a kind judge otherwise."""

    @contextmanager
    def rig(_data: Written) -> Iterator[None]:
        owner = CHECKS[kind]
        own = owner.judge

        def instead(check: BaseCheck, evidence: Evidence) -> Judgement:
            return judge(check, evidence, lambda given: own(check, given))

        setattr(owner, "judge", instead)  # noqa: B010 - a method, which mypy forbids to assign
        try:
            yield
        finally:
            setattr(owner, "judge", own)  # noqa: B010

    return rig


def judged_by_clock(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Judge rightly, but put the time into the reason."""
    found = own(given)
    return found._replace(detail=f"{found.detail} at {time.time_ns()}")


def judged_by_chance(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Now and then the right solution fails."""
    found = own(given)
    return found if secrets.randbelow(3) else found._replace(score=0.0)


def judged_by_file(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Keep a note of every judgement in a file."""
    with tempfile.TemporaryFile() as file:
        file.write(b"judged")
    return own(given)


def judged_by_network(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Ask somebody else first."""
    import socket  # the rig alone needs it

    with contextlib.suppress(OSError), socket.socket() as asked:
        asked.settimeout(0.01)
        asked.connect(("127.0.0.1", 9))
    return own(given)


def judged_by_count(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Every second judgement is another one."""
    found = own(given)
    return found if next(_CALLS) % 2 else found._replace(score=0.0)


def raises(_c: BaseCheck, _given: Evidence, _own: Callable[[Evidence], Judgement]) -> Any:
    """Raise, whatever there is to judge."""
    raise ZeroDivisionError("division by zero")


def always(_c: BaseCheck, _given: Evidence, _own: Callable[[Evidence], Judgement]) -> Any:
    """Hold, whatever there is to judge."""
    return Judgement(1.0, "")


def raises_on_silence(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Take the first word of the reply, which may be empty."""
    _ = given.reply(_c.stage).split()[0]
    return own(given)


def unbounded(_c: BaseCheck, given: Evidence, own: Callable[[Evidence], Judgement]) -> Any:
    """Score by the length of the reply."""
    found = own(given)
    said = len(given.reply(_c.stage))
    return found._replace(score=found.score and max(found.score, said / 400))
