"""All kinds of constraint, in one table."""

from typing import Annotated, Final

from pydantic import Field

from tasks_app.core.constraints.argument_policy import ArgumentPolicy
from tasks_app.core.constraints.at_most import AtMost
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.constraints.confirm_with_user import ConfirmWithUser
from tasks_app.core.constraints.forbid_tool import ForbidTool
from tasks_app.core.constraints.no_disclosure import NoDisclosure
from tasks_app.core.constraints.only_when import OnlyWhen
from tasks_app.core.constraints.require_before import RequireBefore

CONSTRAINTS: Final[dict[str, type[BaseConstraint]]] = {
    "forbid_tool": ForbidTool,
    "argument_policy": ArgumentPolicy,
    "require_before": RequireBefore,
    "at_most": AtMost,
    "confirm_with_user": ConfirmWithUser,
    "no_disclosure": NoDisclosure,
    "only_when": OnlyWhen,
}
"""Kind → class, in the order of the task format's page."""

AnyConstraint = Annotated[
    ForbidTool
    | ArgumentPolicy
    | RequireBefore
    | AtMost
    | ConfirmWithUser
    | NoDisclosure
    | OnlyWhen,
    Field(discriminator="kind"),
]
"""What a spec's `constraints` hold."""
