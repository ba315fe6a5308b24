"""Gate I1: where pictures or documents come with the request, they decide.

What a picture holds stands in its sidecar, for proof and grading alone. The picture decides if the
reference uses a value that only the picture shows: with blank pictures gate O3 would find that
value to come from nowhere. Else the picture is decoration, and the task no multimodal one.
"""

import copy
from collections.abc import Iterator
from typing import Any, Final

from tasks_app.core.spec import Attachment, TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.flow import grounded, uses
from tasks_app.core.validation.gate import finding, pointer
from tasks_app.core.validation.text_pieces import replaced
from tasks_app.core.validation.told import Told, passages
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair, Written, as_suggestion, tried_out
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS

TAG: Final = "multimodal"
NONE: Final = "no picture or document comes with the request"


def pictures(spec: TaskSpec) -> list[tuple[int, Attachment]]:
    """Return the attachments that are looked at: images and pdf documents."""
    return [
        (number, attached)
        for number, attached in enumerate(spec.request.attachments)
        if attached.media_type.startswith("image/") or attached.media_type == "application/pdf"
    ]


def decide(trial: Trial) -> Iterator[Finding]:
    """I1: with blank pictures the reference cannot be known."""
    shown = pictures(trial.spec)
    if not shown or undecidable_blank(trial):
        return
    number, attached = shown[0]
    if not attached.sidecar:
        problem = "no sidecar says what it shows"
    else:
        known = [str(value) for value in facts(trial)]
        problem = "the reference uses nothing that it shows"
        if known:
            problem = f"{', '.join(known[:3])} can be read elsewhere as well"
    yield finding(
        "I1",
        pointer("request", "attachments", number),
        f"{attached.name} decides nothing: {problem}",
        hint="let the picture alone show what decides, or take it out",
    ).model_copy(update={"suggestion": as_suggestion(trial, _mended(trial))})


def undecidable_blank(trial: Trial) -> bool:
    """Say whether the reference uses a value that comes from nowhere once pictures are blank."""
    blank = copy.deepcopy(trial.spec.written())
    for number, _ in pictures(trial.spec):
        blank["request"]["attachments"][number].pop("sidecar", None)
    tried = tried_out(blank)
    return tried is not None and any(True for _ in grounded(tried, repairs=False))


def facts(trial: Trial) -> list[Any]:
    """Return the values that pictures show and the reference uses."""
    shown = Told(f"{attached.sidecar} " for _, attached in pictures(trial.spec))
    used: dict[Any, None] = {}
    for number, step in enumerate(trial.spec.reference):
        for use in uses(number, step, {}):
            used.setdefault(use.value)
    for call in trial.reference.calls:
        if call.changes:
            for value in _leaves(call.arguments):
                used.setdefault(value)
    return [value for value in used if _tells(value) and shown.says(value)]


def _tells(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > 2
    return isinstance(value, NUMBERS) and not isinstance(value, bool) and abs(value) > 12


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, LEAVES):
        yield value
    elif isinstance(value, OBJECTS):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, LISTS):
        for item in value:
            yield from _leaves(item)


def _mended(trial: Trial) -> Repair | None:
    for repair in (_redacted(trial), _without_pictures(trial)):
        if repair is None:
            continue
        tried = tried_out(repair.written)
        if tried is None or not tried.reference.grade.passed or tried.program.problems:
            continue
        if not pictures(tried.spec) or undecidable_blank(tried):
            return repair
    return None


def _redacted(trial: Trial) -> Repair | None:
    """Return the spec whose texts no longer say what a picture shows; a rule that is graded keeps
    its sentence.
    """
    written = copy.deepcopy(trial.spec.written())
    told = [
        value
        for value in facts(trial)
        if not any(_left_to_picture(rule.sentence, value) for rule in trial.spec.constraints)
    ]
    for passage in passages(trial.spec):
        text = passage.text
        for value in told:
            text = _left_to_picture(text, value) or text
        if text != passage.text:
            _put(written, passage.path, text)
    if written == trial.spec.written():
        return None
    return Repair("redact_text", "leave what the picture shows to the picture", written)


def _left_to_picture(text: str, value: Any) -> str | None:
    """Return a text that no longer says a value; None where it never did."""
    piece = value if isinstance(value, str) else {"number": value}
    left = replaced(text, piece, lambda _: "(see the attachment)")
    return left if left != text else None


def _put(written: Written, path: str, text: str) -> None:
    *way, last = path.split("/")[1:]
    place: Any = written
    for part in way:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if isinstance(place, list):
        place[int(last)] = text
    else:
        place[last] = text


def _without_pictures(trial: Trial) -> Repair:
    """Return the spec without its pictures and without the tag that claims them."""
    written = copy.deepcopy(trial.spec.written())
    gone = {number for number, _ in pictures(trial.spec)}
    kept = [a for n, a in enumerate(written["request"]["attachments"]) if n not in gone]
    written["request"]["attachments"] = kept
    written["tags"] = [tag for tag in written.get("tags", ()) if tag != TAG]
    return Repair("drop_pictures", f"take the pictures out, and the tag {TAG}", written)
