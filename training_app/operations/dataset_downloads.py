"""A dataset's exports as answers, for pages and API alike."""

from typing import IO, Final

from django.http import FileResponse, StreamingHttpResponse

from studio.web.errors import NotFound
from training_app.core.dataset import file_of
from training_app.enums import Portion
from training_app.operations.dataset_files import parquet_file, zip_file
from training_app.operations.datasets import checked_lines, require_frozen
from training_app.queries.datasets import get_dataset

FORMS: Final = ("jsonl", "held_out.jsonl", "parquet", "zip")


def download(code: str, form: str) -> StreamingHttpResponse | FileResponse:
    """An export as an answer; what comes out short ends the connection before its length."""
    row = get_dataset(code)
    require_frozen(row)
    if form not in FORMS:
        raise NotFound(f"There is no export “{form[:20]}”; known are {', '.join(FORMS)}.")
    if form == "parquet":
        return _file(parquet_file(row), f"{row.code}.parquet")
    if form == "zip":
        return _file(zip_file(row), f"{row.code}.zip")
    portion = Portion.TRAIN if form == "jsonl" else Portion.HELD_OUT
    entry = row.manifest["files"].get(file_of(row.kind, portion))
    if entry is None:
        raise NotFound(f"{row.code} holds nothing back.")
    return StreamingHttpResponse(
        checked_lines(row, portion),
        content_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="{row.code}.{form}"',
            "Content-Length": str(entry["bytes"]),
            "Cache-Control": "no-store",
            "X-Content-SHA256": entry["sha256"],
        },
    )


def _file(stream: IO[bytes], name: str) -> FileResponse:
    answer = FileResponse(stream, as_attachment=True, filename=name)
    answer["Cache-Control"] = "no-store"
    return answer
