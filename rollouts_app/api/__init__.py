"""The app's part of the API."""

from rollouts_app.api import batches, episodes

ROUTERS = (("/rollout-batches", batches.router), ("/episodes", episodes.router))
