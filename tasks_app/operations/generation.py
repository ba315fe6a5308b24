"""Requirements, generation runs and what their attempts came to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from django.db import transaction
from django.db.models import Count, F

from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.errors import Invalid, Problem
from tasks_app.core.generation.coverage import Place, Share
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.generate import Outcome as Drafted
from tasks_app.core.services.catalog import services as known_services
from tasks_app.core.spec import CAPABILITIES
from tasks_app.core.validation.card import ProofCard
from tasks_app.coverage import coverage
from tasks_app.enums import Origin, Outcome
from tasks_app.models import (
    Attempt,
    Benchmark,
    GenerationRun,
    Task,
    TaskVersion,
    WorkflowRequirement,
)
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.tasks import NewTask, create_tasks
from tasks_app.operations.turns import take_turns_with_new_content

LARGEST_RUN: Final = 10_000
LARGEST_SEED: Final = 2**53
_OUTCOMES: Final = {
    "unique": Outcome.STORED,
    "quarantined": Outcome.QUARANTINED,
    "duplicate": Outcome.DUPLICATE,
}

_MEANWHILE: Final = "another run stored the same content meanwhile"


@transaction.atomic
def save_requirement(
    *,
    by: Actor,
    title: str,
    families: Sequence[str],
    text: str = "",
    capabilities: Sequence[str] = (),
    services: Sequence[str] = (),
    difficulty: Sequence[int] = (),
    count: int = 20,
    seed: int = 1,
    shipped: bool = False,
) -> WorkflowRequirement:
    """Keep a researcher's wish; Invalid names every field that cannot be."""
    problems = run_problems(families, count, seed, difficulty)
    if not title.strip():
        problems.append(Problem("title", "is missing"))
    problems += _unknown("capabilities", capabilities, list(CAPABILITIES))
    problems += _unknown("services", services, list(known_services()))
    if problems:
        raise Invalid("This requirement cannot be kept.", problems)
    row = WorkflowRequirement.objects.create(
        title=title.strip()[:200],
        text=text.strip(),
        capabilities=list(capabilities),
        families=list(families),
        services=list(services),
        difficulty=sorted(set(difficulty)),
        count=count,
        seed=seed,
        shipped=shipped,
        author=user_of(by),
    )
    audit.record(by, "save_requirement", row.code, {"families": list(families), "count": count})
    return row


@transaction.atomic
def open_run(
    *,
    by: Actor,
    families: Sequence[str],
    count: int,
    seed: int,
    difficulty: Sequence[int] = (),
    requirement: WorkflowRequirement | None = None,
) -> GenerationRun:
    """Open a run of ``count`` tasks; starts nothing. Invalid names every wrong parameter."""
    problems = run_problems(families, count, seed, difficulty)
    if problems:
        raise Invalid("This run cannot be started.", problems)
    run = GenerationRun.objects.create(
        requirement=requirement,
        families=list(dict.fromkeys(families)),
        difficulty=sorted(set(difficulty)),
        seed=seed,
        asked=count,
        author=user_of(by),
    )
    detail: JsonObject = {"families": [*run.families], "count": count, "seed": seed}
    audit.record(by, "generate_tasks", run.code, detail)
    return run


@transaction.atomic
def open_fill(*, by: Actor, count: int, seed: int, difficulty: Sequence[int] = ()) -> GenerationRun:
    """Open a run of ``count`` tasks for the emptiest cells of the library as it is now; starts
    nothing. Invalid names every wrong parameter.
    """
    shares = plan_fill(count=count, seed=seed, difficulty=difficulty)
    run = open_run(
        by=by,
        families=list(dict.fromkeys(share.family for share in shares)),
        count=count,
        seed=seed,
        difficulty=difficulty,
    )
    run.shares = [list(share) for share in shares]
    run.save(update_fields=["shares"])
    return run


def plan_fill(*, count: int, seed: int, difficulty: Sequence[int] = ()) -> list[Share]:
    """Return what fills the emptiest cells: those of tasks whose proof holds. Each share goes on
    behind all tasks of its family and difficulty that were ever stored. Invalid as ``open_run``.
    """
    problems = run_problems(list(FAMILIES), count, seed, difficulty)
    shares = coverage().shares(count, levels=tuple(difficulty)) if not problems else []
    if not problems and not shares:
        problems = [Problem("difficulty", "no family of an inventory has this difficulty")]
    if problems:
        raise Invalid("This run cannot be started.", problems)
    stored = Task.objects.order_by().values_list("family", "difficulty").annotate(n=Count("pk"))
    there = {Place(family, level): n for family, level, n in stored}
    return [share._replace(before=there.get(Place(*share[:2]), 0)) for share in shares]


