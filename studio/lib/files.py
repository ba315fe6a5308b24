"""Writing files whole or not at all.

Invariant: what is no ordinary file (a pipe, a device, ``/dev/stdout``) is written straight and
never replaced: to rename over a device takes it away from everybody.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LIVING = ("/dev/", "/proc/")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write to; it takes the name ``path`` at the end, or is gone after an error.

    Raises OSError before anything is written where ``path`` is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if str(path.absolute()).startswith(_LIVING) or (path.exists() and not path.is_file()):
        yield path
        return
    target = path.resolve()  # through a link, so that the link stays one
    partial = target.with_name(target.name + ".partial")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Give a new folder to write to; it takes the name ``path`` at the end, or is gone after an
    error.

    Raises FileExistsError before anything is written where something lies at ``path``.
    """
    if path.exists() or path.is_symlink():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    partial = path.with_name(path.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        partial.rename(path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
