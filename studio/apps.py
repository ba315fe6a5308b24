"""Makes the project an installed app, so that Celery is configured wherever Django is."""

from importlib import import_module

from django.apps import AppConfig


class StudioConfig(AppConfig):
    """The composition on top: home, API, supervised processes."""

    name = "studio"
    label = "studio"
    verbose_name = "CoworkEnv Studio"

    def ready(self) -> None:
        """Load the Celery application; ``studio/__init__`` stays empty for the sake of core."""
        import_module("studio.celery")
        import_module("studio.checks")
