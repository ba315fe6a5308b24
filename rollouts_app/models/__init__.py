"""Rows of rollouts: batches, episodes and their payloads."""

from rollouts_app.models.batch import RolloutBatch
from rollouts_app.models.episode import Episode, EpisodePayload

__all__ = ["Episode", "EpisodePayload", "RolloutBatch"]
