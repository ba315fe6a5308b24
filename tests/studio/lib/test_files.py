"""Files that appear whole or not at all; devices and pipes that stay what they are."""

import os
import stat
import threading
from pathlib import Path

import pytest

from studio.lib.files import whole_file, whole_folder


def test_a_file_appears_whole(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a") as place:
        place.write_text("all of it")
        assert not (tmp_path / "a").exists()
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "all of it")]


def test_after_an_error_the_old_file_stands(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")

    def fail() -> None:
        with whole_file(tmp_path / "a") as place:
            place.write_text("half")
            raise ValueError("the middle")

    with pytest.raises(ValueError, match="the middle"):
        fail()
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with whole_file(tmp_path / "link") as place:
        place.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), whole_file(tmp_path):
        pass
    assert list(tmp_path.parent.glob("*.partial")) == []


def test_a_pipe_is_written_and_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with whole_file(pipe) as place:
        place.write_bytes(b"through it")
    reader.join(timeout=10)
    assert (read, stat.S_ISFIFO(pipe.stat().st_mode)) == ([b"through it"], True)


def test_a_device_is_never_replaced() -> None:
    with whole_file(Path("/dev/null")) as place:
        assert place == Path("/dev/null")


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "a") as place:
        (place / "one").write_text("1")
        assert not (tmp_path / "a").exists()
    assert [p.name for p in tmp_path.rglob("*")] == ["a", "one"]


def test_after_an_error_no_folder_is_left(tmp_path: Path) -> None:
    def fail() -> None:
        with whole_folder(tmp_path / "a") as place:
            (place / "one").write_text("1")
            raise ValueError("the middle")

    with pytest.raises(ValueError, match="the middle"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_what_lies_there_is_never_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(FileExistsError), whole_folder(tmp_path / "a"):
        pass
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]
