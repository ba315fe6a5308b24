"""Prove a task: run every gate on the executable spec and write down what was found.

A proof is deterministic: the same spec gives the same card in every process (times apart, which
are only taken if a timer is passed in). Green only if no blocking gate found anything.
"""

import contextlib
import functools
import gc
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from tasks_app.core.results import FULL
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation import references, structure
from tasks_app.core.validation import tools as tool_gates
from tasks_app.core.validation.ablation import needed
from tasks_app.core.validation.capabilities import unproven_claims, witnesses
from tasks_app.core.validation.card import (
    GATES_VERSION,
    GROUPS,
    ConstraintProof,
    Finding,
    GateResult,
    MutantResult,
    ProofCard,
    Run,
    Witness,
)
from tasks_app.core.validation.citations import disclosed, entailed
from tasks_app.core.validation.collateral import costs, damaged_field, inside, stray_plays
from tasks_app.core.validation.consistency import consistent
from tasks_app.core.validation.contamination import Contamination, Overlap, uncontaminated
from tasks_app.core.validation.determinism import same_again
from tasks_app.core.validation.distractors import telling
from tasks_app.core.validation.diversity import fingerprint
from tasks_app.core.validation.exploits import Exploit, prove_exploits
from tasks_app.core.validation.flow import grounded
from tasks_app.core.validation.gate import Gate, finding
from tasks_app.core.validation.leaks import leaked
from tasks_app.core.validation.malformed import survives
from tasks_app.core.validation.mutants import Judged, prove_mutants, prove_states, survivors
from tasks_app.core.validation.nontrivial import cheap_plays, does_nothing, no_shortcut
from tasks_app.core.validation.pictures import NONE, decide, pictures
from tasks_app.core.validation.purity import pure
from tasks_app.core.validation.solvability import (
    other_orders,
    other_solutions,
    solves,
    within_budget,
)
from tasks_app.core.validation.states import overlooked
from tasks_app.core.validation.suggestions import with_suggestions
from tasks_app.core.validation.trace import Shown
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.variation import Varied, solves_again, stable
from tasks_app.core.validation.violations import biting, prove_constraints
from tasks_app.core.validation.work import enough
from tasks_app.core.world.world import seed_problem

NEAR_DUPLICATE: Final = 0.8
UPSTREAM: Final = "unproven upstream grader"

S1: Final = Gate("S1", "it has the form of a task", True, lambda _spec: ())
STATIC: Final[tuple[Gate, ...]] = (S1, *structure.GATES, *references.GATES, *tool_gates.GATES)

DYNAMIC: Final = {
    "O1": "the reference solves it",
    "O2": "the budget leaves room",
    "O3": "what is written can be known",
    "O4": "another order works too",
    "O5": "other right solutions pass",
    "N1": "doing nothing earns nothing",
    "N2": "no cheap policy comes near",
    "N3": "there is work to do",
    "N4": "nothing is given away",
    "N5": "every criterion decides",
    "N6": "all that is used is needed",
    "K1": "every constraint bites",
    "K2": "constraints go together",
    "K3": "what is graded is said",
    "M1": "wrong solutions lose",
    "M2": "altered results lose",
    "M3": "malformed rollouts are bounded",
    "X1": "collateral damage costs",
    "X2": "no field is unstable",
    "D1": "the same again, every time",
    "D2": "another seed is solved too",
    "V1": "it is no duplicate",
    "V2": "no benchmark has it",
    "V3": "what it claims is shown",
    "I1": "pictures decide",
    "G1": "grading sees the task alone",
}
"""Gate → title of those that need runs (or the library)."""


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


class _Notes:
    """Findings and gate results as they come in."""

    def __init__(self, timer: Timer):
        self.timer = timer
        self.findings: list[Finding] = []
        self.results: dict[str, GateResult] = {}

    def run(self, gate_id: str, title: str, found: Iterable[Finding], reason: str = "") -> bool:
        """Take a gate's findings; return whether it held."""
        begun = self.timer()
        here = list(found)
        took = (self.timer() - begun) * 1000
        self.findings.extend(here)
        blocked = any(f.severity == "block" for f in here)
        self.results[gate_id] = GateResult(
            id=gate_id,
            title=title,
            state="failed" if blocked else "warned" if here else "held",
            reason=reason,
            milliseconds=round(took, 3),
        )
        return not blocked

    def skip(self, gate_ids: Iterable[str], reason: str) -> None:
        """Note gates that did not run."""
        for gate_id in gate_ids:
            self.results[gate_id] = GateResult(
                id=gate_id, title=DYNAMIC[gate_id], state="not_run", reason=reason
            )

    def explain(self, gate_id: str, reason: str) -> None:
        """Say what a gate counted."""
        self.results[gate_id] = self.results[gate_id].model_copy(update={"reason": reason})

    def ordered(self) -> tuple[GateResult, ...]:
        """Gate results in the order of a card."""
        return tuple([self.results[gate_id] for gate_id in sorted(self.results, key=_place)])


