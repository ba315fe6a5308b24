"""A tool's declaration as function calling and MCP write it, and read back."""

from collections.abc import Mapping
from typing import Any

from tasks_app.core.calls import ToolFacts


def to_function(facts: ToolFacts, name: str | None = None) -> dict[str, Any]:
    """Return the declaration for an OpenAI-compatible `tools` list."""
    return {
        "type": "function",
        "function": {
            "name": name or facts.name,
            "description": facts.description,
            "parameters": dict(facts.parameters or {}),
        },
    }


def to_mcp(facts: ToolFacts) -> dict[str, Any]:
    """Return the declaration as an MCP server lists it."""
    return {
        "name": facts.name,
        "description": facts.description,
        "inputSchema": dict(facts.parameters or {}),
        "annotations": {"readOnlyHint": facts.kind != "write"},
    }


def declared(schema: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    """Return name, description and parameters of either form. Raises KeyError for what is
    neither.
    """
    if "function" in schema:
        body = schema["function"]
        return body["name"], body["description"], body["parameters"]
    return schema["name"], schema["description"], schema["inputSchema"]
