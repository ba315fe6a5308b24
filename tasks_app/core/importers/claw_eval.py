"""Claw-Eval task folders: read as data, never executed.

What comes out is `evaluation_only`: upstream grades with Python and a judge; we take the
*declarations* of scoring and safety as checks and constraints and say so in the provenance.
Upstream defects are found, repaired where that is possible, and recorded by id (D01–D10); none is
silent.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

import orjson

from tasks_app.core.importers.claw_tables import DESK, HOMES, OCR, TOOLS, Home
from tasks_app.core.importers.safe_yaml import UnsafeYamlError, load_yaml
from tasks_app.core.instants import add_days, day_of, parse_instant
from tasks_app.core.spec import SpecError, TaskSpec, load_spec

SOURCE: Final = "claw-eval"
LICENCE: Final = "MIT, as Claw-Eval's README states"
LARGEST_FIXTURE: Final = 5_000_000
_MEDIA: Final = re.compile(r"[A-Za-z0-9_-]+\.(?:png|jpg|jpeg|pdf)")
_PAST: Final = (
    "date",
    "created_at",
    "last_updated",
    "last_contact_date",
    "published_at",
    "last_run",
    "last_verified",
)
"""Fields whose dates lie behind the task's day."""
_DIFFICULTY: Final = {"easy": 2, "medium": 3, "hard": 4}


@dataclass(frozen=True, slots=True)
class Imported:
    """A folder that became a task."""

    name: str
    spec: TaskSpec
    tier: str
    reason: str
    """Why it is in its tier."""
    defects: Mapping[str, str]
    """Upstream defect id → what was found and done."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A folder that did not, and why."""

    name: str
    reason: str


class ImportProblemError(ValueError):
    """A folder cannot become a task; the message is the reason."""


def read_folder(folder: Path) -> Imported | Refused:
    """Read one task folder. Never raises for what stands in it."""
    name = folder.name
    try:
        return _read(folder)
    except (ImportProblemError, UnsafeYamlError) as problem:
        return Refused(name, str(problem))
    except SpecError as problem:
        return Refused(name, f"does not fit the task format: {problem}")


def folders(root: Path) -> list[Path]:
    """Return the task folders below a checkout (its `tasks/` or the folder itself), by name."""
    below = root / "tasks" if (root / "tasks").is_dir() else root
    return sorted(f for f in below.iterdir() if f.is_dir() and not f.name.startswith("."))


def _read(folder: Path) -> Imported:
    declared = load_yaml(_bytes(folder, PurePosixPath("task.yaml")))
    if not isinstance(declared, dict):
        raise ImportProblemError("task.yaml: expected an object")
    upstream = [str(s.get("name")) for s in _objects(declared, "services")]
    _fits(declared, upstream)
    defects: dict[str, str] = {}
    services = _services(folder, declared, upstream, defects)
    aliases, used = _tools(declared, defects)
    if not aliases:
        raise ImportProblemError("task.yaml: no tool is declared")
    checks, left_out = _checks(declared, aliases, defects)
    constraints, unused = _constraints(declared, aliases, defects)
    prompt = declared.get("prompt")
    text = str(prompt.get("text", "")).strip() if isinstance(prompt, dict) else ""
    if not text:
        raise ImportProblemError("task.yaml: prompt.text is empty")
    language = str(prompt.get("language", "en")) if isinstance(prompt, dict) else "en"
    environment = declared.get("environment")
    environment = environment if isinstance(environment, dict) else {}
    name = folder.name
    spec = load_spec(
        {
            "format": "coworker-task/1",
            "slug": _slug(name),
            "title": str(declared.get("task_name") or name)[:300],
            "language": language if re.fullmatch(r"[a-z]{2,3}", language) else "en",
            "tags": [_slug(str(tag)) for tag in declared.get("tags") or []],
            "track": "claw_eval",
            "family": _word(f"claw_eval_{declared.get('category') or 'general'}"),
            "subtype": _word(re.sub(r"^[TMC]\d+(zh|en)?_", "", name)),
            "difficulty": {"level": _DIFFICULTY.get(str(declared.get("difficulty")), 3)},
            "clock": {"start": _clock(services), "zone": "UTC"},
            "seed": 0,
            "workplace": {
                "organisation": "as the request says",
                "coworker": {"role": "assistant", "mailbox": DESK},
                "requester": {"name": "the user"},
            },
            "request": {"text": text},
            "services": services,
            "tools": [],
            "tool_aliases": aliases,
            "constraints": constraints,
            "checks": checks,
            "limits": {
                "turns": _whole(environment.get("max_turns"), 30, 2000),
                "tool_calls": 5 * _whole(environment.get("max_turns"), 30, 400),
                "seconds": _whole(environment.get("timeout_seconds"), 600, 86_400),
            },
            "evaluation_only": True,
            "aliases": [name],
            "provenance": {
                "importer": "claw_eval/1",
                "source": SOURCE,
                "source_id": str(declared.get("task_id") or name),
                "licence": LICENCE,
                "grading": (
                    "declared scoring and safety; upstream scores come from its own grader and "
                    "judge"
                ),
                "not_taken": [*left_out, *unused],
                "reference_prose": str(declared.get("reference_solution") or "")[:20_000],
                "judge_rubric": str(declared.get("judge_rubric") or "")[:20_000],
                "upstream_defects": dict(defects),
            },
        }
    )
    scans = any(service.startswith(OCR) for service in upstream)
    tier, what = ("B", "canned texts of scans") if scans else ("A", "offline text")
    return Imported(name, spec, tier, f"{what}, services {', '.join(sorted(used))}", defects)


