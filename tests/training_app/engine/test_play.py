"""What a model writes is data, never a crash."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from rollouts_app.core.messages import ToolRequest
from rollouts_app.core.policy import Action
from tests.training_app.engine.marks import ENGINE
from training_app.engine.dialogues import Labelled, longest_turn
from training_app.engine.play import (
    _write,
    batches,
    note_longest,
    read_action,
    taught_limit,
    turn_limit,
)
from training_app.engine.tiny.skills import IGNORED

pytestmark = ENGINE


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Done.", Action("Done.")),
        ("", Action("")),
        (
            'Ivo OR-1.\n<tool_call>\n{"name": "a_b", "arguments": {"x": 1}}\n</tool_call>',
            Action("Ivo OR-1.", (ToolRequest("call_1", "a_b", b'{"x":1}'),)),
        ),
        (
            (
                '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
                '<tool_call>{"name": "b", "arguments": "{}"}</tool_call>'
            ),
            Action("", (ToolRequest("call_1", "a", b"{}"), ToolRequest("call_2", "b", b"{}"))),
        ),
        (
            "<tool_call>\n{broken\n</tool_call>",
            Action("", (ToolRequest("call_1", "", b"{broken"),)),
        ),
        ("<tool_call>\n[1]\n</tool_call>", Action("", (ToolRequest("call_1", "", b"[1]"),))),
        ('<tool_call>\n{"name": "a"', Action('<tool_call>\n{"name": "a"')),
    ],
)
def test_text_is_read_as_calls_or_as_a_reply(text: str, action: Action) -> None:
    assert read_action(text) == action


def test_ids_go_on_from_the_calls_before() -> None:
    action = read_action('<tool_call>{"name": "a", "arguments": {}}</tool_call>', asked=2)
    assert [call.id for call in action.calls] == ["call_3"]


def test_a_taught_model_keeps_how_long_a_turn_may_be(tmp_path: Path) -> None:
    config = Qwen3Config(
        hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=8
    )
    model = Qwen3ForCausalLM(config)
    assert (taught_limit(model), turn_limit(model)) == (None, 512)
    limits = []
    for tokens in (21, 90):
        note_longest(model, tokens)
        model.save_pretrained(tmp_path)
        limits.append(turn_limit(Qwen3ForCausalLM.from_pretrained(tmp_path)))
    assert limits == [48, 180]


def test_the_longest_turn_is_the_longest_stretch_of_labels() -> None:
    rows: list[Labelled] = [
        {"input_ids": [1, 2, 3, 4], "labels": [IGNORED, 2, IGNORED, 4]},
        {"input_ids": [1, 2, 3, 4], "labels": [1, 2, 3, IGNORED]},
    ]
    assert (longest_turn(rows), longest_turn([])) == (3, 0)


def test_prompts_are_gone_on_from_together_as_far_as_each_leaves_room_for_the_longest() -> None:
    assert batches([10, 60, 54, 64, 3], [10] * 5, 64) == [[0, 2, 4], [1]]
    assert batches([10, 54], [2, 20], 64) == [[0], [1]]
    assert batches([64, 70], [1, 1], 64) == []
    assert batches([], [], 64) == []


def test_a_prompt_without_room_takes_none_from_the_others() -> None:
    torch.manual_seed(0)
    config = Qwen3Config(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, head_dim=8, vocab_size=32, max_position_embeddings=64,
    )  # fmt: skip
    config.turn_limit = 12
    model = Qwen3ForCausalLM(config).eval()
    words = {f"w{i}": i for i in range(32)}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(words, unk_token="w0")), pad_token="w0", eos_token="w1"
    )
    short, long, full = [2, 3, 4], [5] * 60, [6] * 64
    alone = _write(model, tokenizer, [short], 0.0)
    assert len(alone[0]) > 4
    tight = _write(model, tokenizer, [long], 0.0)
    assert len(tight[0]) <= 4
    assert _write(model, tokenizer, [short, long, full], 0.0) == [*alone, *tight, []]
