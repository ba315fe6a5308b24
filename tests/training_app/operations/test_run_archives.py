"""Runs leave as folder or zip and come home; what is hostile about an archive is refused."""

import io
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings

from studio.lib.hashing import bytes_hash
from studio.web.choices import JobState
from studio.web.errors import Conflict, Invalid
from studio.web.models import AuditEntry
from tests.factories import engine_stub
from tests.training_app.conftest import opened
from training_app.core.recipe import PRESETS
from training_app.core.run_dir import Metrics, RunDir, Status
from training_app.models import Checkpoint, MetricRow, TrainingRun
from training_app.operations.absorbing import absorb
from training_app.operations.run_archives import adopt_run, export_run, refresh_adopted
from training_app.operations.runs import open_run, settle_run
from training_app.queries.runs import run_dir, runs_folder, samples_at

pytestmark = pytest.mark.django_db


def line(step: int) -> Metrics:
    return Metrics(step, step * 4, step * 0.5, {"loss": 1 / step})


def elsewhere(folder: Path, steps: int = 3) -> RunDir:
    """A run directory that grew on another machine."""
    recipe = PRESETS["cpu-tiny-sft"].model_copy(update={"steps": 6, "save_every": 2})
    directory = RunDir.create(folder, recipe)
    for step in range(1, steps + 1):
        directory.append(line(step))
    directory.write_samples(2, [{"spec_hash": "0" * 64, "messages": []}])
    (directory.checkpoint_path(2)).mkdir()
    (directory.checkpoint_path(2) / "config.json").write_text("{}")
    directory.seal(2, {})
    directory.write_status(Status("running", steps, 6, 4711, 1_900_000_000.0))
    return directory


def zipped(place: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return place


RECIPE = orjson.dumps(PRESETS["cpu-tiny-sft"].model_dump(mode="json"))


def steps(run: TrainingRun) -> list[int]:
    return list(MetricRow.objects.filter(run=run).values_list("step", flat=True))


# Leaving


@pytest.mark.parametrize("name", ["away", "away.zip"])
def test_an_exported_run_runs_without_the_studio_and_comes_home(
    studio: Path, tmp_path: Path, name: str
) -> None:
    run = opened()
    made = export_run(run=run, path=tmp_path / name)
    folder = tmp_path / name
    if name.endswith(".zip"):
        folder = tmp_path / "unpacked"
        with zipfile.ZipFile(tmp_path / name) as archive:
            archive.extractall(folder)
    names = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert names == {"recipe.json", "README.txt", "export.json"}
    assert (made.files, len(made.sha256)) == (3, 64)
    done = subprocess.run(
        [sys.executable, str(engine_stub.__file__), "."],
        cwd=folder,
        env={"PYTHONPATH": str(settings.BASE_DIR), "PATH": ""},
        check=False,
    )
    assert done.returncode == 0
    home = adopt_run(path=folder, by=None).run
    assert (home.adopted, home.state, home.path) == (True, JobState.SUCCEEDED, str(folder))
    assert steps(home) == [1, 2, 3, 4, 5, 6]
    assert home.recipe_hash == run.recipe_hash


def test_the_start_and_what_was_recorded_go_along(studio: Path, tmp_path: Path) -> None:
    first = opened()
    directory = run_dir(first)
    folder = directory.checkpoint_path(2)
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "optimizer.pt", "trainer_state.json"):
        (folder / name).write_text(name)
    directory.seal(2, {})
    directory.append(line(1))
    absorb(run=first)
    run = open_run(
        preset="cpu-tiny-sft", changes={"steps": 6}, parent=Checkpoint.objects.get(), by=None
    )
    export_run(run=run, path=tmp_path / "away")
    assert sorted(file.name for file in (tmp_path / "away" / "start").iterdir()) == [
        "checkpoint.json",
        "config.json",
        "model.safetensors",
    ]
    assert RunDir(tmp_path / "away").recipe().model.init == "start"
    settle_run(run=first, state=JobState.STOPPED)
    export_run(run=first, path=tmp_path / "over")
    assert (tmp_path / "over" / "checkpoints" / "step-000002" / "optimizer.pt").is_file()
    assert RunDir(tmp_path / "over").read().rows == (line(1),)
    shutil.rmtree(folder)
    with pytest.raises(Invalid) as error:
        export_run(run=run, path=tmp_path / "again")
    assert "the checkpoint it starts from is gone" in error.value.problems[0].message
    assert not (tmp_path / "again").exists()


def test_an_export_overwrites_no_folder_and_leaves_no_half(studio: Path, tmp_path: Path) -> None:
    run = opened()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(Invalid, match="is there already"):
        export_run(run=run, path=tmp_path / "mine")
    with pytest.raises(Invalid, match="cannot be written"):
        export_run(run=run, path=tmp_path / "mine" / "thesis.txt" / "run.zip")
    assert [file.name for file in tmp_path.rglob("*.partial")] == []


