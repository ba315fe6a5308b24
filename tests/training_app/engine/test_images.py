"""Tasks that come with an image: a small Qwen3-VL is taught and takes a step of RL on one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLVisionModel  # noqa: E402

from studio.lib.hashing import bytes_hash  # noqa: E402 (after the skip)
from tests.training_app.engine.marks import ENGINE  # noqa: E402
from tests.training_app.engine.seeing import (  # noqa: E402
    attach,
    png,
    save_model,
    task_with_image,
)
from tests.training_app.engine.small import NOTHING  # noqa: E402
from training_app.core.demonstrations import from_reference  # noqa: E402
from training_app.core.prompts import prompt_of  # noqa: E402
from training_app.core.recipe import Recipe, load_recipe  # noqa: E402
from training_app.core.run_dir import RunDir  # noqa: E402
from training_app.engine.__main__ import main  # noqa: E402
from training_app.engine.data import DataError  # noqa: E402
from training_app.engine.images import Collator, read  # noqa: E402
from training_app.engine.models import load_folder  # noqa: E402

pytestmark = [*ENGINE, pytest.mark.slow]
RED = png("red")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("seeing"))


@pytest.fixture
def looks() -> Iterator[list[int]]:
    """How many patches the model looked at, each time that it looked."""
    seen: list[int] = []

    def note(module: Any, arguments: Any, output: Any) -> None:
        if isinstance(module, Qwen3VLVisionModel):
            seen.append(len(arguments[0]))

    handle = torch.nn.modules.module.register_module_forward_hook(note)
    yield seen
    handle.remove()


def recipe(model: Path, algorithm: str, **changes: Any) -> Recipe:
    return load_recipe(
        {
            "algorithm": algorithm,
            "model": {"kind": "pretrained", "name": str(model)},
            "steps": 2,
            "batch": 2,
            "save_every": 2,
            "warmup": 0,
            "measure": NOTHING,
            **changes,
        }
    )


def lines(*rows: Any) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def test_a_demonstration_names_the_images_of_its_task() -> None:
    row = from_reference(task_with_image(RED))
    assert row.get("images") == [bytes_hash(RED)]
    assert "- form.png (image/png)" in row["messages"][1]["content"]


def test_what_is_learnt_are_the_assistants_tokens_and_they_depend_on_the_image(
    model: Path,
) -> None:
    loaded = load_folder(recipe(model, "sft").model)
    assert loaded.processor is not None
    row = from_reference(task_with_image(RED))
    collate = Collator(loaded.processor)
    losses: list[float] = []
    for colour in ("red", "blue"):
        run = RunDir(model / colour)
        run.dataset.mkdir(parents=True)
        attach(run, png(colour))
        images = read(run, [bytes_hash(png(colour))])
        one = {"messages": orjson.dumps(row["messages"]), "tools": row["tools"], "images": images}
        batch = collate([one, one])
        losses.append(loaded.model(**batch).loss.item())
    learnt = batch["labels"][0] != -100
    text = loaded.tokenizer.decode(batch["input_ids"][0][learnt])
    assert text.startswith("<tool_call>")
    assert text.rstrip().endswith("<|im_end|>")
    assert "<|image_pad|>" not in text
    shown = loaded.tokenizer.decode(batch["input_ids"][0])
    assert '"name": "orders_search_orders", "description"' in shown
    assert shown.index("<|image_pad|>") < shown.index("Attached:")
    assert losses[0] != losses[1]


def test_sft_on_a_task_with_an_image(model: Path, tmp_path: Path, looks: list[int]) -> None:
    run = RunDir.create(tmp_path / "run", recipe(model, "sft"))
    row = from_reference(task_with_image(RED))
    (run.dataset / "demonstrations.jsonl").write_bytes(lines(row, row))
    attach(run, RED)
    assert main([str(run.path)]) == 0
    assert [row.step for row in run.read().rows] == [1, 2]
    assert all(row.values["grad_norm"] > 0 for row in run.read().rows)
    assert len(looks) == 2
    assert load_folder(recipe(run.checkpoint_path(2), "sft").model).processor is not None


def test_rl_on_a_task_with_an_image(model: Path, tmp_path: Path, looks: list[int]) -> None:
    play = {"group": 2, "steps_per_generation": 1, "longest": 24}
    run = RunDir.create(
        tmp_path / "run", recipe(model, "grpo", steps=1, save_every=1, rollouts=play)
    )
    (run.dataset / "prompts.jsonl").write_bytes(lines(prompt_of(task_with_image(RED))))
    attach(run, RED)
    assert main([str(run.path)]) == 0
    (row,) = run.read().rows
    assert {"reward", "loss", "entropy", "truncated"} <= set(row.values)
    samples = run.read_samples(1)
    assert len(samples) == 2
    assert all(isinstance(one["messages"][0]["content"], str) for one in samples)
    assert looks
    assert set(looks) == {2 * 16}  # both rollouts' images, while writing and while learning


def test_an_image_that_is_missing_or_another_is_named_with_what_to_do(
    model: Path, tmp_path: Path
) -> None:
    run = RunDir.create(tmp_path / "run", recipe(model, "sft"))
    name = bytes_hash(RED)
    with pytest.raises(DataError, match=f"{name}: no such image; put its bytes at"):
        read(run, [name])
    with pytest.raises(DataError, match="no such image"):
        read(run, ["../../recipe.json"])
    attach(run, RED)
    (run.dataset / "attachments" / name).write_bytes(png("blue"))
    with pytest.raises(DataError, match="other bytes than its name says"):
        read(run, [name])
    attach(run, b"no image")
    with pytest.raises(DataError, match="no image that can be read; use PNG or JPEG"):
        read(run, [bytes_hash(b"no image")])
