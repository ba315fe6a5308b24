"""Rows of rollouts: batches, episodes, their payloads and what is suspicious about them."""

from rollouts_app.models.batch import RolloutBatch
from rollouts_app.models.episode import Episode, EpisodePayload
from rollouts_app.models.flag import EpisodeFlag

__all__ = ["Episode", "EpisodeFlag", "EpisodePayload", "RolloutBatch"]
