"""What a planter is: a known defect, put into a sound task to see whether the gates find it.

A planter changes the *written* spec, as a person or a model would get it wrong, and may bring a
rigged tool or a rigged check with it. It is written from the table of gates and the task format,
not from a gate's code: a defect that was shaped after a gate tests nothing but itself.
"""

import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tasks_app.core.audit.subjects import Subject

Written = dict[str, Any]
"""A written spec that may be changed."""
Kind = Literal["spec", "tool", "check", "library", "episode", "dataset"]
"""Where the defect lies; `tool` and `check` are rigged code, the rest is data."""


def _unrigged(_data: Written) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Planted:
    """What became of one defect that was planted."""

    detected: bool
    found: tuple[str, ...]
    """Gates that found something the sound task hadn't, each once."""
    repaired: bool | None
    """None: nothing by rule can repair it, or it was not tried."""
    words: str = ""
    """What the gates said, or why nothing was mended."""
    spec: Mapping[str, Any] | None = None
    """The broken spec, for whoever looks into a miss."""


class Planter(Protocol):
    """A defect that can be planted. Other packages bring their own for the gates they hold."""

    @property
    def gate(self) -> str:
        """The gate that must find it."""

    @property
    def name(self) -> str:
        """Its name within the gate."""

    @property
    def title(self) -> str:
        """What is wrong, as a person reads it."""

    @property
    def kind(self) -> Kind:
        """Where the defect lies."""

    @property
    def repairable(self) -> bool:
        """Whether a rule is meant to mend it."""

    @property
    def also(self) -> tuple[str, ...]:
        """Gates that may see it first: one of them counts as well."""

    @property
    def upstream(self) -> str:
        """Where such a defect was seen outside, empty if it was thought up here."""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Plant it in a sound task; None where this task has no place for it."""


@dataclass(frozen=True, slots=True)
class SpecPlanter:
    """A defect of a task spec, or of a tool or check that the spec uses."""

    gate: str
    name: str
    title: str
    plant: Callable[[Written, random.Random], bool]
    """Changes the written spec; False where it has no place for the defect."""
    also: tuple[str, ...] = ()
    repairable: bool = False
    upstream: str = ""
    kind: Kind = "spec"
    rig: Callable[[Written], AbstractContextManager[None]] = _unrigged
    """Puts the rigged tool or check in place for as long as the planted task is looked at."""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Plant, prove, and mend where a rule is meant to."""
        data = subject.copy()
        if not self.plant(data, rng):
            return None
        _ = subject.findings  # of the sound task, while nothing is rigged
        with self.rig(data):
            found = subject.new_findings(data)
            gates = tuple(dict.fromkeys(finding.gate for finding in found))
            detected = not {self.gate, *self.also}.isdisjoint(gates)
            words = "; ".join(f"{one.gate} {one.message}" for one in found[:3])
            repaired = None
            if self.repairable and detected:
                repaired, why = subject.mended(data)
                words = words if repaired else f"{words}; not mended: {why}"
        return Planted(detected, gates, repaired, words, data)
