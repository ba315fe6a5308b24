"""`python -m training_app.engine RUN_DIR`: run what a run directory describes, here and now.

Needs no database, no broker and no web framework. Whoever starts it reads the directory.
"""

import argparse
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import torch

from training_app.core.run_dir import RunDir, RunDirError, State, Status
from training_app.engine import grpo, preflight, sft, start

log = logging.getLogger("training_app.engine")


def main(arguments: list[str] | None = None) -> int:
    """Run the engine; 0 where the run succeeded or was stopped as asked."""
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
    started = int(os.environ.get("WORLD_SIZE", "1"))
    if started != recipe.processes:
        sys.stderr.write(f"the recipe wants {recipe.processes} processes, there are {started}\n")
        return 2
    cache: Path = given.cache or given.run_dir / "cache"
    cache.mkdir(parents=True, exist_ok=True)
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
    run.forget_stop()
    resume = None
    if given.resume:
        known = run.list_checkpoints()
        resume = known[-1].path if known else None
        dropped = run.cut_back(known[-1].step if known else 0)
        log.info("going on from %s; %d later metrics dropped", resume, dropped)
    _tell(run, "starting", recipe.steps)
    began = time.monotonic()
    try:
        if recipe.online:
            result = grpo.train(run, recipe, start.load(recipe, cache), resume=resume)
        else:
            result = sft.train(run, recipe, cache, resume=resume)
    except BaseException as problem:
        log.exception("the run failed")
        _tell(run, "failed", recipe.steps, f"{type(problem).__name__}: {problem}")
        raise
    known = run.list_checkpoints()
    result["seconds"] = round(time.monotonic() - began, 1)
    result["checkpoint"] = known[-1].path.name if known else None
    run.write_result(result)
    state: State = "stopped" if result["cancelled"] else "succeeded"
    _tell(run, state, recipe.steps, step=result["steps"])
    return 0


def _tell(
    run: RunDir, state: State, steps: int, message: str = "", *, step: int | None = None
) -> None:
    at = run.status().step if step is None else step
    run.write_status(Status(state, at, steps, os.getpid(), time.time(), message))


if __name__ == "__main__":
    raise SystemExit(main())
