"""Claw-Eval task folders: read as data, never executed.

What comes out is `evaluation_only`: upstream grades with Python and a judge; we take the
*declarations* of scoring and safety as checks and constraints and say so in the provenance.
Upstream defects are found, repaired where that is possible, and recorded by id (D01–D10); none is
silent. A folder that lacks something comes in for viewing, and its tier says what is missing.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tasks_app.core.importers.claw.colleague import read_colleague
from tasks_app.core.importers.claw.days import clock_of
from tasks_app.core.importers.claw.defects import find_defects
from tasks_app.core.importers.claw.folder import (
    LONGEST_REQUEST,
    Folder,
    ImportProblemError,
    files_below,
    open_folder,
)
from tasks_app.core.importers.claw.forms import DESK
from tasks_app.core.importers.claw.grading import Grading, read_grading
from tasks_app.core.importers.claw.own import is_own, read_own
from tasks_app.core.importers.claw.places import place_of
from tasks_app.core.importers.claw.records import Records, read_records
from tasks_app.core.importers.claw.tiers import VIEW_ONLY, Tier, tier_of
from tasks_app.core.importers.claw.tools import Tools, read_tools
from tasks_app.core.importers.labels import LEVELS, slug, whole, word
from tasks_app.core.importers.outcome import Imported, Refused
from tasks_app.core.services.files import KINDS, ending
from tasks_app.core.spec import SpecError, load_spec

SOURCE: Final = "claw-eval"
LICENCE: Final = "MIT, as Claw-Eval's README states"
_READING: Final = ("files_list_files", "files_read_file", "files_write_file")
"""Our own tools for a task that works on files alone: upstream's are those of its shell."""


def read_folder(folder: Path) -> Imported | Refused:
    """Read one task folder. Never raises for what stands in it."""
    name = folder.name
    try:
        return _read(open_folder(folder))
    except ImportProblemError as problem:
        return Refused(name, str(problem))


def folders(root: Path) -> list[Path]:
    """Return the task folders below a checkout (its `tasks/` or the folder itself), by name."""
    below = root / "tasks" if (root / "tasks").is_dir() else root
    return sorted(f for f in below.iterdir() if f.is_dir() and not f.name.startswith("."))


def _own(folder: Folder) -> Imported:
    spec = read_own(folder)
    put_right = f"; findings: {'; '.join(folder.findings)}" if folder.findings else ""
    return Imported(folder.name, spec, "A", f"written by this studio{put_right}", {})


def _read(folder: Folder) -> Imported:
    if is_own(folder):
        return _own(folder)
    text = folder.text("text", "prompt", most=LONGEST_REQUEST)
    if not text:
        raise folder.refusal("/prompt", "prompt.text is empty")
    language = folder.text("language", "prompt") or "en"
    if not re.fullmatch(r"[a-z]{2,3}", language):
        folder.found("/prompt/language", f"{language[:20]!r} is no language; en is taken")
        language = "en"
    records = read_records(folder)
    tools = read_tools(folder)
    grading = read_grading(folder, tools.aliases)
    colleague = read_colleague(folder, language)
    tier = tier_of(folder, records, tools, grading, colleague)
    defects = find_defects(folder, records, tools, grading)
    services = records.services
    own = _READING if tier.letter == "C" and services.get("files") else ()
    for service in sorted(tools.services):
        services.setdefault(service, {})
    environment = folder.section("environment")
    turns = environment.get("max_turns")
    name = folder.name
    data = {
        "format": "coworker-task/1",
        "slug": slug(name),
        "title": (folder.text("task_name") or name)[:300],
        "language": language,
        "tags": _tags(folder, tier),
        "track": "claw_eval",
        "family": word(f"claw_eval_{folder.text('category') or 'general'}"),
        "subtype": word(re.sub(r"^[TMC]\d+(zh|en)?_", "", name)),
        "difficulty": {"level": _level(folder)},
        "clock": {"start": clock_of(services), "zone": "UTC"},
        "seed": 0,
        "workplace": {
            "organisation": "as the request says",
            "coworker": {"role": "assistant", "mailbox": DESK},
            "requester": {"name": "the user"},
        },
        "request": {"text": text, "attachments": _attachments(folder)},
        **({} if colleague is None else {"user": colleague}),
        "services": services,
        "tools": list(own),
        "tool_aliases": tools.aliases,
        "constraints": grading.constraints,
        "checks": grading.checks,
        "limits": {
            "turns": whole(turns, 30, 2000),
            "tool_calls": 5 * whole(turns, 30, 400),
            "seconds": whole(environment.get("timeout_seconds"), 600, 86_400),
        },
        "evaluation_only": True,
        "aliases": _aliases(folder),
        "provenance": _provenance(folder, records, tools, grading, tier, defects),
    }
    try:
        spec = load_spec(data)
    except SpecError as problem:
        place = place_of(folder, records, problem.problems[0])
        raise ImportProblemError(f"{place}: does not fit the task format: {problem}") from problem
    used = ", ".join(sorted(services)) or "none"
    put_right = f"; findings: {'; '.join(folder.findings)}" if folder.findings else ""
    return Imported(
        name,
        spec,
        tier.letter,
        f"{tier.reason}; services {used}{put_right}",
        defects,
        tier.runs,
        f"{SOURCE}:{name}",
    )


