"""Pocket tasks, prompts, rollout lint and manifests."""

import re
from pathlib import Path
from typing import Any

import pytest

from tasks_app.core.generation.families.pocket.words import HELD_PEOPLE, PEOPLE
from training_app.core import pocket
from training_app.core.lint import lint_rollouts
from training_app.core.manifest import check_manifest, write_manifest
from training_app.core.prompts import PromptError, prompt_of, spec_of, toolsets
from training_app.core.run_dir import RunDirError


def test_tasks_come_family_by_family_and_are_the_same_each_time() -> None:
    first = pocket.tasks("train", 8, 3)
    assert [s.family for s in first[:4]] == [f.name for f in pocket.families()]
    assert [s.hash for s in pocket.tasks("train", 8, 3)] == [s.hash for s in first]
    assert {s.hash for s in pocket.tasks("train", 8, 4)}.isdisjoint({s.hash for s in first})


def test_held_out_tasks_share_no_person_with_training() -> None:
    kept = set(PEOPLE[-HELD_PEOPLE:])
    for part, allowed in (("train", set(PEOPLE) - kept), ("held_out", kept)):
        text = " ".join(s.canonical().decode() for s in pocket.tasks(part, 16, 0))  # type: ignore[arg-type]  # the two parts
        assert {name for name in PEOPLE if re.search(rf"\b{name}\b", text)} <= allowed


def test_an_unknown_family_names_those_that_exist() -> None:
    with pytest.raises(ValueError, match="known are pocket_refund_or_decline"):
        pocket.tasks("train", 1, 0, family="pocket_flight")


def test_a_prompt_carries_its_whole_spec() -> None:
    spec = pocket.tasks("train", 1, 0)[0]
    prompt = prompt_of(spec, seed=5)
    assert spec_of(prompt).hash == spec.hash
    assert [m["role"] for m in prompt["prompt"]] == ["system", "user"]
    assert prompt["group"] != prompt_of(spec, seed=6)["group"]


def test_a_prompt_with_another_spec_inside_is_refused() -> None:
    one, other = (prompt_of(spec) for spec in pocket.tasks("train", 2, 0))
    with pytest.raises(PromptError, match="not the one"):
        spec_of({**one, "spec": other["spec"]})


def test_prompts_of_a_family_share_a_toolset() -> None:
    prompts = [prompt_of(spec) for spec in pocket.tasks("train", 16, 0)]
    found = toolsets(prompts)
    assert len(found) == 4
    assert [p["toolset"] for p in prompts[:4]] == list(found)


ROLLOUT: dict[str, Any] = {
    "group": "g",
    "seed": 1,
    "reward": 0.6,
    "contributions": {
        "outcome": 0.4,
        "process": 0.0,
        "report": 0.2,
        "collateral": 0.0,
        "constraint": 0.0,
    },
    "weights": {"outcome": 1},
    "turns": [{"anchor": "a", "tokens": 3}, {"anchor": "b", "tokens": 4}],
    "tokens": 7,
    "failed": False,
}


def test_a_whole_group_passes() -> None:
    assert lint_rollouts([ROLLOUT, ROLLOUT]) == []
    failure = {**ROLLOUT, "failed": True, "reward": None}
    assert lint_rollouts([ROLLOUT, failure]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": 0.7}, "sum to 0.6, not 0.7"),
        ({"reward": float("nan")}, "nan is no finite number"),
        ({"failed": True}, "an infrastructure failure has no reward, not even 0"),
        ({"weights": {"outcome": 0.5}}, "reward weights other than 1: the parts carry their"),
        ({"contributions": {"outcome": 0.6}}, "the components are not outcome, process"),
        ({"tokens": 9}, "the turns have 7, the row says 9"),
        ({"turns": []}, "no turns"),
        ({"seed": None}, "no seed"),
    ],
)
def test_the_rollout_lint_names_what_is_wrong(change: dict[str, Any], message: str) -> None:
    (found,) = lint_rollouts([{**ROLLOUT, **change}, ROLLOUT])
    assert found.row == 0
    assert found.message.startswith(message)


def test_a_rollout_alone_in_its_group_is_found() -> None:
    assert [f.message for f in lint_rollouts([ROLLOUT])] == ["nobody to compare with"]


def test_a_manifest_finds_what_was_changed_or_lost(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"{}\n")
    made = write_manifest(
        tmp_path, kind="prompts", rows=1, split_kind="new_instances", provenance={"seed": 0}
    )
    assert check_manifest(tmp_path) == made
    (tmp_path / "rows.jsonl").write_bytes(b"[]\n")
    with pytest.raises(RunDirError, match="is not what the manifest describes"):
        check_manifest(tmp_path)
    (tmp_path / "rows.jsonl").unlink()
    with pytest.raises(RunDirError, match="is missing"):
        check_manifest(tmp_path)
