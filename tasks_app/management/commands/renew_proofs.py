"""Prove anew what was proven by gates of another version."""

from typing import Any

from studio.lib.jsonvalue import JsonObject
from studio.web.commands import JobCommand
from tasks_app.jobs import RENEW


class Command(JobCommand):
    """`renew_proofs`."""

    help = "Prove every task again whose proof is by gates of another version; workers share it."
    kind = RENEW

    def job_arguments(self, options: dict[str, Any]) -> JsonObject:
        """Nothing to say: which proofs are stale is known."""
        return {}
