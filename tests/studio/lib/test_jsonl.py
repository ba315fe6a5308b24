from pathlib import Path

import pytest

from studio.lib.jsonl import JsonlError, Summary, Writer, read_closed, read_file, write_file
from studio.lib.jsonvalue import JsonObject, JsonValue

ROWS: list[JsonValue] = [{"code": "T-1", "text": "a\nb"}, {"code": "T-2", "text": "é"}]


def _closed(rows: list[JsonValue]) -> list[bytes]:
    writer = Writer()
    lines = [writer.line(row) for row in rows]
    return [*lines, writer.closing(filter="state:draft")]


def test_rows_written_are_rows_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    summary = write_file(path, ROWS)
    assert read_file(path) == ROWS
    assert summary == Summary(2, write_file(path, ROWS).sha256)
    assert path.read_bytes().count(b"\n") == 2


def test_a_file_that_fails_half_way_never_bears_its_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with pytest.raises(ValueError, match="not a JSON value"):
        write_file(path, [*ROWS, {"bad": float("nan")}])
    assert list(tmp_path.iterdir()) == []


def test_a_closed_stream_gives_its_rows(tmp_path: Path) -> None:
    expected: list[JsonObject] = [row for row in ROWS if isinstance(row, dict)]
    assert list(read_closed(_closed(ROWS))) == expected
    assert list(read_closed(_closed([]))) == []
    path = tmp_path / "rows.jsonl"
    write_file(path, ROWS, closing=True)
    with path.open("rb") as stream:
        assert list(read_closed(stream)) == expected


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (_closed(ROWS)[:-1], "line 3: the closing line is missing: the file is short"),
        (_closed(ROWS)[1:], "line 2: count or SHA-256 of the closing line do not match"),
        ([*_closed(ROWS), b'{"code":"T-3"}\n'], "line 4: a row after the closing line"),
        ([b"[1]\n"], "line 1: a row must be an object"),
        ([b'{"a":\n'], "line 1: not JSON"),
        ([], "line 1: the closing line is missing"),
    ],
)
def test_a_short_or_changed_stream_says_where(lines: list[bytes], message: str) -> None:
    with pytest.raises(JsonlError, match=message.replace("[", r"\[")):
        list(read_closed(lines))
