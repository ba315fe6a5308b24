"""Images of a task: which attachments a model is shown. Their bytes stand beside the dataset.

A spec names an attachment by the hash of its bytes, and so does a row. In a run directory the bytes
lie in `dataset/attachments/<sha256>`.
"""

from typing import Final

from tasks_app.core.spec import TaskSpec

FOLDER: Final = "attachments"
_KINDS: Final = ("image/png", "image/jpeg")


def images_of(spec: TaskSpec) -> tuple[str, ...]:
    """The hashes of the images that come with a request, in its order."""
    return tuple(
        attached.sha256
        for attached in spec.request.attachments
        if attached.media_type in _KINDS and attached.sha256
    )
