"""Prove a task: run every gate on the executable spec and write down what was found.

A proof is deterministic: the same spec gives the same card in every process (times apart, which
are only taken if a timer is passed in). Green only if no blocking gate found anything.

After an edit, what was found before may stand: a gate that held and reads nothing that the edit
changed finds the same again, and is not looked at (see reads.py). The card is the very same.
"""

import contextlib
import gc
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation import references, structure
from tasks_app.core.validation import tools as tool_gates
from tasks_app.core.validation.attempts import Attempts
from tasks_app.core.validation.card import (
    GATES_VERSION,
    Finding,
    GateResult,
    ProofCard,
)
from tasks_app.core.validation.contamination import Contamination, Overlap, uncontaminated
from tasks_app.core.validation.diversity import fingerprint
from tasks_app.core.validation.exploits import Exploit
from tasks_app.core.validation.gate import Gate, finding
from tasks_app.core.validation.notes import TITLES, Earlier, Kept, Notes
from tasks_app.core.validation.run_gates import RUN_GATES, Needs
from tasks_app.core.validation.trial import OWN, Trial
from tasks_app.core.world.world import seed_problem

NEAR_DUPLICATE: Final = 0.8
UPSTREAM: Final = "unproven upstream grader"

S1: Final = Gate("S1", "it has the form of a task", True, lambda _spec: ())
STATIC: Final[tuple[Gate, ...]] = (S1, *structure.GATES, *references.GATES, *tool_gates.GATES)


class Neighbour(NamedTuple):
    """The nearest other task of a library."""

    code: str
    similarity: float


Neighbours = Callable[[TaskSpec], Neighbour | None]
"""Looks a spec up in a library: the nearest other task by its request, None if there is none."""


class Elsewhere(Protocol):
    """Another process that proves specs: see second_process.py."""

    def proof_hashes(self, specs: Sequence[TaskSpec]) -> list[str]:
        """Return the proof hash of each spec as that process finds it."""
        ...


Timer = Callable[[], float]
"""Seconds of a clock; only differences are used."""


def _no_time() -> float:
    return 0.0


class _Others(NamedTuple):
    """What a task is compared with."""

    neighbours: Neighbours | None
    benchmarks: Contamination | None
    exploits: Sequence[Exploit]


class Proven(NamedTuple):
    """A proof, and how much of an earlier one stands in it."""

    card: ProofCard
    kept: int
    """Gates that were not looked at again."""


def prove(
    spec: TaskSpec,
    *,
    neighbours: Neighbours | None = None,
    benchmarks: Contamination | None = None,
    exploits: Sequence[Exploit] = (),
    second: Elsewhere | None = None,
    timer: Timer | None = None,
) -> ProofCard:
    """Prove a task.

    Args:
        spec: The task.
        neighbours: Looks for near duplicates (gate V1); None: not compared.
        benchmarks: Looks for the request in benchmarks (gate V2); None: not compared.
        exploits: Traces that a person called wrong; each is a mutant of gate M1.
        second: Another process that proves the spec as well (gate D1).
        timer: A clock for the milliseconds on the card; None: zero, so that cards are equal bytes.
    """
    return prove_edited(
        spec,
        None,
        neighbours=neighbours,
        benchmarks=benchmarks,
        exploits=exploits,
        second=second,
        timer=timer,
    ).card


def prove_edited(
    spec: TaskSpec,
    earlier: Earlier | None,
    *,
    neighbours: Neighbours | None = None,
    benchmarks: Contamination | None = None,
    exploits: Sequence[Exploit] = (),
    second: Elsewhere | None = None,
    timer: Timer | None = None,
) -> Proven:
    """Prove a task that was edited since it was proven: gates that the edit cannot affect are taken
    as they were. The card is that of `prove`, which takes the other arguments.

    Args:
        spec: The task as it is now.
        earlier: The task as it was, and its proof; none, or one of another version of the gates,
            counts for nothing.
    """
    others = _Others(neighbours, benchmarks, exploits)
    with _collector_at_rest():
        kept = Kept(spec, earlier, exploits)
        card = _looked_at(spec, Notes(timer or _no_time, kept), others)
        if second is not None and card.proof_hash and not spec.evaluation_only:
            card = compared(card, second.proof_hashes([spec])[0])
    return Proven(card, len(kept))


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Let the collector of cycles rest: a proof makes thousands of objects that live for
    milliseconds and hardly a cycle, and at each thousand the collector would walk them, now and
    then all that the process holds. Whoever found it running starts it again, so proofs in several
    threads leave it running.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _looked_at(spec: TaskSpec, notes: Notes, others: _Others) -> ProofCard:
    begun = notes.timer()
    for gate in STATIC:
        notes.look(gate, spec)
    problem = seed_problem(spec)
    if problem is not None:
        notes.skip(TITLES, f"no world can be made of the records: {problem}")
        return _card(spec, notes, None, begun)
    tried = Attempts(Trial(spec), others.exploits)
    if spec.evaluation_only:
        return _imported(spec, notes, tried, begun)
    there: set[Needs] = {"world"}
    missing = "there is no reference solution"
    if spec.reference:
        there.add("reference")
        missing = "the reference does not solve the task yet"
    for run_gate in RUN_GATES:
        if run_gate.needs not in there:
            notes.skip([run_gate.id], missing)
            continue
        notes.run(run_gate, tried)
        if run_gate.id == "O1" and notes.solved(tried.trial):
            there.add("solution")
    nearest = _diversity(spec, notes, others)
    return _card(spec, notes, tried, begun, nearest)


