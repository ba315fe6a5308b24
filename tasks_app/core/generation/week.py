"""The paper for a task of several working days: what a day begins with, what moved overnight, and
what is checked when it ends.

A day is begun by a message of the one who asks. Before it the world moves: loudly, by a letter that
arrives or a change that is told, or silently, by a change that only who looks again sees. What is
checked, allowed to be written and told belongs to the day on which it is put down here, and hangs
on the first check of that day, so that a slip on one day does not silence the next.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from tasks_app.core.generation.cast import Clock, is_working_day
from tasks_app.core.generation.forms import Json, filled
from tasks_app.core.generation.paper import Paper


@dataclass
class WeekPaper(Paper):
    """The parts of a spec with a timeline."""

    days: list[Json] = field(default_factory=list)
    """The stages so far; the last one is the day that is being written."""
    claimed: set[str] = field(default_factory=lambda: {"C7", "C8", "C9", "C16", "C19"})

    def __post_init__(self) -> None:
        self.days.append({"id": "day1", "at": self.clock.now})

    # --- days ------------------------------------------------------------------------------------

    @property
    def today(self) -> str:
        """The id of the day that is being written."""
        return str(self.days[-1]["id"])

    @property
    def number(self) -> int:
        """Which day it is, counted from 1."""
        return len(self.days)

    def morning(self, clock: Clock, notification: str) -> None:
        """Begin the next day: a reply has ended the one before."""
        self.days.append(
            {
                "id": f"day{len(self.days) + 1}",
                "at": clock.now,
                "notification": notification,
                "mutations": [],
            }
        )

    def moves(
        self,
        place: str,
        record_id: str,
        values: Mapping[str, Any],
        *,
        silent: bool = True,
    ) -> None:
        """Change a record before the day begins; silently unless it is told."""
        change = {"where": {"id": record_id}, "values": dict(values), "silent": silent}
        self._mutate("update", place, change)

    def arrives(self, place: str, record: Json, *, silent: bool = False) -> None:
        """Add a record before the day begins, such as a letter that is spoken of."""
        self._mutate("add", place, {"values": record, "silent": silent})

    def _mutate(self, op: str, place: str, change: Json) -> None:
        service, _, collection = place.partition("/")
        self.days[-1]["mutations"].append(
            {"service": service, "collection": collection, "op": op, **change}
        )

    # --- the way ---------------------------------------------------------------------------------

    def again(self, step_id: str, earlier: str) -> None:
        """Take the read of an earlier step once more, under a name of its own: the world may have
        moved.
        """
        said = next(one for one in self.steps if one.get("id") == earlier)
        self.steps.append({**copy.deepcopy(said), "id": step_id})

    # --- the end of a day ------------------------------------------------------------------------

    @property
    def anchor(self) -> str:
        """The check that the others of this day lean on: its first."""
        return next(str(c["id"]) for _, c in self.checks if c.get("stage") == self.today)

    def check(self, weight: float, body: Json) -> None:
        """Add a check of how things stand when this day ends; the collateral one sees all days."""
        whole = body["component"] == "collateral"
        super().check(weight, body if whole else {**body, "stage": self.today})

    def may(self, address: str, where: Mapping[str, Any] | None = None, **rest: Any) -> None:
        """Allow a write on this day; `rest` is any of change and max."""
        rule = {"address": address, **rest, "stages": [self.today]}
        self.write_set.append({**rule, "where": dict(where)} if where else rule)

    def sends(
        self,
        name: str,
        explain: str,
        to: Sequence[str],
        subject: str,
        text: str,
        values: Mapping[str, Any],
        groups: Sequence[Sequence[Any]],
        *,
        weight: float = 2,
        requires: str = "",
        forbidden: Sequence[Any] = (),
    ) -> None:
        """Send one letter on this day, allow that one, and check what it says."""
        self.do(
            name, "mail_send_message", to=list(to), subject=subject, body=filled(text, **values)
        )
        self.check(
            weight,
            {
                "id": f"r_{name}",
                "component": "report",
                "kind": "message_match",
                "explain": explain,
                "requires": [requires or self.anchor],
                "to": list(to),
                "text": [list(group) for group in groups],
                "forbidden": list(forbidden),
                "min": 1,
            },
        )
        self.may("mail/outbox/*", {"to": {"contains_all": list(to)}, "cc": []}, change="add", max=1)

    def closes(
        self,
        explain: str,
        groups: Sequence[Sequence[Any]],
        reply: str,
        values: Mapping[str, Any],
        *,
        weight: float = 1,
        requires: str = "",
    ) -> None:
        """End this day with a reply that states what the groups ask for."""
        self.steps.append({"reply": filled(reply, **values) if values else reply})
        self.check(
            weight,
            {
                "id": f"r_{self.today}",
                "component": "report",
                "kind": "answer",
                "explain": explain,
                "requires": [requires or self.anchor],
                "text": [list(group) for group in groups],
                "forbidden": [],
            },
        )

    def spec(self, **said: Any) -> Json:
        """Return the spec with its timeline; takes what `Paper.spec` takes."""
        body = super().spec(**{"calls": 40 * len(self.days), **said})
        body["difficulty"]["features"]["stages"] = len(self.days)
        body["limits"]["seconds"] = 600 * len(self.days)
        body["timeline"] = self.days
        return body


def working_days(first: date, count: int) -> list[date]:
    """Return some working days in a row, the first one included."""
    days = [first]
    while len(days) < count:
        following = days[-1] + timedelta(days=1)
        while not is_working_day(following):
            following += timedelta(days=1)
        days.append(following)
    return days


def as_remembered(steps: Sequence[Json], read_again: Mapping[str, str]) -> list[Json]:
    """Return a program that does not look again: what a later read gave is taken from the earlier
    one. A wrong variant of every task in which something moves without a word.

    Args:
        steps: The reference as written.
        read_again: Step that looks again → the step whose answer is remembered instead.
    """
    return [
        {name: _rebound(part, read_again) for name, part in step.items()}
        for step in steps
        if step.get("id") not in read_again
    ]


def _rebound(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: names.get(part, part)
            if key == "from" and isinstance(part, str)
            else _rebound(part, names)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_rebound(part, names) for part in value]
    return value
