"""Endpoints: kept by administrators, probed, and opened as clients.

Invariant: a key is read from the environment when a client is opened and goes nowhere else; words
of a server that repeat it are blanked before they are kept.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from studio.lib.chat import Abilities, Budget, OpenAIChat, RetryPolicy
from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.audit import storable
from studio.web.errors import Conflict, Invalid, Problem
from tasks_app.enums import EndpointRole
from tasks_app.models import ModelEndpoint
from tasks_app.operations.actors import Actor, user_of

SCHEMES: Final = ("http", "https")
TIMEOUT: Final = 120.0
"""Seconds for one answer."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
# Only names that such keys have: a row must not be able to send the studio's own secrets away.
_VARIABLE: Final = re.compile(r"(?!STUDIO_)[A-Z][A-Z0-9_]{0,60}_(API_KEY|TOKEN)")
_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "max_tokens": (1, 1_000_000),
}


class KeyMissing(Conflict):
    """The variable that an endpoint names is not set where it is needed."""

    title = "The endpoint's key is not set"


@transaction.atomic
def create_endpoint(
    *,
    by: Actor,
    name: str,
    base_url: str,
    model: str,
    api_key_env: str = "",
    roles: Sequence[str] = (EndpointRole.TEACHER,),
    sampling: JsonObject | None = None,
) -> ModelEndpoint:
    """Keep an endpoint; Invalid names every field that cannot be. Leaves one audit entry."""
    row = ModelEndpoint(author=user_of(by))
    problems = [] if _NAME.fullmatch(name) else [_problem("name")]
    if not problems and ModelEndpoint.objects.filter(name=name).exists():
        problems.append(Problem("name", "is taken"))
    row.name = name
    problems += _fill(row, base_url, model, api_key_env, roles, sampling or {})
    if problems:
        raise Invalid("This endpoint cannot be kept.", problems)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise Invalid("This endpoint cannot be kept.", [Problem("name", "is taken")]) from error
    audit.record(by, "create_endpoint", row.name, _said(row))
    return row


@transaction.atomic
def edit_endpoint(
    *,
    by: Actor,
    endpoint: ModelEndpoint,
    base_url: str,
    model: str,
    api_key_env: str,
    roles: Sequence[str],
    sampling: JsonObject,
) -> ModelEndpoint:
    """Change all but the name; another server or model has to be probed anew. Audited."""
    row = ModelEndpoint.objects.select_for_update(of=("self",)).get(pk=endpoint.pk)
    before = (row.base_url, row.model)
    problems = _fill(row, base_url, model, api_key_env, roles, sampling)
    if problems:
        raise Invalid("This endpoint cannot be kept.", problems)
    if (row.base_url, row.model) != before:
        row.abilities, row.latency, row.probed_at, row.probe_words = {}, None, None, ""
    row.save()
    audit.record(by, "edit_endpoint", row.name, _said(row))
    return row


@transaction.atomic
def set_active(*, by: Actor, endpoint: ModelEndpoint, active: bool) -> ModelEndpoint:
    """Offer it for new batches, or not any more; what it said stays. Audited."""
    ModelEndpoint.objects.filter(pk=endpoint.pk).update(active=active)
    audit.record(by, "activate_endpoint" if active else "deactivate_endpoint", endpoint.name)
    endpoint.refresh_from_db()
    return endpoint


@transaction.atomic
def record_probe(
    *, by: Actor, endpoint: ModelEndpoint, found: Abilities | None, words: str = ""
) -> None:
    """Keep what a probe found, or the words of its failure; earlier findings then stay. Audited."""
    columns: dict[str, Any] = {"probed_at": timezone.now(), "probe_words": storable(words)[:2000]}
    if found is not None:
        columns |= {"abilities": asdict(found), "latency": found.latency}
    ModelEndpoint.objects.filter(pk=endpoint.pk).update(**columns)
    audit.record(by, "probe_endpoint", endpoint.name, {"answered": found is not None})


