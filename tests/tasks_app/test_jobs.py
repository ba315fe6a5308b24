"""Generating, proving and importing as jobs: twice, cancelled, with what they keep."""

import json
from pathlib import Path
from typing import Any

import pytest

from studio.web import claims, jobs
from studio.web.choices import JobState
from studio.web.errors import Invalid
from studio.web.jobs import JobEnded
from studio.web.models import Blob, Job
from tasks_app.enums import ImportOutcome, ImportSource, Origin, Outcome, TaskState
from tasks_app.jobs import (
    GENERATE,
    IMPORT,
    PROVE,
    prove_now,
    start_generation,
    start_import,
)
from tasks_app.making import outcomes
from tasks_app.models import Attempt, GenerationRun, ImportItem, Proof, Task
from tasks_app.operations.generation import open_run, store_outcomes
from tasks_app.operations.imports import open_import
from tasks_app.operations.tasks import create_task, duplicate, save_version
from tasks_app.operations.verdicts import reject
from tasks_app.queries import losses
from tests.factories.people import person
from tests.factories.specs import green_card, imported_spec, small_spec, small_written

pytestmark = pytest.mark.django_db
FAMILY = "support_resolution"


def run_of(count: int, seed: int = 3, **more: Any) -> GenerationRun:
    return open_run(by=None, families=[FAMILY], count=count, seed=seed, **more)


def generate(run: GenerationRun) -> dict[str, Any]:
    job = jobs.run_inline(GENERATE, {"run": run.code}, subject=run.code)
    assert isinstance(job.result, dict)
    run.refresh_from_db()
    return job.result


def test_a_run_stores_proven_tasks_and_says_what_it_made() -> None:
    run = run_of(6)
    result = generate(run)
    assert (result["generated"], result["unique"], result["families"]) == (6, 6, {FAMILY: 6})
    tasks = Task.objects.all()
    assert {task.state for task in tasks} == {TaskState.PROVEN}
    assert {task.origin for task in tasks} == {Origin.GENERATED}
    assert all(task.spec_hash == task.proof.spec_hash for task in tasks if task.proof)
    assert (run.asked, run.unique, run.state) == (6, 6, JobState.SUCCEEDED)
    assert run.drafted == run.attempts.count() >= 6
    assert run.attempts.filter(outcome=Outcome.STORED).count() == 6
    assert sum(loss.count for loss in losses(run)) == run.drafted - 6


def test_a_run_that_is_run_twice_keeps_everything_once() -> None:
    run = run_of(4)
    first = generate(run)
    hashes = sorted(Task.objects.values_list("spec_hash", flat=True))
    funnel = (run.drafted, run.valid, run.proven, run.unique, run.repairs)
    second = generate(run)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert sorted(Task.objects.values_list("spec_hash", flat=True)) == hashes
    assert (run.drafted, run.valid, run.proven, run.unique, run.repairs) == funnel


def test_a_run_that_was_killed_half_way_is_finished_by_the_next_worker() -> None:
    run, whole = run_of(5), run_of(5)
    first = list(outcomes(run.families, 5, run.seed, run=run))
    store_outcomes(run=run, outcomes=first[:2], seconds=1.0)
    result = generate(run)
    assert result["unique"] == 5
    assert [attempt.index for attempt in run.attempts.all()] == list(range(run.drafted))
    hashes = [item.made.spec.hash for item in first if item.made.spec and item.fate == "unique"]
    assert sorted(Task.objects.values_list("spec_hash", flat=True)) == sorted(hashes)
    assert whole.attempts.count() == 0


def test_a_second_run_of_the_same_seed_repeats_nothing_and_says_so() -> None:
    generate(run_of(3))
    again = run_of(3)
    result = generate(again)
    assert Task.objects.count() == 3 + result["unique"]
    assert len(set(Task.objects.values_list("spec_hash", flat=True))) == Task.objects.count()
    lost = Attempt.objects.filter(run=again, outcome=Outcome.DUPLICATE)
    assert lost.count() >= 3
    assert {attempt.gate for attempt in lost} == {"V1"}
    assert all(attempt.reason for attempt in lost)


def test_a_cancelled_run_keeps_what_it_stored_and_stops() -> None:
    run = start_generation(by=person("ada"), families=[FAMILY], count=5, seed=3)
    assert run.job is not None
    held = claims.claim(run.job.pk, "somebody")
    assert held is not None
    claims.request_cancel(Job.objects.get(pk=run.job.pk))
    handle = jobs.JobHandle(
        job_id=run.job.pk,
        code=run.job.code,
        arguments={"run": run.code},
        user_id=None,
        attempt=1,
        _claim=held,
    )
    with pytest.raises(jobs.Cancelled):
        jobs.kinds()[GENERATE].function(handle)
    assert Task.objects.count() == 0


def test_levels_are_shared_out_among_those_wanted() -> None:
    run = run_of(4, difficulty=[5, 2])
    generate(run)
    levels = sorted(Task.objects.values_list("difficulty", flat=True))
    assert levels == [2, 2, 5, 5]


def test_a_run_that_is_gone_ends_its_job_quietly() -> None:
    job = jobs.run_inline(GENERATE, {"run": "GEN-0000"})
    assert (job.state, job.result) == (JobState.SUCCEEDED, None)


