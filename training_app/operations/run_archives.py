"""Runs that leave and come home: a folder or zip that the engine runs anywhere, and its adoption.

What comes from elsewhere is not believed: names that lead out of the folder, links, more than fits
on the disk and what no run directory holds are refused or left out, before anything is kept.
"""

import hashlib
import logging
import secrets
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, NamedTuple

import orjson
from django.db import transaction

from studio.lib.files import whole_file
from studio.lib.hashing import bytes_hash, content_hash
from studio.lib.jsonvalue import JsonValue
from studio.web import audit
from studio.web.audit import HasUser, storable
from studio.web.choices import FINISHED, JobState
from studio.web.codes import new_codes
from studio.web.errors import Conflict, Invalid, Problem, StudioError, TooLarge
from studio.web.models import User
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir, RunDirError, read_json
from training_app.models import TrainingRun
from training_app.operations.absorbing import absorb
from training_app.queries.runs import OPEN, run_dir, runs_folder

logger = logging.getLogger(__name__)

FORMAT: Final = "run-export/1"
FILE: Final = "export.json"
START: Final = "start"
"""The folder of the checkpoint that an exported run starts from."""
MOST_FILES: Final = 20_000
MOST_BYTES: Final = 64 * 2**30
MOST_DOWNLOAD: Final = 2 * 2**30
MOST_SWELLING: Final = 100
"""How many times its own size a zip may unpack to: weights hardly shrink, texts some ten times,
only what was made to fill a disk a thousand times."""
_SMALL: Final = 64 * 2**20
"""Bytes that a zip may unpack to whatever its own size."""
LONGEST_NAME: Final = 200
_SPARE: Final = 2**30
"""Bytes of the disk that stay free."""
_CHUNK: Final = 1 << 20
_PARTS: Final = frozenset(
    {
        "recipe.json", "dataset", "metrics.jsonl", "samples", "checkpoints", "result.json",
        "status.json", "log.txt", FILE, START, "README.txt",
    }
)  # fmt: skip
"""What a run directory holds; the rest of an archive is left out."""
_FOLDERS: Final = ("dataset", "samples", "checkpoints")
_FILE_SUFFIXES: Final = frozenset({".json", ".jsonl", ".txt"})
"""What is read out of a run directory has one of these; no folder in one has."""
_RESUMING: Final = ("optimizer.", "scheduler.", "rng_state", "trainer_state.", "training_args.")
"""Beginnings of files that only the run itself goes on from."""
_README: Final = """\
{code}: {preset}, {steps} steps, seed {seed}

Needs a checkout of CoworkEnv Studio with its train extra, at CHECKOUT; no database, no broker.
In this folder:

    PYTHONPATH=CHECKOUT python -m training_app.engine . --check
    PYTHONPATH=CHECKOUT python -m training_app.engine .{resume}

Stop it by a file named cancel, or by TERM: it keeps a checkpoint. With --resume it goes on from
there. Bring it home, at any time and as often as you like, with

    python manage.py adopt_run THIS_FOLDER
"""


class Archived(NamedTuple):
    """What was written or read."""

    run: TrainingRun
    files: int
    sha256: str
    """Over the names and hashes of all files but the export's own description."""


# Export


def export_run(*, run: TrainingRun, path: Path) -> Archived:
    """Write a run as a folder, or as a zip where the name ends so; whole or not at all.

    A run that is over takes its curve, samples and last checkpoint along, so that it can go on
    elsewhere; one that is not, only what it starts from. Invalid where that cannot be done.
    """
    try:
        if path.suffix.lower() == ".zip":
            return _export_zip(run, path)
        return _export_folder(run, path)
    except RunDirError as problem:
        raise Invalid(
            f"{run.code} cannot be exported.", [Problem("run", str(problem))]
        ) from problem
    except OSError as problem:
        place = problem.filename or path
        raise Invalid(
            f"{path} cannot be written.",
            [Problem("path", f"{place}: {problem.strerror or problem}", "Choose another place.")],
        ) from problem