def test_an_export_overwrites_no_zip(studio: Path, tmp_path: Path) -> None:
    run = opened()
    place = tmp_path / "thesis.zip"
    place.write_bytes(b"years of work")
    with pytest.raises(Invalid, match="is there already") as error:
        export_run(run=run, path=place)
    assert [problem.words for problem in error.value.problems] == [
        "is a file, which stays as it is. Choose another name."
    ]
    assert place.read_bytes() == b"years of work"


# Coming home


def test_a_folder_is_read_where_it_lies_and_read_on_while_it_grows(
    studio: Path, tmp_path: Path
) -> None:
    directory = elsewhere(tmp_path / "cluster")
    first = adopt_run(path=directory.path, by=None)
    run = first.run
    assert (run.state, run.step, run.seed, run.algorithm) == (JobState.RUNNING, 3, 0, "sft")
    assert (steps(run), Checkpoint.objects.get(run=run).step) == ([1, 2, 3], 2)
    assert samples_at(run, 2) == [{"spec_hash": "0" * 64, "messages": []}]
    again = adopt_run(path=directory.path, by=None)
    assert (again.run.pk, again.files, again.sha256) == (run.pk, first.files, first.sha256)
    directory.append(line(4))
    assert refresh_adopted() == 1
    assert refresh_adopted() == 0
    directory.append(line(5))
    assert adopt_run(path=directory.path, by=None).run.step == 5
    assert TrainingRun.objects.count() == AuditEntry.objects.filter(act="adopt_run").count() == 1


def test_a_zip_is_unpacked_and_a_later_one_takes_its_place(studio: Path, tmp_path: Path) -> None:
    directory = elsewhere(tmp_path / "cluster" / "mine")
    (directory.path / "secrets.env").write_text("TOKEN=made-up")
    packed = tmp_path / "run.zip"

    def pack() -> Path:
        packed.unlink(missing_ok=True)
        return Path(shutil.make_archive(str(packed.with_suffix("")), "zip", tmp_path / "cluster"))

    run = adopt_run(path=pack(), by=None).run
    assert run.path == run.code
    assert (steps(run), Checkpoint.objects.get(run=run).step) == ([1, 2, 3], 2)
    assert not (run_dir(run).path / "secrets.env").exists()
    directory.append(line(4))
    assert adopt_run(path=pack(), by=None).run.pk == run.pk
    assert steps(run) == [1, 2, 3, 4]
    assert [entry.name for entry in runs_folder().iterdir()] == [run.code]


def trained_elsewhere(studio: Path, tmp_path: Path) -> Path:
    """A run on a dataset that was exported and ran to its end on another machine."""
    away = tmp_path / "away"
    export_run(run=opened(), path=away)
    (away / "dataset" / "prompts.jsonl").write_bytes(b"{}\n")
    described = orjson.loads((away / "export.json").read_bytes())
    described["files"]["dataset/prompts.jsonl"] = bytes_hash(b"{}\n")
    (away / "export.json").write_bytes(orjson.dumps(described))
    directory = RunDir(away)
    for step in range(1, 7):
        directory.append(line(step))
    directory.write_status(Status("succeeded", 6, 6, 4711, 1_900_000_000.0))
    return away


def _shorter(away: Path) -> None:
    RunDir(away).cut_back(4)


def _other_data(away: Path) -> None:
    (away / "dataset" / "prompts.jsonl").write_bytes(b"{ }\n")


def _no_data(away: Path) -> None:
    (away / "dataset" / "prompts.jsonl").unlink()


def _other_recipe(away: Path) -> None:
    recipe = PRESETS["cpu-tiny-grpo"].model_dump(mode="json")
    (away / "recipe.json").write_bytes(orjson.dumps(recipe))


