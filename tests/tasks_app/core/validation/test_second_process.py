"""The second process finds the same proof under another hash seed, time zone and locale."""

import pytest

from tasks_app.core.validation.proof import compared, prove
from tasks_app.core.validation.second_process import SecondProcess
from tests.factories.examples import EXAMPLES, SUPPORT, broken, example

SPECS = [example(name) for name in EXAMPLES]


@pytest.mark.slow
def test_both_processes_find_the_same_hashes() -> None:
    with SecondProcess() as second:
        assert second.proof_hashes(SPECS) == [prove(spec).proof_hash for spec in SPECS]
        assert prove(SPECS[0], second=second).other_process == "equal"


@pytest.mark.slow
def test_it_starts_again_after_it_was_closed() -> None:
    second = SecondProcess(hash_seed="7", zone="America/St_Johns")
    first = second.proof_hashes(SPECS[:1])
    second.close()
    again = second.proof_hashes(SPECS[:1])
    second.close()

    assert first == again


def test_nothing_to_prove_starts_no_process() -> None:
    second = SecondProcess()

    assert second.proof_hashes([]) == []
    second.close()


def test_another_trace_fails_the_proof() -> None:
    card = compared(prove(example(SUPPORT)), "0" * 64)

    assert (card.proven, card.other_process) == (False, "differs")
    assert [finding.gate for finding in card.findings] == ["D1"]
    assert card.group_state("D") == "failed"


def test_a_spec_with_a_fault_in_its_records_is_proven_nowhere() -> None:
    spec = broken(SUPPORT, lambda d: d["services"]["crm"]["customers"].append({"name": "no id"}))

    assert prove(spec).proof_hash == ""
