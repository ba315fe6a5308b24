"""SFT on TRL's trainer: dialogues whose assistant tokens are learnt, skill batches in between."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl import SFTConfig, SFTTrainer

from training_app.core.demonstrations import Row
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir
from training_app.engine import data, dialogues, images, models, processes
from training_app.engine.callbacks import RunCallback
from training_app.engine.evaluate import after, measure
from training_app.engine.play import note_longest
from training_app.engine.stages import Told, untold
from training_app.engine.tiny import circuit
from training_app.engine.tiny.skills import Skills
from training_app.engine.tiny.tokenizer import name_ids, value_ids

log = logging.getLogger(__name__)


def train(
    run: RunDir,
    recipe: Recipe,
    cache: Path,
    *,
    resume: Path | None = None,
    enough: Callable[[Mapping[str, Any]], bool] | None = None,
    told: Told = untold,
    on_step: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Train by SFT and return what the run came to.

    Args:
        run: Its directory.
        recipe: Its recipe.
        cache: A folder that outlives runs.
        resume: The checkpoint to go on from.
        enough: Whether the evaluation of a checkpoint ends the run early.
        told: Hears what is done besides the steps.
        on_step: Hears of each step, where the run is a part of another one.
    """
    told(data.stage(run), 0, 0)
    rows = processes.one_by_one(lambda: data.demonstrations(run, recipe))
    loaded, mixed = processes.one_by_one(lambda: _start(recipe, cache, rows, told))
    model, tokenizer = loaded.model, loaded.tokenizer
    result: dict[str, Any] = {
        "base_seconds": round(loaded.base_seconds, 1),
        "base_accuracy": loaded.base_accuracy,
        "split_kind": "new_instances",
    }
    seen = images.with_images(run, rows) if loaded.processor is not None else None
    learnt = dialogues.label(tokenizer, rows) if seen is None else []
    if learnt:
        note_longest(model, dialogues.longest_turn(learnt))
    fresh = data.held_out(recipe, final=True)
    if fresh and resume is None and processes.is_first():
        result["before"], _ = measure(
            model, tokenizer, fresh, seed=recipe.seed, told=told, stage="measuring before:"
        )
        log.info("before: %s", result["before"])
    if mixed is not None:
        learnt = dialogues.mix(
            learnt,
            *mixed,
            rows=recipe.steps * recipe.batch,
            skill_share=recipe.demonstrations.skill_share,
            disguised_share=recipe.demonstrations.disguised_share,
            seed=f"{recipe.seed}",
        )
    tasks = data.held_out(recipe, final=False)

    def evaluate(step: int) -> Mapping[str, Any]:
        report, played = measure(
            model,
            tokenizer,
            tasks,
            seed=recipe.seed + step,
            told=told,
            stage=f"measuring at step {step:,}:",
        )
        run.write_samples(step, [one.row() for one in played])
        callback.write(
            step,
            {f"success/{kind}": report[kind]["success"] for kind in ("greedy", "sampled")},
        )
        log.info("step %d: %s", step, report)
        return report

    callback = RunCallback(
        run, recipe, evaluate=evaluate if tasks else None, enough=enough, on_step=on_step
    )
    trainer = make_trainer(run, recipe, loaded, learnt if seen is None else seen, callback)
    trainer._total_train_tokens = _tokens_so_far(run)  # which the trainer does not save
    trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    result["steps"] = trainer.state.global_step
    result["cancelled"] = callback.cancelled
    if fresh and not callback.cancelled and processes.is_first():
        result.update(after(run, recipe, model, tokenizer, trainer.state.global_step, told))
        log.info("after: %s", result["after"])
    return result


def make_trainer(
    run: RunDir,
    recipe: Recipe,
    loaded: models.Loaded,
    learnt: Dataset | Sequence[dialogues.Labelled],
    *callbacks: RunCallback,
) -> SFTTrainer:
    """Make the trainer of a recipe: of labelled dialogues, or of rows with images."""
    ready = isinstance(learnt, Dataset)
    trainer = SFTTrainer(
        model=loaded.model,
        processing_class=loaded.processor or loaded.tokenizer,
        train_dataset=learnt if ready else Dataset.from_list([dict(row) for row in learnt]),
        data_collator=images.Collator(loaded.processor) if loaded.processor is not None else None,
        args=_arguments(run, recipe),
        callbacks=list(callbacks),
        optimizers=(_optimizer(recipe, loaded.model), None),
    )
    trainer.remove_callback(PrinterCallback)  # metrics have their own file
    return trainer


def _start(
    recipe: Recipe, cache: Path, taught: Sequence[Row], told: Told
) -> tuple[models.Loaded, tuple[Skills, dialogues.Disguise] | None]:
    """The model to train; for cpu-tiny also what is mixed into its demonstrations."""
    if recipe.model.kind != "cpu-tiny":
        told("loading the model", 0, 0)
        return models.load_folder(recipe.model), None
    told("making the tokenizer", 0, 0)
    rows = models.tokenizer_rows(recipe)
    loaded = (
        models.load_folder(recipe.model)
        if recipe.model.init
        else models.load_base(recipe, cache, rows, told)
    )
    values, phrases = value_ids(loaded.tokenizer, rows)
    known = frozenset(name_ids(loaded.tokenizer, taught))
    strange = frozenset(name_ids(loaded.tokenizer, rows)) - known
    masks = [value for value in values if value not in strange]
    skills = Skills(values, phrases, f"sft/{recipe.seed}")
    return loaded, (skills, dialogues.Disguise(known, masks))


def _optimizer(recipe: Recipe, model: torch.nn.Module) -> torch.optim.Optimizer | None:
    """cpu-tiny learns with its circuit slowed down; another model gets the trainer's optimizer."""
    if recipe.model.kind != "cpu-tiny":
        return None
    return torch.optim.AdamW(
        circuit.groups(model, recipe.learning_rate), betas=(0.9, 0.98), weight_decay=0.0
    )


def _tokens_so_far(run: RunDir) -> int:
    """Tokens that a resumed run has seen before."""
    counts = [row.values["num_tokens"] for row in run.read().rows if "num_tokens" in row.values]
    return int(counts[-1]) if counts else 0


def _arguments(run: RunDir, recipe: Recipe) -> SFTConfig:
    gpu = torch.cuda.is_available()
    return SFTConfig(
        output_dir=str(run.path / "trainer"),
        per_device_train_batch_size=recipe.together,
        gradient_accumulation_steps=recipe.accumulation,
        max_steps=recipe.steps,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="cosine_with_min_lr",
        lr_scheduler_kwargs={"min_lr_rate": 0.05},
        warmup_steps=recipe.warmup,
        weight_decay=0.0,
        adam_beta2=0.98,
        max_grad_norm=1.0,
        logging_steps=1,
        save_strategy="steps",
        save_steps=recipe.save_every,
        seed=recipe.seed,
        data_seed=recipe.seed,
        report_to=list(recipe.report_to),
        use_cpu=not gpu,
        bf16=gpu or (recipe.model.kind != "cpu-tiny" and bf16_on_cpu()),
        activation_checkpointing=gpu,
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
        train_sampling_strategy="sequential",
        dataloader_num_workers=0,
        dataloader_pin_memory=False,
        disable_tqdm=True,
        remove_unused_columns=False,
    )


def bf16_on_cpu() -> bool:
    """Whether this processor has bfloat16 instructions; without them bfloat16 is slower.

    cpu-tiny is too small to gain: a step took 0.55 s in bfloat16 and 0.44 s without, since the
    backward pass of attention is twice as slow in it.
    """
    if os.environ.get("ENGINE_FLOAT32") == "1":
        return False
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
