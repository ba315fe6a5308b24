"""Who may do what: one table, read by pages, API, commands and tests.

``allowed(Role.REVIEWER, Act.CURATE)`` answers for a role; ``auth.may`` for a request, where the
scopes of a token count too.
"""

from enum import StrEnum
from typing import NamedTuple

from studio.web.choices import Role, Scope


class Act(StrEnum):
    """Everything that is permitted or not."""

    READ = "read"
    EXPORT = "export"

    REVIEW = "review"
    COMMENT = "comment"
    CURATE = "curate"

    GENERATE = "generate"
    IMPORT = "import"
    EDIT = "edit"
    ROLL_OUT = "roll_out"
    TRAIN = "train"
    EVALUATE = "evaluate"

    OVERRULE = "overrule"
    """Approve against findings of others."""
    SETTLE_DISPUTES = "settle_disputes"
    TAKE_OVER_LEASES = "take_over_leases"
    FREEZE_DATASETS = "freeze_datasets"
    MANAGE_QUEUES = "manage_queues"

    MANAGE_ENDPOINTS = "manage_endpoints"
    MANAGE_USERS = "manage_users"
    MANAGE_TOKENS_OF_OTHERS = "manage_tokens_of_others"
    DELETE = "delete"
    CHANGE_SETTINGS = "change_settings"


class Needs(NamedTuple):
    """The least role, and the scope that a token must have."""

    role: Role
    scope: Scope


PERMISSIONS: dict[Act, Needs] = {
    Act.READ: Needs(Role.VIEWER, Scope.READ),
    Act.EXPORT: Needs(Role.VIEWER, Scope.READ),
    Act.REVIEW: Needs(Role.REVIEWER, Scope.REVIEW),
    Act.COMMENT: Needs(Role.REVIEWER, Scope.REVIEW),
    Act.CURATE: Needs(Role.REVIEWER, Scope.REVIEW),
    Act.GENERATE: Needs(Role.EDITOR, Scope.RUN),
    Act.IMPORT: Needs(Role.EDITOR, Scope.WRITE),
    Act.EDIT: Needs(Role.EDITOR, Scope.WRITE),
    Act.ROLL_OUT: Needs(Role.EDITOR, Scope.RUN),
    Act.TRAIN: Needs(Role.EDITOR, Scope.RUN),
    Act.EVALUATE: Needs(Role.EDITOR, Scope.RUN),
    Act.OVERRULE: Needs(Role.LEAD, Scope.REVIEW),
    Act.SETTLE_DISPUTES: Needs(Role.LEAD, Scope.REVIEW),
    Act.TAKE_OVER_LEASES: Needs(Role.LEAD, Scope.REVIEW),
    Act.FREEZE_DATASETS: Needs(Role.LEAD, Scope.WRITE),
    Act.MANAGE_QUEUES: Needs(Role.LEAD, Scope.WRITE),
    Act.MANAGE_ENDPOINTS: Needs(Role.ADMIN, Scope.ADMIN),
    Act.MANAGE_USERS: Needs(Role.ADMIN, Scope.ADMIN),
    Act.MANAGE_TOKENS_OF_OTHERS: Needs(Role.ADMIN, Scope.ADMIN),
    Act.DELETE: Needs(Role.ADMIN, Scope.ADMIN),
    Act.CHANGE_SETTINGS: Needs(Role.ADMIN, Scope.ADMIN),
}


def allowed(role: Role, act: Act) -> bool:
    """Whether a person with this role may do it."""
    return role.includes(PERMISSIONS[act].role)


def acts_of(role: Role, scopes: frozenset[Scope] | None = None) -> frozenset[Act]:
    """All acts of a role, cut down to a token's scopes where there is one."""
    return frozenset(
        act
        for act, needs in PERMISSIONS.items()
        if role.includes(needs.role) and (scopes is None or needs.scope in scopes)
    )


def scopes_of(role: Role) -> frozenset[Scope]:
    """The scopes that a token of this role can use at all."""
    return frozenset(PERMISSIONS[act].scope for act in acts_of(role))
