"""The admin site's view of training: to read and export, not to edit."""

from training_app.admin import datasets, evaluations, runs

__all__ = ("datasets", "evaluations", "runs")