@functools.cache
def _place(gate_id: str) -> tuple[int, int]:
    """Return where a gate stands on a card."""
    return list(GROUPS).index(gate_id[0]), int(gate_id[1:])


class _Others(NamedTuple):
    """What a task is compared with."""

    neighbours: Neighbours | None
    benchmarks: Contamination | None
    exploits: Sequence[Exploit]


class _Found(NamedTuple):
    """What the runs of a proof gave, for the card."""

    probes: tuple[Run, ...] = ()
    mutants: tuple[MutantResult, ...] = ()
    states: tuple[MutantResult, ...] = ()
    constraints: tuple[ConstraintProof, ...] = ()
    stray: float | None = None
    witnesses: tuple[Witness, ...] = ()


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
    with _collector_at_rest():
        others = _Others(neighbours, benchmarks, exploits)
        return _proven(spec, _Notes(timer or _no_time), others, second)


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


def _proven(spec: TaskSpec, notes: _Notes, others: _Others, second: Elsewhere | None) -> ProofCard:
    begun = notes.timer()
    for gate in STATIC:
        notes.run(gate.id, gate.title, gate.look(spec))
    problem = seed_problem(spec)
    if problem is not None:
        notes.skip(DYNAMIC, f"no world can be made of the records: {problem}")
        return _card(spec, notes, None, _Found(), begun)
    if spec.evaluation_only:
        return _imported(spec, notes, begun)
    trial = Trial(spec)
    found = _run_gates(trial, notes, others.exploits)
    nearest = _diversity(spec, notes, others)
    card = _card(spec, notes, trial, found, begun, nearest)
    return _elsewhere(card, spec, second) if second is not None else card


def _run_gates(trial: Trial, notes: _Notes, exploits: Sequence[Exploit]) -> _Found:
    spec = trial.spec
    if not spec.reference:
        notes.run("O1", DYNAMIC["O1"], [_no_reference()])
        notes.run("G1", DYNAMIC["G1"], pure(spec))
        rest = [g for g in DYNAMIC if g not in ("O1", "N1", "N2", "G1", "V1", "V2")]
        notes.skip(rest, "there is no reference solution")
        return _nontrivial(trial, notes)
    solved = notes.run("O1", DYNAMIC["O1"], with_suggestions(trial, solves(trial)))
    solved = solved and trial.reference.reward >= FULL
    notes.explain("O1", f"earns {trial.reference.reward:g}")
    notes.run("O2", DYNAMIC["O2"], within_budget(trial), f"{len(trial.acts)} acts")
    found = _nontrivial(trial, notes)
    notes.run("K2", DYNAMIC["K2"], consistent(trial))
    notes.run("G1", DYNAMIC["G1"], pure(spec))
    if not solved:
        rest = [g for g in DYNAMIC if g not in notes.results and g not in ("V1", "V2")]
        notes.skip(rest, "the reference does not solve the task yet")
        return found
    notes.run("O3", DYNAMIC["O3"], grounded(trial))
    notes.run("O4", DYNAMIC["O4"], with_suggestions(trial, other_orders(trial)))
    notes.run("O5", DYNAMIC["O5"], other_solutions(trial), f"{len(spec.alternatives)} written")
    proofs = prove_constraints(trial)
    bite = sum(p.bites for p in proofs)
    notes.run("K1", DYNAMIC["K1"], biting(trial, proofs), f"{bite} of {len(proofs)} bite")
    strays, damaged = stray_plays(trial), damaged_field(trial)
    inside_and_costly = [*inside(trial), *costs(trial, strays, damaged)]
    notes.run("X1", DYNAMIC["X1"], inside_and_costly, f"{len(strays)} strays tried")
    judged = [*prove_mutants(trial), *prove_exploits(trial, exploits)]
    notes.run("M1", DYNAMIC["M1"], with_suggestions(trial, survivors(trial, judged), judged))
    notes.explain("M1", _counted(judged))
    notes.run("N3", DYNAMIC["N3"], enough(trial))
    if pictures(spec):
        notes.run("I1", DYNAMIC["I1"], decide(trial))
    else:
        notes.skip(["I1"], NONE)
    notes.run("N4", DYNAMIC["N4"], leaked(trial))
    notes.run("N5", DYNAMIC["N5"], telling(trial))
    notes.run("N6", DYNAMIC["N6"], needed(trial, judged))
    notes.run("M3", DYNAMIC["M3"], survives(trial))
    varied = Varied(trial)
    notes.run("X2", DYNAMIC["X2"], stable(trial, varied))
    notes.run("D2", DYNAMIC["D2"], solves_again(trial, varied))
    notes.run("K3", DYNAMIC["K3"], itertools.chain(disclosed(spec), entailed(trial)))
    states = prove_states(trial)
    notes.run("M2", DYNAMIC["M2"], overlooked(trial, states), _counted_states(states))
    notes.run("D1", DYNAMIC["D1"], same_again(trial))
    claims = witnesses(Shown(trial, proofs, judged, strays, damaged))
    notes.run("V3", DYNAMIC["V3"], unproven_claims(claims), _counted_claims(claims))
    return found._replace(
        mutants=tuple(result for _, result in judged),
        states=tuple(states),
        constraints=tuple(proofs),
        stray=max((play.reward for _, play in strays), default=damaged),
        witnesses=claims,
    )


