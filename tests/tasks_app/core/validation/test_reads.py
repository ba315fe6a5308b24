"""What an edit leaves standing of a proof is what a whole proof would find again."""

import copy
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.attempts import Attempts
from tasks_app.core.validation.card import GATES_VERSION, ProofCard
from tasks_app.core.validation.exploits import Exploit
from tasks_app.core.validation.notes import Earlier
from tasks_app.core.validation.proof import STATIC, prove, prove_edited
from tasks_app.core.validation.reads import READS, changed_parts
from tasks_app.core.validation.run_gates import RUN_GATES
from tasks_app.core.validation.trial import Trial
from tasks_app.core.world.world import Seed, seed_problem
from tests.factories.edits import EDITS
from tests.factories.examples import EXAMPLES, SUPPORT, example

COMPARED = 200


def drafts() -> Iterator[TaskSpec]:
    """One task of each family, of another difficulty each."""
    for number, family in enumerate(FAMILIES.values()):
        level = family.levels[number % len(family.levels)]
        yield from (draft(family, plan) for plan in plans(family, 1, 11, level))


def edited(spec: TaskSpec, kind: str, chance: random.Random) -> TaskSpec | None:
    """Return a spec after an edit; None where it can no longer be read."""
    data = copy.deepcopy(spec.written())
    EDITS[kind](data, chance)
    try:
        return load_spec(data)
    except SpecError:
        return None


def stored(card: ProofCard) -> ProofCard:
    """Return a card as it comes back from where it was kept."""
    return ProofCard.model_validate(orjson.loads(card.model_dump_json()))


def test_every_gate_of_a_task_says_what_it_reads() -> None:
    known = {gate.id for gate in STATIC} | {gate.id for gate in RUN_GATES}
    assert set(READS) == known
    assert {part for parts in READS.values() for part in parts} <= set(TaskSpec.model_fields)


def test_a_proof_after_any_of_200_random_edits_is_the_whole_proof() -> None:
    chance = random.Random("edits")
    begun = [(spec, prove(spec)) for spec in [*drafts(), *map(example, EXAMPLES)]]
    kinds: Counter[str] = Counter()
    kept = 0
    while kinds.total() < COMPARED:
        spec, card = chance.choice(begun)
        kind = list(EDITS)[kinds.total() % len(EDITS)]
        after = edited(spec, kind, chance)
        if after is None:
            continue
        found, whole = prove_edited(after, Earlier(spec, stored(card))), prove(after)
        assert stored(found.card) == stored(whole), (kind, spec.slug)
        kept += found.kept
        kinds[kind] += 1
        # The next edit of this one begins with what this edit left, sound or broken.
        begun[chance.randrange(len(begun))] = (after, whole)
    assert set(kinds) == set(EDITS)
    assert kept > 10 * COMPARED


def _read(monkeypatch: pytest.MonkeyPatch, data: dict[str, Any]) -> dict[str, set[str]]:
    """Return the fields of a spec that each gate reads, every gate on a spec of its own."""
    fields, read = frozenset(TaskSpec.model_fields), set[str]()

    def noted(self: TaskSpec, name: str) -> Any:
        if name in fields:
            read.add(name)
        return super(TaskSpec, self).__getattribute__(name)

    found: dict[str, set[str]] = {}
    for gate in STATIC:
        spec = load_spec(data)
        with monkeypatch.context() as watched:
            watched.setattr(TaskSpec, "__getattribute__", noted, raising=False)
            list(gate.look(spec))
        found[gate.id] = set(read)
        read.clear()
    for run_gate in RUN_GATES:
        spec = load_spec(data)
        if seed_problem(spec) is not None:
            continue
        solved = Trial(spec).reference.grade.passed
        if run_gate.needs == "solution" and not solved:
            continue
        if run_gate.needs == "reference" and not spec.reference:
            continue
        spec = load_spec(data)
        with monkeypatch.context() as watched:
            watched.setattr(TaskSpec, "__getattribute__", noted, raising=False)
            watched.setattr(Seed, "of", Seed)  # what a seed reads is read for each gate
            tried = Attempts(Trial(spec))
            list(run_gate.look(tried))
            run_gate.reason(tried)
            run_gate.beside_the_point(tried)
        found[run_gate.id] = set(read)
        read.clear()
    return found


def test_no_gate_reads_a_part_that_it_does_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random("reads")
    specs = [*drafts(), *map(example, EXAMPLES)]
    specs += [
        after
        for kind in EDITS
        if (after := edited(chance.choice(specs), kind, chance)) is not None
        and not after.evaluation_only
    ]
    read: dict[str, set[str]] = {gate_id: set() for gate_id in READS}
    for spec in specs:
        for gate_id, parts in _read(monkeypatch, spec.written()).items():
            read[gate_id] |= parts
    beyond = {gate_id: parts - READS[gate_id] for gate_id, parts in read.items()}
    assert {gate_id: parts for gate_id, parts in beyond.items() if parts} == {}


def _kept(earlier: Earlier, after: TaskSpec, **others: Any) -> int:
    return prove_edited(after, earlier, **others).kept


def test_a_proof_of_other_gates_of_another_task_or_of_another_version_stands_for_nothing() -> None:
    spec = example(SUPPORT)
    card, chance = prove(spec), random.Random(0)
    after = edited(spec, "title", chance)
    assert after is not None
    every = len(READS) - 1  # no picture: I1 did not run
    assert changed_parts(spec, after) == {"title"}
    assert _kept(Earlier(spec, card), after) == every
    older = card.model_copy(update={"gates_version": f"{GATES_VERSION}-before"})
    assert _kept(Earlier(spec, older), after) == 0
    assert _kept(Earlier(after, card), after) == 0


def test_an_edit_of_the_request_looks_at_what_reads_the_request_alone() -> None:
    spec = example(SUPPORT)
    after = edited(spec, "request", random.Random(1))
    assert after is not None
    assert changed_parts(spec, after) == {"request"}
    told = sum("request" in parts for parts in READS.values()) - 1
    assert _kept(Earlier(spec, prove(spec)), after) == len(READS) - 1 - told


def test_mutants_are_run_again_where_people_called_traces_wrong() -> None:
    spec = example(SUPPORT)
    after = edited(spec, "title", random.Random(0))
    assert after is not None
    exploit = Exploit("E-0001", "silence", ())
    plain: ProofCard = prove(spec)
    told = prove(spec, exploits=[exploit])
    every = len(READS) - 1
    assert _kept(Earlier(spec, plain), after, exploits=[exploit]) == every - 1
    assert _kept(Earlier(spec, told), after) == every - 1
    found = prove_edited(after, Earlier(spec, told), exploits=[exploit]).card
    assert found == prove(after, exploits=[exploit])
