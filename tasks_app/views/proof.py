"""The proof card of a version, ready to be drawn: what holds, what does not, what to press."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from tasks_app.charts import Ruler, ruler
from tasks_app.core.editing import tokens
from tasks_app.core.presenting.places import Place, place_of
from tasks_app.core.presenting.rules import brief
from tasks_app.core.presenting.words import around, cut, plain, shown
from tasks_app.core.validation.card import (
    GATES_VERSION,
    ConstraintProof,
    Finding,
    MutantResult,
    ProofCard,
    RepairRecord,
    Run,
)
from tasks_app.core.validation.proof import UPSTREAM
from tasks_app.core.validation.repair import ORDER
from tasks_app.core.values import MISSING, follow
from tasks_app.models import Proof, Task, TaskVersion
from tasks_app.operations.outside_gates import OutsideResult, blind_pass, outside_results
from tasks_app.operations.verdicts import wants_blind_pass
from tasks_app.queries import built_alike
from tasks_app.views.gates import GateCell, GateGroup, GateLine, cells_of, groups_of

PROBE_NAMES: Final = {
    "crawl": "reads everything, does nothing",
    "spam": "calls every tool with made-up arguments",
    "echo": "repeats the request",
    "paste": "pastes the expected words",
    "first_record": "takes the first record each time",
    "errors_only": "makes only wrong calls",
    "refuse": "refuses politely",
    "regex": "fills arguments from the request by pattern",
}
_LONGEST_VALUE: Final = 200


@dataclass(frozen=True)
class PatchLine:
    """One operation of a patch in words."""

    words: str
    path: str
    """JSON pointer, for those who edit the text."""
    before: str
    """What is replaced or taken away; empty where something is added."""
    after: str
    """What stands there then; empty where something is taken away."""


@dataclass(frozen=True)
class FindingView:
    """A finding, where it leads and what would mend it."""

    number: int
    """Its index on the card: what a repair names."""
    gate: str
    blocks: bool
    message: str
    hint: str
    place: Place
    path: str
    """JSON pointer, for those who edit the text."""
    url: str
    edit_url: str
    repair: str
    patch: tuple[PatchLine, ...]


@dataclass(frozen=True)
class FindingGroup:
    """Findings that one repair would mend, the first of them before the others."""

    lead: FindingView
    others: tuple[FindingView, ...]


@dataclass(frozen=True)
class TraceStep:
    """One act of a violating trace."""

    text: str
    rest: str


@dataclass(frozen=True)
class RuleView:
    """A constraint and how it bites."""

    proof: ConstraintProof
    steps: tuple[TraceStep, ...]
    lost: float | None


@dataclass(frozen=True)
class ProbeView:
    """A cheap policy."""

    run: Run
    words: str


@dataclass(frozen=True)
class RepairView:
    """A repair that was applied on the way."""

    record: RepairRecord
    patch: tuple[PatchLine, ...]


@dataclass(frozen=True)
class ProofView:
    """A card, or what stands in its place."""

    proof: Proof | None
    card: ProofCard | None
    state: str
    """none, proven, broken, imported, stale."""
    title: str
    gates: tuple[GateCell, ...] = ()
    groups: tuple[GateGroup, ...] = ()
    findings: tuple[FindingView, ...] = ()
    rules: tuple[RuleView, ...] = ()
    biting: int = 0
    probes: tuple[ProbeView, ...] = ()
    best: Run | None = None
    ruler: Ruler | None = None
    killed: int = 0
    counted: int = 0
    equivalent: int = 0
    states_killed: int = 0
    states_counted: int = 0
    survivors: tuple[MutantResult, ...] = ()
    repairs: tuple[RepairView, ...] = ()
    held: int = 0
    run_gates: int = 0
    gates_left_out: int = 0
    same_again: str = "not_run"
    """How gate D1 stands: whether the runs gave the same again."""
    compared: bool = False
    """Whether gate V1 looked for near duplicates."""
    alike: tuple[int, int] = (0, 0)
    """Tasks of its track that are built alike, and all of them."""
    benchmarks: GateLine | None = None
    """What gate V2 says."""
    outside: tuple[OutsideResult, ...] = ()
    """What episodes say of it (gates P)."""
    wants_pass: str = ""
    """Why its approval needs a pass by somebody who had not seen the reference."""
    passed_by: str = ""
    """The episode that is such a pass."""

    @property
    def blocking(self) -> tuple[FindingView, ...]:
        """What stands against a proof."""
        return tuple(found for found in self.findings if found.blocks)

    @property
    def grouped(self) -> tuple[FindingGroup, ...]:
        """The findings, those with the same repair under the first of them."""
        groups: dict[tuple[str, str], list[FindingView]] = {}
        for found in self.findings:
            key = (found.gate, found.repair or str(found.number))
            groups.setdefault(key, []).append(found)
        return tuple(FindingGroup(group[0], tuple(group[1:])) for group in groups.values())

    @property
    def warnings(self) -> tuple[FindingView, ...]:
        """What should be looked at."""
        return tuple(found for found in self.findings if not found.blocks)

    @property
    def repairable(self) -> FindingView | None:
        """The first blocking finding that suggests a repair."""
        return next((found for found in self.blocking if found.repair), None)


def proof_view(task: Task, version: TaskVersion) -> ProofView:
    """The last proof of a version."""
    is_current = version.pk == task.current_id
    proof = task.proof if is_current else version.proofs.first()
    if proof is None or proof.spec_hash != version.hash:
        return ProofView(None, None, "none", "Not proven yet")
    card = proof.read()
    state, title = _state(card)
    judged = [*card.mutants]
    why = wants_blind_pass(task) if is_current and not task.evaluation_only else ""
    return ProofView(
        proof=proof,
        card=card,
        state=state,
        title=title,
        gates=cells_of(card),
        groups=groups_of(card),
        findings=_findings(task, version.spec, card),
        rules=tuple(_rule(rule, card) for rule in card.constraints),
        biting=sum(rule.bites for rule in card.constraints),
        probes=tuple(ProbeView(run, PROBE_NAMES.get(run.name, "")) for run in card.probes),
        best=card.best_probe,
        ruler=ruler(card) if card.reference is not None else None,
        killed=card.count("killed"),
        counted=card.count("killed") + card.count("survived"),
        equivalent=card.count("equivalent"),
        states_killed=sum(m.verdict == "killed" for m in card.state_mutants),
        states_counted=sum(m.verdict != "equivalent" for m in card.state_mutants),
        survivors=tuple(m for m in (*judged, *card.state_mutants) if m.verdict == "survived"),
        repairs=tuple(RepairView(r, _patch(version.spec, r.patch)) for r in card.repairs),
        held=sum(gate.state == "held" for gate in card.gates),
        run_gates=sum(gate.state != "not_run" for gate in card.gates),
        gates_left_out=sum(gate.state == "not_run" for gate in card.gates),
        same_again=_gate(card, "D1"),
        compared=_gate(card, "V1") != "not_run",
        alike=built_alike(task) if is_current else (0, 0),
        benchmarks=next(
            (g for group in groups_of(card) for g in group.gates if g.id == "V2"), None
        ),
        outside=outside_results(task) if is_current else (),
        wants_pass=why,
        passed_by=(blind_pass(task) or "") if why else "",
    )


def _gate(card: ProofCard, gate_id: str) -> str:
    return next((gate.state for gate in card.gates if gate.id == gate_id), "not_run")


def _state(card: ProofCard) -> tuple[str, str]:
    if card.unproven_reason:
        title = "Unproven upstream grader" if card.unproven_reason == UPSTREAM else "Unproven"
        return "imported", title
    if not card.proven:
        return "broken", "Not proven"
    if card.gates_version != GATES_VERSION:
        return "stale", "Proven by older gates"
    return "proven", "Proven"


def _findings(task: Task, written: Mapping[str, Any], card: ProofCard) -> tuple[FindingView, ...]:
    seen: dict[tuple[str, str, str], FindingView] = {}
    for number, found in enumerate(card.findings):
        # A step that is done once per item fails once per item: it is one thing to mend.
        key = (found.gate, found.path, found.message)
        seen.setdefault(key, _finding(task, written, number, found))
    # The one to begin with first: a repair upstream often settles what follows from it.
    return tuple(
        sorted(
            seen.values(), key=lambda v: (not v.blocks, ORDER.index(v.gate[0]), v.gate, v.number)
        )
    )


def _finding(task: Task, written: Mapping[str, Any], number: int, found: Finding) -> FindingView:
    place = place_of(written, found.path)
    suggestion = found.suggestion
    return FindingView(
        number=number,
        gate=found.gate,
        blocks=found.severity == "block",
        message=found.message,
        hint=found.hint,
        place=place,
        path=found.path,
        url=place_url(task, place),
        edit_url=place_url(task, place, edit=True),
        repair=suggestion.title if suggestion is not None else "",
        patch=_patch(written, suggestion.patch) if suggestion is not None else (),
    )


def place_url(task: Task, place: Place, *, edit: bool = False) -> str:
    """Where a place stands on the task page, or in the editor."""
    part, anchor = place.part, place.anchor
    if edit and place.editing is not None:
        part, anchor = place.editing
    pairs = {"part" if edit else "tab": part}
    pairs |= {"collection": place.collection, "record": place.record}
    query = urlencode({key: value for key, value in pairs.items() if value})
    page = f"/tasks/{task.code}/edit/" if edit else f"/tasks/{task.code}/"
    return f"{page}?{query}#{anchor}"


def _patch(written: Mapping[str, Any], patch: Sequence[Mapping[str, Any]]) -> tuple[PatchLine, ...]:
    """The operations of a patch, each place by its name as it is before any of them."""
    return tuple(_patch_line(written, operation) for operation in patch)


def _patch_line(written: Mapping[str, Any], operation: Mapping[str, Any]) -> PatchLine:
    path = str(operation.get("path", ""))
    parts = tokens(path)
    added = operation.get("op") == "add"
    # What is added to a list has no name there yet; its number is now another's.
    listed = added and bool(parts) and (parts[-1].isdigit() or parts[-1] == "-")
    place = place_of(written, path.rpartition("/")[0] if listed else path)
    # To add a member that is there is to replace it.
    old = MISSING if listed else follow(written, tuple(parts))
    before = "" if old is MISSING else cut(brief(old), _LONGEST_VALUE)
    after = cut(brief(operation["value"]), _LONGEST_VALUE) if "value" in operation else ""
    if isinstance(old, str) and isinstance(operation.get("value"), str):
        before, after = around(old, operation["value"], _LONGEST_VALUE)
    # Words say the same of 1 and "1": what is written doesn't. A repair that was applied on the
    # way may take away what is no longer there.
    if before == after and old is not MISSING and "value" in operation:
        before, after = shown(old, _LONGEST_VALUE), shown(operation["value"], _LONGEST_VALUE)
    return PatchLine(place.words, path, before, after)


def _rule(rule: ConstraintProof, card: ProofCard) -> RuleView:
    lost = None
    if rule.reward is not None and card.reference is not None:
        lost = rule.reward
    return RuleView(rule, tuple(_trace(step) for step in rule.steps), lost)


def _trace(step: Mapping[str, Any]) -> TraceStep:
    if "reply" in step:
        return TraceStep("reply", shown(step["reply"], 160))
    arguments = step.get("arguments") or {}
    said = ", ".join(f"{name}={plain(value)}" for name, value in arguments.items())
    return TraceStep(str(step.get("tool", "")), shown(said, 200))
