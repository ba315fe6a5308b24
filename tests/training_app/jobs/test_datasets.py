"""Freezing datasets: what gets in, what is dropped, the same bytes each time, and for good."""

import os
import subprocess
import sys
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import IntegrityError, connection, transaction

from rollouts_app.enums import Curation
from rollouts_app.models import Episode
from rollouts_app.operations.episodes import curate
from studio.lib.hashing import bytes_hash
from studio.web import jobs
from studio.web.choices import Role
from studio.web.errors import Conflict, FilterError, Invalid
from studio.web.jobs import JobEnded
from studio.web.models import AuditEntry, Blob
from tasks_app.core.spec import Attachment, load_spec
from tasks_app.enums import TaskState
from tasks_app.models import Task
from tests.factories.people import person
from tests.rollouts_app.conftest import rolled_out, stored
from tests.rollouts_app.specs import changed, example
from tests.training_app.library import frozen, rolled_out_library
from training_app.core import pocket
from training_app.core.demonstrations import from_reference
from training_app.core.manifest import check_manifest
from training_app.core.prompts import prompt_of, spec_of
from training_app.core.recipe import PRESETS
from training_app.core.run_dir import RunDir
from training_app.engine import data
from training_app.enums import Portion
from training_app.jobs.datasets import KIND
from training_app.models import Dataset, DatasetItem
from training_app.operations.attachments import LARGEST_IMAGE, keep_images
from training_app.operations.dataset_files import zip_file
from training_app.operations.datasets import (
    DatasetDamaged,
    Mix,
    checked_lines,
    discard,
    open_dataset,
    write_dataset,
)

pytestmark = pytest.mark.django_db

OUTSIDE = orjson.dumps(
    {
        "messages": [
            {"role": "user", "content": "What is 2 + 2?"},
            {"role": "assistant", "content": "4"},
        ]
    }
)
PICTURE = b"\x89PNG\r\n\x1a\n and what a picture holds"
MUTE = orjson.dumps({"messages": [{"role": "user", "content": "Anybody?"}]})


def lines(folder: Path, name: str) -> list[Any]:
    """The rows of a file."""
    return [orjson.loads(line) for line in (folder / name).read_bytes().splitlines()]


@pytest.fixture
def library(db: None) -> list[Task]:
    """Four pocket tasks to train on and two of held-out names, each solved twice, refused once."""
    return rolled_out_library()


def test_a_dataset_of_demonstrations_is_what_the_references_show(
    library: list[Task], tmp_path: Path
) -> None:
    dataset = frozen(rules={"duplicates": "shortest"})
    assert dataset.dropped == {"passed": 6, "duplicates": 6}
    assert (dataset.rows, dataset.split_kind) == (4, "new_instances")
    assert dataset.composition["portion"] == {"held_out": 2, "train": 4}
    assert dataset.composition["policy"] == {"reference": 6}
    body = write_dataset(dataset, tmp_path / "dataset")
    assert body == dataset.manifest == check_manifest(tmp_path / "dataset")
    assert body["rows"] == 4
    rows = lines(tmp_path / "dataset", "demonstrations.jsonl")
    assert rows == [from_reference(task.current.load()) for task in library[:4]]  # type: ignore[union-attr]
    held = lines(tmp_path / "dataset", "held_out.jsonl")
    assert held == [from_reference(task.current.load()) for task in library[4:]]  # type: ignore[union-attr]
    first = library[0]
    origin = lines(tmp_path / "dataset", "origins.jsonl")[0]
    assert origin == {
        "file": "demonstrations.jsonl",
        "line": 1,
        "episode": Episode.objects.filter(task=first, policy="reference").order_by("pk")[0].code,
        "policy": "reference",
        "reward": 1.0,
        "task": first.code,
        "version": 1,
        "spec_hash": first.spec_hash,
        "family": first.family,
        "subtype": first.subtype,
        "difficulty": first.difficulty,
    }


