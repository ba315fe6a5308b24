"""How much of a Claw-Eval task can run here, and what is missing for the rest.

A: offline business records. B: canned texts of scans or documents. C: files alone. D: the live web,
pictures or video, or a dialogue. A dialogue runs with a colleague by rules; what needs something
that is missing is imported for viewing, which its tag says, and never runs in an evaluation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.importers.claw.folder import Folder
from tasks_app.core.importers.claw.grading import Grading
from tasks_app.core.importers.claw.records import Records, is_text_service
from tasks_app.core.importers.claw.tools import Tools
from tasks_app.core.importers.claw.upstream import LIVE

VIEW_ONLY: Final = "view-only"
"""Tag of an imported task that is there to be seen: something that it needs is missing."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Where a task belongs and what it lacks."""

    letter: str
    kind: str
    runs: bool
    missing: tuple[str, ...]
    """What keeps it from running; empty where it runs."""
    without: tuple[str, ...]
    """What upstream offers beside and this studio doesn't."""

    @property
    def reason(self) -> str:
        """The tier in words: what can run, and what can't."""
        if not self.runs:
            return f"{self.kind}; for viewing: {'; '.join(self.missing)}"
        beside = f"; runs without {'; '.join(self.without)}" if self.without else "; runs"
        return f"{self.kind}{beside}"


def tier_of(
    folder: Folder,
    records: Records,
    tools: Tools,
    grading: Grading,
    colleague: Mapping[str, Any] | None,
) -> Tier:
    """Sort a task into its tier."""
    named = [str(entry.data.get("name")) for entry in folder.entries("services")]
    live = [name for name in named if name in LIVE]
    scans = [name for name in named if is_text_service(name)]
    commands = len(folder.texts("env_snapshot_commands"))
    left_out = ", ".join(tools.left_out)
    missing = [f"{name}: a service of the live web" for name in live]
    missing += records.missing
    if commands:
        missing.append(f"a shell: grading runs {commands} commands")
    if not grading.checks:
        missing.append("nothing is declared that could grade it")
    if len(named) > len(live) and not tools.aliases:
        missing.append("no tool is declared")
    beside = [left_out] if left_out else []
    if colleague is not None:
        kind = f"dialogue with a colleague by rules, {len(colleague['facts'])} facts"
        missing = missing[len(live) :]
        if not colleague["facts"]:
            missing.append("its persona lists nothing that the colleague knows")
        return _tier("D", kind, missing, [*beside, *(() if left_out else live)])
    if live:
        return _tier("D", "live web", missing, beside)
    if "multimodal" in folder.texts("tags"):
        return _tier(
            "D", _medium(folder), missing or ["what it shows is not looked at here"], beside
        )
    if scans:
        return _tier("B", "canned texts of scans", missing, beside)
    if named:
        return _tier("A", "offline text", [m for m in missing if m not in records.missing],
                     [*beside, *records.missing])  # fmt: skip
    return _tier("C", "files only", missing, beside)


def _tier(letter: str, kind: str, missing: list[str], beside: list[str]) -> Tier:
    return Tier(letter, kind, not missing, tuple(missing), tuple(beside))


def _medium(folder: Folder) -> str:
    files = " ".join(folder.texts("sandbox_files"))
    video = any(ending in files for ending in (".mp4", ".webm", ".mov"))
    return "video" if video else "pictures or documents"
