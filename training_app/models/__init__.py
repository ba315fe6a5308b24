"""The tables of training."""

from training_app.models.dataset import Dataset, DatasetItem
from training_app.models.evaluation import Evaluation, Suite, SuiteItem
from training_app.models.run import (
    Checkpoint,
    DeviceTicket,
    MetricBucket,
    MetricRow,
    TrainingRun,
)

__all__ = (
    "Checkpoint",
    "Dataset",
    "DatasetItem",
    "DeviceTicket",
    "Evaluation",
    "MetricBucket",
    "MetricRow",
    "Suite",
    "SuiteItem",
    "TrainingRun",
)
