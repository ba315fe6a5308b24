"""Seeded failures of tools: the n-th call that passes the schema is answered with an error."""

from collections.abc import Mapping, Sequence
from typing import Final

from tasks_app.core.calls import ToolError
from tasks_app.core.spec import Fault

_MESSAGES: Final = {
    "rate_limited": "too many requests; try again later",
    "unavailable": "the service is unavailable at the moment",
    "timeout": "the service did not answer in time",
}


def by_tool(faults: Sequence[Fault]) -> Mapping[str, Mapping[int, Fault]]:
    """Return tool → number of the call → fault."""
    table: dict[str, dict[int, Fault]] = {}
    for fault in faults:
        for number in fault.calls:
            table.setdefault(fault.tool, {})[number] = fault
    return table


def failure(fault: Fault) -> ToolError:
    """Return the error that a fault answers with."""
    message = _MESSAGES.get(fault.code, "the service failed")
    return ToolError(fault.code, message, retry_after=fault.retry_after)
