"""What we rely on in the pinned TRL; these fail first when the pin moves."""

import inspect
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
trl = pytest.importorskip("trl", reason="the train extra is not installed")

from datasets import Dataset  # noqa: E402 (after the skip)
from tokenizers import Tokenizer, models  # noqa: E402
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

from tests.training_app.engine.marks import ENGINE  # noqa: E402
from training_app.core.advantages import dr_grpo, gdpo, gigpo, grpo  # noqa: E402
from training_app.core.advantages.gigpo import Turn  # noqa: E402
from training_app.core.recipe import Rollouts, preset  # noqa: E402
from training_app.core.run_dir import RunDir  # noqa: E402
from training_app.engine.environments import Settled  # noqa: E402
from training_app.engine.gigpo import GiGPOTrainer  # noqa: E402
from training_app.engine.grpo import SETTINGS, _arguments  # noqa: E402
from training_app.engine.rewards import Rewards  # noqa: E402
from training_app.engine.tiny.tokenizer import template  # noqa: E402

pytestmark = ENGINE


def test_the_hooks_of_gigpo_have_the_signatures_we_override() -> None:
    scored = inspect.signature(GRPOTrainer._generate_and_score_completions)
    rewards = inspect.signature(GRPOTrainer._calculate_rewards)
    assert list(scored.parameters) == ["self", "inputs"]
    assert list(rewards.parameters) == [
        "self",
        "inputs",
        "prompts",
        "completions",
        "completion_ids_list",
    ]


def test_the_source_still_takes_advantages_by_token_and_tools_by_environment() -> None:
    source = inspect.getsource(GRPOTrainer)
    assert "if advantages.dim() == 1:" in source
    assert "self._env_tools[name]" in source
    assert '"advantages": advantages' in source
    assert '"tool_mask"' in source


def test_every_setting_is_one_that_trl_knows() -> None:
    fields = GRPOConfig.__dataclass_fields__
    for settings in SETTINGS.values():
        assert set(settings) <= set(fields)
    assert fields["loss_type"].default == "dapo"


def test_a_turn_is_as_long_in_training_as_in_evaluations(tmp_path: Path) -> None:
    assert "generation_kwargs.update(args.generation_kwargs)" in inspect.getsource(GRPOTrainer)
    run, recipe = RunDir(tmp_path), preset("cpu-tiny-grpo")
    kwargs = [_arguments(run, recipe, turn).generation_kwargs for turn in (48, 900, None)]
    assert kwargs == [{"max_new_tokens": 48}, {"max_new_tokens": 400}, None]


TABLE = [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
MASKS = [[1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 1]]
ANCHORS = [(5, 6), (5, 7), (8,), (8, 9)]


class FixedTrainer(GiGPOTrainer):
    """A trainer whose completions are given; all that TRL does with them is its own."""

    def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
        ids = [[7] * len(mask) for mask in MASKS]
        texts = ["x"] * len(ids)
        return [[1, 2]] * len(ids), ids, MASKS, texts, None, {}, None, []


class PlainTrainer(FixedTrainer):
    """The same without GiGPO."""

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        return GRPOTrainer._generate_and_score_completions(self, inputs)


def engine_advantages(algorithm: str, folder: Path) -> list[Any]:
    """What TRL's trainer makes of the table under our settings."""
    config = Qwen3Config(
        vocab_size=16,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=16,
        tie_word_embeddings=True,
    )
    words = Tokenizer(models.WordLevel({"x": 0, "<pad>": 1, "<eos>": 2}, unk_token="x"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, eos_token="<eos>", pad_token="<pad>"
    )

    def column(number: int) -> Any:
        def reward(**more: Any) -> list[float]:
            return [row[number] for row in TABLE]

        reward.__name__ = f"part{number}"
        return reward

    rewards = Rewards([2])
    rewards.last = [Settled(0.0, False, False, anchors=anchors) for anchors in ANCHORS]
    trainer = (FixedTrainer if algorithm == "gigpo" else PlainTrainer)(
        model=Qwen3ForCausalLM(config),
        processing_class=tokenizer,
        reward_funcs=[column(0), column(1)],
        train_dataset=Dataset.from_list([{"prompt": "x"}] * 4),
        args=GRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=4,
            num_generations=2,
            max_completion_length=4,
            use_cpu=True,
            bf16=False,
            report_to=[],
            gradient_checkpointing=False,
            **SETTINGS[algorithm],
        ),
        rewards=rewards,
        settings=Rollouts(norm="std"),
    )
    output = trainer._generate_and_score_completions([{"prompt": "x"}] * 4)
    found: list[Any] = output["advantages"].tolist()
    return found


def test_trl_computes_what_the_pure_functions_say(tmp_path: Path) -> None:
    groups = [[{"a": a, "b": b} for a, b in TABLE[i : i + 2]] for i in (0, 2)]
    expected = {
        "grpo": [v for total in ([0.0, 1.0], [0.0, 2.0]) for v in grpo.advantages(total)],
        "dr_grpo": [v for total in ([0.0, 1.0], [0.0, 2.0]) for v in dr_grpo.advantages(total)],
        "gdpo": [v for group in gdpo.advantages(groups) for v in group],
    }
    for algorithm, values in expected.items():
        found = engine_advantages(algorithm, tmp_path)
        assert found == pytest.approx(values, abs=1e-4), algorithm


def test_gigpo_replaces_them_by_those_of_the_turns(tmp_path: Path) -> None:
    found = engine_advantages("gigpo", tmp_path)
    first = gigpo.advantages(
        [[Turn(5, 0), Turn(6, 0.0)], [Turn(5, 0), Turn(7, 1.0)]], discount=0.95
    )
    second = gigpo.advantages([[Turn(8, 0.0)], [Turn(8, 0), Turn(9, 2.0)]], discount=0.95)
    a, b, c, d = *first, *second
    expected = [
        [a[0], a[0], 0, a[1]],
        [b[0], 0, b[1], b[1]],
        [c[0]] * 4,
        [d[0], 0, 0, d[1]],
    ]
    assert [pytest.approx(row, abs=1e-5) for row in expected] == found


def test_the_chat_template_is_one_that_trl_ships() -> None:
    assert template().startswith("{%- if tools %}")
