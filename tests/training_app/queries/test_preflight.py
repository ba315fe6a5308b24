"""What is said about a run before it starts: each thing that stands in the way names its fix."""

from pathlib import Path

import pytest

from training_app.core.recipe import Recipe, preset
from training_app.models import Dataset
from training_app.queries import devices
from training_app.queries.preflight import Finding, look_ahead

pytestmark = pytest.mark.django_db


def said(recipe: Recipe, place: str, dataset: Dataset | None = None) -> Finding:
    return next(one for one in look_ahead(recipe, dataset, None) if one.place == place)


def pretrained(name: str) -> Recipe:
    return preset("cpu-tiny-sft", model={"kind": "pretrained", "name": name})


def test_a_model_in_a_folder_that_is_not_there_names_the_path(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    fix = "Correct the path of the model, or see that it is there where the run's worker is."
    assert said(pretrained(str(gone)), "Start") == (
        "warn", "Start", f"{gone} is not a folder on this machine", fix,
    )  # fmt: skip
    gone.mkdir()
    assert said(pretrained(str(gone)), "Start").words == f"{gone} holds no config.json"
    (gone / "config.json").write_text("{}")
    assert said(pretrained(str(gone)), "Start") == ("ok", "Start", str(gone), "")
    assert said(pretrained("maker/model-8b"), "Start") == ("ok", "Start", "maker/model-8b", "")


def test_a_pretrained_model_on_a_machine_without_a_gpu_says_where_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_NVIDIA", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = said(pretrained("maker/model-8b"), "Device")
    assert (found.state, found.words) == (
        "warn", "a pretrained model wants a GPU, and this machine shows none",
    )  # fmt: skip
    assert "Start a worker on a machine with one" in found.fix
    assert "no worker for training is running" in said(preset("cpu-tiny-sft"), "Device").words
    (tmp_path / "none").touch()
    assert "no worker for training is running" in said(pretrained("maker/model-8b"), "Device").words


def test_a_pretrained_model_and_an_empty_dataset_name_what_to_choose() -> None:
    assert said(pretrained("maker/model-8b"), "Dataset") == (
        "bad", "Dataset", "a pretrained model needs one", "Freeze a dataset and choose it.",
    )  # fmt: skip
    empty = Dataset(code="DS-0000", kind="demonstrations", frozen_at="2026-01-01", rows=0)
    assert said(preset("cpu-tiny-sft"), "Dataset", empty) == (
        "bad", "Dataset", "DS-0000 has no rows", "Choose another.",
    )  # fmt: skip
