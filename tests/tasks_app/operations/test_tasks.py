"""Tasks and versions: what an edit keeps, makes void and refuses."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from studio.web.errors import Conflict, Invalid, StaleBase
from studio.web.models import AuditEntry, Draft
from tasks_app.core.validation.card import GROUPS, Suggestion
from tasks_app.enums import Origin, TaskState, Verdict
from tasks_app.models import Task, TaskVersion
from tasks_app.operations.drafts import discard_draft, keep_draft
from tasks_app.operations.proofs import record_proof
from tasks_app.operations.tasks import (
    NewTask,
    apply_suggestion,
    create_task,
    create_tasks,
    duplicate,
    read_spec,
    save_version,
)
from tasks_app.operations.verdicts import approve, reject, retire
from tests.factories.people import person
from tests.factories.specs import green_card, imported_spec, red_card, small_spec, small_written

pytestmark = pytest.mark.django_db


def proven_task(**changes: Any) -> Task:
    spec = small_spec(**changes)
    return create_task(spec=spec, by=None, card=green_card(spec))


def test_a_new_task_is_a_draft_with_the_columns_of_its_spec() -> None:
    author = person("ada")
    spec = small_spec()
    task = create_task(spec=spec, by=author)
    assert (task.state, task.code[:2], task.current_number) == (TaskState.DRAFT, "T-", 1)
    assert (task.family, task.subtype, task.difficulty) == ("support_resolution", "late_parcel", 2)
    assert (task.capabilities, task.services, task.checks, task.constraints) == (
        ["C1"],
        ["helpdesk"],
        ["record_match"],
        ["at_most"],
    )
    assert task.author == author
    assert task.current is not None
    assert task.current.load().hash == spec.hash == task.spec_hash
    entry = AuditEntry.objects.get(act="create_task")
    assert (entry.subject, entry.actor_name) == (task.code, "ada")


def test_the_stored_spec_keeps_the_order_of_its_fields() -> None:
    task = create_task(spec=small_spec(), by=None)
    stored = TaskVersion.objects.get(task=task).spec
    assert list(stored["services"]["helpdesk"]["tickets"][0]) == [
        "id",
        "subject",
        "status",
        "created_at",
        "updated_at",
    ]


def test_a_task_stored_with_a_green_card_is_proven_and_shows_it() -> None:
    task = proven_task()
    every = "h" * len(GROUPS)
    assert (task.state, task.is_proven, task.gate_states) == (TaskState.PROVEN, True, every)
    assert (task.reference_reward, task.best_probe) == (1.0, 0.0)
    assert (task.mutants_killed, task.mutants_counted) == (1, 1)
    assert task.proof is not None
    assert task.proof.read() == green_card(small_spec())


def test_a_card_of_other_content_is_refused_and_nothing_is_stored() -> None:
    with pytest.raises(ValueError, match="the proof is of"):
        create_task(spec=small_spec(), by=None, card=green_card(small_spec(seed=8)))
    assert Task.objects.count() == 0


def test_many_are_stored_in_the_order_given() -> None:
    specs = [small_spec(seed=seed, title=f"number {seed}") for seed in range(5)]
    tasks = create_tasks(tasks=[NewTask(spec) for spec in specs], by=None, origin=Origin.GENERATED)
    assert [task.title for task in tasks] == [f"number {seed}" for seed in range(5)]
    assert [task.current.hash for task in tasks if task.current] == [spec.hash for spec in specs]


def test_an_edit_makes_a_version_and_takes_proof_and_approval_away() -> None:
    author = person("ada")
    task = approve(task=proven_task(), base=1, by=author)
    keep_draft(task=task, base=1, content={"title": "half"}, by=author)
    edited = save_version(
        task=task, base=1, spec=small_spec(title="Close it"), by=author, reason="shorter"
    )
    edited.refresh_from_db()
    assert (edited.state, edited.approved, edited.proof) == (TaskState.DRAFT, None, None)
    assert (edited.gate_states, edited.best_probe, edited.proven_at) == ("", None, None)
    assert edited.current is not None
    assert edited.current.patch == [{"op": "replace", "path": "/title", "value": "Close it"}]
    assert (edited.current.number, edited.current.reason) == (2, "shorter")
    assert edited.current.parent == TaskVersion.objects.get(task=task, number=1)
    assert not Draft.objects.exists()


def test_a_save_on_an_old_version_is_stale_and_names_the_current_one() -> None:
    task = create_task(spec=small_spec(), by=None)
    save_version(task=task, base=1, spec=small_spec(seed=8), by=None, reason="first")
    with pytest.raises(StaleBase) as caught:
        save_version(task=task, base=1, spec=small_spec(seed=9), by=None, reason="second")
    assert caught.value.current == 2
    assert TaskVersion.objects.filter(task=task).count() == 2


@pytest.mark.parametrize(
    ("changes", "reason", "place"),
    [({}, "why", "/"), ({"seed": 8}, "  ", "reason")],
    ids=["nothing changes", "no reason"],
)
def test_a_save_that_says_nothing_is_invalid(
    changes: dict[str, Any], reason: str, place: str
) -> None:
    task = create_task(spec=small_spec(), by=None)
    with pytest.raises(Invalid) as caught:
        save_version(task=task, base=1, spec=small_spec(**changes), by=None, reason=reason)
    assert [problem.place for problem in caught.value.problems] == [place]


def test_a_version_never_changes_not_even_behind_the_model() -> None:
    version = TaskVersion.objects.get(task=create_task(spec=small_spec(), by=None))
    with pytest.raises(TypeError):
        version.save()
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        TaskVersion.objects.filter(pk=version.pk).update(hash="0" * 64)


def test_a_duplicate_is_a_draft_of_its_own_that_knows_its_parent() -> None:
    task = proven_task()
    copied = duplicate(task=task, by=person("ada"))
    assert (copied.state, copied.origin) == (TaskState.DRAFT, Origin.DUPLICATED)
    assert copied.slug == "close-the-lamp-ticket-copy"
    assert copied.current is not None
    assert copied.current.parent == task.current
    assert copied.code != task.code


def test_a_suggested_repair_becomes_a_version_that_names_its_gate() -> None:
    broken = small_spec(
        checks=[{**small_written()["checks"][0], "expect": {"resolution": "declined"}}]
    )
    suggestion = Suggestion(
        rule="recompute_expected",
        title="Expect what the reference leaves",
        patch=({"op": "replace", "path": "/checks/0/expect/resolution", "value": "answered"},),
    )
    task = create_task(spec=broken, by=None, card=red_card(broken, suggestion=suggestion))
    assert (task.state, task.findings, task.findings_count) == (TaskState.INVALID, ["O1"], 1)
    mended = apply_suggestion(task=task, base=1, finding=0, by=None)
    assert mended.current is not None
    assert mended.current.spec["checks"][0]["expect"] == {"resolution": "answered"}
    assert (mended.current.origin, mended.current.reason) == (
        Origin.REPAIRED,
        "O1: Expect what the reference leaves",
    )
    with pytest.raises(Conflict, match="prove it first"):
        apply_suggestion(task=mended, base=2, finding=0, by=None)


def test_a_finding_without_a_repair_is_a_conflict() -> None:
    spec = small_spec()
    task = create_task(spec=spec, by=None, card=red_card(spec))
    with pytest.raises(Conflict, match="suggests no repair"):
        apply_suggestion(task=task, base=1, finding=0, by=None)


def test_approval_needs_a_green_proof_of_exactly_this_content() -> None:
    spec = small_spec()
    unproven = create_task(spec=spec, by=None)
    with pytest.raises(Conflict, match="draft: approve is possible for tasks that are proven"):
        approve(task=unproven, base=1, by=None)
    task = proven_task()
    with pytest.raises(StaleBase):
        approve(task=task, base=2, by=None)
    approved = approve(task=task, base=1, by=person("rea"))
    assert (approved.state, approved.approved) == (TaskState.APPROVED, approved.current)


def test_a_proof_by_older_gates_does_not_carry_an_approval() -> None:
    spec = small_spec()
    task = create_task(spec=spec, by=None, card=green_card(spec, gates_version="0"))
    with pytest.raises(Conflict, match="older gates"):
        approve(task=task, base=1, by=None)


def test_a_rejection_needs_a_reason_and_ends_in_rejected() -> None:
    task = proven_task()
    with pytest.raises(Invalid):
        reject(task=task, base=1, by=None, reason=" ")
    rejected = reject(task=task, base=1, by=None, reason="reads like a riddle")
    assert rejected.state == TaskState.REJECTED
    with pytest.raises(Conflict, match="rejected: approve is possible"):
        approve(task=task, base=1, by=None)
    assert retire(task=task, by=None).state == TaskState.RETIRED
    with pytest.raises(Conflict, match="retired: retire is possible"):
        retire(task=task, by=None)


def test_a_draft_cannot_be_retired() -> None:
    with pytest.raises(Conflict, match="draft: retire is possible for tasks that are approved"):
        retire(task=create_task(spec=small_spec(), by=None), by=None)


def test_a_proof_that_fails_takes_an_approval_away() -> None:
    task = approve(task=proven_task(), base=1, by=None)
    assert task.current is not None
    proof = record_proof(version=task.current, card=red_card(small_spec()), by=None)
    task.refresh_from_db()
    assert (task.state, task.approved, task.proof) == (TaskState.INVALID, None, proof)
    assert proof.verdict == Verdict.INVALID


def test_a_proof_of_an_older_version_is_kept_and_moves_nothing() -> None:
    task = create_task(spec=small_spec(), by=None)
    first = task.current
    assert first is not None
    save_version(task=task, base=1, spec=small_spec(seed=8), by=None, reason="why")
    record_proof(version=first, card=green_card(small_spec()), by=None)
    task.refresh_from_db()
    assert (task.state, task.proof) == (TaskState.DRAFT, None)


def test_a_proof_of_a_rejected_task_is_a_conflict() -> None:
    task = reject(task=proven_task(), base=1, by=None, reason="no")
    assert task.current is not None
    with pytest.raises(Conflict, match="rejected: prove is possible"):
        record_proof(version=task.current, card=green_card(small_spec()), by=None)


def test_an_imported_benchmark_task_is_never_approved() -> None:
    spec = imported_spec()
    task = create_task(spec=spec, by=None, origin=Origin.IMPORTED)
    assert (task.state, task.split) == (TaskState.IMPORTED, "evaluation")
    with pytest.raises(Conflict, match="for evaluation only"):
        approve(task=task, base=1, by=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(state=TaskState.APPROVED)


def test_an_imported_task_stays_evaluation_only_and_becomes_a_draft_with_a_reference() -> None:
    task = create_task(spec=imported_spec(), by=None, origin=Origin.IMPORTED)
    with pytest.raises(Invalid) as caught:
        save_version(task=task, base=1, spec=small_spec(), by=None, reason="adopt")
    assert [problem.place for problem in caught.value.problems] == ["/evaluation_only"]
    fixed = small_spec(evaluation_only=True)
    saved = save_version(task=task, base=1, spec=fixed, by=None, reason="reference added")
    assert saved.state == TaskState.DRAFT


def test_a_draft_is_kept_per_person_until_it_is_discarded() -> None:
    ada, bea = person("ada"), person("bea")
    task = create_task(spec=small_spec(), by=None)
    keep_draft(task=task, base=1, content={"title": "one"}, by=ada)
    keep_draft(task=task, base=1, content={"title": "two"}, by=ada)
    keep_draft(task=task, base=1, content={"title": "hers"}, by=bea)
    assert list(Draft.objects.order_by("pk").values_list("content", "base")) == [
        ({"title": "two"}, "1"),
        ({"title": "hers"}, "1"),
    ]
    assert discard_draft(task=task, by=ada) is True
    assert discard_draft(task=task, by=ada) is False
    assert list(Draft.objects.values_list("user__username", flat=True)) == ["bea"]


def test_a_text_that_is_no_spec_names_every_place() -> None:
    with pytest.raises(Invalid) as caught:
        read_spec({**small_written(), "seed": -1, "colour": "red"})
    assert sorted(problem.place for problem in caught.value.problems) == ["/colour", "/seed"]


def test_a_task_can_be_deleted_with_all_that_hangs_on_it_but_not_with_its_copy() -> None:
    task = approve(task=proven_task(), base=1, by=None)
    copied = duplicate(task=task, by=None)
    task.delete()
    copied.refresh_from_db()
    assert copied.current is not None
    assert copied.current.parent is None
    assert list(Task.objects.all()) == [copied]
