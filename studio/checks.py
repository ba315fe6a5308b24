"""System checks of our own settings, each with an id that can be looked up."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks


def register_all() -> None:
    """Make the checks known to Django."""
    checks.register(check_hosts, checks.Tags.security, deploy=True)
    checks.register(check_https, checks.Tags.security, deploy=True)


def check_hosts(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn where a deployment still answers only on this computer."""
    if set(settings.ALLOWED_HOSTS) <= {"localhost", "127.0.0.1", "[::1]"}:
        return [
            checks.Warning(
                "ALLOWED_HOSTS names this computer only.",
                hint="Set STUDIO_ALLOWED_HOSTS to the host names people use, comma-separated.",
                id="studio.W001",
            )
        ]
    return []


def check_https(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Warn where a deployment sends its cookies unprotected."""
    if settings.HTTPS:
        return []
    return [
        checks.Warning(
            "Sessions travel without HTTPS.",
            hint="Set STUDIO_HTTPS=1 behind a proxy that ends TLS and sets X-Forwarded-Proto.",
            id="studio.W002",
        )
    ]
