"""Where the base of cpu-tiny starts from: heads that already look back and match.

From random weights the circuit that copies takes minutes of two cores to appear. It is known what
it looks like (a head that looks back some tokens, then one that matches what it saw), so the first
two layers begin with it, written down; all weights are trained from there. The others are random.

The residual stream is parted: tokens in the first 63 places and a constant in the next, which lets
heads attend by distance alone; then what stood one, two and four tokens before. Phrases are written
more quietly than values: what stands around a value must not drown it when a head carries both.

Trained at the rate of the rest the circuit is gone before anything uses it. So its heads learn
slowly (see `groups`).
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import torch
from transformers import Qwen3ForCausalLM

VERSION: Final = 2
TOKEN: Final = 63
CONSTANT: Final = 63
MEMORY: Final = {1: (64, 22), 2: (86, 21), 4: (107, 21)}
"""Tokens back → first place and width of what is remembered of them."""
_POSITION_PAIRS: Final = 4
"""Rotary pairs that turn fast enough to tell distances."""
_CONTENT_FROM: Final = 5
"""Rotary pairs from here on hardly turn within a dialogue: contents are matched in them."""
_GAIN: Final = 2.2
_LOUD: Final = 2.5
"""How much louder a copied token is than the present one."""
_REMEMBERED: Final = 4.0
"""How much louder still what is read out of a memory is: it keeps a third of a token."""
_QUIET: Final = 0.5
"""Size of a phrase's embedding; a value's is 1."""
_FINAL: Final = 2.5
"""Scale of the last norm: from 1 it takes long until a small embedding wins clearly."""
_LAYERS: Final = ("model.layers.0.self_attn.", "model.layers.1.self_attn.")
SLOW: Final = 0.1
"""Share of the learning rate at which the circuit's heads learn."""


@torch.no_grad()
def write(model: Qwen3ForCausalLM, seed: int, values: Sequence[int]) -> None:
    """Write the circuit into the first two layers and the embeddings of a fresh model.

    Args:
        model: It.
        seed: The same seed writes the same circuit.
        values: The tokens of values; all others are phrases.
    """
    rng = torch.Generator().manual_seed(seed)
    embeddings = model.model.embed_tokens.weight
    embeddings.zero_()
    embeddings[:, :TOKEN] = torch.randn(len(embeddings), TOKEN, generator=rng) / math.sqrt(TOKEN)
    phrases = torch.ones(len(embeddings), dtype=torch.bool)
    phrases[list(values)] = False
    embeddings[phrases] *= _QUIET
    embeddings[:, CONSTANT] = 0.7
    model.model.norm.weight.fill_(_FINAL)
    prints = {back: _orthogonal(width, rng) for back, (_, width) in MEMORY.items()}
    first, second = model.model.layers[0].self_attn, model.model.layers[1].self_attn
    for head, back in enumerate(MEMORY):
        _look_back(first, head, back, prints[back])
    for head, (low, high) in enumerate(((0, 32), (32, TOKEN))):  # what followed the same token
        _match(second, head, read=(None, prints[1]), key=MEMORY[1])
        _carry_tokens(second, head, low, high)
    for head, back in ((2, 2), (3, 4)):  # what stood before the same token as two tokens ago
        _match(second, head, read=(MEMORY[2], None), key=prints[2])
        _carry_memory(second, head, MEMORY[back], prints[back])


def groups(model: torch.nn.Module, rate: float) -> list[dict[str, Any]]:
    """The parameters for an optimizer: all at a rate, the circuit's heads at a share of it."""
    slow: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        (slow if name.startswith(_LAYERS) else others).append(parameter)
    return [{"params": others, "lr": rate}, {"params": slow, "lr": rate * SLOW}]


def _orthogonal(width: int, rng: torch.Generator) -> torch.Tensor:
    """A projection of tokens to a fingerprint: `width` orthonormal rows."""
    full, _ = torch.linalg.qr(torch.randn(TOKEN, TOKEN, generator=rng))
    return full[:width]


def _rows(layer: Any, head: int) -> slice:
    size = layer.head_dim
    return slice(head * size, (head + 1) * size)


def _look_back(layer: Any, head: int, back: int, prints: torch.Tensor) -> None:
    """A head that attends so many tokens back and writes that token's fingerprint."""
    rows, half = _rows(layer, head), layer.head_dim // 2
    theta = layer.config.rope_parameters["rope_theta"]
    query, key = layer.q_proj.weight[rows], layer.k_proj.weight[rows]
    query.zero_()
    key.zero_()
    for pair in range(_POSITION_PAIRS):
        angle = -back * theta ** (-pair / half)
        query[pair, CONSTANT], query[pair + half, CONSTANT] = math.cos(angle), math.sin(angle)
        key[pair, CONSTANT] = 1.0
    start, width = MEMORY[back]
    value, out = layer.v_proj.weight[rows], layer.o_proj.weight[:, rows]
    value.zero_()
    out.zero_()
    value[:width, :TOKEN] = prints * 0.1
    out[start : start + width, :width] = torch.eye(width)
    _loud(layer)


def _match(layer: Any, head: int, *, read: Any, key: Any) -> None:
    """A head whose query and key are fingerprints: of the token, or out of a memory."""
    rows, half = _rows(layer, head), layer.head_dim // 2
    places = [p + s for s in (0, half) for p in range(_CONTENT_FROM, half)][:21]
    memory, prints = read
    query, keys = layer.q_proj.weight[rows], layer.k_proj.weight[rows]
    query.zero_()
    keys.zero_()
    for row, place in enumerate(places):
        if memory is not None:
            query[place, memory[0] + row] = 1.0
            keys[place, :TOKEN] = key[row]
        else:
            query[place, :TOKEN] = prints[row]
            keys[place, key[0] + row] = 1.0
    _loud(layer)


def _carry_tokens(layer: Any, head: int, low: int, high: int) -> None:
    rows = _rows(layer, head)
    value, out = layer.v_proj.weight[rows], layer.o_proj.weight[:, rows]
    value.zero_()
    out.zero_()
    for row, place in enumerate(range(low, high)):
        value[row, place] = 0.1
        out[place, row] = _LOUD


def _carry_memory(layer: Any, head: int, memory: tuple[int, int], prints: torch.Tensor) -> None:
    rows = _rows(layer, head)
    value, out = layer.v_proj.weight[rows], layer.o_proj.weight[:, rows]
    value.zero_()
    out.zero_()
    start, width = memory
    value[:width, start : start + width] = torch.eye(width) * 0.1
    out[:TOKEN, :width] = prints.T * _LOUD * _REMEMBERED


def _loud(layer: Any) -> None:
    layer.q_norm.weight.fill_(_GAIN)
    layer.k_norm.weight.fill_(_GAIN)