def _no_reference() -> Finding:
    return finding(
        "O1",
        "/reference",
        "there is no reference solution, so nothing shows that the task can be solved",
        hint="play the task and take your calls as the reference",
    )


def _nontrivial(trial: Trial, notes: _Notes) -> _Found:
    notes.run("N1", DYNAMIC["N1"], does_nothing(trial), f"earns {trial.null().reward:g}")
    plays = cheap_plays(trial)
    best = max(plays, key=lambda pair: pair[1].reward)
    notes.run("N2", DYNAMIC["N2"], no_shortcut(trial, plays), f"best {best[0]} {best[1].reward:g}")
    return _Found(probes=tuple(play.run(name) for name, play in plays))


def _counted(judged: Sequence[Judged]) -> str:
    verdicts: list[str] = [result.verdict for _, result in judged]
    kinds = ("killed", "equivalent", "survived")
    return ", ".join(f"{verdicts.count(kind)} {kind}" for kind in kinds)


def _counted_states(states: Sequence[MutantResult]) -> str:
    return f"{sum(state.verdict == 'killed' for state in states)} of {len(states)} lose"


def _counted_claims(claims: Sequence[Witness]) -> str:
    return f"{sum(bool(claim.held) for claim in claims)} of {len(claims)} shown"


def _diversity(spec: TaskSpec, notes: _Notes, others: _Others) -> Neighbour | None:
    nearest = None
    if others.neighbours is None:
        notes.skip(["V1"], "not compared with a library")
    else:
        nearest = others.neighbours(spec)
        notes.run("V1", DYNAMIC["V1"], _duplicate(nearest))
    if others.benchmarks is None:
        notes.skip(["V2"], "no benchmark to compare with")
    else:
        shared = others.benchmarks(spec)
        notes.run("V2", DYNAMIC["V2"], uncontaminated(shared), _counted_overlap(shared))
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


def _imported(spec: TaskSpec, notes: _Notes, begun: float) -> ProofCard:
    notes.skip(DYNAMIC, UPSTREAM)
    trial = Trial(spec)
    echo = next(play for name, play in cheap_plays(trial) if name == "echo")
    card = _card(spec, notes, trial, _Found(probes=(echo.run("echo"),)), begun)
    return card.model_copy(update={"reference": None, "proven": False, "unproven_reason": UPSTREAM})


def _card(
    spec: TaskSpec,
    notes: _Notes,
    trial: Trial | None,
    found: _Found,
    begun: float,
    nearest: Neighbour | None = None,
) -> ProofCard:
    solved = trial is not None and trial.reference.grade.passed
    return ProofCard(
        spec_hash=spec.hash,
        gates_version=GATES_VERSION,
        proven=solved and all(f.severity != "block" for f in notes.findings),
        reference=trial.reference.run("reference") if trial is not None else None,
        null=trial.null().run("null") if trial is not None else None,
        probes=found.probes,
        mutants=found.mutants,
        state_mutants=found.states,
        constraints=found.constraints,
        write_set=tuple(rule.address for rule in spec.write_set),
        stray_reward=found.stray,
        proof_hash=trial.trace_hash if trial is not None else "",
        witnesses=found.witnesses,
        nearest=nearest.code if nearest is not None else "",
        similarity=nearest.similarity if nearest is not None else None,
        fingerprint=fingerprint(spec),
        gates=notes.ordered(),
        findings=tuple(notes.findings),
        runs=trial.runs if trial is not None else 0,
        milliseconds=round((notes.timer() - begun) * 1000, 3),
    )


def _elsewhere(card: ProofCard, spec: TaskSpec, second: Elsewhere) -> ProofCard:
    return compared(card, second.proof_hashes([spec])[0])


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
