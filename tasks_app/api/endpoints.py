"""Endpoints of language models: everybody may read them, administrators keep them."""

import datetime as dt
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from studio.lib.jsonvalue import JsonObject
from studio.web.acts import Act
from studio.web.api.bodies import Body
from studio.web.auth import principal, require
from tasks_app.enums import EndpointRole
from tasks_app.jobs import start_probe
from tasks_app.models import ModelEndpoint
from tasks_app.operations.endpoints import create_endpoint, edit_endpoint, set_active
from tasks_app.queries import endpoints, get_endpoint
from tasks_app.schemas.fields import Text
from tasks_app.schemas.tasks import StartedOut

router = Router(tags=["endpoints"])


class EndpointChange(Body):
    """A server of a language model; the key itself stands in the environment alone."""

    base_url: Annotated[Text, Field(max_length=500)]
    model: Annotated[Text, Field(max_length=200)]
    api_key_env: Annotated[Text, Field(max_length=80)] = Field(
        "", description="Name of the environment variable that holds the key; never the key."
    )
    roles: Annotated[list[EndpointRole], Field(min_length=1, max_length=4)] = [EndpointRole.TEACHER]
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    max_tokens: int | None = Field(None, ge=1, le=1_000_000)

    def sampling(self) -> JsonObject:
        """What is given of temperature, top p and tokens."""
        given = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens")}
        return {name: value for name, value in given.items() if value is not None}


class EndpointIn(EndpointChange):
    """A new endpoint."""

    name: Annotated[Text, Field(max_length=40)]


class EndpointOut(Schema):
    """An endpoint, and what its last probe found."""

    name: str
    base_url: str
    model: str
    api_key_env: str
    roles: list[EndpointRole]
    sampling: dict[str, float | int]
    abilities: dict[str, bool | int | float | None]
    latency: float | None
    probed_at: dt.datetime | None
    probe_words: str
    active: bool
    created_at: dt.datetime

    @staticmethod
    def from_row(row: ModelEndpoint) -> "EndpointOut":
        """The public form of a row."""
        return EndpointOut(
            name=row.name,
            base_url=row.base_url,
            model=row.model,
            api_key_env=row.api_key_env,
            roles=[EndpointRole(role) for role in row.roles],
            sampling=row.sampling,
            abilities=row.abilities,
            latency=row.latency,
            probed_at=row.probed_at,
            probe_words=row.probe_words,
            active=row.active,
            created_at=row.created_at,
        )


@router.get("", response=list[EndpointOut], summary="All endpoints")
@require(Act.READ)
def list_endpoints(request: HttpRequest) -> list[EndpointOut]:
    """By name, those that are not offered any more included."""
    return [EndpointOut.from_row(row) for row in endpoints()]


@router.post("", response={201: EndpointOut}, summary="Add an endpoint")
@require(Act.MANAGE_ENDPOINTS)
def create(request: HttpRequest, body: EndpointIn) -> Status[EndpointOut]:
    """Keeps the name of the key's variable, never a key; probe it afterwards."""
    row = create_endpoint(by=principal(request), name=body.name, **_fields(body))
    return Status(201, EndpointOut.from_row(row))


@router.get("/{name}", response=EndpointOut, summary="One endpoint")
@require(Act.READ)
def read(request: HttpRequest, name: str) -> EndpointOut:
    """With what its last probe found."""
    return EndpointOut.from_row(get_endpoint(name))


@router.put("/{name}", response=EndpointOut, summary="Change an endpoint")
@require(Act.MANAGE_ENDPOINTS)
def change(request: HttpRequest, name: str, body: EndpointChange) -> EndpointOut:
    """All but its name; another server or model forgets what the probe found."""
    row = edit_endpoint(by=principal(request), endpoint=get_endpoint(name), **_fields(body))
    return EndpointOut.from_row(row)


@router.post("/{name}/probe", response={202: StartedOut}, summary="Probe an endpoint")
@require(Act.MANAGE_ENDPOINTS)
def probe(request: HttpRequest, name: str) -> Status[StartedOut]:
    """A worker asks it four short things; follow the job, then read the endpoint."""
    job = start_probe(by=principal(request), endpoint=get_endpoint(name))
    return Status(202, StartedOut(job=job.code))


@router.post("/{name}/activate", response=EndpointOut, summary="Offer an endpoint")
@require(Act.MANAGE_ENDPOINTS)
def activate(request: HttpRequest, name: str) -> EndpointOut:
    """For new batches."""
    row = set_active(by=principal(request), endpoint=get_endpoint(name), active=True)
    return EndpointOut.from_row(row)


@router.post("/{name}/deactivate", response=EndpointOut, summary="Offer it no more")
@require(Act.MANAGE_ENDPOINTS)
def deactivate(request: HttpRequest, name: str) -> EndpointOut:
    """Batches that run go on; what it said stays."""
    row = set_active(by=principal(request), endpoint=get_endpoint(name), active=False)
    return EndpointOut.from_row(row)


def _fields(body: EndpointChange) -> dict[str, Any]:
    return {
        "base_url": body.base_url,
        "model": body.model,
        "api_key_env": body.api_key_env,
        "roles": [role.value for role in body.roles],
        "sampling": body.sampling(),
    }
