"""The folder of a dataset in the library that everybody loads datasets with, offline."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.training_app.engine.marks import ENGINE
from tests.training_app.library import frozen, rolled_out_library
from training_app.operations.dataset_files import parquet_file, write_folder

pytestmark = [pytest.mark.django_db, *ENGINE]

# In a process of its own, as somebody else would load it: no Django, no network.
CODE = """
import sys, json
from datasets import load_dataset
found = load_dataset(sys.argv[1])
table = load_dataset("parquet", data_files={"rows": sys.argv[2]})["rows"]
print(json.dumps({
    "splits": {name: len(rows) for name, rows in found.items()},
    "columns": found["train"].column_names,
    "first": found["train"][0],
    "parquet": list(table["split"]),
}))
"""


@pytest.mark.parametrize("kind", ["demonstrations", "prompts"])
def test_load_dataset_reads_the_folder_and_the_parquet_file(kind: str, tmp_path: Path) -> None:
    rolled_out_library(3, 1)
    asked = {"filter_text": "state:proven"} if kind == "prompts" else {}
    dataset = frozen("Everything, twice: #1", kind, **asked)
    folder = tmp_path / "folder"
    write_folder(dataset, folder)
    table = tmp_path / "all.parquet"
    with parquet_file(dataset) as stream:
        table.write_bytes(stream.read())
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(folder), str(table)],
        check=True,
        capture_output=True,
        env={
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(tmp_path / "hub"),
            "HF_DATASETS_CACHE": str(tmp_path / "cache"),
        },
        cwd=tmp_path,
    )
    found = orjson.loads(done.stdout.splitlines()[-1])
    assert found["splits"] == {"train": 3, "held_out": 1}
    assert found["parquet"] == ["train"] * 3 + ["held_out"]
    written = orjson.loads((folder / f"{kind}.jsonl").read_bytes().splitlines()[0])
    assert found["columns"] == list(written)
    first = {
        name: [{k: v for k, v in message.items() if v is not None} for message in value]
        if isinstance(value, list)
        else value
        for name, value in found["first"].items()
    }
    assert first == written
