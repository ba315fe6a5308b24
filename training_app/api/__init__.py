"""The app's part of the API."""

from ninja import Router

from training_app.api import datasets

ROUTERS: tuple[tuple[str, Router], ...] = (("/datasets", datasets.router),)
