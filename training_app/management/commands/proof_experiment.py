"""``manage.py proof_experiment``: RL on proven tasks, and on the same ones without proof."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from studio.lib.jsonvalue import JsonObject
from studio.web import jobs
from studio.web.choices import JobState
from studio.web.commands import Progress, StudioCommand
from studio.web.errors import Invalid, Problem
from training_app.charts.proof_experiment import drawing
from training_app.core.recipe import PRESETS
from training_app.jobs.runs import KIND
from training_app.models import TrainingRun
from training_app.operations.runs import chosen_recipe, open_run
from training_app.queries.proof_experiment import ARMS, Arm, Checks, arms_of, csv_rows

FILES: Final = ("proof-experiment.svg", "proof-experiment.csv")


class Command(StudioCommand):
    """Train both arms, seed by seed, and draw what came of it."""

    help = (
        "Does proof matter? Train on proven pocket tasks, and on the same tasks with checks put "
        "back that silence and echoes pass; compare rewards and held-out success. Runs that have "
        "ended with the same recipe are taken as they are, so it can be broken off and repeated."
    )

    def add_own_arguments(self, parser: ArgumentParser) -> None:
        """Seeds, budget, where to write."""
        parser.add_argument("--seeds", default="0,1,2", help="of both arms; default: 0,1,2")
        parser.add_argument(
            "--preset", default="cpu-tiny-grpo", help="an RL recipe; default: cpu-tiny-grpo"
        )
        parser.add_argument("--steps", type=int, help="optimizer steps; default: the recipe's own")
        parser.add_argument(
            "--out", type=Path, required=True, help=f"folder for {' and '.join(FILES)}"
        )

    def run(self, options: dict[str, Any]) -> JsonObject:
        """Every run there is not yet, then the figure and its data."""
        began = time.monotonic()
        seeds = _seeds(options["seeds"])
        changes = {} if options["steps"] is None else {"steps": options["steps"]}
        folder = _folder(options["out"])
        if options["preset"] not in PRESETS or not PRESETS[options["preset"]].online:
            known = ", ".join(name for name, recipe in PRESETS.items() if recipe.online)
            raise Invalid(
                "This experiment cannot be made.",
                [
                    Problem(
                        "--preset",
                        f"“{options['preset'][:80]}” is no RL recipe",
                        f"Known: {known}.",
                    )
                ],
            )
        show = Progress(self, as_json=options["as_json"])
        runs: dict[Checks, list[TrainingRun]] = {checks: [] for checks in ARMS}
        try:
            for seed in seeds:
                for checks in ARMS:
                    runs[checks].append(
                        _trained(
                            options["preset"], {**changes, "rollouts.checks": checks}, seed, show
                        )
                    )
        finally:
            show.close()
        arms = arms_of(runs)
        _write(folder, arms)
        return {
            "arms": [arm.as_json() for arm in arms],
            "files": [str(folder / name) for name in FILES],
            "seconds": round(time.monotonic() - began, 3),
        }


def _trained(preset: str, changes: dict[str, Any], seed: int, show: Progress) -> TrainingRun:
    """The newest run with this very recipe that has ended well, or a new one."""
    wanted = chosen_recipe(preset=preset, changes=changes, seed=seed)
    known = TrainingRun.objects.filter(
        recipe_hash=wanted.hash, state=JobState.SUCCEEDED, dataset=None, parent=None
    )
    found = known.order_by("-created_at").first()
    if found is not None:
        return found
    run = open_run(preset=preset, changes=changes, seed=seed, by=None)
    jobs.run_inline(KIND, {"run": run.code}, subject=run.code, on_progress=show)
    run.refresh_from_db()
    return run


def _seeds(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isascii() and part.isdigit() for part in parts):
        raise Invalid(
            "This experiment cannot be made.",
            [Problem("--seeds", f"“{text[:80]}” is no list of whole numbers", "Such as 0,1,2.")],
        )
    return list(dict.fromkeys(map(int, parts)))


def _folder(path: Path) -> Path:
    """Made at once: what cannot be written should not be found out after an hour."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Invalid(
            "This experiment cannot be written.",
            [Problem("--out", f"{path}: {problem.strerror or problem}", "Name another folder.")],
        ) from problem
    return path


def _write(folder: Path, arms: tuple[Arm, ...]) -> None:
    picture, table = (folder / name for name in FILES)
    picture.write_text(drawing(arms), encoding="utf-8")
    lines = (",".join(row) for row in csv_rows(arms))
    table.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
