"""What lists show of a task: taken from its spec and its proof card, written in one place."""

from typing import Final

from studio.lib.similarity import band_keys, signature
from tasks_app.core.inputs import inputs_of
from tasks_app.core.licences import NON_COMMERCIAL, is_non_commercial
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import GROUPS, ProofCard
from tasks_app.core.validation.splits import HELD_OUT_TAG, identity_of, is_held_family
from tasks_app.core.world.world import seed_problem
from tasks_app.enums import Split, TaskState, Verdict
from tasks_app.models import Task
from tasks_app.models.fields import pack_signature

_SIGNS: Final = {"held": "h", "warned": "w", "failed": "f", "not_run": "-"}

#: Columns that ``describe`` sets.
SPEC_COLUMNS: Final = (
    "slug", "title", "track", "family", "subtype", "difficulty", "language", "split", "tags",
    "capabilities", "services", "inputs", "checks", "constraints", "tokens", "text", "signature",
    "bands", "identity", "evaluation_only", "spec_hash",
)  # fmt: skip
#: Columns that ``describe_proof`` and ``forget_proof`` set.
PROOF_COLUMNS: Final = (
    "findings", "findings_count", "fingerprint", "gate_states", "reference_reward", "best_probe",
    "mutants_killed", "mutants_counted", "proven_at",
)  # fmt: skip


def describe(task: Task, spec: TaskSpec) -> None:
    """Set the columns that come from the spec; saves nothing."""
    task.slug = spec.slug
    task.title = spec.title
    task.track = spec.track
    task.family = spec.family
    task.subtype = spec.subtype
    task.difficulty = spec.difficulty.level
    task.language = spec.language
    task.split = split_of(spec)
    # A person may take any tag away; what the licence says stays.
    licence = [NON_COMMERCIAL] if is_non_commercial(spec) else []
    task.tags = list(dict.fromkeys([*spec.tags, *licence]))
    task.capabilities = [claim.id for claim in spec.capabilities]
    task.services = list(spec.services)
    task.inputs = inputs_of(spec)
    task.checks = sorted({check.kind for check in spec.checks})
    task.constraints = sorted({constraint.kind for constraint in spec.constraints})
    task.tokens = _tokens(spec)
    task.text = f"{spec.title}\n{spec.request.text}".lower()
    signed = signature(spec.request.text)
    task.signature = pack_signature(signed)
    task.bands = list(band_keys(signed))
    task.identity = identity(spec)
    task.evaluation_only = spec.evaluation_only
    task.spec_hash = spec.hash


def describe_proof(task: Task, card: ProofCard) -> None:
    """Set the columns that come from the proof card of the current version; saves nothing."""
    task.findings = sorted({finding.gate for finding in card.findings})
    task.findings_count = len(card.findings)
    task.fingerprint = card.fingerprint[:64]
    task.gate_states = "".join(_SIGNS[card.group_state(letter)] for letter in GROUPS)
    task.reference_reward = card.reference.reward if card.reference is not None else None
    best = card.best_probe
    task.best_probe = best.reward if best is not None else None
    killed = card.count("killed")
    counted = killed + card.count("survived")
    task.mutants_killed = killed if counted else None
    task.mutants_counted = counted or None


def forget_proof(task: Task) -> None:
    """Clear what a proof said: the content has changed; saves nothing."""
    task.proof = None
    task.findings = []
    task.findings_count = 0
    task.fingerprint = ""
    task.gate_states = ""
    task.reference_reward = None
    task.best_probe = None
    task.mutants_killed = None
    task.mutants_counted = None
    task.proven_at = None


def verdict_of(card: ProofCard) -> Verdict:
    """Return what a card says in one word."""
    if card.proven:
        return Verdict.PROVEN
    return Verdict.UNPROVEN if card.unproven_reason else Verdict.INVALID


def state_without_proof(spec: TaskSpec) -> TaskState:
    """Return where new content stands: an import that has nothing to prove yet, or a draft."""
    if spec.evaluation_only and not (spec.reference and spec.checks):
        return TaskState.IMPORTED
    return TaskState.DRAFT


def split_of(spec: TaskSpec) -> Split:
    """Return what a task may be used for: families of the fixed table and names of the pool kept
    apart are held back.
    """
    if spec.evaluation_only:
        return Split.EVALUATION
    if is_held_family(spec.family):
        return Split.NEW_FAMILIES
    return Split.NEW_INSTANCES if HELD_OUT_TAG in spec.tags else Split.TRAIN


def identity(spec: TaskSpec) -> list[str]:
    """Return what a task is about; nothing where its records make no world."""
    if spec.evaluation_only or seed_problem(spec) is not None:
        return []
    tokens = {token.replace("\x00", "")[:200] for token in identity_of(spec)}
    return sorted(tokens)


def _tokens(spec: TaskSpec) -> int:
    workplace = spec.workplace
    given = [spec.request.text, workplace.output_contract, *(p.text for p in workplace.policies)]
    return sum(map(len, given)) // 4
