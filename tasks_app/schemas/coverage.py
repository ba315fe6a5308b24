"""What the library covers."""

from typing import ClassVar

from ninja import Schema
from pydantic import Field

from tasks_app.coverage import PARTS, PROVEN


class CoverageFilter(Schema):
    """What is counted."""

    q: str = Field(PROVEN, max_length=2000, description="A task filter; tasks whose proof holds")


class CellOut(Schema):
    """Tasks of a family at one difficulty that show a capability."""

    track: str
    family: str
    difficulty: int
    capability: str
    tasks: int
    filter: str


class SubtypeOut(Schema):
    """Tasks of a subtype."""

    track: str
    family: str
    subtype: str
    tasks: int
    filter: str


class ServiceCountOut(Schema):
    """Tasks of an inventory that use a service."""

    function: str
    service: str
    track: str
    tasks: int
    filter: str


class InputCountOut(Schema):
    """Tasks of an inventory that are told by an input."""

    input: str
    track: str
    tasks: int
    filter: str


class CoverageOut(Schema):
    """Counts under one filter."""

    PARTS: ClassVar[tuple[str, ...]] = tuple(PARTS)

    filter: str
    tracks: dict[str, int]
    cells: list[CellOut]
    """What is there, and what built-in families could make and is not."""
    families: list[SubtypeOut]
    services: list[ServiceCountOut]
    inputs: list[InputCountOut]
