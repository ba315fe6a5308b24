"""The closed vocabularies of tasks, their proofs, reviews, generation and imports."""

from collections.abc import Mapping
from typing import Final

from django.db.models import TextChoices


class TaskState(TextChoices):
    """Where a task stands; ``TRANSITIONS`` says what may follow."""

    IMPORTED = "imported", "Imported"
    DRAFT = "draft", "Draft"
    INVALID = "invalid", "Invalid"
    PROVEN = "proven", "Proven"
    IN_REVIEW = "in_review", "In review"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"
    DISPUTED = "disputed", "Disputed"
    RETIRED = "retired", "Retired"


class Act(TextChoices):
    """What moves a task from one state to another."""

    EDIT = "edit", "Edit"
    PROVE = "prove", "Prove"
    QUEUE = "queue", "Queue for review"
    APPROVE = "approve", "Approve"
    REJECT = "reject", "Reject"
    DISPUTE = "dispute", "Dispute"
    RETIRE = "retire", "Retire"


#: Act → the states it is possible in. What an edit or a proof ends in depends on what it finds.
TRANSITIONS: Final[Mapping[Act, tuple[TaskState, ...]]] = {
    Act.EDIT: tuple(TaskState),
    # An approved task is proven again when the gates change; a proof that fails takes the
    # approval away.
    Act.PROVE: (
        TaskState.IMPORTED,
        TaskState.DRAFT,
        TaskState.INVALID,
        TaskState.PROVEN,
        TaskState.IN_REVIEW,
        TaskState.APPROVED,
        TaskState.DISPUTED,
    ),
    Act.QUEUE: (TaskState.PROVEN,),
    # A disputed task is settled by a lead (``operations/review_items.py`` holds the others off).
    Act.APPROVE: (TaskState.PROVEN, TaskState.IN_REVIEW, TaskState.DISPUTED),
    Act.REJECT: (TaskState.PROVEN, TaskState.IN_REVIEW, TaskState.DISPUTED),
    Act.DISPUTE: (TaskState.IN_REVIEW,),
    Act.RETIRE: (TaskState.APPROVED, TaskState.REJECTED, TaskState.DISPUTED),
}


class Track(TextChoices):
    """The inventory a task counts in."""

    CLAW_EVAL = "claw_eval", "One sitting"
    CLAWMARK = "clawmark", "Several days"
    POCKET = "pocket", "Pocket"


class Split(TextChoices):
    """What a task may be used for: every table of results prints it."""

    TRAIN = "train", "Training"
    NEW_INSTANCES = "new_instances", "Held-out instances"
    NEW_FAMILIES = "new_families", "Held-out families"
    EVALUATION = "evaluation", "Evaluation only"


class Origin(TextChoices):
    """Where a version came from."""

    GENERATED = "generated", "Generated"
    WRITTEN = "written", "Written by hand"
    PLAYED = "played", "Played in the browser"
    IMPORTED = "imported", "Imported"
    DUPLICATED = "duplicated", "Duplicated"
    EDITED = "edited", "Edited"
    REPAIRED = "repaired", "Repaired"


class Verdict(TextChoices):
    """What a proof says about one version."""

    PROVEN = "proven", "Proven"
    INVALID = "invalid", "Invalid"
    UNPROVEN = "unproven", "Cannot be proven"


class Decision(TextChoices):
    """A reviewer's verdict."""

    APPROVE = "approve", "Approve"
    REJECT = "reject", "Reject"


class Answer(TextChoices):
    """What a reviewer says of an item of a review queue."""

    APPROVE = "approve", "Approve"
    REJECT = "reject", "Reject"
    SKIP = "skip", "Skip"
    FLAG = "flag", "Flag for a lead"


#: Answers that count as verdicts.
DECIDING: Final = (Answer.APPROVE, Answer.REJECT)


class ItemState(TextChoices):
    """Where an item of a review queue stands."""

    OPEN = "open", "To judge"
    WAITING = "waiting", "Waiting for a proof"
    FLAGGED = "flagged", "Flagged"
    DISPUTED = "disputed", "Disputed"
    SETTLED = "settled", "Settled"
    WITHDRAWN = "withdrawn", "Withdrawn"


#: Items whose task is still to be judged here.
UNSETTLED: Final = (ItemState.OPEN, ItemState.WAITING, ItemState.FLAGGED, ItemState.DISPUTED)


class Outcome(TextChoices):
    """How a generation attempt ended."""

    STORED = "stored", "Stored"
    QUARANTINED = "quarantined", "Quarantined"
    DUPLICATE = "duplicate", "Near duplicate"


class ImportSource(TextChoices):
    """Where imported tasks come from."""

    CLAW_EVAL = "claw-eval", "Claw-Eval"
    CLAWMARK = "clawmark", "ClawMark"
    JSON = "json", "Task specs as JSON"


class ImportOutcome(TextChoices):
    """How one item of an import ended."""

    CREATED = "created", "Created"
    KNOWN = "known", "Already here"
    REFUSED = "refused", "Refused"


class EndpointRole(TextChoices):
    """What the model behind an endpoint may be used as."""

    TEACHER = "teacher", "Teacher: acts on tasks"
    WRITER = "writer", "Writer: drafts tasks"
    JUDGE = "judge", "Judge: scores rubrics"
    USER = "user", "User: plays the colleague"
