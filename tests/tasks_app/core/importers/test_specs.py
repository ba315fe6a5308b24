"""Specs out of files, folders and archives; hostile archives."""

import io
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from tasks_app.core.importers import specs
from tasks_app.core.importers.specs import Found, SourceError, read_path, read_upload
from tests.factories.specs import small_spec, small_written

ONE = json.dumps(small_written()).encode()


def archive(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in entries.items():
            out.writestr(name, content)
    return buffer.getvalue()


def test_a_json_file_is_one_spec() -> None:
    assert list(read_upload("a.json", ONE)) == [Found("a.json", small_spec())]


def test_lines_are_specs_each_and_a_broken_one_is_refused_by_itself() -> None:
    data = b"\n".join([ONE, b"{", b'{"format": "coworker-task/9"}', b""])
    found = list(read_upload("a.jsonl", data))
    assert [(item.name, item.spec is not None) for item in found] == [
        ("a.jsonl:1", True),
        ("a.jsonl:2", False),
        ("a.jsonl:3", False),
    ]
    assert found[1].reason.startswith(": not JSON") or "not JSON at line 1" in found[1].reason
    assert "this studio reads 'coworker-task/1'" in found[2].reason


def test_our_own_export_is_read_back_without_its_closing_line() -> None:
    row = json.dumps({"code": "T-1234", "spec": small_written()}).encode()
    data = row + b'\n{"closing":{"count":1,"sha256":""}}\n'
    assert list(read_upload("export.jsonl", data)) == [Found("export.jsonl:1", small_spec())]


def test_a_list_in_one_file_is_specs_each() -> None:
    data = json.dumps([small_written(), 7]).encode()
    found = list(read_upload("a.json", data))
    assert [(item.name, item.reason) for item in found] == [
        ("a.json[0]", ""),
        ("a.json[1]", "/: a task spec is a JSON object"),
    ]


def test_an_archive_is_read_in_the_order_of_its_names() -> None:
    data = archive({"b/two.json": ONE, "a.json": ONE, "readme.txt": b"no"})
    assert [item.name for item in read_upload("x.zip", data)] == ["a.json", "b/two.json"]


@pytest.mark.parametrize(
    "name", ["../evil.json", "/etc/evil.json", "a/../../evil.json", "C:/x.json"]
)
def test_a_path_out_of_the_archive_refuses_it_as_a_whole(name: str) -> None:
    with pytest.raises(SourceError, match="points outside the archive"):
        list(read_upload("x.zip", archive({"good.json": ONE, name: ONE})))


def test_a_link_in_an_archive_refuses_it_as_a_whole() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        entry = zipfile.ZipInfo("link.json")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(entry, "/etc/passwd")
    with pytest.raises(SourceError, match="is a link"):
        list(read_upload("x.zip", buffer.getvalue()))


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    with pytest.raises(SourceError, match=r"unpacked: 60.0 MB; at most 50 MB"):
        list(read_upload("x.zip", archive({"a.json": b" " * (60 * 2**20)})))


def test_an_archive_that_lies_about_its_sizes_is_stopped_while_unpacking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = bytearray(archive({"a.json": b" " * 5000}))
    for offset in (data.find(b"PK\x03\x04") + 22, data.find(b"PK\x01\x02") + 24):
        data[offset : offset + 4] = (10).to_bytes(4, "little")
    monkeypatch.setattr(specs, "LARGEST_SOURCE", 1000)
    with pytest.raises(SourceError):
        list(read_upload("x.zip", bytes(data)))


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specs, "MOST_ENTRIES", 2)
    with pytest.raises(SourceError, match="3 files; at most 2"):
        list(read_upload("x.zip", archive({f"{n}.json": ONE for n in range(3)})))


def test_a_damaged_archive_says_so() -> None:
    with pytest.raises(SourceError, match="damaged archive"):
        list(read_upload("x.zip", archive({"a.json": ONE})[:60]))


def test_an_archive_without_specs_says_what_it_looked_for() -> None:
    with pytest.raises(SourceError, match=r"holds no .json, .jsonl, .ndjson file"):
        list(read_upload("x.zip", archive({"readme.txt": b"hello"})))


def test_an_upload_above_the_limit_names_both_numbers() -> None:
    with pytest.raises(SourceError, match=r"51.0 MB; at most 50 MB"):
        read_upload("a.json", b" " * (51 * 2**20))


def test_a_folder_is_read_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "two.json").write_bytes(ONE)
    (tmp_path / "one.json").write_bytes(ONE)
    (tmp_path / "notes.md").write_text("no")
    assert [item.name for item in read_path(tmp_path)] == ["deep/two.json", "one.json"]


def test_a_folder_with_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(ONE)
    inside = tmp_path / "folder"
    inside.mkdir()
    (inside / "link.json").symlink_to(outside)
    with pytest.raises(SourceError, match=r"link.json links to a place outside the folder"):
        list(read_path(inside))


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        list(read_path(tmp_path / "none.json"))


def test_what_is_neither_file_nor_folder_is_refused_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        read_path(tmp_path / "pipe")
