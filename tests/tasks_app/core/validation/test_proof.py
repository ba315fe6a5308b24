"""A whole proof: what holds of the two examples, and what a card says when something does not."""

import functools
import gc
import itertools

import pytest

from tasks_app.core.program import perform, read_acts
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.card import ProofCard
from tasks_app.core.validation.proof import Neighbour, prove
from tasks_app.core.validation.trial import Trial
from tasks_app.core.world.world import World
from tests.factories.examples import (
    EXAMPLES,
    PAYMENT,
    SUPPORT,
    broken,
    check,
    example,
    order,
    written,
)

ISSUE_GATES = [
    *("S1", "S2", "S3", "S4", "R1", "R2", "R3", "R4", "T1", "T2", "T3"),
    *("O1", "O2", "O3", "O4", "O5", "N1", "N2", "N3", "N4", "N5", "N6"),
    *("K1", "K2", "K3", "M1", "M2", "M3", "X1", "X2", "D1", "D2"),
    *("V1", "V2", "V3", "I1", "G1"),
]
PROBES = ["crawl", "spam", "echo", "paste", "first_record", "errors_only", "refuse", "regex"]


@functools.cache
def proof(name: str) -> ProofCard:
    """Return an example's card."""
    return prove(example(name))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_proven_with_every_gate_held(name: str) -> None:
    card = proof(name)

    assert (card.proven, card.findings) == (True, ())
    assert card.spec_hash == example(name).hash
    assert [gate.id for gate in card.gates] == ISSUE_GATES
    assert {g.id: g.state for g in card.gates if g.state != "held"} == {
        "V1": "not_run",
        "V2": "not_run",
        "I1": "not_run",
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_reference_earns_all_and_cheap_policies_nothing(name: str) -> None:
    card = proof(name)

    assert card.reference is not None
    assert (card.reference.reward, card.reference.passed) == (1.0, True)
    assert card.null is not None
    assert (card.null.reward, card.null.passed) == (0.0, False)
    assert {run.name: run.reward for run in card.probes} == dict.fromkeys(PROBES, 0.0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_mutant_survives(name: str) -> None:
    card = proof(name)

    assert [m.title for m in card.mutants if m.verdict == "survived"] == []
    assert [m.title for m in card.state_mutants if m.verdict == "survived"] == []
    assert card.count("killed") > 50
    assert len({mutant.id for mutant in card.mutants}) == len(card.mutants)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_violating_policy_is_replayable_and_loses(name: str) -> None:
    spec = example(name)
    card = proof(name)

    assert [rule.id for rule in card.constraints] == [rule.id for rule in spec.constraints]
    trial = Trial(spec)
    for found in card.constraints:
        world = World(spec)
        perform(world, read_acts([dict(step) for step in found.steps]))
        grade = trial.judged("again", world.evidence())
        assert (found.bites, found.id in grade.violations, grade.passed) == (True, True, False)
        assert grade.total == found.reward
        assert grade.total < 1


def test_without_retries_the_faulty_task_is_not_solved() -> None:
    trial = Trial(example(PAYMENT))

    assert trial.run_program("no retry", trial.spec.reference, repetitions=0).reward < 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_two_proofs_of_a_spec_are_equal(name: str) -> None:
    assert proof(name) == prove(load_spec(written(name)))


def test_another_spec_has_another_proof_hash() -> None:
    other = broken(SUPPORT, lambda data: data.update(seed=5))

    assert prove(other).proof_hash != proof(SUPPORT).proof_hash


def test_time_is_taken_only_with_a_timer() -> None:
    ticks = itertools.count()
    card = prove(example(SUPPORT), timer=lambda: float(next(ticks)))

    assert card.milliseconds > 0
    assert proof(SUPPORT).milliseconds == 0


def test_a_changed_price_fails_in_words_and_suggests_what_works() -> None:
    spec = broken(SUPPORT, lambda data: order(data, "OR-88431")["lines"][1].update(unit_price=80.0))

    card = prove(spec)

    assert not card.proven
    first = card.findings[0]
    assert (first.gate, first.path) == ("O1", "/checks/1")
    assert first.message == (
        "the reference solution earns 0.5 instead of 1: check o_amount (It comes to 76.60) does "
        "not hold: amount is 82; expected 76.6 (in finance/refunds/RF-5167)"
    )
    assert first.suggestion is not None
    assert first.suggestion.rule == "recompute_expected"
    states = {gate.id: gate.state for gate in card.gates}
    assert (states["O1"], states["N1"], states["M1"]) == ("failed", "held", "not_run")


def test_records_that_make_no_world_leave_runs_out() -> None:
    def twice(data: dict[str, object]) -> None:
        services = data["services"]
        assert isinstance(services, dict)
        services["crm"]["customers"].append(services["crm"]["customers"][0])

    card = prove(broken(SUPPORT, twice))

    assert (card.proven, card.reference, card.runs) == (False, None, 0)
    assert {g.state for g in card.gates if g.id[0] in "ONKMX"} == {"not_run"}


def test_a_task_without_reference_is_not_proven() -> None:
    card = prove(broken(SUPPORT, lambda data: data.update(reference=[])))

    assert not card.proven
    assert [f.path for f in card.findings if f.gate == "O1"] == ["/reference"]
    assert {g.state for g in card.gates if g.id in ("K1", "M1", "X1")} == {"not_run"}


def test_an_imported_task_shows_null_and_echo_and_why_it_is_unproven() -> None:
    card = prove(
        broken(SUPPORT, lambda data: data.update(evaluation_only=True, reference=[], write_set=[]))
    )

    assert (card.proven, card.unproven_reason) == (False, "unproven upstream grader")
    assert card.reference is None
    assert [(run.name, run.reward) for run in card.probes] == [("echo", 0.0)]
    assert card.null is not None


def test_a_near_duplicate_is_named() -> None:
    card = prove(example(SUPPORT), neighbours=lambda _spec: Neighbour("T-7K2M", 0.91))

    assert (card.proven, card.nearest, card.similarity) == (False, "T-7K2M", 0.91)
    assert [f.message for f in card.findings] == ["the request is 91% like that of T-7K2M"]


def test_a_far_neighbour_does_no_harm() -> None:
    card = prove(example(SUPPORT), neighbours=lambda _spec: Neighbour("T-7K2M", 0.4))

    assert (card.proven, card.nearest) == (True, "T-7K2M")


def test_capabilities_show_their_witnesses() -> None:
    witnesses = {w.id: w.held for w in proof(PAYMENT).witnesses}

    assert {
        k: witnesses[k] for k in ("C2", "C4", "C6", "C10", "C12", "C14", "C20")
    } == dict.fromkeys(("C2", "C4", "C6", "C10", "C12", "C14", "C20"), True)


def test_a_check_that_pays_without_an_outcome_fails_the_proof() -> None:
    spec = broken(SUPPORT, lambda data: check(data, "c_only").update(requires=[]))

    card = prove(spec)

    assert not card.proven
    assert {finding.gate for finding in card.findings} == {"S4", "N1"}


def test_the_collector_of_cycles_is_left_as_it_was_found() -> None:
    assert gc.isenabled()
    prove(example(SUPPORT))
    assert gc.isenabled()

    gc.disable()
    try:
        prove(example(SUPPORT))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_proof_leaves_nothing_for_the_collector() -> None:
    prove(example(PAYMENT))
    gc.collect()
    gc.disable()
    try:
        prove(load_spec(written(PAYMENT)))
        left = gc.collect()
    finally:
        gc.enable()

    assert left < 200  # a whole proof would be some thousands of objects
