"""System checks of our own settings, each with an id that can be looked up."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks


@checks.register(checks.Tags.security, deploy=True)
def check_hosts(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn where a deployment still answers only on this computer."""
    local = {"localhost", "127.0.0.1", "[::1]"}
    if set(settings.ALLOWED_HOSTS) <= local:
        return [
            checks.Warning(
                "ALLOWED_HOSTS names this computer only.",
                hint="Set STUDIO_ALLOWED_HOSTS to the host names people use, comma-separated.",
                id="studio.W001",
            )
        ]
    return []
