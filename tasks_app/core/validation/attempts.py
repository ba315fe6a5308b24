"""What gates try on a task. Each kind of attempt is made when a gate first asks for it, and its
runs count for the gate that it belongs to, whoever asked.
"""

import functools
from collections.abc import Sequence

from tasks_app.core.program import Act
from tasks_app.core.validation.altered_ends import prove_states
from tasks_app.core.validation.capabilities import witnesses
from tasks_app.core.validation.card import ConstraintProof, MutantResult, Witness
from tasks_app.core.validation.collateral import damaged_field, stray_plays
from tasks_app.core.validation.exploits import Exploit, prove_exploits
from tasks_app.core.validation.mutants import Judged, prove_mutants
from tasks_app.core.validation.nontrivial import cheap_plays
from tasks_app.core.validation.trace import Shown
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.validation.variation import Varied
from tasks_app.core.validation.violations import prove_constraints


class Attempts:
    """The attempts of one proof."""

    def __init__(self, trial: Trial, exploits: Sequence[Exploit] = ()):
        self.trial = trial
        self.exploits = exploits

    @functools.cached_property
    def cheap(self) -> Sequence[tuple[str, Play]]:
        """The cheap policies (N2)."""
        with self.trial.account("N2"):
            return cheap_plays(self.trial)

    @functools.cached_property
    def violations(self) -> Sequence[ConstraintProof]:
        """A policy that breaks each constraint (K1)."""
        with self.trial.account("K1"):
            return prove_constraints(self.trial)

    @functools.cached_property
    def strays(self) -> list[tuple[Act, Play]]:
        """The reference with one write outside the write set (X1)."""
        with self.trial.account("X1"):
            return stray_plays(self.trial)

    @functools.cached_property
    def damaged(self) -> float | None:
        """The most that the reference earns with a field altered elsewhere (X1)."""
        _ = self.strays  # always made before: an account is a hash in order
        with self.trial.account("X1"):
            return damaged_field(self.trial)

    @functools.cached_property
    def mutants(self) -> Sequence[Judged]:
        """Wrong variants of the reference, and what people called wrong (M1)."""
        with self.trial.account("M1"):
            return [*prove_mutants(self.trial), *prove_exploits(self.trial, self.exploits)]

    @functools.cached_property
    def states(self) -> Sequence[MutantResult]:
        """The reference's end with a record altered (M2)."""
        with self.trial.account("M2"):
            return prove_states(self.trial)

    @functools.cached_property
    def varied(self) -> Varied:
        """The reference's program under another seed (D2)."""
        with self.trial.account("D2"):
            return Varied(self.trial)

    @functools.cached_property
    def witnesses(self) -> Sequence[Witness]:
        """What shows each claimed capability (V3)."""
        shown = Shown(self.trial, self.violations, self.mutants, self.strays, self.damaged)
        with self.trial.account("V3"):
            return witnesses(shown)
