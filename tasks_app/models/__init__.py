"""Rows of tasks, proofs, reviews, generation and imports."""

from tasks_app.models.generation import Attempt, GenerationRun, WorkflowRequirement
from tasks_app.models.imports import ImportItem, ImportRun
from tasks_app.models.task import Comment, Proof, Review, Task, TaskVersion

__all__ = [
    "Attempt",
    "Comment",
    "GenerationRun",
    "ImportItem",
    "ImportRun",
    "Proof",
    "Review",
    "Task",
    "TaskVersion",
    "WorkflowRequirement",
]
