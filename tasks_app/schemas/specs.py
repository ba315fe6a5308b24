"""A spec that is checked or graded without being stored."""

from typing import Any

from ninja import Schema
from pydantic import Field

from studio.web.api.bodies import Body
from tasks_app.schemas.fields import Spec


class SpecIn(Body):
    """A spec to look at; nothing is stored."""

    spec: Spec


class PlaceOut(Schema):
    """A fault and its place."""

    place: str
    message: str


class CheckedOut(Schema):
    """Whether a text is a task spec, and what its proof says."""

    valid: bool
    problems: list[PlaceOut]
    hash: str | None
    proven: bool | None
    card: dict[str, Any] | None


class GradeIn(Body):
    """A spec and a list of acts: {"tool", "arguments"} or {"reply"}."""

    spec: Spec
    calls: list[dict[str, Any]] = Field(max_length=5000)


class GradeOut(Schema):
    """What the acts earned."""

    reward: float
    passed: bool
    components: dict[str, float | None]
    violations: list[str]
    checks: dict[str, float | None]
    state_key: str
