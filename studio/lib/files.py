"""Writing files whole or not at all.

Invariant: what is no ordinary file (a pipe, a device, ``/dev/stdout``) is written straight and
never replaced: to rename over a device takes it away from everybody.
"""

import errno
import os
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
