"""All kinds of check, in one table."""

from typing import Annotated, Final

from pydantic import Field

from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.call_order import CallOrder
from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.tool_called import ToolCalled
from tasks_app.core.checks.unchanged import Unchanged

CHECKS: Final[dict[str, type[BaseCheck]]] = {
    "record_match": RecordMatch,
    "unchanged": Unchanged,
    "message_match": MessageMatch,
    "tool_called": ToolCalled,
    "call_order": CallOrder,
    "answer": Answer,
}
"""Kind → class, in the order of the task format's page."""

AnyCheck = Annotated[
    RecordMatch | Unchanged | MessageMatch | ToolCalled | CallOrder | Answer,
    Field(discriminator="kind"),
]
"""What a spec's `checks` hold."""