def open_client(
    endpoint: ModelEndpoint,
    *,
    budget: Budget | None = None,
    timeout: float = TIMEOUT,
    retry: RetryPolicy | None = None,
    wait: Callable[[float], object] | None = None,
) -> OpenAIChat:
    """Open a client, with the key out of the environment.

    Raises KeyMissing where the variable is not set, Invalid where the address is not allowed here.
    """
    problem = _url_problem(endpoint.base_url)
    if problem is not None:
        raise Invalid(f"The endpoint {endpoint.name} cannot be used.", [problem])
    more: dict[str, Any] = {} if wait is None else {"wait": wait}
    return OpenAIChat(
        endpoint.base_url,
        endpoint.model,
        _key(endpoint),
        abilities=endpoint.found(),
        timeout=timeout,
        retry=retry or RetryPolicy(),
        budget=budget or Budget(),
        **more,
    )


def without_key(endpoint: ModelEndpoint, words: str) -> str:
    """Blank the key in the words of a server: some repeat it when they refuse it."""
    key = os.environ.get(endpoint.api_key_env, "") if endpoint.api_key_env else ""
    return words.replace(key, "…") if len(key) >= 4 else words


def _key(endpoint: ModelEndpoint) -> str:
    name = endpoint.api_key_env
    if not name:
        return ""
    # The row was checked when it was written; the rule may have become stricter since.
    if not _VARIABLE.fullmatch(name):
        raise Invalid(f"{endpoint.name} cannot be used.", [_problem("api_key_env")])
    key = os.environ.get(name, "").strip()
    if not key:
        raise KeyMissing(
            f"The variable {name} is not set where this runs, and {endpoint.name} takes its key "
            "from it. Set it for the workers and start them again."
        )
    return key


def _fill(
    row: ModelEndpoint,
    base_url: str,
    model: str,
    api_key_env: str,
    roles: Sequence[str],
    sampling: JsonObject,
) -> list[Problem]:
    row.base_url, row.model = base_url.strip().rstrip("/"), model.strip()
    row.api_key_env, row.roles, row.sampling = api_key_env.strip(), list(roles), dict(sampling)
    problems = []
    url = _url_problem(row.base_url)
    if url is not None:
        problems.append(url)
    if not row.model or len(row.model) > 200 or storable(row.model) != row.model:
        problems.append(Problem("model", "must have 1 to 200 characters"))
    if row.api_key_env and not _VARIABLE.fullmatch(row.api_key_env):
        problems.append(_problem("api_key_env"))
    unknown = [role for role in row.roles if role not in EndpointRole.values]
    if unknown or not row.roles:
        problems.append(
            Problem("roles", "must name what it is used as", f"Known: {', '.join(EndpointRole)}.")
        )
    for name, value in row.sampling.items():
        low, high = _BOUNDS.get(name, (0, 0))
        whole = name != "max_tokens" or isinstance(value, int)
        number = isinstance(value, int | float) and not isinstance(value, bool) and whole
        if name not in _BOUNDS:
            known = ", ".join(_BOUNDS)
            problems.append(Problem(f"sampling.{name[:40]}", "is not known", f"Known: {known}."))
        elif not number or not low <= value <= high:
            problems.append(Problem(f"sampling.{name}", f"must be between {low} and {high}"))
    return problems


def _url_problem(url: str) -> Problem | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return Problem("base_url", "is no address", "Such as https://api.example.com/v1")
    if parts.scheme not in SCHEMES or not host or port == 0 or not url.isprintable():
        return Problem(
            "base_url", "must be an http or https address", "Such as https://api.example.com/v1"
        )
    if parts.username or parts.password or parts.query or parts.fragment or len(url) > 500:
        return Problem(
            "base_url",
            "must be a plain address without name, password, ? and #",
            "The key goes into an environment variable, and only its name is kept here.",
        )
    allowed = settings.STUDIO_ENDPOINT_HOSTS
    if allowed and host not in allowed:
        return Problem(
            "base_url",
            f"the host {host} is not allowed here",
            f"Allowed: {', '.join(allowed)}. STUDIO_ENDPOINT_HOSTS has the list.",
        )
    return None


def _problem(place: str) -> Problem:
    if place == "name":
        return Problem(
            "name",
            "must be 1 to 40 small letters, digits and . _ -, beginning with a letter or digit",
        )
    return Problem(
        "api_key_env",
        "must be the name of a variable that ends in _API_KEY or _TOKEN",
        "Write its name, never the key itself, such as LAB_API_KEY.",
    )


def _said(row: ModelEndpoint) -> JsonObject:
    return {
        "base_url": row.base_url,
        "model": row.model,
        "api_key_env": row.api_key_env,
        "roles": list(row.roles),
    }
