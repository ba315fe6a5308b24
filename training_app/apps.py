"""The installed app ``training_app``."""

from importlib import import_module

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    """Datasets, training runs, checkpoints and evaluations."""

    name = "training_app"
    label = "training_app"
    verbose_name = "Training"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the kinds of work that workers run, and what an audit plants in datasets."""
        import_module("training_app.jobs")
        import_module("training_app.planters")