def test_the_engine_reads_what_is_written_and_an_outside_row_counts_by_its_weight(
    library: list[Task], tmp_path: Path
) -> None:
    mixes = [
        Mix("twice.jsonl", OUTSIDE + b"\n" + MUTE, Decimal(2), "CC0, made up"),
        Mix("rare.jsonl", b"\n".join([OUTSIDE] * 8), Decimal("0.25")),
    ]
    dataset = frozen(mixes=mixes)
    assert dataset.dropped == {"passed": 6, "duplicates": 6, "E1": 1, "weight": 6}
    assert dataset.lint == [
        {
            "gate": "E1",
            "row": "twice.jsonl:2",
            "place": "messages[0]",
            "message": "does not end with a reply",
        }
    ]
    assert [(m["source"], m["weight"], m["rows"], m["license"]) for m in dataset.mixes] == [
        ("twice.jsonl", "2", 2, "CC0, made up"),
        ("rare.jsonl", "0.25", 2, ""),
    ]
    assert dataset.composition["source"] == {"rare.jsonl": 2, "twice.jsonl": 2}
    assert dataset.rows == 8
    recipe = PRESETS["cpu-tiny-sft"]
    run = RunDir.create(tmp_path / "run", recipe)
    write_dataset(dataset, run.dataset)
    rows = data.demonstrations(run, recipe)
    assert rows == lines(run.dataset, "demonstrations.jsonl")
    assert [row["messages"][-1]["content"] for row in rows].count("4") == 4
    assert lines(run.dataset, "origins.jsonl")[4] == {
        "file": "demonstrations.jsonl",
        "line": 5,
        "source": "twice.jsonl",
        "source_line": 1,
    }


def test_prompts_are_approved_tasks_and_proven_ones_where_the_filter_says_so(
    library: list[Task], tmp_path: Path
) -> None:
    Task.objects.filter(pk__in=[library[0].pk, library[4].pk]).update(state=TaskState.APPROVED)
    approved = frozen("approved", "prompts")
    assert (approved.rows, approved.composition["portion"]) == (1, {"held_out": 1, "train": 1})
    recipe = PRESETS["cpu-tiny-grpo"]
    run = RunDir.create(tmp_path / "run", recipe)
    write_dataset(approved, run.dataset)
    spec = library[0].current.load()  # type: ignore[union-attr]
    assert data.prompts(run, recipe) == [prompt_of(spec)]
    assert [spec_of(row).hash for row in lines(run.dataset, "held_out.jsonl")] == [
        library[4].spec_hash
    ]
    Task.objects.filter(pk=library[1].pk).update(state=TaskState.DRAFT)
    proven = frozen("proven", "prompts", filter_text="state:proven,draft")
    assert (proven.rows, proven.dropped) == (2, {"state": 1})


def test_a_task_that_a_trainer_cannot_play_is_no_prompt_and_says_why() -> None:
    whole = example("payment_change_investigation")
    spec = changed(whole, tools=[t for t in whole.written()["tools"] if t != "message_user"])
    stored(spec)
    stored(pocket.tasks("train", 1, 0)[0])
    dataset = frozen("p", "prompts", filter_text="state:proven")
    assert (dataset.rows, dataset.dropped) == (1, {"not_for_rl": 1})
    assert dataset.lint == [
        {
            "gate": "E2",
            "row": Task.objects.get(slug=spec.slug).code,
            "place": "",
            "message": f"{spec.slug}: the colleague needs the tool message_user",
        }
    ]


def test_held_families_are_new_families(library: list[Task], tmp_path: Path) -> None:
    held = library[0].family
    dataset = frozen(held_families=[held])
    assert dataset.split_kind == "new_families"
    write_dataset(dataset, tmp_path)
    families = {
        portion: {
            origin["family"]
            for origin in lines(tmp_path, "origins.jsonl")
            if origin["file"] == portion
        }
        for portion in ("demonstrations.jsonl", "held_out.jsonl")
    }
    assert families["held_out.jsonl"] == {held}
    assert held not in families["demonstrations.jsonl"]
    assert dataset.dropped["held_instances"] == 1


def test_what_a_person_keeps_or_drops_counts(library: list[Task]) -> None:
    by = person("judge", Role.REVIEWER)
    idle = Episode.objects.filter(policy="refuse").order_by("pk")
    curate(episode=idle[0], curation=Curation.KEPT, by=by)
    for episode in Episode.objects.filter(policy="reference", task=library[1]):
        curate(episode=episode, curation=Curation.DROPPED, by=by)
    dataset = frozen(rules={"quote": False})
    assert dataset.dropped["dropped_by_hand"] == 2
    assert dataset.dropped["passed"] == 5
    kept = {item.episode_id for item in dataset.items.all()}
    assert idle[0].pk in kept
    assert not kept & set(Episode.objects.filter(task=library[1]).values_list("pk", flat=True))


# The same bytes


