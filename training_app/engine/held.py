"""A trainer's state at the end of a generation, held in memory until the next one ends.

A run goes on bit by bit as it was from the end of a generation alone, yet whoever stops it does not
want to wait for that. So it stops where it is and leaves the checkpoint of where it could go on.
"""

import copy
import random
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from accelerate.state import PartialState
from accelerate.utils import DistributedType
from transformers import TrainerState

MOST_BYTES: Final = 2 * 2**30
"""Of a held state; larger ones are not held, and such a run stops at the end of the generation."""
_MOMENTS: Final = 3
"""A trained weight is held with the optimizer's two moments of it."""
_WHOLE: Final = (DistributedType.NO, DistributedType.MULTI_CPU, DistributedType.MULTI_GPU)
"""Where every process has all weights; where they are sharded nothing is held."""
_FIELDS: Final = ("global_step", "epoch", "num_input_tokens_seen", "total_flos")


def can_hold(model: torch.nn.Module) -> bool:
    """Whether the state of this model is whole in this process and small enough."""
    trained = [p for p in model.parameters() if p.requires_grad]
    size = _MOMENTS * sum(p.numel() * p.element_size() for p in trained)
    return size <= MOST_BYTES and PartialState().distributed_type in _WHOLE


class Held:
    """One state, copied to the memory of the CPU."""

    def __init__(self, state: TrainerState, model: torch.nn.Module, optimizer: Any, schedule: Any):
        self.step: int = state.global_step
        self._fields = {name: getattr(state, name) for name in _FIELDS}
        self._weights = {
            name: _copied(tensor)
            for name, tensor in model.state_dict(keep_vars=True).items()
            if not isinstance(tensor, torch.nn.Parameter) or tensor.requires_grad
        }
        self._optimizer = _copied(optimizer.state_dict())
        self._schedule = copy.deepcopy(schedule.state_dict())
        self._random = (random.getstate(), np.random.get_state(), torch.get_rng_state())
        self._cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []

    def put_back(
        self, state: TrainerState, model: torch.nn.Module, optimizer: Any, schedule: Any
    ) -> None:
        """Make everything what it was, so that the trainer saves it as if it had not gone on."""
        for name, value in self._fields.items():
            setattr(state, name, value)
        state.log_history = [row for row in state.log_history if row.get("step", 0) <= self.step]
        model.load_state_dict(self._weights, strict=False)
        optimizer.load_state_dict(self._optimizer)
        schedule.load_state_dict(self._schedule)
        python, numpy, cpu = self._random
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(cpu)
        if self._cuda:
            torch.cuda.set_rng_state_all(self._cuda)


def _copied(value: Any) -> Any:
    """A copy whose tensors are the CPU's; nothing the trainer does to its own changes it."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("cpu", copy=True)
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_copied(item) for item in value)
    return copy.deepcopy(value)
