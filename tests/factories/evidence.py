"""Evidence by hand: records, calls and replies of an episode, without a world."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks_app.core.calls import Call, Tables, ToolFacts, encode_arguments
from tasks_app.core.evidence import Evidence, Ground, StageEvidence
from tasks_app.core.records import build_tables
from tasks_app.core.values import Change, Record, encode
from tasks_app.core.writes import WriteRule

AT = "2031-03-20T09:10:00+01:00"
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Collection address → records."""

TOOLS: Mapping[str, ToolFacts] = {
    facts.name: facts
    for facts in (
        ToolFacts("mail_send_message", "mail", "write", ("subject", "body"), ("to", "cc")),
        ToolFacts("helpdesk_get_ticket", "helpdesk", "read"),
        ToolFacts(
            "helpdesk_add_comment",
            "helpdesk",
            "write",
            ("body",),
            inside="internal",
            parameters={"properties": {"internal": {"type": "boolean", "default": True}}},
        ),
        ToolFacts("files_write_file", "files", "write", ("content",)),
        ToolFacts("contacts_send_message", "contacts", "write", ("text",), ("person_id",)),
        ToolFacts("message_user", "user", "channel", ("text",)),
        ToolFacts("finance_create_refund", "finance", "write"),
        ToolFacts("finance_list_refunds", "finance", "read"),
        ToolFacts("finance_hold_invoice", "finance", "write"),
    )
}


def tables(rows: Rows) -> Tables:
    """Return frozen tables."""
    services: dict[str, dict[str, Sequence[Mapping[str, Any]]]] = {}
    for place, records in rows.items():
        service, _, name = place.partition("/")
        services.setdefault(service, {})[name] = records
    return build_tables(services, {})[0]


def call(
    index: int,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    error: str | None = None,
    valid: bool = True,
    outcome: Any = None,
    stage: str = "main",
    before: Tables | None = None,
    changes: tuple[Change, ...] = (),
) -> Call:
    """Return one logged call."""
    return Call(
        index=index,
        name=tool,
        tool=tool,
        raw=encode_arguments(arguments or {}),
        observation=encode({"error": error} if error else outcome),
        error=error,
        valid=valid,
        changes=changes,
        stage=stage,
        state_key=0,
        before=before or {},
    )


def written(collection: str = "finance/refunds", record_id: str = "RF-0001") -> tuple[Change, ...]:
    """Return what a call wrote whose answer was lost."""
    return (Change(collection, record_id, None, Record({"id": record_id})),)


def evidence(
    after: Rows | None = None,
    *,
    before: Rows | None = None,
    calls: Sequence[Call] = (),
    reply: str = "",
    write_set: Sequence[Any] = (),
    tools: Mapping[str, ToolFacts] = TOOLS,
) -> Evidence:
    """Return the evidence of an episode of one stage; `before` defaults to `after`."""
    closed = tables(after or {})
    opened = tables(before) if before is not None else closed
    return stages([("main", opened, closed, reply)], calls=calls, write_set=write_set, tools=tools)


def stages(
    days: Sequence[tuple[str, Tables, Tables, str]],
    *,
    calls: Sequence[Call] = (),
    write_set: Sequence[Any] = (),
    tools: Mapping[str, ToolFacts] = TOOLS,
) -> Evidence:
    """Return the evidence of several stages: id, records opened, records closed, reply."""
    ground = Ground(
        start=days[0][1],
        tools=tools,
        write_set=tuple(WriteRule.model_validate(rule) for rule in write_set),
        id_fields={},
    )
    made: list[StageEvidence] = []
    position = 0
    for stage, opened, closed, reply in days:
        count = sum(1 for item in calls if item.stage == stage)
        made.append(StageEvidence(stage, AT, opened, closed, position, position + count, reply))
        position += count
    return Evidence(ground, made, calls)
