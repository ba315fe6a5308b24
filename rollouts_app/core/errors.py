"""Failures of an episode, named by the boundary that was crossed.

Invariant: none of these is the policy's doing, so an episode that ends in one has no reward: it is
marked and may be run again; it never counts as a reward of 0.
"""

from typing import ClassVar, Final, Literal, get_args

Boundary = Literal["task", "policy", "endpoint", "world", "grade"]
BOUNDARIES: Final[tuple[Boundary, ...]] = get_args(Boundary)


class EpisodeFailure(Exception):
    """An episode that could not be completed; `boundary` says where it broke."""

    boundary: ClassVar[Boundary]

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message


class TaskFailure(EpisodeFailure):
    """The task version cannot be opened as a world."""

    boundary = "task"


class EndpointFailure(EpisodeFailure):
    """The server behind a policy did not answer, or not in time."""

    boundary = "endpoint"


class UnknownPolicyError(ValueError):
    """No policy has that name; the message lists those that exist."""
