"""The audit: plant known defects, prove, count what the gates find, mend and wrongly find.

Every attempt is a plain `Chore` that any process can do in any order; the report adds the results
up in the order of the chores. The same arguments give the same report, in however many processes.
"""

import functools
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tasks_app.core.audit.catalog import gate_order, planters
from tasks_app.core.audit.clean import clean_tasks, drafted
from tasks_app.core.audit.planter import Planter
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.generation.families.catalog import FAMILIES

SUBJECTS_A_FAMILY: Final = 20
"""Different sound tasks of a family that defects are planted in, in one process at a time."""
TRIES: Final = 1200
"""Tasks that a planter is offered before it is said to have no place; some defects fit one family
alone.
"""
CLEAN_SHARE: Final = 2.5
"""Sound tasks looked at for every defect of a gate: 500 beside 200."""
MOST_KEPT: Final = 200
"""Misses whose broken spec is kept."""


class Chore(NamedTuple):
    """One attempt: a defect to plant, or a sound task to look at."""

    gate: str
    """Empty for a sound task."""
    name: str
    number: int
    seed: int
    clean: int = 0
    """How many sound tasks there are."""


class Done(NamedTuple):
    """What an attempt came to."""

    chore: Chore
    subject: str = ""
    """The task it was done on; empty where no task had a place for the defect."""
    detected: bool = False
    repaired: bool | None = None
    found: tuple[str, ...] = ()
    words: str = ""
    spec: Mapping[str, Any] | None = None


@dataclass
class GateCount:
    """What was planted for one gate and what became of it."""

    planted: int = 0
    detected: int = 0
    to_repair: int = 0
    repaired: int = 0
    false_alarms: int = 0
    planters: dict[str, list[int]] = field(default_factory=dict)
    """Planter → planted, detected, to be repaired, repaired."""


@dataclass
class Report:
    """What an audit came to."""

    gates: dict[str, GateCount] = field(default_factory=dict)
    clean: int = 0
    alarmed: int = 0
    """Sound tasks in which a gate found something."""
    misses: list[Done] = field(default_factory=list)
    alarms: list[Done] = field(default_factory=list)
    unplanted: list[str] = field(default_factory=list)
    """Planters that found no task with a place for their defect."""
    unmended: list[Done] = field(default_factory=list)

    def add(self, done: Done) -> None:
        """Count one attempt."""
        chore = done.chore
        if not chore.gate:
            self._add_clean(done)
            return
        counted = self.gates.setdefault(chore.gate, GateCount())
        if not done.subject:
            name = f"{chore.gate}.{chore.name}"
            if name not in self.unplanted:
                self.unplanted.append(name)
            return
        own = counted.planters.setdefault(chore.name, [0, 0, 0, 0])
        mended = done.repaired is not None
        for place, more in enumerate((True, done.detected, mended, bool(done.repaired))):
            own[place] += more
        counted.planted += 1
        counted.detected += done.detected
        counted.to_repair += mended
        counted.repaired += bool(done.repaired)
        if not done.detected:
            self.misses.append(done)
        elif done.repaired is False:
            self.unmended.append(done)

    def _add_clean(self, done: Done) -> None:
        self.clean += 1
        if done.found:
            self.alarmed += 1
            self.alarms.append(done)
            for gate in done.found:
                self.gates.setdefault(gate, GateCount()).false_alarms += 1

    @property
    def sound(self) -> bool:
        """Whether every defect was found and no sound task was blamed."""
        return not (self.misses or self.alarms or self.unplanted)

    def result(self) -> dict[str, Any]:
        """Return the report under the names that the command prints."""
        return {
            "gates": {
                gate: {
                    "detected": share(count.detected, count.planted),
                    "repaired": share(count.repaired, count.to_repair),
                    "planted": count.planted,
                    "false_alarms": count.false_alarms,
                }
                for gate, count in self.ordered()
            },
            "repaired": share(
                sum(count.repaired for count in self.gates.values()),
                sum(count.to_repair for count in self.gates.values()),
            ),
            "false_alarms": self.alarmed,
            "clean": self.clean,
            "misses": _named(self.misses),
            "alarms": _named(self.alarms),
            "unmended": _named(self.unmended),
            "unplanted": list(self.unplanted),
        }

    def ordered(self) -> list[tuple[str, GateCount]]:
        """The gates in the order of a report."""
        return sorted(self.gates.items(), key=lambda pair: gate_order(pair[0]))


