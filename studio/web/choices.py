"""The closed vocabularies of the platform: roles, job states, token scopes."""

from django.db.models import TextChoices


class Role(TextChoices):
    """What a person may do; each includes those before it."""

    VIEWER = "viewer", "Viewer"
    REVIEWER = "reviewer", "Reviewer"
    EDITOR = "editor", "Editor"
    LEAD = "lead", "Lead"
    ADMIN = "admin", "Administrator"

    @property
    def rank(self) -> int:
        """0 for a viewer, 4 for an administrator."""
        return list(Role).index(self)

    def includes(self, other: "Role") -> bool:
        """Whether this role may do all that ``other`` may."""
        return self.rank >= other.rank


class Scope(TextChoices):
    """What a token may be used for, within its owner's role."""

    READ = "read", "Read and export"
    REVIEW = "review", "Review, comment, curate"
    WRITE = "write", "Edit, import, freeze"
    RUN = "run", "Generate, roll out, train, evaluate"
    ADMIN = "admin", "Administer"


class JobState(TextChoices):
    """Where a job stands."""

    QUEUED = "queued", "Queued"
    STARTING = "starting", "Starting"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    STOPPING = "stopping", "Stopping"
    STOPPED = "stopped", "Stopped"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    LOST = "lost", "Lost"


#: A worker holds the row, and its lease says until when.
HELD = (JobState.STARTING, JobState.RUNNING, JobState.STOPPING)
#: Nothing moves any more by itself.
FINISHED = (JobState.STOPPED, JobState.SUCCEEDED, JobState.FAILED, JobState.LOST)
