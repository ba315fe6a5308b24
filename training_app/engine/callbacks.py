"""What a trainer tells the run directory: metrics, heartbeat, checkpoints; and when it stops."""

import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from training_app.core.recipe import Recipe
from training_app.core.run_dir import Metrics, RunDir, Status

log = logging.getLogger(__name__)
HEARTBEAT: Final = 1.0
"""Seconds between two statuses."""
_SUMMARY: Final = "train_runtime"
Evaluation = Callable[[int], Mapping[str, Any]]


class RunCallback(TrainerCallback):
    """Keeps the run directory in step with a trainer."""

    def __init__(
        self,
        run: RunDir,
        recipe: Recipe,
        *,
        evaluate: Evaluation | None = None,
        enough: Callable[[Mapping[str, Any]], bool] | None = None,
        samples: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    ):
        """Make one.

        Args:
            run: Where to write.
            recipe: Of the run.
            evaluate: Measures the model at a checkpoint.
            enough: Whether an evaluation ends the run early.
            samples: What the model wrote last, kept beside each checkpoint.
        """
        self.run = run
        self.recipe = recipe
        self.cancelled = False
        self._evaluate = evaluate
        self._enough = enough
        self._samples = samples
        self._began = time.monotonic()
        self._told = 0.0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Start the clock; a resumed run goes on from the seconds it had."""
        rows = self.run.read().rows
        self._began = time.monotonic() - (rows[-1].seconds if rows else 0.0)
        self._tell("running", state.global_step)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Beat, and stop where somebody asked for it.

        A run goes on from the end of a generation alone, so it stops there, with a checkpoint: at
        once for SFT, at most a generation's steps later for RL.
        """
        if self.run.asked_to_stop():
            self._tell("stopping", state.global_step)
            if state.global_step % self.recipe.boundary == 0:
                self.cancelled = True
                control.should_save = True
                control.should_training_stop = True
        elif time.monotonic() - self._told >= HEARTBEAT:
            self._tell("running", state.global_step)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Write the step's values as they are."""
        if not logs or _SUMMARY in logs or not state.is_world_process_zero:
            return
        values = {k: float(v) for k, v in logs.items() if isinstance(v, int | float)}
        self.write(state.global_step, values)

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Move the checkpoint to its place, measure it, seal it, drop old ones."""
        if not state.is_world_process_zero:
            return
        step = state.global_step
        made = Path(args.output_dir) / f"checkpoint-{step}"
        target = self.run.checkpoint_path(step)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(made, target)
        evaluation: Mapping[str, Any] = {}
        every = self.recipe.measure.every
        if self._evaluate is not None and every and step % every == 0:
            evaluation = self._evaluate(step)
        if self._samples is not None:
            self.run.write_samples(step, self._samples())
        self.run.seal(step, evaluation)
        self.run.prune(self.recipe.keep)
        if evaluation and self._enough is not None and self._enough(evaluation):
            control.should_training_stop = True

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write values of a step."""
        seconds = round(time.monotonic() - self._began, 3)
        self.run.append(Metrics(step, step * self.recipe.batch, seconds, values))

    def _tell(self, state: str, step: int) -> None:
        self._told = time.monotonic()
        self.run.write_status(
            Status(
                state=state,  # type: ignore[arg-type]  # one of the literal states above
                step=step,
                steps=self.recipe.steps,
                pid=os.getpid(),
                heartbeat=time.time(),
            )
        )
