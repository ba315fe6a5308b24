"""An engine without a model: a process that speaks the contract of the run directory.

What it does is read from `stub.json` in the run directory; without one it takes its steps and ends:

    {"hold": 3}            waits before step 3 until the file `go` is there, or it is asked to stop
    {"die": 3}             ends by signal 9 before step 3, if it did not start from a checkpoint
    {"fail": "words"}      fails with these words before step 3, likewise
    {"room": 2}            fails for want of memory before step 3, while more go through at a time
    {"deaf": true}         hears neither the request to stop nor TERM
    {"problems": [...]}    what --check finds
    {"mute": 3}            ends with this code and a line on stderr, whatever it is asked
    {"stage": ["…", 3, 6]} says before its first step that it does this, 3 of 6, until `go` is there
    {"pace": 0.2}          seconds that a step takes
    {"samples": [...]}     what the model wrote, kept with every checkpoint
    {"result": {...}}      what was measured: before, after, after_new_families
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from training_app.core.recipe import Recipe
from training_app.core.run_dir import OUT_OF_MEMORY, Metrics, RunDir, Status

_PAUSE = 0.02


def main() -> int:
    """Run the stub."""
    parser = argparse.ArgumentParser()
    parser.add_argument("run_dir", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    run = RunDir(given.run_dir)
    file = run.path / "stub.json"
    plan: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    if "mute" in plan:
        sys.stderr.write("no module named torch\n")
        return int(plan["mute"])
    if given.check:
        sys.stdout.write(json.dumps({"problems": plan.get("problems", [])}) + "\n")
        return 1 if plan.get("problems") else 0
    run.forget_stop()
    if plan.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda number, frame: run.ask_to_stop())
    start = 0
    if given.resume:
        known = run.list_checkpoints()
        start = known[-1].step if known else 0
        run.cut_back(start)
    return train(run, run.recipe(), plan, start)


def train(run: RunDir, recipe: Recipe, plan: dict[str, Any], start: int) -> int:
    """Take steps."""

    def tell(state: Any, step: int, message: str = "") -> None:
        run.write_status(Status(state, step, recipe.steps, os.getpid(), time.time(), message))

    def save(step: int) -> None:
        folder = run.checkpoint_path(step)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text("{}")
        run.seal(step, {"greedy": {"success": step / recipe.steps}})
        if "samples" in plan:
            run.write_samples(step, plan["samples"])
        run.prune(recipe.keep)

    def ended(step: int, *, cancelled: bool) -> int:
        before = {} if start else {"before": {"greedy": {"success": 0.0}}, "base_seconds": 1.5}
        after = {} if cancelled else {"after": {"greedy": {"success": 1.0}}}
        if "result" in plan:
            before = {k: v for k, v in plan["result"].items() if k in before}
            after = {k: v for k, v in plan["result"].items() if after and k != "before"}
        run.write_result({**before, **after, "steps": step, "cancelled": cancelled})
        tell("stopped" if cancelled else "succeeded", step)
        return 0

    tell("starting", start)
    if "stage" in plan and not start:
        words, done, total = plan["stage"]
        run.write_status(
            Status(
                "starting", 0, recipe.steps, os.getpid(), time.time(), words, done=done, total=total
            )
        )
        while not (run.path / "go").exists() and not run.asked_to_stop():
            time.sleep(_PAUSE)
    for step in range(start + 1, recipe.steps + 1):
        tell("running", step - 1)
        while step == plan.get("hold") and not (run.path / "go").exists():
            if run.asked_to_stop() and not plan.get("deaf"):
                break
            time.sleep(_PAUSE)
        if run.asked_to_stop() and not plan.get("deaf"):
            save(step - 1)
            return ended(step - 1, cancelled=True)
        if step == plan.get("die") and not start:
            os.kill(os.getpid(), signal.SIGKILL)
        if step == 3 and "fail" in plan and not start:
            tell("failed", step - 1, plan["fail"])
            return 1
        if step == 3 and recipe.together > plan.get("room", recipe.together):
            tell("failed", step - 1, f"{OUT_OF_MEMORY}: CUDA out of memory.")
            return 1
        time.sleep(plan.get("pace", 0))
        run.append(
            Metrics(step, step * recipe.batch, step * 0.5, {"loss": 1 / step, "from": start})
        )
        if step % recipe.save_every == 0 or step == recipe.steps:
            save(step)
    return ended(recipe.steps, cancelled=False)


if __name__ == "__main__":
    raise SystemExit(main())
