"""Routers of the tasks app; ``studio.api`` mounts them."""

from ninja import Router

from tasks_app.api.coverage import router as coverage
from tasks_app.api.endpoints import router as endpoints
from tasks_app.api.gates import router as gates
from tasks_app.api.generation import requirements, runs
from tasks_app.api.review_queues import router as review_queues
from tasks_app.api.services import router as services
from tasks_app.api.specs import router as specs
from tasks_app.api.tasks import router as tasks

ROUTERS: tuple[tuple[str, Router], ...] = (
    ("/tasks", tasks),
    ("/review-queues", review_queues),
    ("/specs", specs),
    ("/services", services),
    ("/coverage", coverage),
    ("/gates", gates),
    ("/requirements", requirements),
    ("/generation-runs", runs),
    ("/endpoints", endpoints),
)
