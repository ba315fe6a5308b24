"""What an audit plants for the gates P: each defect is found, and the sound episode is no place
for an alarm.
"""

import random

import pytest

from rollouts_app.planters import PLANTERS
from tasks_app.core.audit.catalog import planters
from tasks_app.core.audit.planter import Planted, Planter
from tasks_app.core.audit.subjects import Subject
from tests.factories.examples import MONTH_END, PAYMENT, SUPPORT, written

SUBJECTS = [Subject(name, written(name)) for name in (SUPPORT, PAYMENT, MONTH_END)]


def planted(planter: Planter) -> list[Planted]:
    tried = [planter.try_out(subject, random.Random(7)) for subject in SUBJECTS]
    return [one for one in tried if one is not None]


@pytest.mark.parametrize("planter", PLANTERS, ids=lambda one: f"{one.gate}.{one.name}")
def test_a_gate_of_episodes_finds_what_is_planted_for_it(planter: Planter) -> None:
    found = planted(planter)

    assert found
    assert [(one.detected, one.found) for one in found] == [(True, (planter.gate,))] * len(found)


def test_the_audit_knows_both_gates() -> None:
    assert {"P1", "P2"} <= {planter.gate for planter in planters()}
    assert set(PLANTERS) <= set(planters())
