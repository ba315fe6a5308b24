"""The closed vocabularies of batches and episodes."""

from django.db.models import TextChoices


class EpisodeState(TextChoices):
    """Where an episode stands."""

    QUEUED = "queued", "Queued"
    GRADED = "graded", "Graded"
    FAILED = "failed", "Failed"
    """Something outside the policy broke: no reward, may be run again."""


class StopReason(TextChoices):
    """Why an episode ended."""

    FINISHED = "finished", "Finished"
    TURN_LIMIT = "turn_limit", "Turn limit"
    CALL_LIMIT = "call_limit", "Call limit"
    TIME_LIMIT = "time_limit", "Time limit"
    FAILED = "failed", "Failed"


class Curation(TextChoices):
    """Whether an episode may become a demonstration."""

    OPEN = "open", "Undecided"
    KEPT = "kept", "Kept"
    DROPPED = "dropped", "Dropped"


class FlagState(TextChoices):
    """What people decided about a suspicion."""

    OPEN = "open", "To judge"
    CONFIRMED = "confirmed", "A trick"
    DISMISSED = "dismissed", "All right"


class Purpose(TextChoices):
    """What a batch is made for."""

    ROLLOUT = "rollout", "Rollout"
    EVALUATION = "evaluation", "Evaluation"
    PLAY = "play", "Played in the browser"
    SAMPLE = "sample", "Sample of a training run"