def share(part: int, whole: int) -> float | None:
    """Return part of whole as a share; None where there is nothing to share."""
    return round(part / whole, 4) if whole else None


def _named(found: Iterable[Done]) -> dict[str, int]:
    """Name → how often, in the order of first seen."""
    names: dict[str, int] = {}
    for done in found:
        name = f"{done.chore.gate}.{done.chore.name}" if done.chore.gate else done.subject
        names[name] = names.get(name, 0) + 1
    return names


def chores(count: int, seed: int, *, gates: Sequence[str] = ()) -> list[Chore]:
    """Plan an audit: `count` defects of every gate, its planters in turn, and the sound tasks.

    Args:
        count: Defects of each gate.
        seed: Any whole number.
        gates: Only these gates; all where none is named.
    """
    by_gate: dict[str, list[Planter]] = {}
    for planter in planters():
        if not gates or planter.gate in gates:
            by_gate.setdefault(planter.gate, []).append(planter)
    planned = [
        Chore(gate, own[number % len(own)].name, number, seed)
        for gate, own in by_gate.items()
        for number in range(max(count, len(own)))
    ]
    clean = round(count * CLEAN_SHARE)
    return [*planned, *(Chore("", "", number, seed, clean) for number in range(clean))]


class Bench:
    """Does chores, on the tasks that people checked by hand and on drafts of every family."""

    def __init__(self, checked: Sequence[Subject] = ()):
        self.checked = tuple(checked)
        self._by_name = {(planter.gate, planter.name): planter for planter in planters()}
        self._sound: tuple[tuple[int, int], list[Subject]] = ((0, 0), [])

    def do(self, chore: Chore) -> Done:
        """Do one chore."""
        return self._plant(chore) if chore.gate else self._look(chore)

    def _plant(self, chore: Chore) -> Done:
        planter = self._by_name[chore.gate, chore.name]
        rng = random.Random(f"{chore.gate}.{chore.name}/{chore.number}/{chore.seed}")
        subjects = [*self.checked, *_pool(chore.seed)]
        for subject in rng.sample(subjects, min(TRIES, len(subjects))):
            if subject.findings:
                continue  # not sound: what it has already is counted among the sound tasks
            planted = planter.try_out(subject, rng)
            if planted is not None:
                spec = None if planted.detected and planted.repaired is not False else planted.spec
                return Done(
                    chore,
                    subject.name,
                    planted.detected,
                    planted.repaired,
                    planted.found,
                    planted.words,
                    spec,
                )
        return Done(chore)

    def _look(self, chore: Chore) -> Done:
        key = (chore.clean, chore.seed)
        if self._sound[0] != key:
            self._sound = (key, list(clean_tasks(chore.clean, chore.seed, self.checked)))
        subject = self._sound[1][chore.number]
        found = subject.findings
        return Done(
            chore,
            subject.name,
            found=tuple(dict.fromkeys(one.gate for one in found)),
            words="; ".join(f"{one.gate} {one.message}" for one in found[:3]),
            spec=subject.written if found else None,
        )


@functools.lru_cache(maxsize=2)
def _pool(seed: int) -> tuple[Subject, ...]:
    """The sound tasks of a seed, families in turn."""
    own = [list(drafted(name, seed + 1, SUBJECTS_A_FAMILY)) for name in FAMILIES]
    return tuple(subject for turn in zip(*own, strict=True) for subject in turn)
