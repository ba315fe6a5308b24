"""Rows that every app needs: people, jobs, bytes, tokens, the audit log, saved things."""

from studio.web.models.audit import AuditEntry
from studio.web.models.blob import Blob
from studio.web.models.job import Job
from studio.web.models.saved import BulkAction, Draft, SavedView
from studio.web.models.user import ApiToken, Invitation, SignInThrottle, User
from studio.web.models.worker import Worker

__all__ = [
    "ApiToken",
    "AuditEntry",
    "Blob",
    "BulkAction",
    "Draft",
    "Invitation",
    "Job",
    "SavedView",
    "SignInThrottle",
    "User",
    "Worker",
]
