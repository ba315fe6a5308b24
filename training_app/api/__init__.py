"""The app's part of the API."""

from ninja import Router

from training_app.api import datasets, evaluations, runs

ROUTERS: tuple[tuple[str, Router], ...] = (
    ("/datasets", datasets.router),
    ("/evaluations", evaluations.router),
    ("/suites", evaluations.suites),
    ("/servings", evaluations.served),
    ("/training-runs", runs.router),
)