@transaction.atomic
def store_outcomes(*, run: GenerationRun, outcomes: Sequence[Drafted], seconds: float) -> int:
    """Keep what drafts came to: tasks with their proofs, and a reason behind each loss.

    An outcome that this run has kept already is left alone, so a run may be run twice. Returns
    how many were new.
    """
    row = GenerationRun.objects.select_for_update().get(pk=run.pk)
    kept = set(
        row.attempts.filter(key__in=[item.made.plan.key for item in outcomes]).values_list(
            "key", flat=True
        )
    )
    take_turns_with_new_content()
    new = _beside_others([item for item in outcomes if item.made.plan.key not in kept])
    stored = [item for item in new if item.fate == "unique" and item.made.spec is not None]
    tasks = create_tasks(
        tasks=[
            NewTask(item.made.spec, _compared(item.made.card))
            for item in stored
            if item.made.spec is not None
        ],
        by=row.author,
        origin=Origin.GENERATED,
    )
    versions = {item.made.plan.key: task.current for item, task in zip(stored, tasks, strict=True)}
    codes = _codes_of_near(new)
    attempts = [
        _attempt(row, row.drafted + offset, item, versions.get(item.made.plan.key), codes)
        for offset, item in enumerate(new)
    ]
    Attempt.objects.bulk_create(attempts, batch_size=200)
    GenerationRun.objects.filter(pk=row.pk).update(
        drafted=F("drafted") + len(attempts),
        valid=F("valid") + sum(attempt.valid for attempt in attempts),
        proven=F("proven") + sum(attempt.proven for attempt in attempts),
        unique=F("unique") + len(tasks),
        repairs=F("repairs") + sum(len(item.made.repairs) for item in new),
        seconds=seconds,
    )
    return len(new)


def _beside_others(outcomes: Sequence[Drafted]) -> list[Drafted]:
    """The outcomes as they stand now: what another run stored meanwhile is a duplicate."""
    hashes = [item.made.spec.hash for item in outcomes if item.made.spec is not None]
    here = set(Task.objects.filter(spec_hash__in=hashes).values_list("spec_hash", flat=True))
    return [
        replace(item, fate="duplicate", reason=_MEANWHILE, similarity=1.0)
        if item.fate == "unique" and item.made.spec is not None and item.made.spec.hash in here
        else item
        for item in outcomes
    ]


def _attempt(
    run: GenerationRun,
    index: int,
    item: Drafted,
    version: TaskVersion | None,
    codes: dict[str, str],
) -> Attempt:
    plan, spec, card = item.made.plan, item.made.spec, item.made.card
    gate, reason = _loss(item)
    return Attempt(
        run=run,
        index=index,
        key=plan.key,
        outcome=_OUTCOMES[item.fate],
        title=spec.title if spec is not None else f"{plan.family}, {plan.subtype}",
        family=plan.family,
        subtype=plan.subtype,
        difficulty=plan.level,
        gate=gate,
        reason=reason[:1000],
        valid=card is not None and all(card.group_state(group) != "failed" for group in "SRT"),
        proven=item.fate != "quarantined",
        findings=[finding.model_dump(mode="json") for finding in item.findings],
        repairs=[repair.model_dump(mode="json") for repair in item.made.repairs],
        round=plan.attempt,
        nearest=codes.get(plan.key, ""),
        similarity=item.similarity or None,
        version=version,
        milliseconds=card.milliseconds if card is not None else 0,
    )


def _compared(card: ProofCard | None) -> ProofCard | None:
    """Note on the card what a run knows and a single proof does not: nothing is like it."""
    if card is None:
        return None
    held = {"V1": "unlike every request of the library and of its run"}
    if Benchmark.objects.exists():
        held["V2"] = "unlike every text of the benchmarks"
    gates = [
        g.model_copy(update={"state": "held", "reason": held[g.id]}) if g.id in held else g
        for g in card.gates
    ]
    return card.model_copy(update={"gates": tuple(gates)})


def _loss(item: Drafted) -> tuple[str, str]:
    """The gate at which a draft fell, and why; both empty for one that was kept."""
    if item.fate == "unique":
        return "", ""
    if item.fate == "duplicate":
        return "V1", item.reason
    if item.reason.startswith("V2: "):
        return "V2", item.reason.removeprefix("V2: ")
    blocking = [finding for finding in item.findings if finding.severity == "block"]
    if item.made.spec is None:
        return "S1", item.reason
    return (blocking[0].gate if blocking else "O1"), item.reason


def _codes_of_near(outcomes: Sequence[Drafted]) -> dict[str, str]:
    """The task that holds the same content, by the key of the draft that repeats it."""
    hashes = {
        item.made.spec.hash: item.made.plan.key
        for item in outcomes
        if item.fate == "duplicate" and item.made.spec is not None
    }
    same = Task.objects.filter(spec_hash__in=hashes).values_list("spec_hash", "code")
    return {hashes[spec_hash]: code for spec_hash, code in same}


def run_problems(
    families: Sequence[str], count: int, seed: int, difficulty: Sequence[int]
) -> list[Problem]:
    """Say what is wrong with what is asked of a run; nothing where it can start."""
    problems = _unknown("families", families, list(FAMILIES))
    if not families:
        problems.append(Problem("families", "choose at least one"))
    if not 1 <= count <= LARGEST_RUN:
        problems.append(Problem("count", f"must be between 1 and {LARGEST_RUN:,}"))
    if not 0 <= seed <= LARGEST_SEED:
        problems.append(Problem("seed", f"must be between 0 and {LARGEST_SEED:,}"))
    if any(not 1 <= level <= 5 for level in difficulty):
        problems.append(Problem("difficulty", "levels are 1 to 5"))
    return problems


def _unknown(place: str, given: Sequence[str], known: Sequence[str]) -> list[Problem]:
    return [
        Problem(place, f"there is no {name!r}", f"Known are {', '.join(known)}.")
        for name in given
        if name not in known
    ]
