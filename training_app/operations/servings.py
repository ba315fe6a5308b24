"""Of served checkpoints: each is an endpoint without a key, offered while its server runs."""

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from studio.lib.chat import LOOPBACK
from studio.web import audit
from studio.web.choices import FINISHED
from studio.web.errors import Conflict
from studio.web.models import Job
from tasks_app.enums import EndpointRole
from tasks_app.models import ModelEndpoint
from training_app.models import Checkpoint


def endpoint_name(checkpoint: Checkpoint) -> str:
    """What the endpoint of a served checkpoint is called."""
    return checkpoint.code.lower()


@transaction.atomic
def register_serving(*, checkpoint: Checkpoint, url: str, job_id: int) -> ModelEndpoint:
    """Offer a served checkpoint as a teacher; what an earlier server was found to take is dropped.

    Conflict where a person keeps another endpoint under its name. Leaves one audit entry.
    """
    name = endpoint_name(checkpoint)
    known = ModelEndpoint.objects.select_for_update().filter(name=name).first()
    if known is not None and known.model != checkpoint.code:
        raise Conflict(
            f"There is an endpoint {name} that is not this checkpoint. Rename it, then serve again."
        )
    row = known or ModelEndpoint(name=name)
    row.base_url, row.model, row.roles = url, checkpoint.code, [EndpointRole.TEACHER]
    row.api_key_env, row.sampling, row.abilities = "", {}, {}
    row.latency = row.probed_at = None
    row.probe_words, row.active, row.job = "", True, Job(pk=job_id)
    row.save()
    audit.record(None, "serve_checkpoint", checkpoint.code, {"endpoint": name})
    return row


@transaction.atomic
def retire_serving(*, endpoint: ModelEndpoint, job_id: int) -> None:
    """Offer it no more; what it said stays. Does nothing where another job serves it meanwhile."""
    if ModelEndpoint.objects.filter(pk=endpoint.pk, job=job_id, active=True).update(active=False):
        audit.record(None, "end_serving", endpoint.model, {"endpoint": endpoint.name})


@transaction.atomic
def retire_dead() -> int:
    """Withdraw served checkpoints whose job is over or lost its worker; return how many."""
    local = Q()
    for host in LOOPBACK:
        local |= Q(base_url__startswith=f"http://{host}:")
    over = Q(job__isnull=True) | Q(job__state__in=FINISHED) | Q(job__lease_until__lt=Now())
    served = ModelEndpoint.objects.filter(local & over, active=True)
    codes = Checkpoint.objects.values("code")
    found = served.filter(model__in=codes).values_list("pk", flat=True)
    return ModelEndpoint.objects.filter(pk__in=list(found)).update(active=False)
