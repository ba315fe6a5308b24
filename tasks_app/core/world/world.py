"""One episode's world: records, clock, stages, faults, colleague, call log.

`Seed` is what all worlds of one spec share (frozen records with digests, offered tools, facts); it
is kept
in a small cache by content hash. `World` is one store and its services: not thread-safe, one an
episode.

The clock stands still inside a stage; order is told by the call number. A reply without tool calls
ends
the stage: close it, apply the next stage's mutations, set the clock, notify. A policy that stops
early
leaves the later stages with an empty reply; they happen all the same.
"""

import functools
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, Self, cast

from tasks_app.core.calls import Call, Tables, ToolError, ToolFacts, encode_arguments, log_call
from tasks_app.core.evidence import Evidence, Ground, StageEvidence
from tasks_app.core.records import Counter, Snapshot, Store, build_tables
from tasks_app.core.services.base import Service, Tool
from tasks_app.core.services.catalog import collections as all_collections
from tasks_app.core.services.catalog import tools as all_tools
from tasks_app.core.spec import Fault, TaskSpec, ToolAlias, UserScript
from tasks_app.core.values import InvalidValueError, encode
from tasks_app.core.world import aliases, faults, timeline, user
from tasks_app.core.world.state import Context, context_key

_KEPT: Final = 64
_REMEMBERED: Final = 4096
"""Calls that a world remembers once it has gone back to a state."""


class Seed:
    """What all worlds of one spec share."""

    __slots__ = ("aliases", "faults", "ground", "now", "offered", "snapshot", "spec", "stages")

    _cache: "OrderedDict[str, Seed]" = OrderedDict()
    _lock = threading.Lock()

    def __init__(self, spec: TaskSpec):
        self.spec = spec
        facts = all_collections()
        tables, total, counters = build_tables(
            cast("Mapping[str, Mapping[str, Any]]", spec.services), facts
        )
        for place in facts:
            if place.partition("/")[0] in spec.services:
                tables.setdefault(place, {})
        tables = dict(sorted(tables.items()))
        known = all_tools()
        self.offered: Mapping[str, Tool] = {n: known[n] for n in spec.tools if n in known}
        self.aliases: Mapping[str, ToolAlias] = {
            name: alias for name, alias in spec.tool_aliases.items() if alias.tool in known
        }
        context = Context(stage=0, opened=tables, first_call=0)
        self.snapshot = Snapshot(tables, total, counters, context, context_key(context), ())
        self.now = spec.stages[0].at
        self.stages = tuple(stage.id for stage in spec.stages)
        self.faults: Mapping[str, Mapping[int, Fault]] = faults.by_tool(spec.faults)
        names = {*self.offered, *(alias.tool for alias in self.aliases.values())}
        self.ground = Ground(
            start=tables,
            tools={name: known[name].facts for name in sorted(names)},
            write_set=spec.write_set,
            id_fields={f.address: f.id_field for f in facts.values() if f.id_field != "id"},
        )

    @classmethod
    def of(cls, spec: TaskSpec) -> "Seed":
        """Return the seed of a spec. Raises InvalidValueError that names a record that cannot
        be.
        """
        with cls._lock:
            known = cls._cache.get(spec.hash)
            if known is not None:
                cls._cache.move_to_end(spec.hash)
                return known
        made = cls(spec)
        with cls._lock:
            cls._cache[spec.hash] = made
            while len(cls._cache) > _KEPT:
                cls._cache.popitem(last=False)
        return made

    def declaration(self, name: str) -> ToolFacts | None:
        """Return what a tool declares, by the name the policy uses."""
        tool, _ = self.find(name)
        return tool.facts if tool is not None else None

    def find(self, name: str) -> tuple[Tool | None, ToolAlias | None]:
        """Return an offered tool, and the alias it was found by."""
        tool = self.offered.get(name)
        if tool is not None:
            return tool, None
        alias = self.aliases.get(name)
        return (all_tools()[alias.tool], alias) if alias is not None else (None, None)


_Known = tuple[Call, Mapping[str, Counter], Tables, int, Mapping[str, Counter]]
"""What a call did: the call, the counters before it; tables, total and counters after it. The
tables before it are its call's own, so no address is used again.
"""


