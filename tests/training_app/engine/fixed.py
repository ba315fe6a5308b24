"""RL on completions that are given: what several processes make of them beside one.

    torchrun --standalone --nproc-per-node 2 -m tests.training_app.engine.fixed

is told a folder and how many processes there are. Three groups of four are shared out, so with two
processes the group in the middle is half with the one and half with the other.
"""

import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import torch
from accelerate.utils import gather_object
from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast, PrinterCallback, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOTrainer

from training_app.core.recipe import preset
from training_app.core.run_dir import RunDir
from training_app.engine import grpo, processes
from training_app.engine.callbacks import RunCallback
from training_app.engine.environments import Settled
from training_app.engine.gigpo import GiGPOTrainer
from training_app.engine.rewards import Rewards

METHODS: Final = ("grpo", "dr_grpo", "gdpo", "gigpo")
PARTS: Final = ("outcome", "process")
_WORDS: Final = 24


def rollout(generation: int, index: int) -> dict[str, Any]:
    """The rollout of a place: tokens, whose they are, what it earned, what its turns knew."""
    rng = random.Random(f"{generation}/{index}")
    mask: list[int] = []
    turns = rng.randrange(1, 4)
    for turn in range(turns):
        mask += [0] * rng.randrange(1, 3) * bool(turn) + [1] * rng.randrange(1, 4)
    return {
        "ids": [rng.randrange(3, _WORDS) for _ in mask],
        "mask": mask,
        "rewards": [rng.choice((0.0, 0.3, 1.0)), rng.choice((0.0, 0.5))],
        "anchors": tuple(rng.randrange(3) for _ in range(turns)),
    }


class FixedTrainer(GiGPOTrainer):
    """The engine's trainer whose completions are given; all that is made of them is its own."""

    generation = 0
    found: list[list[Any]]

    def given(self, index: int) -> dict[str, Any]:
        """The rollout of a place."""
        return rollout(self.generation, index)

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        self.generation += 1
        first = self.accelerator.process_index * len(prompts)
        own = [self.given(first + i) for i in range(len(prompts))]
        self.earned = [one["rewards"] for one in own]
        self._rewards.last = [
            Settled(0.0, passed=False, truncated=False, anchors=one["anchors"]) for one in own
        ]
        ids, masks = [one["ids"] for one in own], [one["mask"] for one in own]
        return [[1, 2]] * len(own), ids, masks, ["x"] * len(own), None, {}, None, []

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        rows = gather_object([_bare(row) for row in output["advantages"].tolist()])
        self.found = [*getattr(self, "found", []), rows]
        return output


def _bare(row: Any) -> Any:
    """A row of advantages without its padding, which is as long as the process's longest."""
    while isinstance(row, list) and row and row[-1] == 0:
        row = row[:-1]
    return row


class PlainTrainer(FixedTrainer):
    """The same for the methods that have one advantage a rollout."""

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = GRPOTrainer._generate_and_score_completions(self, inputs)
        self.found = [*getattr(self, "found", []), gather_object(output["advantages"].tolist())]
        return output


def tiny() -> tuple[Qwen3ForCausalLM, PreTrainedTokenizerFast]:
    """A model of a few thousand parameters, the same in every process."""
    words = {"x": 0, "<pad>": 1, "<eos>": 2, **{f"w{i}": i for i in range(3, _WORDS)}}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="x")),
        eos_token="<eos>",
        pad_token="<pad>",
    )
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=_WORDS,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        tie_word_embeddings=True,
    )
    return Qwen3ForCausalLM(config), tokenizer


def train(method: str, folder: Path, **changes: Any) -> dict[str, Any]:
    """Train four steps on two generations; return advantages and what was logged of each step."""
    recipe = preset(
        f"cpu-tiny-{method.replace('_', '-')}",
        steps=4,
        batch=12,
        save_every=4,
        learning_rate=1e-3,
        rollouts={"group": 4, "steps_per_generation": 1, "iterations": 2, "longest": 12},
        **changes,
    )
    run = RunDir(folder / method)
    model, tokenizer = tiny()

    def column(number: int) -> Any:
        def reward(**more: Any) -> list[float]:
            return [row[number] for row in trainer.earned]

        reward.__name__ = PARTS[number]
        return reward

    rewards = Rewards([2])
    arguments: dict[str, Any] = {
        "model": model,
        "processing_class": tokenizer,
        "reward_funcs": [column(0), column(1)],
        "train_dataset": Dataset.from_list([{"prompt": f"w{i}"} for i in range(3, 9)]),
        "args": grpo._arguments(run, recipe),
        "callbacks": [RunCallback(run, recipe, samples=lambda: [{"rows": len(trainer.earned)}])],
        "rewards": rewards,
        "settings": recipe.rollouts,
    }
    trainer = (FixedTrainer if method == "gigpo" else PlainTrainer)(**arguments)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    processes.wait()
    rows = run.read().rows
    return {
        "advantages": trainer.found,
        "steps": [row.step for row in rows],
        "loss": [row.values["loss"] for row in rows],
        "grad_norm": [row.values["grad_norm"] for row in rows],
        "reward": [row.values["reward"] for row in rows if "reward" in row.values],
        "samples": run.read_samples(4),
        "checkpoints": [checkpoint.step for checkpoint in run.list_checkpoints()],
    }


def record(folder: Path, **changes: Any) -> Mapping[str, Any]:
    """Train by every method."""
    return {method: train(method, folder, **changes) for method in METHODS}


if __name__ == "__main__":
    torch.set_num_threads(1)
    processes.join()
    place = Path(sys.argv[1])
    made = record(place, processes=processes.started())
    if processes.is_first():
        (place / "found.json").write_bytes(orjson.dumps(made))
    processes.leave()
    processes.end(0)
