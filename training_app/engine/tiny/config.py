"""The model of cpu-tiny: the Qwen3 architecture at 1.1 million parameters."""

from collections.abc import Sequence
from typing import Final

import torch
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from training_app.engine.tiny import circuit
from training_app.engine.tiny.tokenizer import END, PAD

VERSION: Final = 2
"""Part of every cache key: raise it when the architecture changes."""
CONTEXT: Final = 2048


def make_config(tokenizer: PreTrainedTokenizerFast) -> Qwen3Config:
    """The architecture, for a tokenizer."""
    return Qwen3Config(
        vocab_size=-(-len(tokenizer) // 16) * 16,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.convert_tokens_to_ids(END),
        pad_token_id=tokenizer.convert_tokens_to_ids(PAD),
        bos_token_id=None,
        use_cache=True,
        initializer_range=0.02,
        # slow enough that a match counts as much at the far end of a dialogue as next to it
        rope_parameters={"rope_type": "default", "rope_theta": 1e9},
    )


def make_model(
    tokenizer: PreTrainedTokenizerFast, seed: int, values: Sequence[int]
) -> Qwen3ForCausalLM:
    """A fresh model (see circuit.py); the same seed gives the same weights.

    Args:
        tokenizer: Its tokenizer.
        seed: Of its weights.
        values: The tokens of values.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(make_config(tokenizer))
    circuit.write(model, seed, values)
    return model
