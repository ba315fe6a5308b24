"""ClawMark tasks: `task.py` read as a syntax tree, never compiled, imported or run.

What is literal comes in: metadata, prompt, notifications and times, seeds and later changes, and of
each checker id, docstring and weight. What is computed is counted per stage and named with its
line. Checkers are programs and are not translated, so that a task is `evaluation_only`; where
anything that it needs is missing it comes in for viewing. The licence, which forbids commercial
use, stands in the provenance.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from tasks_app.core.importers.claw.folder import (
    LONGEST_REQUEST,
    ImportProblemError,
    is_file,
    read_below,
)
from tasks_app.core.importers.claw.tiers import VIEW_ONLY
from tasks_app.core.importers.labels import LEVELS, slug, whole, word
from tasks_app.core.importers.mark.office import SERVICES, Office
from tasks_app.core.importers.mark.rubric import Rubric, read_rubric
from tasks_app.core.importers.mark.source import (
    MOST_FINDINGS,
    TASK,
    Source,
    at,
    open_source,
)
from tasks_app.core.importers.mark.stages import Told, read_stages
from tasks_app.core.importers.mark.values import NotLiteralError, Reader
from tasks_app.core.importers.outcome import Imported, Refused
from tasks_app.core.services.catalog import services
from tasks_app.core.spec import SpecError, load_spec

SOURCE: Final = "clawmark"
LICENCE: Final = "CC BY-NC 4.0"
MOST_STAGES: Final = 50
_CONTRACT: Final = PurePosixPath("assets/AGENTS.md")
_LARGEST_CONTRACT: Final = 100_000
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
_WHOLE, _PARTLY = "A", "B"


def folders(root: Path) -> list[Path]:
    """Return the task folders of a checkout: `tasks/DOMAIN/TASK`, or the folder itself."""
    if is_file(root / TASK):
        return [root]
    below = root / "tasks" if (root / "tasks").is_dir() else root
    if not below.is_dir():
        return []
    found: list[Path] = []
    for folder in _inside(below):
        found += [folder] if is_file(folder / TASK) else _inside(folder)
    return sorted(found)


def _inside(folder: Path) -> list[Path]:
    if folder.is_symlink():
        return [folder]  # to be refused by name
    return [f for f in folder.iterdir() if f.is_dir() and not f.name.startswith((".", "_"))]


def name_of(folder: Path, root: Path) -> str:
    """Return what a task is called: its domain and number."""
    inner = folder.relative_to(root).parts
    return "/".join(inner[1:] if inner[:1] == ("tasks",) else inner) or folder.name


def read_folder(folder: Path, name: str) -> Imported | Refused:
    """Read one task folder. Never raises for what stands in it, and runs none of it."""
    try:
        if folder.is_symlink() or folder.parent.is_symlink():
            raise ImportProblemError("links are not followed")
        return _read(open_source(folder), name)
    except ImportProblemError as problem:
        return Refused(name, str(problem))


def _read(source: Source, name: str) -> Imported:
    reader = Reader(source)
    metadata, lost = _metadata(reader)
    office = Office(source, _users(metadata))
    stages = read_stages(reader, office)
    if not stages:
        raise ImportProblemError(f"{TASK}, line 1: there is no stage function")
    if len(stages) > MOST_STAGES:
        raise ImportProblemError(f"{TASK}: {len(stages)} stages; at most {MOST_STAGES}")
    request = _request(reader, stages[0])
    rubric = read_rubric(reader, [stage.id for stage in stages])
    missing = _missing(metadata, office, stages, rubric, lost)
    said = _text_of(metadata, "name") or name
    domain, _, number = name.rpartition("/")
    seeds: dict[str, Any] = {
        ours: {} for theirs in _environments(metadata) if (ours := SERVICES.get(theirs))
    }
    held = {**seeds, **office.services}
    data = {
        "format": "coworker-task/1",
        "slug": slug(f"clawmark-{name}"),
        "title": said[:300],
        "language": "zh" if _is_chinese(request) else "en",
        "tags": _tags(metadata, missing),
        "track": "clawmark",
        "family": word(f"clawmark_{domain or _text_of(metadata, 'category') or 'general'}"),
        "subtype": word(number or name),
        "difficulty": {"level": LEVELS.get(_text_of(metadata, "difficulty"), 3)},
        "clock": {"start": stages[0].at, "zone": _zone(stages[0].at)},
        "seed": 0,
        "workplace": {
            "organisation": "as the request says",
            "coworker": {
                "role": _text_of(metadata, "role")[:300] or "assistant",
                "mailbox": _mailbox(office),
            },
            "requester": {"name": "the user"},
            "output_contract": _contract(source),
        },
        "request": {"text": request},
        "services": held,
        "tools": [tool for service in held for tool in services()[service].tools()],
        "timeline": [
            {
                "id": stage.id,
                "at": stage.at,
                "notification": None if position == 0 else stage.notification,
                "mutations": [] if position == 0 else changes,
            }
            for position, (stage, changes) in enumerate(zip(stages, office.mutations, strict=True))
        ],
        "checks": rubric.checks,
        "limits": {
            "turns": 30 * len(stages),
            "tool_calls": min(100 * len(stages), 5_000),
            "seconds": whole(metadata.get("timeout_seconds"), 600, 86_400),
        },
        "evaluation_only": True,
        "aliases": list(dict.fromkeys(a for a in (name, _text_of(metadata, "id")) if a)),
        "provenance": _provenance(source, name, metadata, office, stages, rubric, missing, lost),
    }
    try:
        spec = load_spec(data)
    except SpecError as problem:
        raise ImportProblemError(f"{TASK}: does not fit the task format: {problem}") from problem
    taken = sum(stage.taken for stage in stages)
    told = taken + sum(len(stage.not_taken) for stage in stages)
    runs = f"for viewing: {'; '.join(missing)}" if missing else "runs"
    reason = f"{taken} of {told} changes, {len(rubric.checks)} checkers by name; {runs}"
    put_right = f"; findings: {'; '.join(source.findings)}" if source.findings else ""
    return Imported(
        name,
        spec,
        _PARTLY if missing else _WHOLE,
        reason + put_right,
        {},
        not missing,
        f"{SOURCE}:{name}",
    )


def _metadata(reader: Reader) -> tuple[dict[str, Any], list[str]]:
    """Return what of METADATA is literal, and what is not, each with its line."""
    declared = reader.source.names.get("METADATA")
    if not isinstance(declared, ast.Dict):
        return {}, ["METADATA is not set to an object"]
    metadata: dict[str, Any] = {}
    lost: list[str] = []
    for key, value in zip(declared.keys, declared.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            lost.append(f"{at(value)}: a key of METADATA is computed")
            continue
        try:
            metadata[key.value] = reader.value(value, {})
        except NotLiteralError as problem:
            lost.append(f"{problem} (METADATA, {key.value[:40]})")
    return metadata, lost


def _text_of(metadata: Mapping[str, Any], key: str) -> str:
    value = metadata.get(key)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _users(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return name → address of the mailboxes that the metadata lists."""
    listed: Any = metadata.get("env_config")
    for key in ("email", "users"):
        listed = listed.get(key) if isinstance(listed, dict) else None
    if not isinstance(listed, dict):
        return {}
    return {
        name: user["email"]
        for name, user in listed.items()
        if isinstance(user, dict) and isinstance(user.get("email"), str)
    }