@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
@pytest.mark.parametrize(
    ("spoil", "place", "message"),
    [
        (_shorter, "metrics.jsonl", "ends at step 4, {run} at step 6"),
        (_other_data, "dataset/prompts.jsonl", "is not what was exported: its hash differs"),
        (_no_data, "dataset/prompts.jsonl", "is missing"),
        (_other_recipe, "recipe.json", "is another recipe than that of {run}"),
    ],
)
def test_a_damaged_copy_does_not_take_the_place_of_an_adopted_run(
    studio: Path,
    tmp_path: Path,
    spoil: Callable[[Path], None],
    place: str,
    message: str,
    packed: bool,
) -> None:
    away = trained_elsewhere(studio, tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(away, copy)
    run = adopt_run(path=away, by=None).run
    spoil(copy)
    if packed:
        copy = Path(shutil.make_archive(str(copy), "zip", copy))
    with pytest.raises(Invalid, match=f"has the export id of {run.code}.*stays as it is") as error:
        adopt_run(path=copy, by=None)
    assert [(p.place, p.message) for p in error.value.problems] == [
        (place, message.format(run=run.code))
    ]
    run.refresh_from_db()
    assert (run.path, run.state, steps(run)) == (
        str(away),
        JobState.SUCCEEDED,
        [1, 2, 3, 4, 5, 6],
    )


def test_a_damaged_copy_of_a_run_that_nobody_knows_is_not_adopted_either(
    studio: Path, tmp_path: Path
) -> None:
    away = trained_elsewhere(studio, tmp_path)
    _other_data(away)
    with pytest.raises(Invalid, match="This copy of a run is damaged"):
        adopt_run(path=away, by=None)
    assert TrainingRun.objects.filter(adopted=True).count() == 0


def test_a_zip_of_an_adopted_folder_is_the_same_run_and_leaves_the_folder_alone(
    studio: Path, tmp_path: Path
) -> None:
    away = trained_elsewhere(studio, tmp_path)
    run = adopt_run(path=away, by=None).run
    packed = Path(shutil.make_archive(str(tmp_path / "copy"), "zip", away))
    (away / "thesis.txt").write_text("years of work")
    again = adopt_run(path=packed, by=None).run
    assert (again.pk, again.path, steps(again)) == (run.pk, run.code, [1, 2, 3, 4, 5, 6])
    assert (away / "thesis.txt").read_text() == "years of work"


def test_a_run_of_this_studio_is_not_adopted(studio: Path) -> None:
    run = opened()
    with pytest.raises(Conflict, match=f"is {run.code} of this studio already"):
        adopt_run(path=run_dir(run).path, by=None)


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (None, "has no recipe.json"),
        (b"{", "is not JSON"),
        (b"[]", "holds no object"),
        (b'{"algorithm": "magic"}', "algorithm"),
    ],
)
def test_a_folder_without_a_usable_recipe_is_refused(
    studio: Path, tmp_path: Path, recipe: bytes | None, message: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if recipe is not None:
        (folder / "recipe.json").write_bytes(recipe)
    with pytest.raises(Invalid) as error:
        adopt_run(path=folder, by=None)
    assert message in error.value.problems[0].message
    assert not TrainingRun.objects.exists()


def test_a_link_that_leads_out_of_a_folder_is_refused(studio: Path, tmp_path: Path) -> None:
    directory = elsewhere(tmp_path / "cluster")
    (tmp_path / "outside.txt").write_text("not yours")
    (directory.path / "log.txt").symlink_to(tmp_path / "outside.txt")
    with pytest.raises(Invalid) as error:
        adopt_run(path=directory.path, by=None)
    assert [(p.place, p.message) for p in error.value.problems] == [
        ("log.txt", "is a link that leads out of the folder")
    ]


def test_what_is_no_file_where_one_belongs_is_refused(studio: Path, tmp_path: Path) -> None:
    directory = elsewhere(tmp_path / "cluster")
    directory.metrics_file.unlink()
    os.mkfifo(directory.metrics_file)
    with pytest.raises(Invalid) as error:
        adopt_run(path=directory.path, by=None)
    assert [(p.place, p.message) for p in error.value.problems] == [("metrics.jsonl", "is no file")]
    directory.metrics_file.unlink()
    directory.metrics_file.mkdir()
    with pytest.raises(Invalid) as error:
        adopt_run(path=directory.path, by=None)
    assert [(p.place, p.message) for p in error.value.problems] == [
        ("metrics.jsonl", "is a folder where a file belongs")
    ]
    assert not TrainingRun.objects.exists()


def test_a_place_whose_name_is_no_text_is_refused(studio: Path, tmp_path: Path) -> None:
    folder = elsewhere(tmp_path / os.fsdecode(b"\xff")).path
    with pytest.raises(Invalid) as error:
        adopt_run(path=folder, by=None)
    assert [(p.place, p.hint) for p in error.value.problems] == [("path", "Rename it.")]
    assert not TrainingRun.objects.exists()


@pytest.mark.parametrize(
    ("names", "place"),
    [
        (("samples/x", "samples/x/y"), "samples/x"),
        (("metrics.jsonl/x",), "metrics.jsonl"),
    ],
)
def test_a_zip_with_a_folder_where_a_file_belongs_is_refused(
    studio: Path, tmp_path: Path, names: tuple[str, ...], place: str
) -> None:
    packed = zipped(tmp_path / "run.zip", {"recipe.json": RECIPE, **dict.fromkeys(names, b"")})
    with pytest.raises(Invalid) as error:
        adopt_run(path=packed, by=None)
    assert [(p.place, p.message) for p in error.value.problems] == [
        (place, "is a folder where a file belongs")
    ]
    assert not TrainingRun.objects.exists()


def _link() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("recipe.json", RECIPE)
        info = zipfile.ZipInfo("log.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/hostname")
    return stream.getvalue()


def _with(name: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("recipe.json", RECIPE)
        archive.writestr(name, b"hello")
    return stream.getvalue()


def _cut() -> bytes:
    whole = bytearray(_with("log.txt"))
    at = whole.find(b"hello")
    whole[at : at + 5] = b"hallo"
    return bytes(whole)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (_with("../escaped.txt"), "../escaped.txt"),
        (_with("samples/../../escaped.txt"), "samples/../../escaped.txt"),
        (_with("/escaped.txt"), "/escaped.txt"),
        (_with("samples\\..\\..\\escaped.txt"), "samples"),
        (_with("samples/" + "x" * 300), "samples/xxx"),
        (_link(), "log.txt"),
        (_cut(), "path"),
        (b"PK no zip at all", "path"),
        (b"", "path"),
    ],
)
def test_a_hostile_zip_is_refused_and_leaves_nothing(
    studio: Path, tmp_path: Path, content: bytes, place: str
) -> None:
    (tmp_path / "run.zip").write_bytes(content)
    with pytest.raises(Invalid) as error:
        adopt_run(path=tmp_path / "run.zip", by=None)
    assert error.value.problems[0].place.startswith(place)
    assert not TrainingRun.objects.exists()
    assert list(runs_folder().iterdir()) == []
    assert [file.name for file in tmp_path.rglob("escaped.txt")] == []


