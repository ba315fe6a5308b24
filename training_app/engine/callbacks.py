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
from training_app.engine import processes
from training_app.engine.held import Held, can_hold
from training_app.engine.stages import HEARTBEAT, Left

log = logging.getLogger(__name__)
_SUMMARY: Final = "train_runtime"
Evaluation = Callable[[int], Mapping[str, Any]]


class RunCallback(TrainerCallback):
    """Keeps the run directory in step with a trainer; of several processes the first writes."""

    def __init__(
        self,
        run: RunDir,
        recipe: Recipe,
        *,
        evaluate: Evaluation | None = None,
        enough: Callable[[Mapping[str, Any]], bool] | None = None,
        samples: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
        on_step: Callable[[int], None] | None = None,
    ):
        """Make one.

        Args:
            run: Where to write.
            recipe: Of the run.
            evaluate: Measures the model at a checkpoint.
            enough: Whether an evaluation ends the run early.
            samples: What the model wrote last in this process, kept beside each checkpoint.
            on_step: Told of each step, where the run is a part of another one.
        """
        self.run = run
        self.recipe = recipe
        self.cancelled = False
        self._evaluate = evaluate
        self._enough = enough
        self._samples = samples
        self._on_step = on_step
        self._began = time.monotonic()
        self._told = 0.0
        self._step_began = self._step_took = 0.0
        self._saved = 0
        self._held: Held | None = None
        self._goes_back = False

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Start the clock; a resumed run goes on from the seconds it had."""
        rows = self.run.read().rows
        self._began = time.monotonic() - (rows[-1].seconds if rows else 0.0)
        self._saved = state.global_step
        self._tell("running", state.global_step)

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Note when the step began."""
        self._step_began = time.perf_counter()

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Beat, and stop where somebody asked for it.

        A run goes on from the end of a generation alone. Stopped within one, it goes back to the
        end of the one before and leaves that as its checkpoint; where its state is too large to be
        held it takes the steps that are left of the generation.
        """
        self._step_took = time.perf_counter() - self._step_began
        if self._on_step is not None:
            self._on_step(state.global_step)
        ends = state.global_step % self.recipe.boundary == 0
        if not processes.anyone(self.run.asked_to_stop()):
            if ends and self.recipe.boundary > 1 and can_hold(kwargs["model"]):
                self._held = Held(state, *_parts(kwargs))
            if time.monotonic() - self._told >= HEARTBEAT:
                self._tell("running", state.global_step)
            return
        self._tell("stopping", state.global_step)
        if ends:
            self._saved = state.global_step
            control.should_save = True
        elif can_hold(kwargs["model"]):
            self._goes_back = True  # when the step's values are written
            control.should_log = True
            control.should_save = False
        else:
            return
        self.cancelled = True
        control.should_training_stop = True

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Write the step's values as they are."""
        if not logs or _SUMMARY in logs:
            return
        if state.is_world_process_zero:
            values = {k: float(v) for k, v in logs.items() if isinstance(v, int | float)}
            values.setdefault("step_time", self._step_took)
            self.write(state.global_step, values)
        if self._goes_back:
            self._goes_back = False
            if self._held is not None and self._held.step > self._saved:
                log.info("step %d goes back to %d", state.global_step, self._held.step)
                self._held.put_back(state, *_parts(kwargs))
                control.should_save = True

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Move the checkpoint to its place, measure it, seal it, drop old ones."""
        self._saved = state.global_step
        samples = processes.gathered(self._samples()) if self._samples is not None else None
        processes.wait()  # each has written its part of the checkpoint
        enough = state.is_world_process_zero and self._keep(args, state.global_step, samples)
        if processes.anyone(enough):
            control.should_training_stop = True

    def _keep(
        self, args: TrainingArguments, step: int, samples: Sequence[Mapping[str, Any]] | None
    ) -> bool:
        """Keep a checkpoint; return whether its evaluation ends the run, or a stop during it."""
        made = Path(args.output_dir) / f"checkpoint-{step}"
        target = self.run.checkpoint_path(step)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(made, target)
        evaluation: Mapping[str, Any] = {}
        every = self.recipe.measure.every
        if self._evaluate is not None and every and step % every == 0 and not self.cancelled:
            try:
                evaluation = self._evaluate(step)
            except Left:
                self.cancelled = True
        if samples is not None:
            self.run.write_samples(step, samples)
        self.run.seal(step, evaluation)
        self.run.prune(self.recipe.keep)
        enough = bool(evaluation and self._enough is not None and self._enough(evaluation))
        return enough or self.cancelled

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write values of a step."""
        seconds = round(time.monotonic() - self._began, 3)
        self.run.append(Metrics(step, step * self.recipe.batch, seconds, values))

    def _tell(self, state: str, step: int) -> None:
        self._told = time.monotonic()
        if not processes.is_first():
            return
        self.run.write_status(
            Status(
                state=state,  # type: ignore[arg-type]  # one of the literal states above
                step=step,
                steps=self.recipe.steps,
                pid=os.getpid(),
                heartbeat=time.time(),
            )
        )


def _parts(known: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """What a trainer tells its callbacks of itself."""
    return known["model"], known["optimizer"], known["lr_scheduler"]
