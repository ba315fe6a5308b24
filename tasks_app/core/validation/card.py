"""The proof card: what a proof says about one task version, as frozen data (page, API, export).

Green only if every blocking gate holds for exactly this content hash; any edit voids it.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from tasks_app.core.frozen import Frozen

GATES_VERSION: Final = "7"
"""Changes whenever a gate's verdict may change; older proofs are then stale."""

GROUPS: Final[Mapping[str, str]] = {
    "S": "structure",
    "R": "references",
    "T": "tools",
    "O": "solvability",
    "N": "nontrivial",
    "K": "constraints",
    "M": "mutants",
    "X": "collateral",
    "D": "determinism",
    "V": "diversity",
    "I": "evidence",
    "G": "grading",
}
"""Gate letter → what its group proves, in the order of a card."""


class Suggestion(Frozen):
    """A repair that would mend a finding: offered to a person, applied by the repair loop."""

    rule: str
    """Short name of the repair rule, such as `recompute_expected`."""
    title: str
    """What it does, as a button says it."""
    patch: tuple[Mapping[str, Any], ...]
    """RFC 6902 JSON Patch on the written spec."""


class Finding(Frozen):
    """One fault named by a gate: where it is and how to mend it."""

    gate: str
    severity: Literal["block", "warn"]
    path: str
    """JSON pointer into the written spec; empty for the whole."""
    message: str
    hint: str = ""
    suggestion: Suggestion | None = None


class GateResult(Frozen):
    """One gate on this task."""

    id: str
    title: str
    state: Literal["held", "warned", "failed", "not_run"]
    reason: str = ""
    """Why it did not run, or what it counted."""
    runs: int = 0
    """How many runs it took."""
    digest: str = ""
    """Hash over those runs: what they did and what they earned."""
    milliseconds: float = 0.0


class Run(Frozen):
    """A policy's run on this task."""

    name: str
    reward: float
    passed: bool
    calls: int = 0
    errors: int = 0
    violations: tuple[str, ...] = ()


class MutantResult(Frozen):
    """A wrong variant of the reference, or of its final records, and whether grading caught it."""

    id: str
    operator: str
    title: str
    """What is wrong with it, as a person reads it."""
    reward: float
    verdict: Literal["killed", "equivalent", "survived"]
    difference: tuple[str, ...] = ()
    """For a survivor: what differs from the reference's end state: the missing check."""


class ConstraintProof(Frozen):
    """How a constraint bites: a policy that breaks it, and what that costs."""

    id: str
    kind: str
    sentence: str
    gate: bool
    bites: bool
    violating: str = ""
    """The violating policy, as a person reads it."""
    steps: tuple[Mapping[str, Any], ...] = ()
    """Its plain calls: {"tool", "arguments"} or {"reply"}; replayable by `grade`."""
    reward: float | None = None


class Witness(Frozen):
    """A claimed capability and whether the reference trace proves it."""

    id: str
    name: str
    held: bool | None
    """None: no witness rule could decide it."""
    witness: str = ""


class RepairRecord(Frozen):
    """One repair that was applied on the way to this spec."""

    gate: str
    rule: str
    actor: Literal["rule", "model", "person"]
    title: str
    patch: tuple[Mapping[str, Any], ...]
    before: str
    """Content hash before."""
    after: str


class ProofCard(Frozen):
    """Everything a proof found."""

    spec_hash: str
    gates_version: str
    proven: bool
    unproven_reason: str = ""
    """For imports: why it cannot be proven (`unproven upstream grader`)."""
    reference: Run | None = None
    null: Run | None = None
    probes: tuple[Run, ...] = ()
    mutants: tuple[MutantResult, ...] = ()
    state_mutants: tuple[MutantResult, ...] = ()
    constraints: tuple[ConstraintProof, ...] = ()
    write_set: tuple[str, ...] = ()
    stray_reward: float | None = None
    """What the reference earns with one write outside the write set."""
    proof_hash: str = ""
    """Hash over all traces and rewards of the proof: equal in every process."""
    other_process: Literal["equal", "differs", "not_run"] = "not_run"
    """Whether a second process with another hash seed found the same."""
    witnesses: tuple[Witness, ...] = ()
    nearest: str = ""
    """Task code of the nearest neighbour, filled where the library is known."""
    similarity: float | None = None
    fingerprint: str = ""
    """Structural fingerprint."""
    gates: tuple[GateResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    repairs: tuple[RepairRecord, ...] = ()
    runs: int = 0
    """How many runs the proof took."""
    milliseconds: float = 0.0

    @property
    def best_probe(self) -> Run | None:
        """The cheap policy that earned most."""
        return max(self.probes, key=lambda run: run.reward, default=None)

    def count(self, verdict: Literal["killed", "equivalent", "survived"]) -> int:
        """How many reference mutants have a verdict."""
        return sum(mutant.verdict == verdict for mutant in self.mutants)

    def group_state(self, letter: str) -> Literal["held", "warned", "failed", "not_run"]:
        """The worst state within a gate group."""
        states = {gate.state for gate in self.gates if gate.id[0] == letter}
        for state in ("failed", "warned", "held"):
            if state in states:
                return state
        return "not_run"
