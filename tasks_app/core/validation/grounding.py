"""Gate R4: the request speaks of what the coworker can read, in the language of the task."""

import re
from collections.abc import Iterator
from typing import Any, Final

from tasks_app.core.predicates import fold
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.domains import EMAIL
from tasks_app.core.validation.gate import finding
from tasks_app.core.values import LEAVES, LISTS, OBJECTS

_DAY: Final = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_ID: Final = re.compile(r"\b[A-Z]{1,5}-\d{2,}\b")
_LONG_NUMBER: Final = re.compile(r"(?<![\w.,])\d{4,}(?![\w]|[.,]\d)")
_NAME: Final = re.compile(r"\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)+")


def grounding(spec: TaskSpec) -> Iterator[Finding]:
    """R4: ids, addresses, numbers and full names of the request occur in what the coworker can
    read.
    """
    readable = readable_text(spec)
    haystack = fold(readable)
    text = spec.request.text
    yield from _languages(spec, readable)
    said = [check.plain for check in spec.checks], [step.arguments for step in spec.reference]
    for match in _DAY.finditer(text):
        # A day may also be what is to be written.
        if match.group() not in readable and match.group() not in repr(said):
            yield _ungrounded("day", match.group(), spec)
    for kind, expression in (("id", _ID), ("mail address", EMAIL), ("number", _LONG_NUMBER)):
        for match in expression.finditer(text):
            entity = match.group().rstrip(".,;:!?")
            if entity.casefold() not in haystack:
                yield _ungrounded(kind, entity, spec)
    for match in _NAME.finditer(text):
        words = re.sub(r"[’']s?$", "", match.group()).split(" ")
        starts = match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".!?:,\n"
        candidates = [" ".join(words)] + (
            [" ".join(words[1:])] if starts and len(words) > 1 else []
        )
        if not any(c.casefold() in haystack for c in candidates):
            yield _ungrounded("name", candidates[0], spec)


_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_LANGUAGES: Final = ("zh", "ja", "ko")
_SENTENCE: Final = 5
"""Words, or signs, from which on a text of a record is a sentence."""


def _languages(spec: TaskSpec, readable: str) -> Iterator[Finding]:
    """Request and records are written in the script of the task's language."""
    wanted = spec.language.split("-")[0] in _CJK_LANGUAGES
    for place, what, text in (
        ("/request/text", "the request", spec.request.text),
        ("/services", "what can be read", readable),
    ):
        signs = len(_CJK.findall(text))
        # A sign is about a word: names and quotations of another script are few beside the rest.
        words = len(text.split()) + signs
        here = signs / words if words else 0.0
        if (here > 0.5) != wanted and words >= 8 and (not wanted or here < 0.1):
            yield finding(
                "R4",
                place,
                f"the task is written in {spec.language}, but {what} is not",
                hint="translate it, or state the language that it has",
                severity="warn" if spec.evaluation_only else "block",
            )
            return
    if not wanted and _CJK.search(readable):
        # Rules and names in the task's own script may be the most of what can be read.
        prose = list(_sentences(spec.services))
        foreign = sum(len(_CJK.findall(text)) > len(text.split()) for text in prose)
        if foreign > len(prose) / 2:
            yield finding(
                "R4",
                "/services",
                f"the task is written in {spec.language}, but {foreign} of {len(prose)} texts of "
                "its records are not",
                hint="translate them, or state the language that they have",
                severity="warn" if spec.evaluation_only else "block",
            )


def _sentences(value: Any) -> Iterator[str]:
    """Yield the texts of records that say something: neither ids, names nor a word or two."""
    if isinstance(value, str):
        if len(value.split()) >= _SENTENCE or len(_CJK.findall(value)) >= _SENTENCE:
            yield value
    elif isinstance(value, (*OBJECTS, *LISTS)):
        for item in value.values() if isinstance(value, OBJECTS) else value:
            yield from _sentences(item)


def _ungrounded(kind: str, entity: str, spec: TaskSpec) -> Finding:
    return finding(
        "R4",
        "/request/text",
        f"the request names the {kind} {entity!r}, which no record, policy or person knows",
        hint="use the name a record has, or add the record",
        severity="warn" if spec.evaluation_only else "block",
    )


def readable_text(spec: TaskSpec) -> str:
    """Return all that the coworker can read of a task, beside the request itself."""
    parts: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, LEAVES) or not isinstance(value, (*OBJECTS, *LISTS)):
            if value is not None and not isinstance(value, bool):
                parts.append(str(value))
            return
        for item in value.values() if isinstance(value, OBJECTS) else value:
            if isinstance(item, str):  # nearly always: no need to call for it
                parts.append(item)
            else:
                collect(item)

    collect(spec.services)
    collect(spec.workplace.model_dump())
    if spec.user is not None:
        collect([spec.user.name, [fact.text for fact in spec.user.facts]])
    for stage in spec.timeline:
        collect([mutation.values for mutation in stage.mutations])
    for attachment in spec.request.attachments:
        collect([attachment.name, attachment.sidecar])
    return "\n".join(parts)
