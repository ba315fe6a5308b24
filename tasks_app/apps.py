"""The installed app ``tasks_app``."""

from importlib import import_module

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Task specs, their proofs, generation and review."""

    name = "tasks_app"
    label = "tasks_app"
    verbose_name = "Tasks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the kinds of work that workers run."""
        import_module("tasks_app.jobs")
