"""The catalogue of simulated services and their tools."""

from django.http import HttpRequest
from ninja import Router

from studio.web.acts import Act
from studio.web.auth import require
from tasks_app.core.services.catalog import SERVICES
from tasks_app.schemas.services import ServiceOut, ToolOut

router = Router(tags=["services"])


@router.get("", response=list[ServiceOut], summary="Services, collections and tools")
@require(Act.READ)
def list_services(request: HttpRequest) -> list[ServiceOut]:
    """Every tool with the JSON Schema that a policy is given."""
    return [
        ServiceOut(
            name=service.name,
            function=service.function,
            purpose=service.purpose,
            collections=list(service.collections()),
            tools=[
                ToolOut(
                    name=tool.facts.name,
                    kind=tool.facts.kind,
                    description=tool.facts.description,
                    parameters=dict(tool.facts.parameters or {}),
                )
                for tool in service.tools().values()
            ],
        )
        for service in SERVICES
    ]
