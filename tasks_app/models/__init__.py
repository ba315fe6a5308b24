"""Rows of tasks, proofs, reviews, queues, generation, imports, benchmarks, audits, endpoints."""

from tasks_app.models.audit import AuditMiss, GateAudit
from tasks_app.models.benchmark import Benchmark, BenchmarkItem
from tasks_app.models.endpoint import ModelCall, ModelEndpoint
from tasks_app.models.generation import Attempt, GenerationRun, WorkflowRequirement
from tasks_app.models.imports import ImportItem, ImportRun
from tasks_app.models.review_queue import ReviewAnswer, ReviewItem, ReviewQueue
from tasks_app.models.task import Comment, Exploit, Proof, Review, Task, TaskVersion

__all__ = [
    "Attempt",
    "AuditMiss",
    "Benchmark",
    "BenchmarkItem",
    "Comment",
    "Exploit",
    "GateAudit",
    "GenerationRun",
    "ImportItem",
    "ImportRun",
    "ModelCall",
    "ModelEndpoint",
    "Proof",
    "Review",
    "ReviewAnswer",
    "ReviewItem",
    "ReviewQueue",
    "Task",
    "TaskVersion",
    "WorkflowRequirement",
]
