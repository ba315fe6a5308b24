"""The installed app ``web``."""

from importlib import import_module

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Users, jobs, blobs, tokens, audit: rows that every app needs."""

    name = "studio.web"
    label = "web"
    verbose_name = "Platform"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let workers of this process say that they are alive."""
        import_module("studio.web.workers")
