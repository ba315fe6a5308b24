"""Exports of datasets: a folder or zip that `datasets.load_dataset` reads, and Parquet.

Invariants: everything goes through `checked_lines` or `write_dataset`, so that an export that
does not come out as it was frozen fails before anybody gets a whole file of it. The same dataset
gives the same zip, byte by byte.
"""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from training_app.core.dataset import card
from training_app.enums import DatasetKind, Portion
from training_app.models import Dataset
from training_app.operations.datasets import checked_lines, require_frozen, write_dataset

CARD: Final = "README.md"
_ROWS: Final = 2000
_BYTES: Final = 64 * 2**20
"""A row group ends after so many rows, or so many bytes of text."""
_STAMP: Final = (1980, 1, 1, 0, 0, 0)
_CALL: Final = pa.struct(
    [
        ("id", pa.string()),
        ("type", pa.string()),
        ("function", pa.struct([("name", pa.string()), ("arguments", pa.string())])),
    ]
)
_MESSAGE: Final = pa.struct(
    [
        ("role", pa.string()),
        ("content", pa.string()),
        ("tool_calls", pa.list_(_CALL)),
        ("tool_call_id", pa.string()),
    ]
)
SCHEMAS: Final = {
    DatasetKind.DEMONSTRATIONS: pa.schema(
        [("split", pa.string()), ("messages", pa.list_(_MESSAGE)), ("tools", pa.string())]
    ),
    DatasetKind.PROMPTS: pa.schema(
        [
            ("split", pa.string()),
            ("prompt", pa.list_(_MESSAGE)),
            ("spec", pa.string()),
            ("spec_hash", pa.string()),
            ("toolset", pa.string()),
            ("group", pa.string()),
            ("seed", pa.int64()),
        ]
    ),
}
"""Kind → columns; what a message has not is null."""


def write_folder(dataset: Dataset, folder: Path) -> dict[str, Any]:
    """Write data files, manifest and card into a folder, and return the manifest.

    `datasets.load_dataset(folder)` gives the splits `train` and, where tasks were held back,
    `held_out`.
    """
    body = write_dataset(dataset, folder)
    text = card(
        name=dataset.name, code=dataset.code, manifest=body, composition=dataset.composition
    )
    (folder / CARD).write_text(text, encoding="utf-8")
    return body


def zip_file(dataset: Dataset) -> IO[bytes]:
    """The folder as a zip, open at its beginning; gone when it is closed."""
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place) / dataset.code
        write_folder(dataset, folder)
        stream = stack.enter_context(tempfile.TemporaryFile())
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(file for file in folder.rglob("*") if file.is_file()):
                name = file.relative_to(folder).as_posix()
                entry = zipfile.ZipInfo(f"{dataset.code}/{name}", _STAMP)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                with archive.open(entry, "w") as target, file.open("rb") as source:
                    while piece := source.read(2**20):
                        target.write(piece)
        stream.seek(0)
        stack.pop_all()  # whoever asked closes it
        return stream


def parquet_file(dataset: Dataset) -> IO[bytes]:
    """All rows as one Parquet file (zstd) with a column `split`, open at its beginning."""
    require_frozen(dataset)
    schema = SCHEMAS[DatasetKind(dataset.kind)]
    with ExitStack() as stack:
        stream = stack.enter_context(tempfile.TemporaryFile())
        with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
            for group in _groups(dataset):
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
        stream.seek(0)
        stack.pop_all()  # whoever asked closes it
        return stream


def _groups(dataset: Dataset) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for portion in Portion.values:
        if portion == Portion.HELD_OUT and not has_held_out(dataset):
            continue
        for line in checked_lines(dataset, portion):
            group.append({"split": portion, **orjson.loads(line)})
            size += len(line)
            if len(group) >= _ROWS or size >= _BYTES:
                yield group
                group, size = [], 0
    if group:
        yield group


def has_held_out(dataset: Dataset) -> bool:
    """Whether some of its rows are held out."""
    return bool(dataset.composition.get("portion", {}).get(Portion.HELD_OUT))