def test_a_zip_that_claims_to_be_larger_than_the_limit_is_refused(
    studio: Path, tmp_path: Path
) -> None:
    files = {f"samples/{number}": b"x" for number in range(20)}
    place = zipped(tmp_path / "run.zip", {"recipe.json": RECIPE, **files})
    claimed = (0xFFFF_FFF0).to_bytes(4, "little")  # almost 4 GB for each
    entries = place.read_bytes().split(b"PK\x01\x02")
    for number in range(2, len(entries)):
        entries[number] = entries[number][:20] + claimed + entries[number][24:]
    place.write_bytes(b"PK\x01\x02".join(entries))
    with pytest.raises(Invalid) as error:
        adopt_run(path=place, by=None)
    assert error.value.problems[0].message == "more than 64 GB"
    assert list(runs_folder().iterdir()) == []


def test_a_zip_that_swells_a_thousandfold_is_refused_before_it_is_unpacked(
    studio: Path, tmp_path: Path
) -> None:
    place = tmp_path / "bomb.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("recipe.json", RECIPE)
        with archive.open("log.txt", "w") as stream:
            for _ in range(300):
                stream.write(bytes(1 << 20))
    with pytest.raises(Invalid) as error:
        adopt_run(path=place, by=None)
    (problem,) = error.value.problems
    assert problem.place == "path"
    assert problem.message.endswith("more than 100 times its size, as no run is")
    assert problem.message.startswith("315 MB out of 0.3:")
    assert list(runs_folder().iterdir()) == []


def test_a_zip_whose_file_is_longer_than_it_says_is_refused(studio: Path, tmp_path: Path) -> None:
    place = zipped(tmp_path / "run.zip", {"recipe.json": RECIPE, "log.txt": b"hello" * 1000})
    content = place.read_bytes()
    place.write_bytes(content.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little")))
    with pytest.raises(Invalid) as error:
        adopt_run(path=place, by=None)
    assert error.value.problems[0].place in ("path", "log.txt")
    assert list(runs_folder().iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metrics.jsonl", b"{}\n[]\nnull\n" + b'{"step": 1e400, "samples": 1, "seconds": 1}\n'),
        ("status.json", b'{"state": "succeeded", "step": -4, "heartbeat": {}}'),
        ("result.json", b'{"after": "\\u0000", "deep": ' + b"[" * 40 + b"]" * 40 + b"}"),
        ("checkpoints/step-000002/checkpoint.json", b'{"step": "two", "bytes": -1}'),
        ("checkpoints/step-000002/checkpoint.json", b'{"step": 3, "evaluation": []}'),
    ],
)
def test_odd_contents_of_a_foreign_run_are_read_as_far_as_they_make_sense(
    studio: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    place = zipped(tmp_path / "run.zip", {"recipe.json": RECIPE, name: content})
    run = adopt_run(path=place, by=None).run
    assert (run.adopted, steps(run), Checkpoint.objects.count()) == (True, [], 0)


def test_the_hash_tells_what_was_taken_in(studio: Path, tmp_path: Path) -> None:
    made: list[Any] = []
    for number in (1, 2):
        place = zipped(
            tmp_path / f"{number}.zip", {"recipe.json": RECIPE, "dataset/x": b"%d" % number}
        )
        made.append(adopt_run(path=place, by=None))
    assert (made[0].files, made[1].files) == (2, 2)
    assert made[0].sha256 != made[1].sha256
