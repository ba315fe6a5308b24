"""Tiers: every folder is sorted, and says what can run and what is missing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks_app.core.importers.claw.tiers import VIEW_ONLY
from tests.tasks_app.core.importers.claw_folders import folder, imported, tool

WEB = {"name": "web_real"}
BASH = {**tool("Bash", command="string"), "description": "runs a command"}


def bare(data: dict[str, Any]) -> None:
    """Take services and their tools out."""
    data.update(services=[], tools=[], tool_endpoints=[], safety_checks=[])
    data.update(scoring_components=[], judge_rubric="Is it right?")


def live(data: dict[str, Any]) -> None:
    bare(data)
    data.update(services=[WEB], tools=[tool("web_search", query="string")])


def video(data: dict[str, Any]) -> None:
    bare(data)
    data.update(tags=["multimodal"], judge_rubric="", sandbox_files=["fixtures/film.mp4"])


def shell(data: dict[str, Any]) -> None:
    bare(data)
    data.update(tools=[BASH], env_snapshot_commands=["python check.py"])


def thought(data: dict[str, Any]) -> None:
    bare(data)
    data.update(tools=[BASH])


def picture(data: dict[str, Any]) -> None:
    bare(data)
    data.update(services=[{"name": "caption"}], tools=[tool("caption_describe_image")])
    data["prompt"]["attachments"] = ["fixtures/lamp.jpg"]


def dialogue(data: dict[str, Any]) -> None:
    live(data)
    data.update(tags=["general", "user_agent"])
    data["user_agent"] = {"enabled": True, "persona": "- Budget: 900 euros", "max_rounds": 4}


def silent(data: dict[str, Any]) -> None:
    dialogue(data)
    data["user_agent"]["persona"] = "You are in a hurry."


@pytest.mark.parametrize(
    ("change", "tier", "runs", "reason"),
    [
        (lambda _: None, "A", True, "offline text; runs; services helpdesk"),
        (
            lambda d: d.update(tools=[], safety_checks=[]),
            "A",
            False,
            "offline text; for viewing: no tool is declared; services helpdesk",
        ),
        (
            picture,
            "B",
            False,
            ("canned texts of scans; for viewing: the text of what caption reads; "
            "fixtures/lamp.jpg (not in the folder); services files"),
        ),
        (thought, "C", True, "files only; runs without Bash; services none"),
        (
            shell,
            "C",
            False,
            "files only; for viewing: a shell: grading runs 1 commands; services none",
        ),
        (
            live,
            "D",
            False,
            "live web; for viewing: web_real: a service of the live web; services none",
        ),
        (
            video,
            "D",
            False,
            ("video; for viewing: fixtures/film.mp4 (not in the folder); nothing is declared that "
            "could grade it; services none"),
        ),
        (
            dialogue,
            "D",
            True,
            "dialogue with a colleague by rules, 1 facts; runs without web_search; services none",
        ),
        (
            silent,
            "D",
            False,
            ("dialogue with a colleague by rules, 0 facts; for viewing: its persona lists nothing "
            "that the colleague knows; services none"),
        ),
    ],
)  # fmt: skip
def test_a_task_says_its_tier_and_what_is_missing(
    tmp_path: Path,
    change: Callable[[dict[str, Any]], object],
    tier: str,
    runs: bool,
    reason: str,
) -> None:
    found = imported(folder(tmp_path, change))
    assert (found.tier, found.runs, found.reason) == (tier, runs, reason)
    assert (VIEW_ONLY in found.spec.tags) is not runs
    said = found.spec.provenance
    assert (said["tier"], said["runs"], bool(said["missing"])) == (tier, runs, not runs)


def test_a_tool_that_is_not_offered_stays_as_it_was_declared(tmp_path: Path) -> None:
    spec = imported(folder(tmp_path, thought)).spec
    assert (spec.tools, dict(spec.tool_aliases)) == ((), {})
    assert spec.written()["provenance"]["tools_not_offered"] == {"Bash": BASH}


def test_attachments_come_by_name(tmp_path: Path) -> None:
    spec = imported(folder(tmp_path, picture)).spec
    assert [(a.name, a.media_type) for a in spec.request.attachments] == [
        ("fixtures/lamp.jpg", "image/jpeg")
    ]


def test_old_ids_are_aliases(tmp_path: Path) -> None:
    spec = imported(folder(tmp_path, lambda d: d.update(task_id="T90_lamps"))).spec
    assert spec.aliases == ("T900_lamp_triage", "T90_lamps")
