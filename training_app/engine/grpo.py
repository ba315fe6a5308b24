"""RL on TRL: GRPO, Dr. GRPO, GDPO and GiGPO on our environments, one trainer, four settings."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from training_app.core.images import images_of
from training_app.core.prompts import Prompt, spec_of, toolsets
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir
from training_app.engine import data, images, models, processes
from training_app.engine.callbacks import RunCallback
from training_app.engine.environments import environment_class
from training_app.engine.evaluate import after, measure
from training_app.engine.gigpo import GiGPOTrainer
from training_app.engine.play import taught_limit
from training_app.engine.rewards import Rewards
from training_app.engine.sft import bf16_on_cpu
from training_app.engine.stages import Told, untold

log = logging.getLogger(__name__)
SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "grpo": {"loss_type": "grpo", "scale_rewards": "group"},
    "dr_grpo": {"loss_type": "dr_grpo", "scale_rewards": "none"},
    "gdpo": {
        "loss_type": "grpo",
        "scale_rewards": "group",
        "multi_objective_aggregation": "normalize_then_sum",
    },
    "gigpo": {"loss_type": "grpo", "scale_rewards": "group"},
}
"""Algorithm → what TRL has to be told; its own default is another loss (dapo)."""


def train(
    run: RunDir,
    recipe: Recipe,
    start: models.Loaded,
    *,
    resume: Path | None = None,
    told: Told = untold,
) -> dict[str, Any]:
    """Train by RL and return what the run came to.

    Args:
        run: Its directory.
        recipe: Its recipe.
        start: The model to start from; a resumed run takes its weights from the checkpoint.
        resume: The checkpoint to go on from.
        told: Hears what is done besides the steps.
    """
    told(data.stage(run), 0, 0)
    rows = processes.one_by_one(lambda: data.prompts(run, recipe))
    model, tokenizer = start.model, start.tokenizer
    fresh = data.held_out(recipe, final=True)
    result: dict[str, Any] = {
        "base_seconds": round(start.base_seconds, 1),
        "split_kind": "new_instances",
        "flat_loss": recipe.flat_loss,
    }
    if fresh and resume is None and processes.is_first():
        result["before"], _ = measure(
            model, tokenizer, fresh, seed=recipe.seed, told=told, stage="measuring before:"
        )
        log.info("before: %s", result["before"])
    rewards = Rewards([tokenizer.eos_token_id, tokenizer.pad_token_id])
    callback = RunCallback(run, recipe, samples=rewards.samples)
    trainer = make_trainer(run, recipe, start, rows, rewards, callback)
    trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    result["steps"] = trainer.state.global_step
    result["cancelled"] = callback.cancelled
    curve = [row.values["reward"] for row in run.read().rows if "reward" in row.values]
    if curve:
        fifth = max(1, len(curve) // 5)
        result["reward_first_fifth"] = sum(curve[:fifth]) / fifth
        result["reward_last_fifth"] = sum(curve[-fifth:]) / fifth
    if fresh and not callback.cancelled and processes.is_first():
        result.update(after(run, recipe, model, tokenizer, trainer.state.global_step, told))
        log.info("after: %s", result["after"])
    return result


def make_trainer(
    run: RunDir,
    recipe: Recipe,
    start: models.Loaded,
    rows: Sequence[Prompt],
    rewards: Rewards,
    *callbacks: RunCallback,
) -> GRPOTrainer:
    """Make the trainer of a recipe."""
    offered = toolsets(rows)
    functions = rewards.by_component() if recipe.algorithm == "gdpo" else rewards.total()
    dataset = Dataset.from_list(
        [
            {
                "prompt": row["prompt"],
                "environment": row["toolset"],
                "spec": row["spec"],
                "spec_hash": row["spec_hash"],
                "group": row["group"],
            }
            for row in rows
        ]
    ).select(order_of(recipe, len(rows)))
    if start.processor is not None:
        dataset = _with_images(run, dataset)
    common: dict[str, Any] = {
        "model": start.model,
        "processing_class": start.processor or start.tokenizer,
        "reward_funcs": functions,
        "train_dataset": dataset,
        "args": _arguments(run, recipe, taught_limit(start.model)),
        "callbacks": list(callbacks),
        "environment_factory": {
            key: environment_class(key, tools) for key, tools in offered.items()
        },
    }
    with warnings.catch_warnings():
        # environments are experimental in TRL; the version is pinned and the hooks are tested
        warnings.filterwarnings("ignore", message=".*environment_factory.*")
        trainer = (
            GiGPOTrainer(**common, rewards=rewards, settings=recipe.rollouts)
            if recipe.algorithm == "gigpo"
            else GRPOTrainer(**common)
        )
    # the model is shown the very declarations it was taught with, not ones made from docstrings
    trainer._env_tools = {key: list(tools) for key, tools in offered.items()}
    trainer.remove_callback(PrinterCallback)  # metrics have their own file
    return trainer


def _with_images(run: RunDir, dataset: Dataset) -> Dataset:
    """Add the images of each task; they are checked now and read when they are seen."""
    for row in dataset:
        images.read(run, images_of(spec_of(row)))

    def opened(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        specs = [
            spec_of({"spec": spec, "spec_hash": known})
            for spec, known in zip(batch["spec"], batch["spec_hash"], strict=True)
        ]
        return {**batch, "images": [images.read(run, images_of(spec)) for spec in specs]}

    return dataset.with_transform(opened)


def order_of(recipe: Recipe, rows: int) -> list[int]:
    """Which prompts are rolled out, generation by generation, to the end of the run.

    Every pass has an order of its own. The trainer's own sampler forgets where it was: a run that
    was resumed after its first pass went through the prompts in the order of the first again.
    """
    play = recipe.rollouts
    prompts = recipe.batch * play.steps_per_generation // play.group
    wanted = prompts * -(-recipe.steps // recipe.boundary)
    drawn = torch.Generator().manual_seed(recipe.seed)
    order: list[int] = []
    while len(order) < wanted:
        made = torch.randperm(rows, generator=drawn).tolist()
        # a generation has no prompt twice, unless there are fewer than it takes
        order += made[: rows - rows % prompts] if rows >= prompts else made
    return order[:wanted]


def _arguments(run: RunDir, recipe: Recipe, turn: int | None = None) -> GRPOConfig:
    gpu = torch.cuda.is_available()
    play = recipe.rollouts
    return GRPOConfig(
        output_dir=str(run.path / "trainer"),
        per_device_train_batch_size=recipe.together,
        gradient_accumulation_steps=recipe.accumulation,
        num_generations=play.group,
        # TRL counts passes, not optimizer steps
        steps_per_generation=play.steps_per_generation * recipe.accumulation,
        num_iterations=play.iterations,
        max_completion_length=play.longest,
        max_tool_calling_iterations=play.tool_rounds,
        temperature=play.temperature,
        top_p=1.0,
        top_k=0,
        epsilon=play.clip,
        beta=0.0,
        max_steps=recipe.steps,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=recipe.warmup,
        weight_decay=0.0,
        max_grad_norm=1.0,
        logging_steps=1,
        save_strategy="steps",
        save_steps=recipe.save_every,
        seed=recipe.seed,
        data_seed=recipe.seed,
        shuffle_dataset=False,  # see order_of
        report_to=list(recipe.report_to),
        use_cpu=not gpu,
        bf16=gpu or (recipe.model.kind != "cpu-tiny" and bf16_on_cpu()),
        activation_checkpointing=gpu,
        generation_kwargs=(
            # a turn is as long as in evaluations: one that runs on would hold up all the others
            {"max_new_tokens": min(turn, play.longest)} if turn is not None else None
        ),
        log_completions=False,
        dataloader_num_workers=0,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        **SETTINGS[recipe.algorithm],
    )
