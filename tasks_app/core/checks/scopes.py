"""Where a text check reads: the reply, everything the coworker wrote, a file, the messages it
sent.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from tasks_app.core.evidence import Evidence, EvidenceError
from tasks_app.core.patterns import took_effect
from tasks_app.core.values import address

Scope = Literal["final", "all", "file", "message"]
FILES: Final = "files/files"
OUTBOX: Final = "mail/outbox"


class Passage(NamedTuple):
    """A text and where it stands."""

    text: str
    cites: tuple[str, ...]


def read_scope(scope: Scope, path: str | None, evidence: Evidence, stage_id: str | None) -> Passage:
    """Return the text of a scope.

    `final` is the reply; `message` all messages sent in the episode; `file` the file at a path;
    `all` every reply and every text that a tool call carried. Raises EvidenceError where there is
    no such file.
    """
    if scope == "file":
        return read_file(path or "", evidence, stage_id)
    if scope == "message":
        return _sent(evidence, stage_id)
    stages = evidence.stages if stage_id is None else (evidence.stage(stage_id),)
    if scope == "final":
        stage = stages[-1]
        return Passage(stage.reply, (f"reply:{stage.id}",))
    texts = [stage.reply for stage in stages]
    cites = [f"reply:{stage.id}" for stage in stages]
    for call in evidence.calls_of(stage_id):
        declared = evidence.ground.tools.get(call.tool)
        if declared is not None and declared.text and took_effect(call):
            texts.extend(_texts({name: call.arguments.get(name) for name in declared.text}))
            cites.append(f"call:{call.index}")
    return Passage("\n".join(texts), tuple(cites))


def read_file(path: str, evidence: Evidence, stage_id: str | None) -> Passage:
    """Return the text of the file at a path (or with that id). Raises EvidenceError."""
    for record_id, row in evidence.rows(FILES, stage_id).items():
        if row.get("path", record_id) == path or record_id == path:
            text = next((row[f] for f in ("content", "text") if isinstance(row.get(f), str)), "")
            return Passage(text, (address(FILES, record_id),))
    raise EvidenceError(f"there is no file {path}")


def _sent(evidence: Evidence, stage_id: str | None) -> Passage:
    before = evidence.ground.start.get(OUTBOX, {})
    new = [(i, m) for i, m in evidence.rows(OUTBOX, stage_id).items() if i not in before]
    texts = ["\n".join(_texts({k: m.get(k) for k in ("subject", "body")})) for _, m in new]
    return Passage("\n".join(texts), tuple(address(OUTBOX, i) for i, _ in new))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in value for text in _texts(item)]
    return []
