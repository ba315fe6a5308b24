"""What a run left behind, as files: its log, its recipe, its metrics."""

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.web.acts import Act
from studio.web.auth import require
from studio.web.errors import NotFound
from training_app.queries import curves, run_files, runs
from training_app.views.tables import csv_response


@never_cache
@require_GET
@require(Act.READ)
def run_log(request: HttpRequest, code: str) -> HttpResponse:
    """What the log has got since an offset, as JSON."""
    row = runs.get_run(code)
    asked = request.GET.get("offset", "")
    offset = int(asked) if asked.isdecimal() and len(asked) < 16 else None
    return JsonResponse(run_files.log_since(row, offset)._asdict())


@require_GET
@require(Act.READ)
def run_log_file(request: HttpRequest, code: str) -> HttpResponseBase:
    """The whole log as text."""
    row = runs.get_run(code)
    packets = run_files.whole_log(row)
    if packets is None:
        raise NotFound(f"{row.code} has no log here.")
    return StreamingHttpResponse(
        packets,
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{row.code}-log.txt"'},
    )


@require_GET
@require(Act.READ)
def run_recipe(request: HttpRequest, code: str) -> HttpResponse:
    """The recipe as a file that `train` and the API take."""
    row = runs.get_run(code)
    response = JsonResponse(row.recipe, json_dumps_params={"indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{row.code}-recipe.json"'
    return response


@require_GET
@require(Act.EXPORT)
def run_csv(request: HttpRequest, code: str) -> HttpResponseBase:
    """Every step and every metric of a run, as CSV."""
    row = runs.get_run(code)
    names = curves.metric_names(row)
    return csv_response(
        ["step", "samples", "seconds", *names],
        (
            [one.step, one.samples, one.seconds, *(one.values.get(name, "") for name in names)]
            for one in curves.all_rows(row)
        ),
        name=f"{row.code}-metrics",
    )