def _environments(metadata: Mapping[str, Any]) -> list[str]:
    listed = metadata.get("environments")
    return [e for e in listed if isinstance(e, str)] if isinstance(listed, list) else []


def _tags(metadata: Mapping[str, Any], missing: list[str]) -> list[str]:
    listed = metadata.get("tags")
    words = [slug(t) for t in listed if isinstance(t, str)] if isinstance(listed, list) else []
    return list(dict.fromkeys([*words, *([VIEW_ONLY] if missing else [])]))


def _request(reader: Reader, first: Told) -> str:
    """Return the prompt with the first stage's notification: the coworker is given both."""
    declared = reader.source.names.get("PROMPT")
    if declared is None:
        raise ImportProblemError(f"{TASK}: PROMPT is not set to a text")
    try:
        prompt = reader.text(declared, {}).strip()
    except NotLiteralError as problem:
        raise ImportProblemError(f"{problem} (PROMPT)") from problem
    whole_text = "\n\n".join(part for part in (prompt, (first.notification or "").strip()) if part)
    if not whole_text:
        raise ImportProblemError(f"{at(declared)}: PROMPT is empty")
    if len(whole_text) > LONGEST_REQUEST:
        reader.source.found(declared, f"the request is cut to {LONGEST_REQUEST:,} characters")
    return whole_text[:LONGEST_REQUEST]


