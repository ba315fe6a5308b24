"""GiGPO on TRL: advantages per turn, spread over the tokens the policy wrote in it.

Two private hooks of TRL's trainer are overridden; a contract test on both fails first when the
pinned version moves.
"""

from collections.abc import Sequence
from typing import Any

import torch
from accelerate.utils import gather_object
from trl import GRPOTrainer

from training_app.core.advantages import gigpo
from training_app.core.recipe import Rollouts
from training_app.engine.rewards import Rewards


def turn_spans(mask: Sequence[int]) -> list[tuple[int, int]]:
    """Return the runs of ones as (start, end): what the policy wrote, turn by turn."""
    spans: list[tuple[int, int]] = []
    start = None
    for place, own in enumerate(mask):
        if own and start is None:
            start = place
        elif not own and start is not None:
            spans.append((start, place))
            start = None
    if start is not None:
        spans.append((start, len(mask)))
    return spans


def spread(
    masks: Sequence[Sequence[int]], advantages: Sequence[Sequence[float]], width: int
) -> torch.Tensor:
    """Put each turn's advantage on each token of it; 0 elsewhere."""
    spread_out = torch.zeros(len(masks), width)
    for row, (mask, values) in enumerate(zip(masks, advantages, strict=True)):
        for (start, end), value in zip(turn_spans(mask), values, strict=True):
            spread_out[row, start:end] = value
    return spread_out


def group_advantages(
    rewards: Sequence[float],
    anchors: Sequence[Sequence[int]],
    turns: Sequence[int],
    settings: Rollouts,
) -> list[list[float]]:
    """Advantages of one prompt's rollouts, one value a turn.

    The reward comes with the last turn. A turn without a recorded anchor is compared with nobody.

    Args:
        rewards: Per rollout, its total.
        anchors: Per rollout, its turns' anchors.
        turns: Per rollout, how many turns its tokens show.
        settings: γ, ω and norm.
    """
    group: list[list[gigpo.Turn]] = []
    for row, (reward, known, count) in enumerate(zip(rewards, anchors, turns, strict=True)):
        group.append(
            [
                gigpo.Turn(
                    known[turn] if turn < len(known) else ("unknown", row, turn),
                    reward if turn == count - 1 else 0.0,
                )
                for turn in range(count)
            ]
        )
    return gigpo.advantages(
        group, discount=settings.discount, weight=settings.step_weight, norm=settings.norm
    )


class GiGPOTrainer(GRPOTrainer):
    """GRPO's trainer with advantages shaped (batch, token)."""

    def __init__(self, *args: Any, rewards: Rewards, settings: Rollouts, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._rewards = rewards
        self._settings = settings
        self._table: torch.Tensor | None = None

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Keep the table of rewards, gathered over all processes."""
        table: torch.Tensor = super()._calculate_rewards(*args, **kwargs)
        self._table = table
        return table

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """Replace the advantages by those of the turns."""
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        mask = output["completion_mask"]
        if "tool_mask" in output:
            mask = mask * output["tool_mask"]
        local = mask.tolist()
        masks: list[list[int]] = gather_object(local)
        anchors: list[tuple[int, ...]] = gather_object([s.anchors for s in self._rewards.last])
        if self._table is None:
            raise RuntimeError("rewards were not calculated")
        rewards = self._table.nansum(dim=1).tolist()
        size = self.num_generations if self.model.training else self.num_generations_eval
        turns = [len(turn_spans(one)) for one in masks]
        values: list[list[float]] = []
        for start in range(0, len(masks), size):
            part = slice(start, start + size)
            values += group_advantages(rewards[part], anchors[part], turns[part], self._settings)
        first = self.accelerator.process_index * len(local)
        own = values[first : first + len(local)]
        advantages = spread(local, own, mask.shape[1]).to(output["advantages"].device)
        self._log_steps(anchors, values, turns)
        output["advantages"] = advantages
        return output

    def _log_steps(
        self,
        anchors: Sequence[Sequence[int]],
        values: Sequence[Sequence[float]],
        turns: Sequence[int],
    ) -> None:
        size = self.num_generations
        shared = total = 0
        for start in range(0, len(anchors), size):
            met = [anchor for row in anchors[start : start + size] for anchor in row]
            total += len(met)
            shared += sum(met.count(anchor) > 1 for anchor in met)
        mode = "train" if self.model.training else "eval"
        self._metrics[mode]["gigpo/shared_anchors"].append(shared / total if total else 0.0)
        self._metrics[mode]["gigpo/turns"].append(sum(turns) / len(turns))
        flat = [abs(value) for row in values for value in row]
        self._metrics[mode]["gigpo/mean_size"].append(sum(flat) / len(flat) if flat else 0.0)
