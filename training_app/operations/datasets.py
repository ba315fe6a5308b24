"""Making datasets: opened, filled, frozen; and written out, byte by byte as they were frozen."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import zstandard
from django.db import IntegrityError, transaction
from django.utils import timezone

from rollouts_app.queries import EPISODES
from studio.lib.hashing import bytes_hash
from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.errors import Conflict, Invalid, NotFound, Problem, StudioError
from studio.web.models import Blob, Job, User
from tasks_app.queries import TASKS
from training_app.core.curation import RulesError, read_rules
from training_app.core.dataset import FILES, HELD_OUT, LARGEST_WEIGHT, ORIGINS, file_of
from training_app.core.images import FOLDER
from training_app.core.manifest import write_manifest
from training_app.core.outside import OutsideError, read_outside
from training_app.enums import DatasetKind, Portion, SplitKind
from training_app.models import Dataset, DatasetItem
from training_app.operations.attachments import images_at_hand, write_images
from training_app.queries.datasets import (
    all_families,
    selected_episodes,
    selected_tasks,
    unpacked,
)

LARGEST: Final = 200_000
"""Rows that one filter may select."""
MOST_MIXES: Final = 8
LARGEST_MIX: Final = 128 * 2**20
"""Bytes of a file from outside; a page takes less, see STUDIO_MAX_BODY_BYTES."""
_CHUNK: Final = 500
_LEVEL: Final = 3


class DatasetDamaged(StudioError):
    """What would be written is not what was frozen: a short export fails, it never passes."""

    kind = "dataset-damaged"
    title = "This dataset is not what was frozen"


class Mix(NamedTuple):
    """Rows from outside that are mixed in."""

    source: str
    """The file's name, for people."""
    data: bytes
    weight: Decimal
    """How often each row counts."""
    license: str = ""
    """Under which terms it may be used, and where it comes from."""


class Item(NamedTuple):
    """A row to keep."""

    row: Mapping[str, Any]
    portion: Portion
    origin: JsonObject
    episode_id: int | None = None
    version_id: int | None = None
    source: str = ""
    copies: int = 1


# Opening


@transaction.atomic
def open_dataset(
    *,
    kind: str,
    name: str,
    by: User | HasUser | None,
    filter_text: str = "",
    rules: Mapping[str, Any] | None = None,
    held_families: Sequence[str] = (),
    mixes: Sequence[Mix] = (),
) -> Dataset:
    """Begin a dataset that a job fills and freezes; audited.

    A name whose dataset was never frozen, and whose job has ended, is free again. Invalid or
    FilterError say everything that is wrong.
    """
    name = " ".join(name.split())
    problems = _problems(kind, name, filter_text, held_families)
    written: JsonObject = {}
    if kind == DatasetKind.DEMONSTRATIONS:
        try:
            written = read_rules(rules or {}).written()
        except RulesError as error:
            problems.append(Problem(f"rules.{error.place}", error.message, error.hint))
        problems += _mix_problems(mixes)
    elif rules or mixes:
        what = "rules" if rules else "mix"
        problems.append(Problem(what, "prompts are tasks: nothing is curated or mixed in"))
    if problems:
        raise Invalid("This dataset cannot be made.", problems)
    old = Dataset.objects.filter(name=name).first()
    if old is not None:
        _free(hold(old))
    dataset = Dataset(
        name=name,
        kind=kind,
        filter=filter_text,
        rules=written,
        held_families=sorted(set(held_families)),
        split_kind=SplitKind.NEW_FAMILIES if held_families else SplitKind.NEW_INSTANCES,
        mixes=[_kept(mix) for mix in mixes],
        author=by if isinstance(by, User) or by is None else by.user,
    )
    try:
        with transaction.atomic():
            dataset.save()
    except IntegrityError as error:  # somebody took the name since we looked
        raise Invalid(
            "This dataset cannot be made.",
            [Problem("name", f"another dataset is called “{name}”", "Take another.")],
        ) from error
    audit.record(
        by, "freeze_dataset", dataset.code, {"name": name, "kind": kind, "filter": filter_text}
    )
    return dataset