def _missing(
    metadata: Mapping[str, Any],
    office: Office,
    stages: list[Told],
    rubric: Rubric,
    lost: list[str],
) -> list[str]:
    """Return what keeps a task from running here; nothing where all of it came in."""
    unknown = [name for name in _environments(metadata) if name not in SERVICES]
    computed = sum(len(stage.not_taken) for stage in stages)
    missing = [f"the environment {name[:40]} is not simulated here" for name in unknown]
    if computed:
        missing.append(f"{computed} changes or texts are computed")
    if office.files.missing:
        missing.append(f"{len(office.files.missing)} files are not carried over")
    if rubric.not_taken:
        missing.append(f"{len(rubric.not_taken)} parts of its rubric are not taken")
    if lost:
        missing.append(f"{len(lost)} parts of METADATA are computed")
    if not rubric.checks:
        missing.append("nothing is declared that could grade it")
    return missing


def _mailbox(office: Office) -> str:
    """Return the address that most of the mail goes to, the first of several."""
    received = [m["mailbox"] for m in office.services.get("mail", {}).get("messages", ())]
    return max(dict.fromkeys(received), key=received.count, default="")


def _contract(source: Source) -> str:
    """Return the file of the workspace that says what the output must be; empty without one."""
    if not is_file(source.path / _CONTRACT):
        return ""
    try:
        return read_below(source.path, _CONTRACT, _LARGEST_CONTRACT).decode("utf-8")
    except (ImportProblemError, UnicodeDecodeError) as problem:
        source.findings.append(f"{_CONTRACT}: not taken as the output contract: {problem}"[:300])
        return ""


def _zone(moment: str) -> str:
    """Return the zone of a time's offset, where that is a whole number of hours; UTC otherwise."""
    match = re.fullmatch(r".*([+-])(\d\d):00", moment)
    if match is None or match[2] == "00" or int(match[2]) > 12:
        return "UTC"
    return f"Etc/GMT{'-' if match[1] == '+' else '+'}{int(match[2])}"  # POSIX counts westwards


def _is_chinese(text: str) -> bool:
    return len(_CHINESE.findall(text)) > len(text) // 5


def _provenance(
    source: Source,
    name: str,
    metadata: Mapping[str, Any],
    office: Office,
    stages: list[Told],
    rubric: Rubric,
    missing: list[str],
    lost: list[str],
) -> dict[str, Any]:
    return {
        "importer": "clawmark/1",
        "source": SOURCE,
        "source_id": name,
        "licence": LICENCE,
        "grading": "checkers are programs: named with weight and docstring, not translated",
        "tier": _PARTLY if missing else _WHOLE,
        "runs": not missing,
        "missing": missing,
        "metadata": {k: v for k, v in metadata.items() if k != "env_config"},
        "counts": {
            "stages": len(stages),
            "notifications": sum(stage.notification is not None for stage in stages),
            "times": sum(stage.time is not None for stage in stages),
            "changes": sum(stage.taken for stage in stages),
            "changes_not_taken": sum(len(stage.not_taken) for stage in stages),
            "checkers": len(rubric.checkers),
            "checkers_not_taken": len(rubric.not_taken),
            "metadata_not_taken": len(lost),
            "files": len(office.files.carried),
            "files_not_taken": len(office.files.missing),
        },
        "stages": [
            {"id": s.id, "line": s.line, "taken": s.taken, "not_taken": s.not_taken[:MOST_FINDINGS]}
            for s in stages
        ],
        "rubric": rubric.checkers,
        "rubric_weight": rubric.total,
        "not_taken": [*lost, *rubric.not_taken],
        "files": {
            **dict.fromkeys(office.files.carried, "files/files"),
            **office.files.missing,
        },
        **({"findings": list(source.findings)} if source.findings else {}),
    }