def test_the_same_selection_has_the_same_bytes_in_every_process(
    library: list[Task], tmp_path: Path
) -> None:
    one = frozen("one", mixes=[Mix("m", OUTSIDE, Decimal("1.5"))])
    two = frozen("two", mixes=[Mix("m", OUTSIDE, Decimal("1.50"))])
    assert one.manifest == two.manifest
    write_dataset(one, tmp_path / "one")
    write_dataset(two, tmp_path / "two")
    for name in one.manifest["files"]:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    # Rows and manifest do not hang on the hash seed of the process that makes them.
    code = (
        "import sys, orjson\n"
        "from training_app.core import pocket\n"
        "from training_app.core.demonstrations import from_reference\n"
        "from training_app.core.prompts import prompt_of\n"
        "for spec in pocket.tasks('train', 4, 0):\n"
        "    sys.stdout.buffer.write(orjson.dumps(from_reference(spec)) + b'\\n')\n"
        "    sys.stdout.buffer.write(orjson.dumps(prompt_of(spec)) + b'\\n')\n"
    )
    digests = {
        bytes_hash(
            subprocess.run(
                [sys.executable, "-c", code],
                check=True,
                capture_output=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
        )
        for seed in ("1", "77")
    }
    rows = [from_reference(task.current.load()) for task in library[:4]]  # type: ignore[union-attr]
    prompts = [prompt_of(task.current.load()) for task in library[:4]]  # type: ignore[union-attr]
    here = b"".join(
        orjson.dumps(dict(row)) + b"\n" for pair in zip(rows, prompts, strict=True) for row in pair
    )
    assert digests == {bytes_hash(here)}
    assert here.startswith((tmp_path / "one" / "demonstrations.jsonl").read_bytes().split(b"\n")[0])


def test_a_second_run_of_the_job_changes_nothing(library: list[Task]) -> None:
    dataset = frozen()
    again = jobs.run_inline(KIND, {"dataset": dataset.code}, subject=dataset.code)
    assert again.result == {
        "dataset": dataset.code,
        "rows": 4,
        "dropped": dataset.dropped,
        "sha256": dataset.sha256,
    }


def test_an_attempt_that_died_half_way_leaves_no_row_behind(library: list[Task]) -> None:
    dataset = open_dataset(kind="demonstrations", name="d", by=None)
    DatasetItem.objects.create(dataset=dataset, position=0, row=b"half of something")
    jobs.run_inline(KIND, {"dataset": dataset.code})
    dataset.refresh_from_db()
    assert (dataset.rows, dataset.items.count()) == (4, 6)


# For good


def refused(statement: str, *values: Any) -> str:
    """What the database says to a statement."""
    with (
        pytest.raises(IntegrityError) as caught,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)
    return str(caught.value)


def test_a_frozen_dataset_is_refused_every_change_by_operations_and_by_the_database(
    library: list[Task],
) -> None:
    dataset = frozen()
    item = dataset.items.first()
    assert item is not None
    for statement, key in (
        ("UPDATE training_app_dataset SET rows = 7 WHERE id = %s", dataset.pk),
        ("UPDATE training_app_dataset SET name = 'x' WHERE id = %s", dataset.pk),
        ("UPDATE training_app_dataset SET frozen_at = NULL WHERE id = %s", dataset.pk),
        ("DELETE FROM training_app_dataset WHERE id = %s", dataset.pk),
        ("UPDATE training_app_datasetitem SET row = 'x' WHERE id = %s", item.pk),
        ("UPDATE training_app_datasetitem SET portion = 'held_out' WHERE id = %s", item.pk),
        ("DELETE FROM training_app_datasetitem WHERE id = %s", item.pk),
    ):
        assert "a frozen dataset never changes" in refused(statement, key)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        DatasetItem.objects.create(dataset=dataset, position=99, row=b"late")
    with pytest.raises(Conflict, match="it stays"):
        discard(dataset=dataset, by=person("lead", Role.LEAD))
    assert dataset.items.count() == 6


def test_a_dataset_outlives_the_episodes_it_was_made_from(
    library: list[Task], tmp_path: Path
) -> None:
    dataset = frozen()
    Episode.objects.all().delete()
    assert set(dataset.items.values_list("episode", flat=True)) == {None}
    assert write_dataset(dataset, tmp_path)["sha256"] == dataset.sha256


def test_a_damaged_row_fails_the_export_loudly(library: list[Task], tmp_path: Path) -> None:
    dataset = frozen()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE training_app_datasetitem DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE training_app_datasetitem SET copies = 0 WHERE dataset_id = %s AND position = 3",
            [dataset.pk],
        )
        cursor.execute("ALTER TABLE training_app_datasetitem ENABLE TRIGGER USER")
    with pytest.raises(DatasetDamaged, match=r"jsonl is not what was frozen"):
        write_dataset(dataset, tmp_path)
    got: list[bytes] = []
    with pytest.raises(DatasetDamaged):
        got.extend(checked_lines(dataset, Portion.TRAIN))
    assert not got or len(got) < 4


