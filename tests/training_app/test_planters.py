"""What an audit plants in datasets (gates E): each defect is found in rows that were sound."""

import random

import pytest

from tasks_app.core.audit.audit import Bench, Report, chores
from tasks_app.core.audit.catalog import planters
from tasks_app.core.audit.planter import Planter
from tasks_app.core.audit.subjects import Subject
from tests.factories.examples import PAYMENT, SUPPORT, written
from training_app.planters import PLANTERS

SUBJECTS = [Subject(name, written(name)) for name in (SUPPORT, PAYMENT)]


@pytest.mark.parametrize("planter", PLANTERS, ids=lambda one: f"{one.gate}.{one.name}")
def test_a_gate_of_datasets_finds_what_is_planted_for_it(planter: Planter) -> None:
    tried = [planter.try_out(subject, random.Random(7)) for subject in SUBJECTS]
    found = [one for one in tried if one is not None]

    assert found
    assert [(one.detected, one.found) for one in found] == [(True, (planter.gate,))] * len(found)


def test_the_audit_counts_the_gates_that_other_packages_hold() -> None:
    gates = ("P1", "P2", "E1", "E2")
    bench, report = Bench(SUBJECTS), Report()
    for chore in chores(1, 3, gates=gates):
        if chore.gate:
            report.add(bench.do(chore))

    counted = {gate: (count.detected, count.planted) for gate, count in report.gates.items()}
    assert set(counted) == set(gates)
    assert all(detected == planted > 0 for detected, planted in counted.values())
    assert {planter.gate for planter in planters()} >= set(gates)
