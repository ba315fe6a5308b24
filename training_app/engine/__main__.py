"""`python -m training_app.engine RUN_DIR`: run what a run directory describes, here and now.

Needs no database, no broker and no web framework. Whoever starts it reads the directory.
"""

import argparse
import json
import logging
import math
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import torch

from training_app.core.recipe import Recipe
from training_app.core.run_dir import OUT_OF_MEMORY, RunDir, RunDirError, State, Status
from training_app.engine import grpo, models, preflight, processes, sft, start
from training_app.engine.stages import Left, Stages, Told

log = logging.getLogger("training_app.engine")


def main(arguments: list[str] | None = None, *, began: float = math.inf) -> int:
    """Run the engine; 0 where the run succeeded or was stopped as asked.

    Args:
        arguments: Of the command line.
        began: Seconds since the epoch; who has asked it to stop since then is heard.
    """
    parser = argparse.ArgumentParser(prog="python -m training_app.engine", description=__doc__)
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--cache", type=Path, help="bases and starting points; outlives runs")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--check", action="store_true", help="say what would stop it; no run")
    given = parser.parse_args(arguments)
    run = RunDir(given.run_dir)
    if given.check:
        problems = [problem._asdict() for problem in preflight.check(run)]
        sys.stdout.write(f"{json.dumps({'problems': problems})}\n")
        return 1 if problems else 0
    try:
        recipe = run.recipe()
    except RunDirError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    if processes.started() != recipe.processes:
        sys.stderr.write(
            f"the recipe wants {recipe.processes} processes, there are {processes.started()}\n"
        )
        return 2
    if not given.resume and (run.metrics_file.exists() or any(run.checkpoints.glob("step-*"))):
        sys.stderr.write(
            f"{run.path} holds the curve or checkpoints of a run that was begun; go on with it by "
            "--resume, or give a folder with recipe and dataset alone\n"
        )
        return 2
    cache: Path = given.cache or given.run_dir / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    if processes.is_first():
        logging.basicConfig(
            filename=run.log_file,
            level=logging.INFO,
            format="%(asctime)s %(levelname)s %(name)s %(message)s",
            force=True,
        )
    torch.set_num_threads(recipe.threads)

    def stop(number: int, frame: FrameType | None) -> None:
        run.ask_to_stop()

    signal.signal(signal.SIGTERM, stop)
    if processes.is_first():
        run.forget_stop(began)
        _tell(run, "starting", recipe.steps)
    processes.join()
    try:
        return _run(run, recipe, cache, Stages(run), resume=given.resume)
    except Left as left:
        log.info("asked to stop while %s", left)
        _tell(run, "stopped", recipe.steps)
        return 0
    except BaseException as problem:
        log.exception("the run failed")
        if run.status().state != "failed":  # of several processes the first to fail says why
            _tell(run, "failed", recipe.steps, said_of(problem))
        raise
    finally:
        processes.leave()


def _run(run: RunDir, recipe: Recipe, cache: Path, told: Told, *, resume: bool) -> int:
    known = run.list_checkpoints() if resume else []
    processes.wait()
    if resume and processes.is_first():
        dropped = run.cut_back(known[-1].step if known else 0)
        log.info("going on after %d metrics of later steps were dropped", dropped)
    last = known[-1].path if known else None
    began = time.monotonic()
    if recipe.online:
        result = grpo.train(run, recipe, _start(recipe, cache, told), resume=last, told=told)
    else:
        result = sft.train(run, recipe, cache, resume=last, told=told)
    if processes.is_first():
        known = run.list_checkpoints()
        result["seconds"] = round(time.monotonic() - began, 1)
        result["checkpoint"] = known[-1].path.name if known else None
        run.write_result(result)
        state: State = "stopped" if result["cancelled"] else "succeeded"
        _tell(run, state, recipe.steps, step=result["steps"])
    processes.wait()
    return 0


def _start(recipe: Recipe, cache: Path, told: Told) -> models.Loaded:
    if processes.started() > 1 and recipe.model.kind == "cpu-tiny" and not recipe.model.init:
        raise models.ModelError(
            "several processes start RL from a checkpoint; name one in model.init"
        )
    return start.load(recipe, cache, told)


def said_of(problem: BaseException) -> str:
    """Why a run failed; a want of memory has one name, whoever noticed it."""
    name = OUT_OF_MEMORY if preflight.out_of_memory(problem) else type(problem).__name__
    return f"{name}: {problem}"


def _tell(
    run: RunDir, state: State, steps: int, message: str = "", *, step: int | None = None
) -> None:
    at = run.status().step if step is None else step
    run.write_status(Status(state, at, steps, os.getpid(), time.time(), message))


if __name__ == "__main__":
    # Libraries take seconds to be read; who asks it to stop meanwhile has to be heard.
    processes.end(main(began=processes.began()))
