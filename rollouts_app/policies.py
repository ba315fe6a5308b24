"""Policies behind a model: those of endpoints, and those that other apps bring.

An app that can open models registers a provider in its AppConfig.ready(). Batches then take every
policy whose name begins as the provider says; each batch opens its model, and closes it at its end.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rollouts_app.core.teacher import PREFIX
from studio.lib.jsonvalue import JsonObject
from studio.web.jobs import JobHandle
from tasks_app.models import ModelEndpoint
from tasks_app.queries import get_endpoint


class Provider(Protocol):
    """Opens models for policies of one kind."""

    prefix: str
    """How their names begin: ``checkpoint:``."""
    limits: JsonObject
    """What holds instead of the tasks' own limits, where nobody says otherwise."""

    def offered(self) -> list[tuple[str, str]]:
        """Names and labels, for menus."""

    def sampling(self, name: str) -> JsonObject:
        """What a batch freezes of the model: at least ``model``. Invalid where it cannot be had.

        Args:
            name: Without the prefix.
        """

    def opened(self, name: str, handle: JobHandle) -> AbstractContextManager[ModelEndpoint]:
        """Open it for as long as the context lasts; its endpoint has the frozen ``model``."""


_providers: dict[str, Provider] = {}


def register(provider: Provider) -> None:
    """Make a provider known; another one for the same beginning is a mistake."""
    if _providers.get(provider.prefix, provider) is not provider:
        raise ValueError(f"policies {provider.prefix}… have a provider already")
    _providers[provider.prefix] = provider


def provider_of(policy: str) -> Provider | None:
    """Who opens the models of a policy; None for endpoints and built-in policies."""
    return next((p for prefix, p in _providers.items() if policy.startswith(prefix)), None)


def is_model(policy: str) -> bool:
    """Whether a language model acts: its episodes wait for answers, and those are stored."""
    return policy.startswith(PREFIX) or provider_of(policy) is not None


def brought() -> list[tuple[str, str]]:
    """All policies that providers offer, with labels."""
    return [offer for provider in _providers.values() for offer in provider.offered()]


@contextmanager
def opened(policy: str, handle: JobHandle) -> Iterator[ModelEndpoint]:
    """The endpoint that a policy's answers come from, for as long as the context lasts."""
    provider = provider_of(policy)
    if provider is None:
        yield get_endpoint(policy.removeprefix(PREFIX))
        return
    with provider.opened(policy.removeprefix(provider.prefix), handle) as endpoint:
        yield endpoint