def export_stream(*, run: TrainingRun) -> IO[bytes]:
    """A run as an open zip that is gone once it is closed. TooLarge above a limit."""
    try:
        size = sum(
            len(source) if isinstance(source, bytes) else source.stat().st_size
            for _, source in _contents(run)
        )
    except (OSError, RunDirError) as problem:
        raise Conflict(f"{run.code} cannot be exported: {problem}.") from problem
    if size > MOST_DOWNLOAD:
        raise TooLarge(
            f"{run.code} has {size / 1e9:.1f} GB, too much for a download: use the command "
            f"manage.py export_run {run.code} PATH."
        )
    folder = runs_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".export-", dir=folder) as place:
        file = Path(place) / f"{run.code}.zip"
        export_run(run=run, path=file)
        return file.open("rb")  # stays readable without its name


def _export_zip(run: TrainingRun, path: Path) -> Archived:
    if path.exists():
        raise Invalid(
            f"{path} is there already.",
            [Problem("path", "is a file, which stays as it is", "Choose another name.")],
        )
    with (
        whole_file(path) as place,
        zipfile.ZipFile(place, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        hashes: dict[str, JsonValue] = {}
        for name, source in _contents(run):
            if isinstance(source, bytes):
                archive.writestr(name, source)
            else:
                archive.write(source, name)
            hashes[name] = _hash(source)
        archive.writestr(FILE, _description(run, hashes))
        for name in _FOLDERS:
            archive.mkdir(name)
    return Archived(run, len(hashes) + 1, content_hash(hashes))


def _export_folder(run: TrainingRun, path: Path) -> Archived:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Invalid(
            f"{path} is there already.",
            [Problem("path", "is not an empty folder", "Choose another place.")],
        )
    partial = path.with_name(f"{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        hashes: dict[str, JsonValue] = {}
        for name, source in _contents(run):
            target = partial / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(source, bytes):
                target.write_bytes(source)
            else:
                shutil.copyfile(source, target)
            hashes[name] = _hash(source)
        (partial / FILE).write_bytes(_description(run, hashes))
        for name in _FOLDERS:
            (partial / name).mkdir(exist_ok=True)
        partial.replace(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Archived(run, len(hashes) + 1, content_hash(hashes))


def _contents(run: TrainingRun) -> Iterator[tuple[str, bytes | Path]]:
    """Names and contents of an export, in the order of writing."""
    directory = run_dir(run)
    recipe = directory.recipe()
    start = Path(recipe.model.init) if recipe.model.init else None
    if start is not None:
        recipe = _from_start(recipe)
    yield "recipe.json", orjson.dumps(recipe.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    yield (
        "README.txt",
        _README.format(
            code=run.code,
            preset=run.preset or run.algorithm,
            steps=run.steps,
            seed=run.seed,
            resume=" --resume" if directory.metrics_file.exists() else "",
        ).encode(),
    )
    yield from _tree(directory.dataset, "dataset")
    if start is not None:
        if not start.is_absolute():
            start = directory.path / start
        if not start.is_dir():
            raise RunDirError(f"the checkpoint it starts from is gone: {start}")
        for name, file in _tree(start, START):
            if not PurePosixPath(name).name.startswith(_RESUMING):
                yield name, file
    if run.state in FINISHED:
        yield from _recorded(directory)


def _recorded(directory: RunDir) -> Iterator[tuple[str, Path]]:
    for name in ("metrics.jsonl", "result.json", "status.json", "log.txt"):
        if (directory.path / name).is_file():
            yield name, directory.path / name
    yield from _tree(directory.samples, "samples")
    known = directory.list_checkpoints()
    if known:
        yield from _tree(known[-1].path, f"checkpoints/{known[-1].path.name}")


def _tree(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink() and not file.name.endswith(".partial"):
            yield f"{prefix}/{file.relative_to(folder).as_posix()}", file


def _from_start(recipe: Recipe) -> Recipe:
    return recipe.model_copy(update={"model": recipe.model.model_copy(update={"init": START})})


def _description(run: TrainingRun, hashes: Mapping[str, JsonValue]) -> bytes:
    body = {
        "format": FORMAT,
        "run": run.code,
        "export": secrets.token_hex(16),
        "recipe_hash": run.recipe_hash,
        "dataset": "" if run.dataset is None else run.dataset.sha256,
        "files": dict(hashes),
    }
    return orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)


def _hash(source: bytes | Path) -> str:
    if isinstance(source, bytes):
        return bytes_hash(source)
    with source.open("rb") as stream:  # weights may be larger than the memory
        return hashlib.file_digest(stream, "sha256").hexdigest()


# Adoption


def adopt_run(*, path: Path, by: User | HasUser | None) -> Archived:
    """Take in a run that ran elsewhere: a folder is read where it lies, a zip is unpacked.

    The same one again, grown or not, is the same run. Audited. Invalid says what is wrong with it;
    nothing is kept then.
    """
    is_folder, place = path.is_dir(), path.resolve()
    if not is_folder and not path.is_file():
        raise Invalid(f"There is no {path}.", [Problem("path", "is no folder and no zip")])
    if storable(str(place)) != str(place):
        raise Invalid(
            "A place with such a name is not adopted.",
            [Problem("path", f"{storable(str(place))} is no text in UTF-8", "Rename it.")],
        )
    return _adopt_folder(place, by) if is_folder else _adopt_zip(place, by)


def _adopt_folder(path: Path, by: User | HasUser | None) -> Archived:
    if path.is_relative_to(runs_folder().resolve()):
        own = TrainingRun.objects.filter(path=path.name).first()
        if own is not None:
            raise Conflict(f"{path} is {own.code} of this studio already.")
    _require_plain(path)
    directory = RunDir(path)
    recipe = _recipe(directory)
    with transaction.atomic():
        identity = _identity(directory, path)
        _require_whole(directory, recipe, identity)
        run = _row(recipe, identity=identity, place=str(path), by=by)
        absorb(run=run)
    return _archived(run, directory)


def _adopt_zip(path: Path, by: User | HasUser | None) -> Archived:
    folder = runs_folder()
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".adopting-{secrets.token_hex(8)}"
    old = partial.with_suffix(".old")
    try:
        _unpack(path, partial)
        directory = RunDir(partial)
        recipe = _recipe(directory)
        with transaction.atomic():
            identity = _identity(directory, path)
            _require_whole(directory, recipe, identity)
            run = _row(recipe, identity=identity, place="", by=by)
            target = run_dir(run).path
            if target.exists():
                target.rename(old)
            partial.replace(target)
            absorb(run=run)
    except OSError as problem:
        raise Invalid(
            f"{path} cannot be unpacked.",
            [Problem("disk", problem.strerror or str(problem), "Free some space.")],
        ) from problem
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return _archived(run, run_dir(run))


def refresh_adopted() -> int:
    """Read on in the folders of adopted runs that are not over; return how many had news."""
    news = 0
    for run in TrainingRun.objects.filter(adopted=True, state__in=OPEN, path__startswith="/"):
        try:
            news += Path(run.path).is_dir() and absorb(run=run).rows > 0
        except StudioError as problem:
            logger.warning("%s cannot be read on: %s", run, problem)
    return news


def _row(recipe: Recipe, *, identity: str, place: str, by: User | HasUser | None) -> TrainingRun:
    """The run of an identity, new or known; `place` is where it lies, empty for our own folder."""
    known = TrainingRun.objects.select_for_update().filter(adopted_from=identity).first()
    if known is None:
        code = new_codes(TrainingRun, 1)[0]
        run = TrainingRun(
            code=code,
            preset=recipe.preset[:40],
            algorithm=recipe.algorithm,
            recipe=recipe.model_dump(mode="json"),
            recipe_hash=recipe.hash,
            seed=recipe.seed,
            path=place or code,
            adopted=True,
            adopted_from=identity,
            state=JobState.QUEUED,
            steps=min(recipe.steps, 2**31 - 1),
            author=by if isinstance(by, User) or by is None else by.user,
        )
        run.save()
        audit.record(by, "adopt_run", run.code, {"from": identity[:200]})
        return run
    # A zip is unpacked into a folder of ours, never over the folder that was read until now.
    wanted = place or (known.code if Path(known.path).is_absolute() else known.path)
    if known.path != wanted:
        known.path = wanted
        known.save(update_fields=["path"])
    return known


def _recipe(directory: RunDir) -> Recipe:
    try:
        return directory.recipe()
    except (RunDirError, OSError) as problem:
        raise Invalid(
            "This is not a run directory.", [Problem("recipe.json", str(problem))]
        ) from problem


def _identity(directory: RunDir, path: Path) -> str:
    """What tells one adopted run from another: the export it came from, else where it lies."""
    try:
        body = read_json(directory.path / FILE)
    except (OSError, RunDirError):
        return str(path)[:1000]
    export = body.get("export")
    if body.get("format") == FORMAT and isinstance(export, str) and export.isalnum():
        return f"export:{export[:64]}"
    return str(path)[:1000]


def _require_whole(directory: RunDir, recipe: Recipe, identity: str) -> None:
    """Invalid where a copy is not what was exported, or less than what was adopted of it before.

    What a run never changes, its recipe, data and start, has to be as the export says; a run that
    has come to its end never becomes shorter. Nothing of the adopted run is touched then.
    """
    problems = []
    known = TrainingRun.objects.filter(adopted_from=identity).first()
    if identity.startswith("export:"):
        described = read_json(directory.path / FILE).get("files")
        for name, expected in described.items() if isinstance(described, dict) else ():
            if name.split("/")[0] not in ("dataset", START):
                continue
            file = directory.path / _plain_name(name)
            if not file.is_file():
                problems.append(Problem(name[:80], "is missing"))
            elif _hash(file) != expected:
                problems.append(Problem(name[:80], "is not what was exported: its hash differs"))
    if known is not None and known.recipe_hash != recipe.hash:
        problems.append(Problem("recipe.json", f"is another recipe than that of {known.code}"))
    if known is not None and known.state == JobState.SUCCEEDED:
        last = _last_step(directory)
        if last < known.step:
            problems.append(
                Problem("metrics.jsonl", f"ends at step {last}, {known.code} at step {known.step}")
            )
    if not problems:
        return
    if known is None:
        raise Invalid("This copy of a run is damaged, so it is not adopted.", problems)
    raise Invalid(
        f"This copy has the export id of {known.code}, but it is damaged or another run: "
        f"{known.code} stays as it is.",
        problems,
    )


def _plain_name(name: str) -> PurePosixPath:
    place = PurePosixPath(name)
    if place.is_absolute() or ".." in place.parts:
        raise Invalid(
            "This is not an export of a run.", [Problem(FILE, f"names a file outside: {name[:80]}")]
        )
    return place


def _last_step(directory: RunDir) -> int:
    """The last step that its curve has; 0 where it has none."""
    return max((entry.step for entry in directory.read().rows), default=0)


def _archived(run: TrainingRun, directory: RunDir) -> Archived:
    hashes: dict[str, JsonValue] = {
        name: _hash(file)
        for name, file in _tree(directory.path, ".")
        if name.split("/")[1] in _PARTS - {FILE, "status.json", "log.txt"}
    }
    return Archived(run, len(hashes), content_hash(hashes))


def _require_plain(path: Path) -> None:
    """Invalid for a link that leads out, and for what cannot be read as the file it stands for."""
    for file in path.rglob("*"):
        message, hint = "", "Put the file itself there."
        if file.is_symlink() and not file.resolve().is_relative_to(path):
            message = "is a link that leads out of the folder"
        elif file.is_dir():
            if file.suffix in _FILE_SUFFIXES:
                message = "is a folder where a file belongs"
        elif file.exists() and not file.is_file():
            message = "is no file"  # reading a pipe or a device would never end
        if message:
            place = storable(str(file.relative_to(path)))
            raise Invalid("This folder is not adopted.", [Problem(place, message, hint)])


# Zips


def _unpack(path: Path, target: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive)
            size = sum(info.file_size for info in members.values())
            if size > max(_SMALL, MOST_SWELLING * path.stat().st_size):
                raise _refused(
                    "path",
                    f"{size / 1e6:,.0f} MB out of {path.stat().st_size / 1e6:.1f}: more than "
                    f"{MOST_SWELLING} times its size, as no run is",
                )
            free = shutil.disk_usage(target.parent).free
            if size > free - _SPARE:
                raise _refused("disk", f"{size / 1e9:.1f} GB do not fit, {free / 1e9:.1f} are free")
            for name, info in members.items():
                file = target / name
                file.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(info) as source, file.open("xb") as sink:
                    _copy(source, sink, name, info.file_size)
            for name in _FOLDERS:
                (target / name).mkdir(parents=True, exist_ok=True)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise _refused("path", f"this zip cannot be read: {problem}") from problem


def _copy(source: IO[bytes], sink: IO[bytes], name: str, claimed: int) -> None:
    """Copy a file out of a zip; refused as soon as it is longer than the zip says."""
    left = claimed
    while block := source.read(_CHUNK):
        left -= len(block)
        if left < 0:
            raise _refused(name, f"is longer than the {claimed:,} bytes that the zip says")
        sink.write(block)


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """What is taken out of a zip, by its name in the run directory."""
    listed = archive.infolist()
    if len(listed) > MOST_FILES:
        raise _refused("path", f"more than {MOST_FILES:,} files")
    names = {info.filename: _name(info) for info in listed if not info.is_dir()}
    inside = _inside(names.values())
    found: dict[str, zipfile.ZipInfo] = {}
    for info in listed:
        if info.is_dir():
            continue
        parts = names[info.filename].parts[len(inside.parts) :]
        if names[info.filename].parts[: len(inside.parts)] != inside.parts or not parts:
            continue
        if parts[0] not in _PARTS:
            continue
        name = "/".join(parts)
        if name in found:
            raise _refused(name, "is in the zip twice")
        found[name] = info
    for name in found:
        for folder in map(str, PurePosixPath(name).parents):
            if folder in found or PurePosixPath(folder).suffix in _FILE_SUFFIXES:
                raise _refused(folder, "is a folder where a file belongs")
    if sum(info.file_size for info in found.values()) > MOST_BYTES:
        raise _refused("path", f"more than {MOST_BYTES // 2**30} GB")
    if "recipe.json" not in found:
        raise _refused("recipe.json", "is missing; zip a whole run directory")
    return found


def _name(info: zipfile.ZipInfo) -> PurePosixPath:
    shown = info.filename[:80]
    name = PurePosixPath(info.filename)
    wrong = (
        name.is_absolute()
        or len(info.filename) > LONGEST_NAME
        or any(part in ("", ".", "..") for part in info.filename.split("/"))
        or any(sign in info.filename for sign in "\\:\x00")
        or not info.filename.isprintable()
    )
    if wrong:
        raise _refused(shown, "is no name of a file in a run directory")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise _refused(shown, "is a link")
    if info.flag_bits & 1:
        raise _refused(shown, "is encrypted")
    return name


def _inside(names: Any) -> PurePosixPath:
    """The one folder in which everything lies, where the recipe isn't at the top."""
    tops = {name.parts[0] for name in names if len(name.parts) == 2 and name.name == "recipe.json"}
    at_top = any(name.parts == ("recipe.json",) for name in names)
    return PurePosixPath(tops.pop()) if len(tops) == 1 and not at_top else PurePosixPath()


def _refused(place: str, message: str) -> Invalid:
    return Invalid("This zip is not adopted.", [Problem(place, message)])
