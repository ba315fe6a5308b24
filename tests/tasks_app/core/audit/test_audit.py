"""The audit of the gates: what is planted, how it is counted, and that a blind gate shows."""

import random
from collections import Counter
from typing import Any

import pytest

from tasks_app.core.audit import catalog
from tasks_app.core.audit.audit import Bench, Chore, Done, Report, chores
from tasks_app.core.audit.catalog import planters
from tasks_app.core.audit.clean import OPERATORS, clean_tasks, drafted, equivalent
from tasks_app.core.audit.planter import Planted, SpecPlanter, Written
from tasks_app.core.audit.pool import mapper
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import load_spec
from tests.factories.examples import EXAMPLES, SUPPORT, written

SOME = ("S2", "S4", "R2", "T2", "O2", "N1", "K1", "M1", "X1", "D1")


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench([Subject(name, written(name)) for name in EXAMPLES])


def harmless(data: Written, _rng: random.Random) -> bool:
    data["tags"] = [*data.get("tags", []), "planted"]
    return True


def test_there_are_many_planters_and_each_has_a_name_of_its_own() -> None:
    names = Counter((planter.gate, planter.name) for planter in planters())
    assert max(names.values()) == 1
    assert len(names) >= 100
    assert len([planter for planter in planters() if planter.upstream]) >= 20
    assert {f"D{number:02}" for number in range(1, 11)} <= {
        word.strip(":") for planter in planters() for word in planter.upstream.split()
    }


def test_every_kind_of_defect_is_planted() -> None:
    assert {planter.kind for planter in planters()} >= {"spec", "tool", "check", "library"}


@pytest.mark.parametrize("gate", SOME)
def test_a_gate_finds_what_is_planted_for_it(bench: Bench, gate: str) -> None:
    planned = [chore for chore in chores(1, 4, gates=[gate]) if chore.gate]
    found = [bench.do(chore) for chore in planned]
    assert [(done.chore.name, done.found) for done in found if not done.detected] == []
    assert all(done.subject for done in found)


def test_a_task_is_sound_and_so_is_what_means_the_same(bench: Bench) -> None:
    found = [bench.do(chore) for chore in chores(6, 2) if not chore.gate]
    assert len(found) == 15
    assert [(done.subject, done.found, done.words) for done in found if done.found] == []


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_equivalent_is_another_spec_that_loads(operator: str) -> None:
    subject = next(drafted("support_resolution", 5, 1))
    other = equivalent(subject, operator, random.Random(3))
    assert load_spec(other.written).hash != load_spec(subject.written).hash
    assert subject.written == next(drafted("support_resolution", 5, 1)).written


def test_clean_tasks_come_from_every_family_and_from_hands(bench: Bench) -> None:
    names = [subject.name for subject in clean_tasks(40, 1, bench.checked)]
    assert len(names) == 40
    assert {SUPPORT, f"{SUPPORT} renumbered"} <= set(names)
    assert len({name.partition("/")[0] for name in names if "/" in name}) >= 6


def test_a_defect_that_no_gate_sees_is_a_miss(bench: Bench) -> None:
    planter = SpecPlanter("S1", "harmless", "A tag more", harmless)
    done = planter.try_out(bench.checked[0], random.Random(1))
    assert done is not None
    assert (done.detected, done.found, done.repaired) == (False, (), None)


def test_the_report_counts_misses_alarms_and_repairs() -> None:
    report = Report()
    report.add(Done(Chore("M1", "a", 0, 1), "t1", detected=True, repaired=True, found=("M1",)))
    report.add(Done(Chore("M1", "a", 1, 1), "t2", detected=True, repaired=False, found=("M1",)))
    report.add(Done(Chore("M1", "b", 2, 1), "t3"))
    report.add(Done(Chore("S1", "c", 0, 1)))
    report.add(Done(Chore("", "", 0, 1, 2), "t4"))
    report.add(Done(Chore("", "", 1, 1, 2), "t5", found=("V3", "M1")))
    assert report.result() == {
        "gates": {
            "S1": {"detected": None, "repaired": None, "planted": 0, "false_alarms": 0},
            "M1": {"detected": 0.6667, "repaired": 0.5, "planted": 3, "false_alarms": 1},
            "V3": {"detected": None, "repaired": None, "planted": 0, "false_alarms": 1},
        },
        "repaired": 0.5,
        "false_alarms": 1,
        "clean": 2,
        "misses": {"M1.b": 1},
        "alarms": {"t5": 1},
        "unmended": {"M1.a": 1},
        "unplanted": ["S1.c"],
    }
    assert not report.sound


def test_the_same_seed_gives_the_same_results(bench: Bench) -> None:
    planned = [chore for chore in chores(1, 9, gates=["R2", "M1"]) if chore.gate]
    first = [bench.do(chore) for chore in planned]
    second = [Bench(bench.checked).do(chore) for chore in planned]
    assert first == second


def test_a_rigged_tool_is_gone_afterwards(bench: Bench) -> None:
    before = list(tools())
    for chore in chores(1, 1, gates=["T1", "T2", "T3", "X2"]):
        if chore.gate:
            bench.do(chore)
    assert list(tools()) == before


def test_other_packages_bring_their_planters(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    class Brought:
        gate, name, title, kind = "E1", "gap", "A call without an answer", "dataset"
        repairable, also, upstream = False, (), ""

        def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
            return Planted(detected=True, found=("E1",), repaired=None)

    brought: dict[Any, Any] = {}
    monkeypatch.setattr(catalog, "_brought", brought)
    catalog.register([Brought()])  # type: ignore[list-item]  # plain attributes for properties
    catalog.register([Brought()])  # type: ignore[list-item]
    assert [planter.name for planter in planters() if planter.gate == "E1"] == ["gap"]
    with mapper(1, bench.checked) as spread:
        done = [d for d in spread(chores(2, 1, gates=["E1"])) if d.chore.gate]
    assert [(d.detected, d.found) for d in done] == [(True, ("E1",)), (True, ("E1",))]
