"""All kinds of check, in one table."""

from typing import Annotated, Final

from pydantic import Field

from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.call_order import CallOrder
from tasks_app.core.checks.event_match import EventMatch
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.number_close import NumberClose
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.rubric import Rubric
from tasks_app.core.checks.table_rows import TableRows
from tasks_app.core.checks.text_match import TextAbsent, TextMatch
from tasks_app.core.checks.tool_called import ToolCalled
from tasks_app.core.checks.unchanged import Unchanged

CHECKS: Final[dict[str, type[BaseCheck]]] = {
    "record_match": RecordMatch,
    "unchanged": Unchanged,
    "message_match": MessageMatch,
    "event_match": EventMatch,
    "tool_called": ToolCalled,
    "call_order": CallOrder,
    "table_rows": TableRows,
    "text_match": TextMatch,
    "text_absent": TextAbsent,
    "number_close": NumberClose,
    "answer": Answer,
    "rubric": Rubric,
}
"""Kind → class, in the order of the task format's page."""

AnyCheck = Annotated[
    RecordMatch
    | Unchanged
    | MessageMatch
    | EventMatch
    | ToolCalled
    | CallOrder
    | TableRows
    | TextMatch
    | TextAbsent
    | NumberClose
    | Answer
    | Rubric,
    Field(discriminator="kind"),
]
"""What a spec's `checks` hold."""
