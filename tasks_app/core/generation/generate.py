"""Generation: plans become drafts, drafts are mended and proven, near duplicates fall out.

Drafting and proving one plan (`make`) needs nothing but the plan, so it may run in any process, in
any order;
only the search for near duplicates looks at the others, in the order of the plans. The same
arguments give
the same tasks, whatever the mapper.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from studio.lib.similarity import NEAR_DUPLICATE, Index, Signature, signature
from tasks_app.core.generation.crowd import Crowd, cells_of
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import Plan, draft, plans
from tasks_app.core.spec import SpecError, TaskSpec
from tasks_app.core.validation.card import Finding, ProofCard, RepairRecord
from tasks_app.core.validation.contamination import Contamination, uncontaminated
from tasks_app.core.validation.repair import mend

ATTEMPTS: Final = 4
"""Drafts tried for one planned task before it is given up."""

Fate = Literal["unique", "quarantined", "duplicate"]


@dataclass(frozen=True, slots=True)
class Made:
    """One draft after repair and proof."""

    plan: Plan
    spec: TaskSpec | None
    card: ProofCard | None
    repairs: tuple[RepairRecord, ...]
    reason: str
    """Why it was quarantined; empty if it is proven."""
    signature: Signature
    """MinHash of the request."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one draft."""

    made: Made
    fate: Fate
    reason: str
    similarity: float = 0.0
    """To the nearest request seen before, where that is near."""
    crowded: bool = False
    """Whether it fell out because the inventory has enough of its structure."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the gates found in the end."""
        return self.made.card.findings if self.made.card is not None else ()


Mapper = Callable[[Callable[[Plan], Made], Iterable[Plan]], Iterable[Made]]


def make(plan: Plan) -> Made:
    """Draft, mend and prove one plan."""
    family = FAMILIES[plan.family]
    try:
        spec = draft(family, plan)
    except SpecError as problem:
        return Made(plan, None, None, (), f"the draft is no task spec: {problem}", ())
    mended = mend(spec)
    return Made(
        plan,
        mended.spec,
        mended.card,
        tuple(mended.repairs),
        mended.quarantined or "",
        signature(spec.request.text),
    )


def generate(
    family: str,
    count: int,
    seed: int,
    *,
    difficulty: int | None = None,
    first: int = 0,
    known: Index[str] | None = None,
    hashes: Iterable[str] = (),
    crowd: Crowd | None = None,
    benchmarks: Contamination | None = None,
    mapper: Mapper = map,
) -> Iterator[Outcome]:
    """Yield the outcome of every draft until `count` tasks are unique or their attempts are used
    up.

    Args:
        family: Name of a built-in family. Raises KeyError for an unknown one.
        count: How many tasks are planned.
        seed: Any whole number; the same seed gives the same tasks.
        difficulty: 1 to 5, or all.
        first: Where the turn of subtypes begins, and the drafts of a seed: 0, or as many as are
            made already.
        known: Signatures of the requests that exist already.
        hashes: Content hashes that exist already.
        crowd: What the inventory holds so far; None: any number may be built alike.
        benchmarks: Looks a request up in benchmarks (gate V2); None: not compared.
        mapper: `map`, or a pool's ordered map.
    """
    index: Index[str] = known if known is not None else Index()
    seen = set(hashes)
    cells = cells_of(FAMILIES[family], difficulty)
    waiting = list(plans(FAMILIES[family], count, seed, difficulty, first))
    while waiting:
        again: list[Plan] = []
        for made in mapper(make, waiting):
            outcome = judge(made, index, seen, crowd, benchmarks)
            if outcome.fate == "unique" and made.spec is not None:
                index.add(made.spec.hash, made.signature)
                seen.add(made.spec.hash)
                if crowd is not None and made.card is not None:
                    crowd.add(made.card.fingerprint, made.plan)
            elif made.plan.attempt + 1 < ATTEMPTS:
                plan = replace(made.plan, attempt=made.plan.attempt + 1)
                if crowd is not None and outcome.crowded:
                    plan = crowd.steered(plan, cells)
                again.append(plan)
            yield outcome
        waiting = again


def judge(
    made: Made,
    index: Index[str],
    hashes: set[str],
    crowd: Crowd | None = None,
    benchmarks: Contamination | None = None,
) -> Outcome:
    """Say what becomes of a draft among those that exist."""
    if made.spec is None or made.reason:
        return Outcome(made, "quarantined", made.reason)
    if made.spec.hash in hashes:
        return Outcome(made, "duplicate", "the same task exists", 1.0)
    near = index.nearest(made.signature, NEAR_DUPLICATE)
    if near is not None:
        return Outcome(
            made, "duplicate", f"its request is too like that of {near.key}", near.similarity
        )
    if crowd is not None and made.card is not None and crowd.is_full(made.card.fingerprint):
        reason = f"{crowd.most} tasks of the inventory are built like it"
        return Outcome(made, "duplicate", reason, crowded=True)
    shared = benchmarks(made.spec) if benchmarks is not None else None
    for found in uncontaminated(shared):
        return Outcome(made, "quarantined", f"{found.gate}: {found.message}")
    return Outcome(made, "unique", "")
