"""Images that tasks come with: kept once by their hash, written beside the rows of a dataset.

A spec names an image by the hash of its bytes and holds none of them; so a dataset writes them out
of the blobs, each under its hash, where the engine looks for it.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from studio.web.errors import Invalid, Problem
from studio.web.models import Blob
from training_app.core.images import FOLDER

LARGEST_IMAGE: Final = 32 * 2**20
MOST_IMAGES: Final = 10_000
"""Of one folder."""
_BEGINNINGS: Final = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


class Images(NamedTuple):
    """Hashes of the images that the tasks of a dataset name."""

    kept: tuple[str, ...]
    missing: tuple[str, ...]
    """Those whose bytes nobody has given to the studio."""


def keep_images(folder: Path) -> int:
    """Keep every PNG and JPEG of a folder by its hash; return how many there were.

    Invalid says what cannot be read or is too large; what is no image is left alone.
    """
    try:
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        if len(files) > MOST_IMAGES:
            raise _refused(folder, f"holds more than {MOST_IMAGES:,} files")
        return sum(_keep(file) for file in files)
    except OSError as error:
        raise _refused(folder, error.strerror or str(error)) from error


def _keep(file: Path) -> bool:
    with file.open("rb") as stream:
        content = stream.read(LARGEST_IMAGE + 1)
    kind = next((kind for start, kind in _BEGINNINGS.items() if content.startswith(start)), None)
    if kind is None:
        return False
    if len(content) > LARGEST_IMAGE:
        raise _refused(file, f"is larger than {LARGEST_IMAGE // 2**20} MiB")
    Blob.put(content, kind)
    return True


def _refused(place: Path, message: str) -> Invalid:
    return Invalid("These images cannot be kept.", [Problem(str(place), message)])


def images_at_hand(names: Iterable[str]) -> Images:
    """Which of these images are kept, and which are missing; each once, sorted."""
    wanted = sorted(set(names))
    known = set(Blob.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    return Images(
        tuple(name for name in wanted if name in known),
        tuple(name for name in wanted if name not in known),
    )


def write_images(names: Sequence[str], folder: Path) -> None:
    """Write images into the folder of a dataset, each under its hash; one that is gone is not."""
    for name in names:
        blob = Blob.objects.filter(pk=name).first()
        if blob is not None:
            file = folder / FOLDER / name
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(blob.bytes())