def _problems(
    kind: str, name: str, filter_text: str, held_families: Sequence[str]
) -> list[Problem]:
    if kind not in DatasetKind.values:
        return [Problem("kind", f"“{kind[:40]}” is no kind", f"Known: {_or(DatasetKind.values)}.")]
    problems = []
    if not name or len(name) > 80 or not name.isprintable():
        problems.append(Problem("name", "a name has 1 to 80 characters in one line"))
    else:
        old = Dataset.objects.select_related("job").filter(name=name).first()
        if old is not None and not is_discardable(old):
            problems.append(Problem("name", f"{old.code} is called “{name}”", "Take another."))
    demonstrations = kind == DatasetKind.DEMONSTRATIONS
    (EPISODES if demonstrations else TASKS).compile(filter_text)
    rows = selected_episodes(filter_text) if demonstrations else selected_tasks(filter_text)
    count = rows.order_by()[: LARGEST + 1].count()
    if not count:
        hint = (
            "Roll the reference out first, or drop a term."
            if demonstrations
            else "Approve a task first, or name state:proven."
        )
        problems.append(Problem("filter", f"no {_noun(kind)} matches", hint))
    elif count > LARGEST:
        problems.append(Problem("filter", f"more than {LARGEST:,} match", "Add a term."))
    known = all_families()
    problems += [
        Problem("held_families", f"there is no family “{name[:60]}”", f"Known: {_or(known)}.")
        for name in held_families
        if name not in known
    ]
    return problems


def _mix_problems(mixes: Sequence[Mix]) -> list[Problem]:
    problems = []
    if len(mixes) > MOST_MIXES:
        problems.append(Problem("mix", f"more than {MOST_MIXES} files"))
    if len({mix.source for mix in mixes}) < len(mixes):
        problems.append(Problem("mix", "two files have the same name", "Rename one."))
    for mix in mixes:
        place = f"mix {mix.source[:80]}"
        if not 0 < mix.weight <= LARGEST_WEIGHT:
            problems.append(
                Problem(place, f"a weight is above 0 and at most {LARGEST_WEIGHT}", "Try 1.")
            )
        if len(mix.source) > 80 or not mix.source.isprintable():
            problems.append(Problem(place, "a file's name has at most 80 printable characters"))
        if len(mix.license) > 500 or "\x00" in mix.license:
            problems.append(Problem(place, "license and provenance have at most 500 characters"))
        if len(mix.data) > LARGEST_MIX:
            problems.append(Problem(place, f"larger than {LARGEST_MIX // 2**20} MiB"))
            continue
        try:
            rows = sum(1 for _ in read_outside(mix.data))
        except OutsideError as error:
            problems.append(Problem(f"{place}: line {error.line}{error.where}", error.message))
        else:
            if not rows:
                problems.append(Problem(place, "the file holds no row"))
    return problems


def _kept(mix: Mix) -> JsonObject:
    return {
        "source": mix.source,
        "sha256": Blob.put(mix.data, "application/x-ndjson").sha256,
        "weight": f"{mix.weight.normalize():f}",
        "license": mix.license,
        "rows": 0,
    }


def _or(names: Iterable[str]) -> str:
    return ", ".join(names)


def _noun(kind: str) -> str:
    return "episode" if kind == DatasetKind.DEMONSTRATIONS else "task"


def is_discardable(dataset: Dataset) -> bool:
    """Whether it was never frozen and no job will freeze it any more."""
    return dataset.frozen_at is None and (dataset.job is None or dataset.job.is_finished)


@transaction.atomic
def discard(*, dataset: Dataset, by: User | HasUser) -> None:
    """Delete one that was never frozen; Conflict for any other. Audited."""
    row = hold(dataset)
    _free(row)
    audit.record(by, "discard_dataset", row.code, {"name": row.name})


def _free(row: Dataset) -> None:
    """Delete a row that is held and was never frozen; a job may have taken it up meanwhile."""
    if not is_discardable(row):
        raise Conflict(f"{row.code} is frozen, or being made: it stays.")
    row.delete()


