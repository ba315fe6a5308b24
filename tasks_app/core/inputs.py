"""What a task is told by, beside its records: files by their kind, a colleague, silent changes."""

from collections.abc import Iterator, Mapping
from typing import Final

from tasks_app.core.spec import TaskSpec

RECORDS: Final = "records"
INPUTS: Final[Mapping[str, str]] = {
    RECORDS: "records only",
    "text": "text file",
    "image": "image",
    "pdf": "pdf",
    "spreadsheet": "spreadsheet file",
    "dialogue": "dialogue",
    "silent_change": "silent change",
}
"""Input → what a page calls it."""
_SHEETS: Final = (
    "text/csv",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)


def inputs_of(spec: TaskSpec) -> list[str]:
    """Return a task's inputs in the order of the table; `records` where it has no other."""
    found = {_kind(media) for media in _media(spec)}
    if spec.user is not None:
        found.add("dialogue")
    if any(mutation.silent for stage in spec.timeline for mutation in stage.mutations):
        found.add("silent_change")
    return [name for name in INPUTS if name in found] or [RECORDS]


def _media(spec: TaskSpec) -> Iterator[str]:
    """The media types of what comes with the request, lies in the files or arrives later."""
    for attachment in spec.request.attachments:
        yield attachment.media_type
    for record in spec.services.get("files", {}).get("files", ()):
        yield str(record.get("media_type"))
    for stage in spec.timeline:
        for mutation in stage.mutations:
            if mutation.service == "files":
                yield str(mutation.values.get("media_type"))


def _kind(media: str) -> str | None:
    if media in _SHEETS:
        return "spreadsheet"
    if media == "application/pdf":
        return "pdf"
    if media.startswith("image/"):
        return "image"
    return "text" if media.startswith("text/") or media == "application/json" else None
