"""A small office to call tools in: a store with records, a clock, a mailbox. No world around it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from tasks_app.core.calls import ToolError
from tasks_app.core.records import Snapshot, Store, build_tables
from tasks_app.core.services.catalog import collections, tools
from tasks_app.core.values import Change

NOW: Final = "2031-03-20T09:10:00+01:00"
MAILBOX: Final = "desk@kestrelmoor.example"

Records = Mapping[str, Mapping[str, Iterable[Mapping[str, Any]]]]


class Office:
    """Calls tools the way a world does: validate, run, take back what a refused call wrote."""

    def __init__(self, services: Records):
        facts = collections()
        tables, total, counters = build_tables(services, facts)
        for place in facts:
            if place.partition("/")[0] in services:
                tables.setdefault(place, {})
        self.store = Store(Snapshot(tables, total, counters, None, 0, ()))
        self.changes: tuple[Change, ...] = ()
        """What the last call changed."""

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Call a tool and return its result, or its error object."""
        return self.send(name, orjson.dumps(arguments))

    def send(self, name: str, raw: bytes) -> Any:
        """Call a tool with argument text as it is."""
        before = self.store.snapshot()
        tool = tools()[name]
        try:
            service = tool.service(self.store, NOW, lambda text: f"heard: {text}", MAILBOX)
            result = tool.run(service, tool.validate(raw))
        except ToolError as refusal:
            self.store.restore(before)
            result = refusal.encoded()
        self.changes = self.store.take_changes()
        return orjson.loads(result)

    def refusal(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must refuse; return the code."""
        key = self.store.state_key()
        answer = self.call(name, **arguments)
        assert "error" in answer, answer
        assert (self.changes, self.store.state_key()) == ((), key)
        return str(answer["error"])

    def record(self, place: str, record_id: str) -> Mapping[str, Any]:
        """Return a record as it is now."""
        return self.store.tables[place][record_id]

    def changed(self) -> list[str]:
        """Return the addresses that the last call changed, with their fields where it updated."""
        return [
            f"{change.address}#{','.join(change.fields())}"
            if change.kind == "update"
            else f"{change.kind} {change.address}"
            for change in self.changes
        ]