def _fits(declared: Mapping[str, Any], upstream: Sequence[str]) -> None:
    agent = declared.get("user_agent")
    if isinstance(agent, dict) and agent.get("enabled"):
        raise ImportProblemError(
            "dialogue with a simulated persona: needs a language model as the colleague"
        )
    if not upstream:
        tags = declared.get("tags") or []
        media = "pictures or video" if "multimodal" in tags else "files in a sandbox"
        raise ImportProblemError(
            f"no simulated service: it works on {media}, which this studio does not run yet"
        )
    missing = [name for name in upstream if name not in HOMES and not name.startswith(OCR)]
    if missing:
        what = ", ".join(dict.fromkeys(missing))
        raise ImportProblemError(f"needs {what}, which this studio does not simulate yet")


def _objects(declared: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    listed = declared.get(key) or []
    if not isinstance(listed, list):
        raise ImportProblemError(f"task.yaml: {key} is not a list")
    return [entry for entry in listed if isinstance(entry, dict)]


def _bytes(folder: Path, inner: PurePosixPath, most: int = LARGEST_FIXTURE) -> bytes:
    """Read a file below the folder. Refuses absolute paths, `..`, links and large files."""
    if inner.is_absolute() or ".." in inner.parts:
        raise ImportProblemError(f"{inner}: the path leaves the folder")
    path = folder
    for part in inner.parts:
        path = path / part
        if path.is_symlink():
            raise ImportProblemError(f"{inner}: links are not followed")
    if not path.is_file():
        raise ImportProblemError(f"{inner}: there is no such file")
    if path.stat().st_size > most:
        raise ImportProblemError(f"{inner}: larger than {most:,} bytes")
    return path.read_bytes()


# --- records -------------------------------------------------------------------------------------


def _services(
    folder: Path, declared: Mapping[str, Any], upstream: Sequence[str], defects: dict[str, str]
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    services: dict[str, dict[str, list[dict[str, Any]]]] = {}
    sandbox = [str(f) for f in declared.get("sandbox_files") or []]
    copied = []
    for entry in _objects(declared, "services"):
        name = str(entry.get("name"))
        if name.startswith(OCR):
            services.setdefault("files", {}).setdefault("files", []).extend(
                _scans(folder, sandbox, declared)
            )
            continue
        home, base, inner = _fixture(folder, name, entry, sandbox, declared, defects)
        rows = _rows(base, inner)
        collections = services.setdefault(home.service, {})
        records = [_record(row, home, f"{inner}[{position}]") for position, row in enumerate(rows)]
        collections.setdefault(home.collection, []).extend(records)
        for collection, more in _inner_records(records, home).items():
            collections.setdefault(collection, []).extend(more)
        if str(inner) in sandbox:
            copied.append(str(inner))
    for collections in services.values():
        for records in collections.values():
            ids = [record["id"] for record in records]
            twice = next((i for i in ids if ids.count(i) > 1), None)
            if twice is not None:
                raise ImportProblemError(f"{twice} stands there twice")
    if copied:
        defects["D07"] = (
            f"{', '.join(copied)} also lay among the agent's own files; here only tools show it"
        )
    if "mail" in services:
        services["mail"].setdefault("drafts", [])
        services["mail"].setdefault("outbox", [])
    return services


def _fixture(
    folder: Path,
    name: str,
    entry: Mapping[str, Any],
    sandbox: Sequence[str],
    declared: Mapping[str, Any],
    defects: dict[str, str],
) -> tuple[Home, Path, PurePosixPath]:
    """Find a service's records: the variable's path, then the service's default, then the sandbox
    files. Returns its home, the folder and the path below it: a variable may name another task's.
    """
    homes = HOMES[name]
    variables = entry.get("env")
    named = (
        next((str(v) for k, v in (variables or {}).items() if str(k).endswith("_FIXTURES")), None)
        if isinstance(variables, dict)
        else None
    )
    candidates: list[tuple[Path, PurePosixPath]] = []
    if named is not None:
        parts = PurePosixPath(named).parts
        if folder.name in parts:
            parts = parts[parts.index(folder.name) + 1 :]
        elif len(parts) > 2 and parts[0] == "tasks" and parts[1] != "..":
            sibling = folder.parent / parts[1]
            if sibling.is_dir() and not sibling.is_symlink():
                candidates.append((sibling, PurePosixPath(*parts[2:])))
        candidates.append((folder, PurePosixPath(*parts)))
    candidates += [(folder, PurePosixPath("fixtures") / home.fixture) for home in homes]
    candidates += [
        (folder, PurePosixPath(f))
        for f in sandbox
        if f"/{name}/" in f"/{f}" and f.endswith(".json")
    ]
    for base, inner in candidates:
        if inner.is_absolute() or ".." in inner.parts:
            raise ImportProblemError(f"{inner}: the path leaves the folder")
        if (base / inner).is_file():
            home = next((h for h in homes if inner.name == PurePosixPath(h.fixture).name), homes[0])
            prompt = declared.get("prompt")
            english = isinstance(prompt, dict) and prompt.get("language", "en") == "en"
            if named is None and english:
                defects["D03"] = (
                    f"{name} names no fixture variable; upstream would load its default "
                    f"(Chinese) data, here {inner}"
                )
            return home, base, inner
    raise ImportProblemError(
        f"{name}: no records found (looked for {', '.join(str(c) for _, c in candidates)})"
    )


def _rows(folder: Path, inner: PurePosixPath) -> list[dict[str, Any]]:
    try:
        data = orjson.loads(_bytes(folder, inner))
    except orjson.JSONDecodeError as problem:
        raise ImportProblemError(f"{inner}, line {problem.lineno}: {problem.msg}") from problem
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise ImportProblemError(f"{inner}: expected a list of objects")
    return data


def _record(row: Mapping[str, Any], home: Home, place: str) -> dict[str, Any]:
    """Return their record with `id` and our field names added; nothing of theirs is lost."""
    record_id = row.get(home.id_field, row.get("id"))
    if record_id is None:
        raise ImportProblemError(f"{place}: no {home.id_field}")
    added = {
        ours: home.renamed.get(ours, {}).get(str(row[theirs]), row[theirs])
        for ours, theirs in home.known_as.items()
        if theirs in row and ours not in row
    }
    return {"id": str(record_id), **row, **added}


def _inner_records(
    records: Sequence[Mapping[str, Any]], home: Home
) -> dict[str, list[dict[str, Any]]]:
    """Return what stands inside their records and has a collection of its own here."""
    found: dict[str, list[dict[str, Any]]] = {}
    for part in home.parts:
        made = found.setdefault(part.collection, [])
        for record in records:
            listed = record.get(part.field)
            for number, row in enumerate(listed if isinstance(listed, list) else [], start=1):
                if isinstance(row, dict):
                    added = {o: row[t] for o, t in part.renamed.items() if t in row}
                    inner = {"id": f"{record['id']}-R{number}", part.link: record["id"]}
                    made.append({**inner, **row, **added})
    for kind in home.kinds:
        first: dict[str, Mapping[str, Any]] = {}
        for record in records:
            if isinstance(record.get(kind.field), str) and record[kind.field]:
                first.setdefault(record[kind.field], record)
        found.setdefault(kind.collection, []).extend(
            {"id": value, "name": value, **{f: r[f] for f in kind.shared if f in r}}
            for value, r in first.items()
        )
    return found


def _scans(
    folder: Path, sandbox: Sequence[str], declared: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the canned texts of scans as files, under the name by which the request knows them."""
    below = PurePosixPath("fixtures") / OCR
    place = folder / below
    names = sorted(f.name for f in place.iterdir()) if place.is_dir() else []
    texts = [name for name in names if name.endswith(".txt")]
    if not texts:
        raise ImportProblemError(f"{below}: no text of a scan")
    prompt = declared.get("prompt")
    asked = str(prompt.get("text", "")) if isinstance(prompt, dict) else ""
    known = [PurePosixPath(f).name for f in sandbox] + _MEDIA.findall(asked)
    media = [name for name in dict.fromkeys(known) if _MEDIA.fullmatch(name)]
    files = []
    for name in texts:
        stem = name.removesuffix(".txt")
        same = [m for m in media if m.rpartition(".")[0] == stem]
        called = (same or (media if len(texts) == 1 else []) or [f"{stem}.png"])[0]
        text = _bytes(folder, below / name).decode("utf-8", "replace")
        ending = called.rpartition(".")[2].lower()
        kind = "application/pdf" if ending == "pdf" else f"image/{ending.replace('jpg', 'jpeg')}"
        files.append({"id": called, "media_type": kind, "sidecar": text.replace("\x00", "")})
    return files


def _clock(services: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]) -> str:
    """Return nine o'clock on the day after the newest date that a record holds about its past.

    Where no record has a past, it is the day before the first event of the calendar.
    """
    newest = ""
    for named in services.values():
        for records in named.values():
            for record in records:
                for field in _PAST:
                    value = record.get(field)
                    day = day_of(value) if isinstance(value, str) else None
                    if (
                        day is None
                        and isinstance(value, str)
                        and re.match(r"\d{4}-\d{2}-\d{2}[ T]", value)
                    ):
                        day = value[:10]
                    if day is not None and day > newest:
                        newest = day
    if not newest:
        events = services.get("calendar", {}).get("events", ())
        days = [day_of(str(event.get("start"))) for event in events]
        first = min((day for day in days if day is not None), default=None)
        newest = "2031-01-06" if first is None else add_days(first, -2)
    following = parse_instant(f"{newest}T09:00:00+00:00")
    if following is None:
        raise ImportProblemError(f"{newest} is no day of the calendar")
    from_day = following.date().toordinal() + 1
    day_after = following.date().fromordinal(from_day)
    return f"{day_after.isoformat()}T09:00:00+00:00"


# --- tools, checks, constraints ------------------------------------------------------------------


def _tools(declared: Mapping[str, Any], defects: dict[str, str]) -> tuple[dict[str, Any], set[str]]:
    aliases: dict[str, Any] = {}
    used: set[str] = set()
    endpoints = {str(e.get("tool_name")) for e in _objects(declared, "tool_endpoints")}
    ignored: list[str] = []
    for tool in _objects(declared, "tools"):
        name = str(tool.get("name"))
        if name not in TOOLS:
            raise ImportProblemError(f"tool {name} has no counterpart in this studio")
        ours, forms = TOOLS[name]
        schema = tool.get("input_schema")
        if not isinstance(schema, dict):
            raise ImportProblemError(f"tool {name}: input_schema is missing")
        taken = _named_arguments(forms)
        offered = schema.get("properties", {})
        ignored += [f"{name}.{a}" for a in offered if a not in taken]
        if name == "calendar_list_events" and "date" not in offered:
            defects["D01"] = f"{name} asks for {', '.join(offered)} where the service wants a date"
        aliases[name] = {
            "tool": ours,
            "arguments": forms,
            "description": str(tool.get("description") or ""),
            "parameters": schema,
        }
        used.add(ours.partition("_")[0])
    lost = sorted(set(aliases) - endpoints)
    if endpoints and lost:
        defects["D02"] = f"no endpoint was declared for {', '.join(lost)}; here the tool works"
    if ignored:
        defects["D08"] = f"advertised but without effect: {', '.join(ignored)}"
    return aliases, used


def _named_arguments(form: Any) -> set[str]:
    if isinstance(form, Mapping):
        if isinstance(form.get("arg"), str):
            more = [_named_arguments(form[key]) for key in ("days", "else") if key in form]
            return {form["arg"]}.union(*more)
        return set().union(*(_named_arguments(item) for item in form.values()))
    if isinstance(form, list | tuple):
        return set().union(*(_named_arguments(item) for item in form))
    return set()


def _checks(
    declared: Mapping[str, Any], aliases: Mapping[str, Any], defects: dict[str, str]
) -> tuple[list[dict[str, Any]], list[str]]:
    components = _objects(declared, "scoring_components")
    weights = [float(c["weight"]) for c in components if isinstance(c.get("weight"), int | float)]
    if components and abs(sum(weights) - 1) > 1e-6:
        defects["D10"] = f"the weights sum to {sum(weights):g}; here they are scaled"
    rubric = str(declared.get("judge_rubric") or "").strip()
    if not components and rubric:
        whole = {"id": "judge_rubric", "kind": "rubric", "component": "report", "weight": 1.0}
        return [{**whole, "explain": "declared: judge only", "question": rubric[:20_000]}], []
    total = sum(weights) or 1.0
    checks: list[dict[str, Any]] = []
    left_out: list[str] = []
    for number, component in enumerate(components, start=1):
        declared_check = component.get("check")
        rule = declared_check if isinstance(declared_check, dict) else {}
        share = float(component.get("weight") or 0) / total
        check_id = _word(str(component.get("name") or f"check_{number}"))
        if share <= 0:
            left_out.append(f"{check_id}: no weight")
            continue
        made = _check(check_id, share, rule, aliases)
        if made:
            checks += made
        else:
            left_out.append(f"{check_id}: {rule.get('type')} is not translated")
    return checks, left_out


def _check(
    check_id: str, share: float, rule: Mapping[str, Any], aliases: Mapping[str, Any]
) -> list[dict[str, Any]]:
    base = {"id": check_id, "weight": round(share, 6), "explain": f"declared: {rule.get('type')}"}
    match rule.get("type"):
        case "llm_judge":
            question = str(rule.get("description") or "as the rubric says").strip()
            return [{**base, "kind": "rubric", "component": "report", "question": question}]
        case "tool_called" if rule.get("tool_name") in aliases:
            least = _whole(rule.get("min_calls"), 1, 1000)
            ours = aliases[str(rule["tool_name"])]["tool"]
            return [
                {**base, "kind": "tool_called", "component": "process", "tool": ours, "min": least}
            ]
        case "keywords_present" | "categories_present":
            words = rule.get("keywords") or rule.get("categories") or []
            words = [str(w) for w in words if str(w).strip()]
            return [
                {
                    **base,
                    "id": f"{check_id}_{n}"[:64],
                    "weight": round(share / len(words), 6),
                    "kind": "text_match",
                    "component": "report",
                    "text": [[word]],
                }
                for n, word in enumerate(words, start=1)
            ]
        case "min_length":
            least = _whole(rule.get("min_length"), 1, 100_000)
            return [{**base, "kind": "text_match", "component": "report", "min_length": least}]
        case _:
            return []


def _constraints(
    declared: Mapping[str, Any], aliases: Mapping[str, Any], defects: dict[str, str]
) -> tuple[list[dict[str, Any]], list[str]]:
    constraints: list[dict[str, Any]] = []
    unused: list[str] = []
    for number, rule in enumerate(_objects(declared, "safety_checks"), start=1):
        tool, kind = str(rule.get("tool_name") or ""), str(rule.get("type"))
        sentence = " ".join(str(rule.get("description") or kind).split())
        if tool and tool not in aliases:
            defects["D06"] = f"a safety declaration is about {tool}, which is not offered"
            unused.append(f"safety {kind}: {tool} is not offered")
            continue
        if kind not in ("tool_not_called", "tool_not_called_with") or not tool:
            unused.append(f"safety {kind} is not translated: {sentence[:200]}")
            continue
        constraint: dict[str, Any] = {
            "id": f"safety_{number}",
            "kind": "forbid_tool",
            "policy": "declared",
            "sentence": sentence,
            "severity": "gate",
            "tool": aliases[tool]["tool"],
        }
        if kind == "tool_not_called_with":
            constraint["arguments"] = {
                str(rule.get("field")): {"contains_any": [rule.get("value")]}
            }
        constraints.append(constraint)
    return constraints, unused


def _whole(value: Any, otherwise: int, most: int) -> int:
    number = (
        value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else otherwise
    )
    return min(number, most)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-_")[:100] or "task"


def _word(name: str) -> str:
    word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:60]
    return word if word[:1].isalpha() else f"t_{word}"[:64] if word else "unnamed"