def test_an_impossible_run_names_every_field() -> None:
    with pytest.raises(Invalid) as caught:
        open_run(by=None, families=["x"], count=0, seed=-1, difficulty=[9])
    assert [problem.place for problem in caught.value.problems] == [
        "families",
        "count",
        "seed",
        "difficulty",
    ]


def test_a_filter_is_proven_and_judged_tasks_are_left_alone() -> None:
    draft = create_task(spec=small_spec(), by=None)
    imported = create_task(spec=imported_spec(), by=None, origin=Origin.IMPORTED)
    judged_spec = small_spec(seed=9)
    judged = create_task(spec=judged_spec, by=None, card=green_card(judged_spec))
    reject(task=judged, base=1, by=None, reason="no")
    job = jobs.run_inline(PROVE, {"filter": ""})
    draft.refresh_from_db()
    imported.refresh_from_db()
    judged.refresh_from_db()
    assert draft.state in (TaskState.PROVEN, TaskState.INVALID)
    assert (imported.state, judged.state) == (TaskState.IMPORTED, TaskState.REJECTED)
    assert imported.proof is not None
    assert imported.proof.verdict == "unproven"
    assert isinstance(job.result, dict)
    assert set(job.result) == {"proven", "invalid", "seconds"}
    assert Proof.objects.count() == 3


def test_one_task_is_proven_here_and_now() -> None:
    task = create_task(spec=small_spec(), by=None)
    proof = prove_now(task=task, by=person("ada"))
    task.refresh_from_db()
    assert task.proof == proof
    assert proof.spec_hash == task.spec_hash


def test_a_proof_after_an_edit_keeps_what_the_edit_cannot_affect() -> None:
    task = create_task(spec=small_spec(), by=None)
    prove_now(task=task, by=None)
    spec = small_spec(title="Close the ticket, once more")
    edited = save_version(task=task, base=1, spec=spec, by=None, reason="a better title")
    after = prove_now(task=edited, by=None, after_edit=True)
    whole = prove_now(task=edited, by=None)
    held = [g for g in whole.read().gates if g.state == "held" and g.id not in ("V1", "V2")]
    assert (after.kept, whole.kept) == (len(held), 0)
    untimed = [
        proof.read().model_copy(update={"milliseconds": 0.0, "gates": ()})
        for proof in (after, whole)
    ]
    assert untimed[0] == untimed[1]


def test_an_edit_of_a_task_that_was_never_proven_is_proven_whole() -> None:
    task = create_task(spec=small_spec(), by=None)
    spec = small_spec(title="Close the ticket, once more")
    edited = save_version(task=task, base=1, spec=spec, by=None, reason="a better title")
    assert prove_now(task=edited, by=None, after_edit=True).kept == 0


def import_path(path: Path) -> dict[str, Any]:
    run = open_import(by=None, source=ImportSource.JSON, name=path.name)
    job = jobs.run_inline(IMPORT, {"run": run.code, "path": str(path)}, subject=run.code)
    assert isinstance(job.result, dict)
    return job.result


def test_an_import_names_every_item_and_a_second_one_stores_nothing(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(small_written()))
    (tmp_path / "twin.json").write_text(json.dumps(small_written()))
    (tmp_path / "bad.json").write_text('{"format": "coworker-task/9"}')
    first = import_path(tmp_path)
    assert first["tiers"] == {"A": ["good.json", "twin.json"]}
    assert list(first["refused"]) == ["bad.json"]
    assert Task.objects.count() == 1
    assert list(ImportItem.objects.values_list("name", "outcome")) == [
        ("bad.json", ImportOutcome.REFUSED),
        ("good.json", ImportOutcome.CREATED),
        ("twin.json", ImportOutcome.KNOWN),
    ]
    second = import_path(tmp_path)
    assert {**second, "seconds": 0} == {**first, "seconds": 0}
    assert Task.objects.count() == 1


def test_a_source_that_is_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK\x03\x04 and no more")
    run = open_import(by=None, source=ImportSource.JSON, name="x.zip")
    with pytest.raises(JobEnded, match="damaged archive"):
        jobs.run_inline(IMPORT, {"run": run.code, "path": str(path)})
    assert not Task.objects.exists()
    assert not ImportItem.objects.exists()


def test_a_copy_that_asks_the_same_is_named_a_near_duplicate_of_the_older_one() -> None:
    older = create_task(spec=small_spec(), by=None)
    copied = duplicate(task=older, by=None)
    card = prove_now(task=copied, by=None).read()
    assert (card.nearest, card.similarity) == (older.code, 1.0)
    assert "V1" in [finding.gate for finding in card.findings]
    assert prove_now(task=older, by=None).read().similarity is None


def test_an_upload_is_kept_for_the_worker_and_imported_once() -> None:
    run = start_import(by=person("ada"), name="a.json", data=json.dumps(small_written()).encode())
    blob = Blob.objects.get()
    for _ in range(2):
        jobs.run_inline(IMPORT, {"run": run.code, "blob": blob.sha256})
    assert (Task.objects.count(), ImportItem.objects.count()) == (1, 1)


def test_an_upload_that_is_refused_as_a_whole_starts_nothing() -> None:
    with pytest.raises(Invalid, match="damaged archive"):
        start_import(by=None, name="x.zip", data=b"PK\x03\x04")
    assert not Job.objects.exists()
    assert not Blob.objects.exists()