def hold(dataset: Dataset) -> Dataset:
    """The row as it is now, held until the transaction ends; NotFound where it was deleted.

    Who deletes a dataset and who begins to use it both hold it first, so that one of them sees
    what the other has done.
    """
    row = (
        Dataset.objects.select_for_update(of=("self",))
        .select_related("job")
        .filter(pk=dataset.pk)
        .first()
    )
    if row is None:
        raise NotFound(f"There is no dataset {dataset.code} any more: somebody deleted it.")
    return row


@transaction.atomic
def link_job(*, dataset: Dataset, job_id: int) -> None:
    """Say which job makes the dataset now."""
    Dataset.objects.filter(pk=dataset.pk).update(job=Job(pk=job_id))


# Filling and freezing


@transaction.atomic
def clear_items(*, dataset: Dataset) -> None:
    """Forget what an earlier attempt stored; Conflict once it is frozen."""
    _open(dataset)
    dataset.items.all().delete()


@transaction.atomic
def add_items(*, dataset: Dataset, first: int, items: Sequence[Item]) -> int:
    """Store rows from position `first` on; return the next position. Conflict once frozen."""
    _open(dataset)
    DatasetItem.objects.bulk_create(
        [
            DatasetItem(
                dataset=dataset,
                position=position,
                portion=item.portion,
                episode_id=item.episode_id,
                version_id=item.version_id,
                source=item.source,
                origin=item.origin,
                copies=item.copies,
                row=pack(data),
                digest=bytes_hash(data),
            )
            for position, (item, data) in enumerate(
                ((item, orjson.dumps(dict(item.row))) for item in items), start=first
            )
        ],
        batch_size=_CHUNK,
    )
    return first + len(items)


@transaction.atomic
def freeze(
    *,
    dataset: Dataset,
    dropped: Mapping[str, int],
    lint: Sequence[JsonObject],
    composition: JsonObject,
    mixes: Sequence[JsonObject],
    selected: int,
    images: Iterable[str] = (),
) -> Dataset:
    """Write the files once to take their hashes, then close the dataset for good.

    Raises Invalid where no row is left to train on, Conflict where it is frozen already.
    """
    row = _open(dataset)
    if not row.items.filter(portion=Portion.TRAIN, copies__gt=0).exists():
        losses = ", ".join(f"{rule} {n}" for rule, n in dropped.items()) or "nothing was selected"
        raise Invalid(
            f"No row is left to train on. Dropped or held back: {losses}.",
            [Problem("filter", "nothing is left", "Loosen a rule, or roll out more.")],
        )
    row.dropped, row.lint, row.composition = dict(dropped), list(lint), composition
    row.mixes = list(mixes)
    provenance: JsonObject = {
        "filter": row.filter,
        "rules": row.rules,
        "held_families": row.held_families,
        "selected": selected,
        "dropped": row.dropped,
        "mixed": row.mixes,
    }
    found = images_at_hand(images)
    if found.kept or found.missing:
        provenance["images"] = {"kept": len(found.kept), "missing": list(found.missing)}
    try:
        with tempfile.TemporaryDirectory() as folder:
            lines = _write_files(row, Path(folder))
            write_images(found.kept, Path(folder))
            row.rows = lines[FILES[row.kind]]
            row.manifest = write_manifest(
                Path(folder),
                kind=_kind(row),
                rows=row.rows,
                split_kind=_split_kind(row),
                provenance=provenance,
            )
    except OSError as error:
        raise Invalid(
            "The dataset's files cannot be written, so that they are hashed.",
            [
                Problem(
                    "disk",
                    f"the folder for temporary files: {error.strerror or error}",
                    "Free some space, or set TMPDIR to a folder that can be written to.",
                )
            ],
        ) from error
    row.sha256 = row.manifest["sha256"]
    row.frozen_at = timezone.now()
    row.save()
    return row


def _open(dataset: Dataset) -> Dataset:
    row = hold(dataset)
    if row.frozen_at is not None:
        raise Conflict(f"{row.code} is frozen; freeze another one instead.")
    return row


def _kind(dataset: Dataset) -> Any:
    return DatasetKind(dataset.kind).value


