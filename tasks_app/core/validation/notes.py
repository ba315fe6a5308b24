"""What a proof writes down gate by gate, and what of an earlier proof may stand.

After an edit, a gate that held and reads nothing that the edit changed finds the same again; it is
taken as it was (see reads.py).
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.results import FULL
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.attempts import Attempts
from tasks_app.core.validation.card import (
    GATES_VERSION,
    GROUPS,
    Finding,
    GateResult,
    ProofCard,
)
from tasks_app.core.validation.exploits import OPERATOR, Exploit
from tasks_app.core.validation.gate import Gate
from tasks_app.core.validation.reads import READS, changed_parts
from tasks_app.core.validation.run_gates import RUN_GATES, RunGate
from tasks_app.core.validation.trial import Trial

TITLES: Final[Mapping[str, str]] = {gate.id: gate.title for gate in RUN_GATES} | {
    "V1": "it is no duplicate",
    "V2": "no benchmark has it",
}
"""Gate → title of those that need runs (or the library)."""


_SHOWN: Final[Mapping[str, Mapping[str, Callable[[Attempts], Any]]]] = {
    "N2": {"probes": lambda tried: tuple(play.run(name) for name, play in tried.cheap)},
    "K1": {"constraints": lambda tried: tuple(tried.violations)},
    "X1": {
        "stray_reward": lambda tried: max(
            (play.reward for _, play in tried.strays), default=tried.damaged
        )
    },
    "M1": {"mutants": lambda tried: tuple(result for _, result in tried.mutants)},
    "M2": {"state_mutants": lambda tried: tuple(tried.states)},
    "V3": {"witnesses": lambda tried: tuple(tried.witnesses)},
}
"""Gate → fields of the card that its attempts fill."""


class Earlier(NamedTuple):
    """What was found about a task before it was edited."""

    spec: TaskSpec
    card: ProofCard


class Kept:
    """What stands of an earlier proof: gates that held and that nothing changed for."""

    def __init__(self, spec: TaskSpec, earlier: Earlier | None, exploits: Sequence[Exploit]):
        self.card = earlier.card if earlier is not None else None
        self._results: dict[str, GateResult] = {}
        if earlier is None or earlier.card.gates_version != GATES_VERSION:
            return
        if earlier.card.spec_hash != earlier.spec.hash:
            return
        changed = changed_parts(earlier.spec, spec)
        told = {found.gate for found in earlier.card.findings}
        shown = any(mutant.operator == OPERATOR for mutant in earlier.card.mutants)
        for result in earlier.card.gates:
            if result.state != "held" or result.id in told or result.id not in READS:
                continue
            if result.id == "M1" and (exploits or shown):
                continue  # traces that people called wrong stand outside the spec
            if not READS[result.id] & changed:
                self._results[result.id] = result

    def __contains__(self, gate_id: str) -> bool:
        return gate_id in self._results

    def __getitem__(self, gate_id: str) -> GateResult:
        return self._results[gate_id].model_copy(update={"milliseconds": 0.0})

    def __len__(self) -> int:
        return len(self._results)


class Notes:
    """Findings and gate results as they come in."""

    def __init__(self, timer: Callable[[], float], kept: Kept):
        self.timer = timer
        self.kept = kept
        self.findings: list[Finding] = []
        self.results: dict[str, GateResult] = {}

    def look(self, gate: Gate, spec: TaskSpec) -> None:
        """Look at the spec alone."""
        if gate.id in self.kept:
            self.results[gate.id] = self.kept[gate.id]
            return
        begun = self.timer()
        self.take(gate.id, gate.title, list(gate.look(spec)), begun)

    def run(self, gate: RunGate, tried: Attempts) -> None:
        """Look at runs; they count for the gate."""
        if gate.id in self.kept:
            self.results[gate.id] = self.kept[gate.id]
            return
        aside = gate.beside_the_point(tried)
        if aside:
            self.skip([gate.id], aside)
            return
        begun, trial = self.timer(), tried.trial
        with trial.account(gate.id):
            found = list(gate.look(tried))
        self.take(
            gate.id,
            gate.title,
            found,
            begun,
            reason=gate.reason(tried),
            runs=trial.runs_of(gate.id),
            digest=trial.digest_of(gate.id),
        )

    def take(
        self,
        gate_id: str,
        title: str,
        found: Sequence[Finding],
        begun: float,
        *,
        reason: str = "",
        runs: int = 0,
        digest: str = "",
    ) -> None:
        """Write down what a gate found since a moment of the timer."""
        self.findings.extend(found)
        blocked = any(one.severity == "block" for one in found)
        self.results[gate_id] = GateResult(
            id=gate_id,
            title=title,
            state="failed" if blocked else "warned" if found else "held",
            reason=reason,
            runs=runs,
            digest=digest,
            milliseconds=round((self.timer() - begun) * 1000, 3),
        )

    def skip(self, gate_ids: Iterable[str], reason: str) -> None:
        """Note gates that did not run."""
        for gate_id in gate_ids:
            self.results[gate_id] = GateResult(
                id=gate_id, title=TITLES[gate_id], state="not_run", reason=reason
            )

    def solved(self, trial: Trial) -> bool:
        """Say whether the reference solves the task: what most gates start from."""
        return self.results["O1"].state != "failed" and trial.reference.reward >= FULL

    def of_card(self, tried: Attempts) -> dict[str, Any]:
        """Return what the attempts gave, as fields of the card; empty where no gate looked."""
        fields: dict[str, Any] = {}
        for gate_id, names in _SHOWN.items():
            if gate_id in self.kept:
                fields |= {name: getattr(self.kept.card, name) for name in names}
            elif self.results[gate_id].state != "not_run":
                fields |= {name: shown(tried) for name, shown in names.items()}
        return fields

    def ordered(self) -> tuple[GateResult, ...]:
        """Gate results in the order of a card."""
        return tuple([self.results[gate_id] for gate_id in sorted(self.results, key=_place)])


@functools.cache
def _place(gate_id: str) -> tuple[int, int]:
    """Return where a gate stands on a card."""
    return list(GROUPS).index(gate_id[0]), int(gate_id[1:])
