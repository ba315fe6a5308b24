"""The family reach_the_right_person: role → person → absent? → deputy; one message."""

from tasks_app.core.generation.families.reach_the_right_person.family import ReachTheRightPerson

__all__ = ["ReachTheRightPerson"]
