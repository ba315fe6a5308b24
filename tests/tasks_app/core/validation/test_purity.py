"""G1: code that judges and names what lies outside a task is found, however far down."""

import functools
import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import get_args

import pytest

from tasks_app.core.checks.catalog import AnyCheck
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.constraints.catalog import AnyConstraint
from tasks_app.core.evidence import Evidence
from tasks_app.core.results import Judgement
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.purity import reaches
from tests.factories.examples import SUPPORT, example

KINDS = [*get_args(get_args(AnyCheck)[0]), *get_args(get_args(AnyConstraint)[0])]


def _deep_down() -> float:
    return time.time()


@functools.lru_cache
def _remembered() -> float:
    return _deep_down()


class _Holder:
    def __init__(self) -> None:
        self.opened = Path("grade.txt")

    def read(self) -> str:
        return self.opened.read_text()


def by_file(_check: RecordMatch, _evidence: Evidence) -> Judgement:
    with open("grade.txt") as file:  # noqa: PTH123 (the plainest way to a file)
        return Judgement(float(file.read()))


def by_clock(_check: RecordMatch, _evidence: Evidence) -> Judgement:
    return Judgement(_remembered())


def by_day(_check: RecordMatch, _evidence: Evidence) -> Judgement:
    return Judgement(float(datetime.now().day))  # noqa: DTZ005 (a careless clock)


def by_environment(_check: RecordMatch, _evidence: Evidence) -> Judgement:
    return Judgement(float(os.environ["GRADE"]))


def by_late_import(_check: RecordMatch, _evidence: Evidence) -> Judgement:
    import socket

    return Judgement(float(len(socket.gethostname())))


def by_object(_check: RecordMatch, _evidence: Evidence) -> Judgement:
    return Judgement(float(_Holder().read()))


def by_records(check: RecordMatch, evidence: Evidence) -> Judgement:
    return Judgement(float(len(evidence.select(check.place, check.where))))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_check_and_constraint_judges_by_evidence_alone(kind: type) -> None:
    judge = getattr(kind, "judge", None) or kind.verdict  # type: ignore[attr-defined]  # a constraint has a verdict

    assert reaches(judge, kind) == ()


@pytest.mark.parametrize(
    ("judge", "reached"),
    [
        (by_file, ["open()"]),
        (by_clock, ["time"]),
        (by_day, ["the clock (now)"]),
        (by_environment, ["os"]),
        (by_late_import, ["socket"]),
        (by_object, ["pathlib.Path"]),
        (by_records, []),
    ],
)
def test_what_a_judge_reaches_is_named(judge: Callable[..., Judgement], reached: list[str]) -> None:
    found = [named.partition(" in ")[0] for named in reaches(judge)]

    assert found[:1] == reached[:1]


class AsksItself(RecordMatch):
    """A check whose method leads to another that reads the clock."""

    def judge(self, evidence: Evidence) -> Judgement:
        """Ask another method."""
        return Judgement(self.hour)

    @functools.cached_property
    def hour(self) -> float:
        """Now."""
        return time.monotonic()


def test_what_a_judge_asks_of_itself_is_followed() -> None:
    assert reaches(AsksItself.judge) == ()
    assert [n.partition(" in ")[0] for n in reaches(AsksItself.judge, AsksItself)] == [
        "time",
        "time.monotonic",
    ]


def test_a_task_with_a_check_that_reads_a_file_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = RecordMatch.judge

    def rigged(check: RecordMatch, evidence: Evidence) -> Judgement:
        if Path("paid.txt").exists():
            return Judgement(1.0)
        return right(check, evidence)

    monkeypatch.setattr(RecordMatch, "judge", rigged)
    card = prove(example(SUPPORT))

    found = [f for f in card.findings if f.gate == "G1"]
    assert not card.proven
    assert [f.path for f in found] == ["/checks/0", "/checks/1", "/checks/2", "/checks/3"]
    assert found[0].message.startswith(
        "o_refund is judged by code that reaches outside the task: pathlib"
    )


def test_a_card_shows_the_gate() -> None:
    assert {g.id: g.state for g in prove(example(SUPPORT)).gates}["G1"] == "held"
