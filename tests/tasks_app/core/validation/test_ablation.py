"""N6: a tool that the reference does not need is named, and becomes a distractor."""

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.ablation import passes_without
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trial import Trial
from tests.factories.examples import EXAMPLES, SUPPORT, Written, broken, example


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_that_an_example_uses_is_needed(name: str) -> None:
    card = prove(example(name))

    assert [g.state for g in card.gates if g.id == "N6"] == ["held"]


def test_a_read_that_changes_nothing_warns_and_is_left_out() -> None:
    def idle(data: Written) -> None:
        step = {"id": "idle", "tool": "crm_search_customers", "arguments": {"query": "Rosalind"}}
        data["reference"].insert(2, step)

    spec = broken(SUPPORT, idle)
    card = prove(spec)

    found = [f for f in card.findings if f.gate == "N6"]
    assert card.proven  # it warns
    assert [(f.path, f.severity, f.message) for f in found] == [
        (
            "/reference/2",
            "warn",
            "the reference calls crm_search_customers, and solves the task without it as well",
        )
    ]
    assert found[0].suggestion is not None
    mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
    assert "crm_search_customers" in mended.tools
    assert (prove(mended).proven, [f.gate for f in prove(mended).findings]) == (True, [])


def test_a_task_without_its_record_is_not_solved() -> None:
    trial = Trial(example(SUPPORT))

    assert not passes_without(trial, "orders/orders", "OR-88431")
    assert passes_without(trial, "helpdesk/tickets", "TK-1988")  # a bystander
