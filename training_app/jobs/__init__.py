"""The kinds of work of training; each module registers its own."""

from training_app.jobs import datasets, evaluations, runs

__all__ = ("datasets", "evaluations", "runs")
