"""The installed app ``web``."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Users, jobs, blobs, tokens, audit: rows that every app needs."""

    name = "studio.web"
    label = "web"
    verbose_name = "Platform"
    default_auto_field = "django.db.models.BigAutoField"