def _provenance(
    folder: Folder,
    records: Records,
    tools: Tools,
    grading: Grading,
    tier: Tier,
    defects: Mapping[str, str],
) -> dict[str, Any]:
    said: dict[str, Any] = {
        "importer": "claw_eval/2",
        "source": SOURCE,
        "source_id": folder.text("task_id") or folder.name,
        "licence": LICENCE,
        "grading": (
            "declared scoring and safety; upstream scores come from its own grader and judge"
        ),
        "tier": tier.letter,
        "runs": tier.runs,
        "missing": list(tier.missing),
        "without": list(tier.without),
        "not_taken": [
            *grading.not_taken,
            *(
                f"{argument} has no effect here; not advertised"
                for argument in tools.without_effect
            ),
        ],
        "reference_prose": folder.text("reference_solution"),
        "judge_rubric": folder.text("judge_rubric"),
        "expected_actions": grading.expected,
        "upstream_defects": dict(defects),
        "files": {
            file: records.taken.get(file, "left where it is") for file in files_below(folder)
        },
    }
    if tools.left_out:
        said["tools_not_offered"] = tools.left_out
    agent = folder.section("user_agent")
    if agent.get("enabled") is True:
        said["persona"] = folder.text("persona", "user_agent", most=100_000)
        said["persona_advice"] = folder.text("system_prompt_suffix", "user_agent")
    if folder.findings:
        said["findings"] = list(folder.findings)
    return said


def _attachments(folder: Folder) -> list[dict[str, Any]]:
    """Return what comes with the request by name; a picture's bytes stay where they are."""
    attached = []
    for written in folder.texts("attachments", "prompt"):
        kind = KINDS.get(ending(written), "application/octet-stream")
        attached.append({"name": written[:300], "media_type": kind})
    return [entry for entry in attached if entry["name"]]


def _aliases(folder: Folder) -> list[str]:
    """Return all names by which the benchmark knows the task; ids were renamed over its history."""
    said = folder.text("task_id")
    return list(dict.fromkeys(name for name in (folder.name, said) if name))


def _tags(folder: Folder, tier: Tier) -> list[str]:
    tags = [slug(tag) for tag in folder.texts("tags")]
    return list(dict.fromkeys([*tags, *(() if tier.runs else (VIEW_ONLY,))]))


def _level(folder: Folder) -> int:
    said = folder.text("difficulty")
    if said and said not in LEVELS:
        folder.found("/difficulty", f"{said[:40]!r} is no difficulty; medium is taken")
    return LEVELS.get(said, 3)
