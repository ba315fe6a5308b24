"""The base of cpu-tiny: weights that have learnt to copy and to look up, and nothing else.

Cached by the hash of everything it depends on. It sees value tokens without meaning, never a task.
Training goes on where a stopped one left off: the cache holds unfinished bases too.
"""

import logging
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch
from torch.nn import functional
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from studio.lib.hashing import content_hash
from studio.lib.jsonvalue import JsonValue
from training_app.core.demonstrations import Row
from training_app.engine.stages import Left, Told, untold
from training_app.engine.tiny import circuit, config, skills, tokenizer
from training_app.engine.tiny.skills import IGNORED, Sequences, Skills

log = logging.getLogger(__name__)
VERSION: Final = 2
SAVE_EVERY: Final = 100


@dataclass(frozen=True, slots=True)
class BaseRecipe:
    """How the base is trained."""

    steps: int = 500
    batch: int = 24
    learning_rate: float = 1e-3
    warmup: int = 10
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Base:
    """A base: tokenizer, model, and how well it copies values it has never seen together."""

    tokenizer: PreTrainedTokenizerFast
    model: Qwen3ForCausalLM
    accuracy: float
    step: int
    seconds: float
    """Spent training it, now and before."""
    spent_now: float
    path: Path


def key_of(rows: Sequence[Row], recipe: BaseRecipe) -> str:
    """The cache key: everything that decides the weights."""
    parts = (VERSION, config.VERSION, circuit.VERSION, skills.VERSION, tokenizer.VERSION)
    versions: list[JsonValue] = [*parts, torch.__version__]
    seen: list[JsonValue] = [tokenizer.render(row) for row in rows]
    return content_hash({"rows": seen, "recipe": asdict(recipe), "versions": versions})[:24]


def loss_of(model: Qwen3ForCausalLM, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross entropy on the labelled tokens; only their logits are computed."""
    hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
    wanted = labels[:, 1:]
    asked = wanted != IGNORED
    return functional.cross_entropy(model.lm_head(hidden[asked]), wanted[asked])


@torch.no_grad()
def accuracy_of(model: Qwen3ForCausalLM, probe: Skills, batches: int = 8) -> float:
    """The share of labelled tokens that the model predicts, on fresh skill batches."""
    right = asked = 0
    for _ in range(batches):
        ids, labels = tensors(probe.batch(16))
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
        mask = labels[:, 1:] != IGNORED
        guess = model.lm_head(hidden[mask]).argmax(-1)
        right += int((guess == labels[:, 1:][mask]).sum())
        asked += int(mask.sum())
    return right / asked


def tensors(drawn: Sequences) -> tuple[torch.Tensor, torch.Tensor]:
    """The batch as tensors: ids and labels."""
    return torch.tensor(drawn.ids), torch.tensor(drawn.labels)


def rate(step: int, recipe_steps: int, warmup: int, peak: float) -> float:
    """Learning rate: a linear warm-up, then half a cosine down to a twentieth."""
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step - warmup) / max(1, recipe_steps - warmup)
    return peak * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * min(1.0, done))))


def obtain(
    rows: Sequence[Row],
    cache: Path,
    recipe: BaseRecipe | None = None,
    *,
    seconds: float = math.inf,
    told: Told = untold,
) -> Base:
    """Return the base for these dialogues, from the cache or trained now.

    Args:
        rows: Dialogues that the tokenizer is built from.
        cache: A folder that outlives runs.
        recipe: How it is trained.
        seconds: Stop after so long and keep what there is; a later call goes on.
        told: Hears of each step. Where it leaves, what there is is kept too.
    """
    recipe = recipe or BaseRecipe()
    folder = cache / f"base-{key_of(rows, recipe)}"
    state = folder / "state.pt"
    if (folder / "tokenizer.json").exists():
        tok = PreTrainedTokenizerFast.from_pretrained(folder)
    else:
        tok = tokenizer.build(rows)
    values, phrases = tokenizer.value_ids(tok, rows)
    model = config.make_model(tok, recipe.seed, values)
    optimizer = torch.optim.AdamW(circuit.groups(model, recipe.learning_rate), betas=(0.9, 0.98))
    peaks = [group["lr"] for group in optimizer.param_groups]
    step, spent = 0, 0.0
    if state.exists():
        kept = torch.load(state, weights_only=True)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        step, spent = int(kept["step"]), float(kept["seconds"])
    began = time.monotonic()
    model.train()
    while step < recipe.steps and time.monotonic() - began < seconds:
        drawn = Skills(values, phrases, f"base/{recipe.seed}/{step}").batch(recipe.batch)
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = rate(step, recipe.steps, recipe.warmup, peak)
        loss = loss_of(model, *tensors(drawn))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        try:
            told("teaching the base: step", step, recipe.steps)
        except Left:
            _keep(folder, tok, model, optimizer, step, spent + time.monotonic() - began)
            raise
        if step % SAVE_EVERY == 0 or step == recipe.steps:
            _keep(folder, tok, model, optimizer, step, spent + time.monotonic() - began)
    now = time.monotonic() - began
    spent += now
    if not state.exists() or now >= seconds:
        _keep(folder, tok, model, optimizer, step, spent)
    model.eval()
    found = accuracy_of(model, Skills(values, phrases, "probe"))
    log.info("base after %d steps: copies %.3f", step, found)
    return Base(tok, model, found, step, spent, now, folder)


def _keep(
    folder: Path,
    tok: PreTrainedTokenizerFast,
    model: Qwen3ForCausalLM,
    optimizer: torch.optim.Optimizer,
    step: int,
    seconds: float,
) -> None:
    """Write the base beside the old one, then put it in its place."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    tok.save_pretrained(partial)
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "step": step,
            "seconds": seconds,
        },
        partial / "state.pt",
    )
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
