"""The command that compares training with proof and without it, on runs that have ended."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from studio.web.choices import JobState
from tests.factories.runs import log_steps, made_run
from training_app.models import TrainingRun
from training_app.operations.runs import chosen_recipe
from training_app.queries.curves import control_of, newest_of_each

pytestmark = pytest.mark.django_db


def ended(checks: str, seed: int, after: float, **changes: Any) -> TrainingRun:
    """A run of an arm that has logged ten steps and measured twenty tasks before and after."""
    recipe = chosen_recipe(
        preset="cpu-tiny-grpo", changes={"steps": 20, "rollouts.checks": checks}, seed=seed
    )
    run = made_run(
        recipe=recipe,
        seed=seed,
        result={
            part: {
                "split_kind": "new_instances",
                "greedy": {"n": 20, "success": success, "low": 0.1, "high": 0.9},
            }
            for part, success in (("before", 0.5), ("after", after))
        },
        **changes,
    )
    log_steps(run, 1, 10, {step: {"passed": after, "reward": after} for step in range(1, 10, 2)})
    return run


def experiment(folder: Path, *words: str) -> dict[str, Any]:
    out = StringIO()
    call_command(
        "proof_experiment", "--steps", "20", "--out", str(folder), *words, "--json", stdout=out
    )
    found: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return found


def test_both_arms_are_told_drawn_and_tabled_from_the_runs_there_are(tmp_path: Path) -> None:
    codes = {
        checks: [ended(checks, seed, after).code for seed, after in enumerate(afters)]
        for checks, afters in (("proven", (0.75, 0.95)), ("unproven", (0.25, 0.35)))
    }
    ended("proven", 0, 0.1, state=JobState.FAILED)
    line = experiment(tmp_path / "new", "--seeds", "0,1")
    before = {"when": "before", "way": "greedy", "tasks": 40, "success": 0.5}
    assert line["seconds"] >= 0
    assert line["arms"] == [
        {
            "checks": "proven",
            "runs": codes["proven"],
            "seeds": [0, 1],
            "reward_last_fifth": 0.85,
            "solved_last_fifth": 0.85,
            "held_out": [
                {**before, "low": 0.352, "high": 0.648},
                {
                    "when": "after", "way": "greedy", "tasks": 40, "success": 0.85,
                    "low": 0.7093, "high": 0.9294,
                },
            ],
        },
        {
            "checks": "unproven",
            "runs": codes["unproven"],
            "seeds": [0, 1],
            "reward_last_fifth": 0.3,
            "solved_last_fifth": 0.3,
            "held_out": [
                {**before, "low": 0.352, "high": 0.648},
                {
                    "when": "after", "way": "greedy", "tasks": 40, "success": 0.3,
                    "low": 0.1807, "high": 0.4543,
                },
            ],
        },
    ]  # fmt: skip
    picture, table = map(Path, line["files"])
    assert (
        'aria-label="Proven checks: reward in the last fifth 0.85, solved 0.85; '
        "held-out greedy before 0.50"
    ) in picture.read_text()
    assert table.read_text().splitlines()[:2] == [
        "checks,line,samples,mean,lowest,highest",
        "proven,reward,32,0.8500,0.7500,0.9500",
    ]
    assert "unproven,held_out_greedy_after,,0.3000,0.1807,0.4543" in table.read_text()


def test_the_figure_names_the_higher_line_above_the_lower_in_colours_of_the_tokens(
    tmp_path: Path, settings: LazySettings
) -> None:
    ended("proven", 0, 0.4)
    ended("unproven", 0, 0.7)
    picture = Path(experiment(tmp_path, "--seeds", "0")["files"][0]).read_text()
    heights = {
        name: float(y)
        for y, name in re.findall(r'y="([\d.]+)">(proven|unproven) 0\.\d\d<', picture)
    }
    assert sorted(heights, key=lambda name: heights[name]) == ["unproven", "proven"]
    tokens = (Path(settings.BASE_DIR) / "static" / "css" / "tokens.css").read_text()
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", picture)) - set(re.findall(r"#\w+", tokens)) == set()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seeds", "0;1"), "--seeds: “0;1” is no list of whole numbers"),
        (("--seeds", ""), "--seeds: “” is no list of whole numbers"),
        (("--preset", "cpu-tiny-sft"), "--preset: “cpu-tiny-sft” is no RL recipe"),
        (("--preset", "nothing"), "--preset: “nothing” is no RL recipe"),
        (("--steps", "0"), "steps"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_run(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("proof_experiment", "--out", str(tmp_path), *words)
    assert TrainingRun.objects.count() == 0


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CommandError, match=r"--out: .*file/deeper: Not a directory"):
        experiment(tmp_path / "file" / "deeper")


def test_a_run_on_unproven_checks_stands_beside_none_that_is_paid_otherwise() -> None:
    proven = ended("proven", 0, 0.5)
    loose = ended("unproven", 0, 0.5)
    control = made_run(recipe=chosen_recipe(preset="cpu-tiny-control"), steps=5)
    assert newest_of_each() == [proven, control]
    assert (control_of(proven), control_of(loose)) == (control, None)