def test_a_folder_with_other_files_is_refused(library: list[Task], tmp_path: Path) -> None:
    dataset = frozen()
    (tmp_path / "prompts.jsonl").write_text("{}\n")
    with pytest.raises(DatasetDamaged, match=r"other files too: prompts\.jsonl"):
        write_dataset(dataset, tmp_path)


def test_nothing_is_written_before_it_is_frozen(library: list[Task], tmp_path: Path) -> None:
    dataset = open_dataset(kind="demonstrations", name="d", by=None)
    with pytest.raises(Conflict, match="not frozen yet"):
        write_dataset(dataset, tmp_path)


# What cannot be


def wrong(**asked: Any) -> list[tuple[str, str]]:
    """Place and message of all problems of an opening."""
    with pytest.raises(Invalid) as caught:
        open_dataset(**{"kind": "demonstrations", "name": "n", "by": None, **asked})
    assert not Dataset.objects.exists()
    return [(problem.place, problem.message) for problem in caught.value.problems]


def test_wrong_openings_name_every_place(library: list[Task]) -> None:
    assert wrong(kind="pictures") == [("kind", "“pictures” is no kind")]
    assert wrong(name="  ", filter_text="family:pocket_refund_or_decline turns:>=90") == [
        ("name", "a name has 1 to 80 characters in one line"),
        ("filter", "no episode matches"),
    ]
    assert wrong(rules={"pased": True}, held_families=["none"]) == [
        ("held_families", "there is no family “none”"),
        ("rules.pased", "there is no such rule"),
    ]
    assert wrong(kind="prompts", rules={"passed": True}, filter_text="state:proven") == [
        ("rules", "prompts are tasks: nothing is curated or mixed in")
    ]
    assert wrong(kind="prompts") == [("filter", "no task matches")]
    with pytest.raises(FilterError):
        open_dataset(kind="demonstrations", name="n", by=None, filter_text="colour:red")


def test_wrong_files_from_outside_name_line_and_place(library: list[Task]) -> None:
    broken = OUTSIDE + b'\n{"messages": [{"role": "user", "content": 7}]}'
    assert wrong(
        mixes=[
            Mix("a.jsonl", broken, Decimal(1)),
            Mix("b.jsonl", b"\n", Decimal(0)),
            Mix("b.jsonl", OUTSIDE, Decimal(101), "x" * 501),
        ]
    ) == [
        ("mix", "two files have the same name"),
        ("mix a.jsonl: line 2 at messages[0].content", "only text can be mixed in"),
        ("mix b.jsonl", "a weight is above 0 and at most 100"),
        ("mix b.jsonl", "the file holds no row"),
        ("mix b.jsonl", "a weight is above 0 and at most 100"),
        ("mix b.jsonl", "license and provenance have at most 500 characters"),
    ]


def test_rules_that_leave_nothing_fail_the_job_and_free_the_name(library: list[Task]) -> None:
    dataset = open_dataset(kind="demonstrations", name="n", by=None, filter_text="policy:refuse")
    with pytest.raises(JobEnded, match=r"No row is left to train on.*passed 6"):
        jobs.run_inline(KIND, {"dataset": dataset.code})
    dataset.refresh_from_db()
    assert dataset.frozen_at is None
    again = frozen("n")
    assert not Dataset.objects.filter(pk=dataset.pk).exists()
    assert wrong_name("n") == [("name", f"{again.code} is called “n”")]


