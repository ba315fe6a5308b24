"""Services and their tools."""

from typing import Any

from ninja import Schema


class ToolOut(Schema):
    """A tool: whether it reads, writes or speaks, and its JSON Schema."""

    name: str
    kind: str
    description: str
    parameters: dict[str, Any]


class ServiceOut(Schema):
    """A simulated office service."""

    name: str
    function: str
    purpose: str
    collections: list[str]
    tools: list[ToolOut]