def _diversity(spec: TaskSpec, notes: Notes, others: _Others) -> Neighbour | None:
    nearest = None
    if others.neighbours is None:
        notes.skip(["V1"], "not compared with a library")
    else:
        begun = notes.timer()
        nearest = others.neighbours(spec)
        notes.take("V1", TITLES["V1"], list(_duplicate(nearest)), begun)
    if others.benchmarks is None:
        notes.skip(["V2"], "no benchmark to compare with")
    else:
        begun = notes.timer()
        shared = others.benchmarks(spec)
        found = list(uncontaminated(shared))
        notes.take("V2", TITLES["V2"], found, begun, reason=_counted_overlap(shared))
    return nearest


def _counted_overlap(shared: Overlap | None) -> str:
    if shared is None:
        return "shares no three words with any"
    return f"{shared.share:.0%} of its short runs stand in “{shared.item}” of {shared.benchmark}"


def _duplicate(nearest: Neighbour | None) -> Iterator[Finding]:
    if nearest is not None and nearest.similarity >= NEAR_DUPLICATE:
        yield finding(
            "V1",
            "/request/text",
            f"the request is {nearest.similarity:.0%} like that of {nearest.code}",
            hint="word it anew, or drop the younger",
        )


def _imported(spec: TaskSpec, notes: Notes, tried: Attempts, begun: float) -> ProofCard:
    notes.skip(TITLES, UPSTREAM)
    echo = next(play for name, play in tried.cheap if name == "echo")
    return _card(spec, notes, tried, begun).model_copy(
        update={
            "reference": None,
            "proven": False,
            "unproven_reason": UPSTREAM,
            "probes": (echo.run("echo"),),
        }
    )


def _card(
    spec: TaskSpec,
    notes: Notes,
    tried: Attempts | None,
    begun: float,
    nearest: Neighbour | None = None,
) -> ProofCard:
    trial = tried.trial if tried is not None else None
    gates = notes.ordered()
    found = notes.of_card(tried) if tried is not None else {}
    return ProofCard(
        spec_hash=spec.hash,
        gates_version=GATES_VERSION,
        proven=trial is not None
        and trial.reference.grade.passed
        and all(f.severity != "block" for f in notes.findings),
        reference=trial.reference.run("reference") if trial is not None else None,
        null=trial.null().run("null") if trial is not None else None,
        write_set=tuple(rule.address for rule in spec.write_set),
        proof_hash=_proof_hash(spec, trial, gates) if trial is not None else "",
        nearest=nearest.code if nearest is not None else "",
        similarity=nearest.similarity if nearest is not None else None,
        fingerprint=fingerprint(spec),
        gates=gates,
        findings=tuple(notes.findings),
        runs=trial.runs_of(OWN) + sum(gate.runs for gate in gates) if trial is not None else 0,
        milliseconds=round((notes.timer() - begun) * 1000, 3),
        **found,
    )


def _proof_hash(spec: TaskSpec, trial: Trial, gates: Sequence[GateResult]) -> str:
    """Return the hash over all traces and rewards: the task's, the reference's, every gate's."""
    hasher = hashlib.sha256(f"{spec.hash} {trial.digest_of(OWN)}".encode())
    for gate in gates:
        hasher.update(f" {gate.id}:{gate.digest}".encode())
    return hasher.hexdigest()


def compared(card: ProofCard, other_hash: str) -> ProofCard:
    """Return a card with what another process found: equal, or a finding of gate D1."""
    if other_hash == card.proof_hash:
        return card.model_copy(update={"other_process": "equal"})
    problem = finding(
        "D1",
        "",
        "a second process with another hash seed and time zone found another trace",
        hint="a tool or check depends on the order of a set, the time zone or the hash seed",
    )
    gates = tuple(
        gate.model_copy(update={"state": "failed"}) if gate.id == "D1" else gate
        for gate in card.gates
    )
    return card.model_copy(
        update={
            "other_process": "differs",
            "proven": False,
            "gates": gates,
            "findings": (*card.findings, problem),
        }
    )