def test_files_that_cannot_be_written_fail_the_job_with_what_mends_it(
    library: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = open_dataset(kind="demonstrations", name="n", by=None, filter_text="policy:reference")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(JobEnded, match=r"cannot be written.*\n.*No such file.*Free some space"):
        jobs.run_inline(KIND, {"dataset": dataset.code})
    dataset.refresh_from_db()
    assert dataset.frozen_at is None


def wrong_name(name: str) -> list[tuple[str, str]]:
    """The problems of a name."""
    with pytest.raises(Invalid) as caught:
        open_dataset(kind="demonstrations", name=name, by=None)
    return [(problem.place, problem.message) for problem in caught.value.problems]


def test_freezing_is_audited(library: list[Task]) -> None:
    dataset = open_dataset(kind="demonstrations", name="n", by=person("lead", Role.LEAD))
    entry = AuditEntry.objects.get(act="freeze_dataset")
    assert (entry.subject, entry.actor_name) == (dataset.code, "lead")


def test_hostile_text_in_an_episode_stays_text(library: list[Task], tmp_path: Path) -> None:
    hostile = '</script><img src=x onerror=alert(1)>\x00"\n{"messages": []}'
    row = {
        "messages": [{"role": "user", "content": hostile}, {"role": "assistant", "content": "n"}]
    }
    dataset = frozen(mixes=[Mix("<b>.jsonl", orjson.dumps(row), Decimal(1), "<i>CC0</i>")])
    write_dataset(dataset, tmp_path)
    rows = lines(tmp_path, "demonstrations.jsonl")
    assert [row["messages"][0]["content"] for row in rows][-1] == hostile


# Images


def seen_task(*pictures: bytes) -> Task:
    """A stored, rolled-out task whose request comes with pictures."""
    spec = pocket.tasks("train", 1, 0)[0]
    attached = tuple(
        Attachment(name=f"{n}.png", media_type="image/png", sha256=bytes_hash(data), size=len(data))
        for n, data in enumerate(pictures)
    )
    request = spec.request.model_copy(update={"attachments": attached})
    task = stored(load_spec(spec.model_copy(update={"request": request}).written()))
    rolled_out()
    return task


@pytest.mark.parametrize(("kind", "asked"), [("demonstrations", ""), ("prompts", "state:proven")])
def test_the_images_of_the_tasks_are_kept_by_their_hash_and_stand_where_the_engine_looks(
    db: None, tmp_path: Path, kind: str, asked: str
) -> None:
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "deeper" / "form.png").write_bytes(PICTURE)
    (tmp_path / "in" / "notes.txt").write_text("no image")
    seen_task(PICTURE)
    assert keep_images(tmp_path / "in") == 1
    dataset = frozen(kind=kind, filter_text=asked)
    name = bytes_hash(PICTURE)
    assert dataset.manifest["provenance"]["images"] == {"kept": 1, "missing": []}
    assert dataset.manifest["files"][f"attachments/{name}"]["sha256"] == name
    assert dataset.lint == []
    run = RunDir.create(tmp_path / "run", PRESETS["cpu-tiny-sft"])
    write_dataset(dataset, run.dataset)
    assert (run.dataset / "attachments" / name).read_bytes() == PICTURE
    assert check_manifest(run.dataset)["sha256"] == dataset.sha256
    with zip_file(dataset) as stream, zipfile.ZipFile(stream) as archive:
        assert archive.read(f"{dataset.code}/attachments/{name}") == PICTURE


def test_an_image_that_nobody_has_given_is_named_as_missing_and_drops_no_row(db: None) -> None:
    seen_task(PICTURE)
    dataset = frozen()
    assert dataset.rows == 1
    assert dataset.manifest["provenance"]["images"] == {
        "kept": 0,
        "missing": [bytes_hash(PICTURE)],
    }
    assert not any(name.startswith("attachments/") for name in dataset.manifest["files"])


def test_an_image_that_is_gone_from_the_store_fails_the_export_loudly(
    db: None, tmp_path: Path
) -> None:
    seen_task(PICTURE)
    Blob.put(PICTURE, "image/png")
    dataset = frozen()
    Blob.objects.all().delete()
    with pytest.raises(DatasetDamaged, match=r"attachments/.* is not what was frozen"):
        write_dataset(dataset, tmp_path / "out")


def test_tasks_without_images_give_the_dataset_that_they_always_gave(
    library: list[Task], tmp_path: Path
) -> None:
    dataset = frozen()
    assert "images" not in dataset.manifest["provenance"]
    write_dataset(dataset, tmp_path / "out")
    assert not (tmp_path / "out" / "attachments").exists()


def test_a_folder_of_images_that_are_too_large_is_refused(db: None, tmp_path: Path) -> None:
    (tmp_path / "huge.png").write_bytes(PICTURE + bytes(LARGEST_IMAGE))
    with pytest.raises(Invalid) as error:
        keep_images(tmp_path)
    assert [problem.message for problem in error.value.problems] == ["is larger than 32 MiB"]
    assert not Blob.objects.exists()