def _split_kind(dataset: Dataset) -> Any:
    return SplitKind(dataset.split_kind).value


def pack(data: bytes) -> bytes:
    """A row's bytes as the database keeps them."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


# Writing out


def write_dataset(dataset: Dataset, folder: Path) -> dict[str, Any]:
    """Write a frozen dataset as the engine reads it, and return its manifest.

    The folder gets the file of the kind, `held_out.jsonl` where tasks were held back,
    `origins.jsonl`, the images of its tasks under their hashes, `manifest.json`. Raises Conflict
    before the dataset is frozen, DatasetDamaged where a file does not come out as it was frozen.
    """
    require_frozen(dataset)
    folder.mkdir(parents=True, exist_ok=True)
    _write_files(dataset, folder)
    write_images(images_in(dataset.manifest), folder)
    for name, entry in dataset.manifest["files"].items():
        file = folder / name
        if not file.is_file() or bytes_hash(file.read_bytes()) != entry["sha256"]:
            raise DatasetDamaged(f"{dataset.code}: {name} is not what was frozen.")
    body = write_manifest(
        folder,
        kind=_kind(dataset),
        rows=dataset.rows,
        split_kind=_split_kind(dataset),
        provenance=dataset.manifest["provenance"],
    )
    if body["sha256"] != dataset.sha256:
        others = ", ".join(sorted(set(body["files"]) - set(dataset.manifest["files"])))
        raise DatasetDamaged(f"{dataset.code}: the folder holds other files too: {others}.")
    return body


def images_in(manifest: Mapping[str, Any]) -> list[str]:
    """Hashes of the images that a manifest lists."""
    return [
        name.removeprefix(f"{FOLDER}/")
        for name in manifest.get("files", {})
        if name.startswith(f"{FOLDER}/")
    ]


def require_frozen(dataset: Dataset) -> None:
    """Raise Conflict before the dataset is frozen."""
    if dataset.frozen_at is None:
        raise Conflict(f"{dataset.code} is not frozen yet; wait for its job.")


def rows_of(dataset: Dataset, portion: str) -> Iterator[bytes]:
    """The lines of a portion's file, without newlines, repetitions included."""
    for item in items_of(dataset, portion):
        yield unpacked(item)


def items_of(dataset: Dataset, portion: str) -> Iterator[DatasetItem]:
    """The items behind the lines of a file: all once, then those that count twice, and so on."""
    rows = dataset.items.filter(portion=portion).order_by("position")
    turn = 0
    while True:
        found = False
        for item in rows.filter(copies__gt=turn).iterator(chunk_size=_CHUNK):
            found = True
            yield item
        turn += 1
        if not found:
            return


def _write_files(dataset: Dataset, folder: Path) -> dict[str, int]:
    """Write the data files and return their number of lines; an empty held-out file stays away."""
    counts: dict[str, int] = {}
    with (folder / ORIGINS).open("wb") as origins:
        for portion in Portion.values:
            name = file_of(dataset.kind, portion)
            with (folder / name).open("wb") as stream:
                line = 0
                for line, item in enumerate(items_of(dataset, portion), start=1):
                    stream.write(unpacked(item) + b"\n")
                    origin = {"file": name, "line": line, **item.origin}
                    origins.write(orjson.dumps(origin, option=orjson.OPT_SORT_KEYS) + b"\n")
            counts[name] = line
            if name == HELD_OUT and not line:
                (folder / name).unlink()
    return counts


def checked_lines(dataset: Dataset, portion: str) -> Iterator[bytes]:
    """The lines of a file, newlines included; DatasetDamaged at the end where they are not whole.

    The last line is held back until the hash is known, so that a damaged file is always short.
    """
    require_frozen(dataset)
    name = file_of(dataset.kind, portion)
    digest = hashlib.sha256()
    waiting = b""
    for row in rows_of(dataset, portion):
        if waiting:
            yield waiting
        waiting = row + b"\n"
        digest.update(waiting)
    if digest.hexdigest() != dataset.manifest["files"][name]["sha256"]:
        raise DatasetDamaged(f"{dataset.code}: {name} is not what was frozen.")
    yield waiting