class World:
    """One episode's world.

    A handler sees the records and the clock alone, so on the same tables a call does the same: a
    world that goes back to a state (`restore`) remembers its calls from then on, and worlds of one
    seed may remember together (`remembering_with`). Runs that end alike then share their very
    tables, and what compares or judges them looks no further.
    """

    __slots__ = ("_known", "_services", "now", "seed", "store")

    def __init__(self, seed: Seed | TaskSpec):
        self.seed = seed if isinstance(seed, Seed) else Seed.of(seed)
        self.store = Store(self.seed.snapshot)
        self.now = self.seed.now
        self._services: dict[type[Service], Service] = {}
        self._known: dict[tuple[str, bytes, str, int, int], _Known] | None = None
        """Calls by name, arguments, time, and the addresses of the tables and counters before."""

    def remembering_with(self, other: "World") -> Self:
        """Remember calls from now on, with another world of the same seed."""
        if other._known is None:
            other._known = {}
        self._known = other._known
        return self

    # --- state -----------------------------------------------------------------------------------

    @property
    def context(self) -> Context:
        """Stage, colleague and closed stages."""
        context: Context = self.store.context
        return context

    @property
    def stage(self) -> str:
        """Id of the running (or last) stage."""
        return self.seed.stages[self.context.stage]

    @property
    def finished(self) -> bool:
        """Whether the last stage has ended."""
        return self.context.finished

    @property
    def notification(self) -> str:
        """What the running stage tells the policy: the request, or the stage's notification."""
        stage = self.seed.spec.stages[self.context.stage]
        return stage.notification if stage.notification is not None else self.seed.spec.request.text

    @property
    def calls(self) -> tuple[Call, ...]:
        """The call log."""
        return self.store.log

    def snapshot(self) -> Snapshot:
        """Take the state: a handful of references."""
        return self.store.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Put a state back."""
        if self._known is None:
            self._known = {}
        self.store.restore(snapshot)
        if len(self.seed.stages) > 1:
            self._set_clock()

    def begin_with(self, tables: Tables) -> None:
        """Let the first stage begin with other records; ids to come stay as they are."""
        store = self.store
        store.tables = tables
        store.total = sum(row.digest for rows in tables.values() for row in rows.values())
        self._set_context(self.context._replace(opened=tables))

    # --- acting ----------------------------------------------------------------------------------

    def call(self, name: str, arguments: str | bytes | Mapping[str, Any]) -> Call:
        """Call a tool. Never raises for what a policy does: failures are structured errors."""
        store, seed = self.store, self.seed
        raw = arguments if type(arguments) is bytes else encode_arguments(arguments)
        known = self._known
        if known is not None:
            met = known.get((name, raw, self.now, id(store.tables), id(store.counters)))
            if met is not None:
                return self._repeat(met)
        tables, total, counters = store.tables, store.total, store.counters
        key = store.state_key()
        tool = seed.offered.get(name)
        asked, valid, error, fault = raw, False, None, None
        try:
            if tool is None:
                tool, alias = seed.find(name)
                if tool is None:
                    raise ToolError("unknown_tool", "no tool of that name is offered")
                if alias is not None:
                    raw = aliases.translate(raw, alias, self.now)
            parsed = tool.validate(raw)
            valid = True
            if seed.faults:
                fault = self._fault(tool.facts.name)
                if fault is not None and fault.moment == "before":
                    raise faults.failure(fault)
            service = self._services.get(tool.service) or self._service(tool.service)
            observation = encode(tool.function(service, **parsed))
            if fault is not None:
                lost = faults.failure(fault)
                observation, error = lost.encoded(), lost.code
        except ToolError as refusal:
            observation, error = refusal.encoded(), refusal.code
            store.take_back(tables, total, counters)
        except Exception as defect:  # noqa: BLE001 (a handler's defect is an observation; gate T2 finds it)
            failure = ToolError("internal_error", f"{type(defect).__name__} in {name}")
            observation, error = failure.encoded(), failure.code
            store.take_back(tables, total, counters)
        log = store.log
        call = log_call(
            len(log),
            name,
            tool.facts.name if tool is not None else name,
            raw,
            observation,
            error,
            valid,
            store.take_changes() if store.changes else (),
            seed.stages[store.context.stage],
            key,
            tables,
        )
        store.log = (*log, call)
        if known is not None and self._repeats(tool):
            if len(known) >= _REMEMBERED:
                known.clear()
            after = store.tables, store.total, store.counters
            known[name, asked, self.now, id(tables), id(counters)] = (call, counters, *after)
        return call

    def _repeats(self, tool: Tool | None) -> bool:
        """Say whether a tool does the same whenever the records are the same."""
        return tool is None or (
            tool.facts.kind != "channel" and tool.facts.name not in self.seed.faults
        )

    def _repeat(self, known: _Known) -> Call:
        """Do what a call did before on the same tables."""
        store = self.store
        log = store.log
        stage = self.seed.stages[store.context.stage]
        call = known[0].again(len(log), store.state_key(), stage)
        _, _, store.tables, store.total, store.counters = known
        store.log = (*log, call)
        return call

    def say(self, text: str) -> str:
        """Tell the colleague something in dialogue and return the answer; no tool is called."""
        script = self.seed.spec.user
        return "" if script is None else _say(self.store, script, text)

    def reply(self, text: str) -> str | None:
        """End the running stage with a reply; return the next stage's notification, None at the
        end.
        """
        store, spec = self.store, self.seed.spec
        context: Context = store.context
        if context.finished:
            return None
        ended = self._running(text)
        following = context.stage + 1
        if following == len(self.seed.stages):
            # A new context with the key of the old: a reply adds neither a stage nor a told fact.
            store.context = Context(
                context.stage,
                context.opened,
                context.first_call,
                (*context.closed, ended),
                context.told,
                context.rounds,
                context.met,
                context.missed,
                finished=True,
            )
            return None
        facts = all_collections()
        results = (timeline.apply(store, m, facts) for m in spec.stages[following].mutations)
        missed = context.missed + tuple(reason for reason in results if reason is not None)
        store.take_changes()
        self._set_context(
            context._replace(
                stage=following,
                opened=store.tables,
                first_call=len(store.log),
                closed=(*context.closed, ended),
                missed=missed,
            )
        )
        self._set_clock()
        return spec.stages[following].notification or ""

    def finish(self) -> None:
        """Let the stages that the policy did not reach happen, each with an empty reply."""
        while not self.store.context.finished:
            self.reply("")

    def evidence(self) -> Evidence:
        """Return what a grader may see; a running stage counts as it is, without reply."""
        context: Context = self.store.context
        stages = context.closed if context.finished else (*context.closed, self._running(""))
        return Evidence(self.seed.ground, stages, self.store.log)

    # --- inside ----------------------------------------------------------------------------------

    def _running(self, reply: str) -> StageEvidence:
        store = self.store
        context: Context = store.context
        stage = self.seed.spec.stages[context.stage]
        return StageEvidence(
            stage.id,
            stage.at,
            context.opened,
            store.tables,
            context.first_call,
            len(store.log),
            reply,
        )

    def _set_context(self, context: Context) -> None:
        _set_context(self.store, context)

    def _set_clock(self) -> None:
        now = self.seed.spec.stages[self.context.stage].at
        if now != self.now:
            self.now = now
            for service in self._services.values():
                service.now = now

    def _service(self, kind: type[Service]) -> Service:
        service = self._services.get(kind)
        if service is None:
            spec, script = self.seed.spec, self.seed.spec.user
            # Not the world's own method: a service that held its world would be a cycle, and a
            # world of a proof holds much.
            answer = functools.partial(_say, self.store, script) if script is not None else None
            service = kind(self.store, self.now, answer, spec.workplace.coworker.mailbox or None)
            self._services[kind] = service
        return service

    def _fault(self, tool: str) -> Fault | None:
        planned = self.seed.faults.get(tool)
        if planned is None:
            return None
        context = self.context
        number = context.met.get(tool, 0) + 1
        self._set_context(context._replace(met={**context.met, tool: number}))
        return planned.get(number)


def _say(store: Store, script: UserScript, text: str) -> str:
    """Tell the colleague something and return the answer."""
    reply, context = user.answer(script, store.context, text)
    _set_context(store, context)
    return reply


def _set_context(store: Store, context: Context) -> None:
    store.context = context
    store.context_key = context_key(context)


def seed_problem(spec: TaskSpec) -> str | None:
    """Return why no world can be made of a spec's records, None if one can."""
    try:
        Seed.of(spec)
    except InvalidValueError as problem:
        return str(problem)
    return None
