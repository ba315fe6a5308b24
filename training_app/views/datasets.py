"""Datasets: the list with the form that freezes one, and a dataset's page with its exports."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from studio.web.acts import Act
from studio.web.auth import ensure, may, principal, require
from studio.web.errors import FilterError, Invalid
from studio.web.filter_line import list_url
from studio.web.htmx import etag, render_page, see_other, target, unchanged
from training_app.core.curation import REASONS, RulesError, read_rules
from training_app.core.dataset import FILES, GROUPS, HELD_OUT
from training_app.core.images import FOLDER
from training_app.enums import DatasetKind, Portion, SplitKind
from training_app.forms.datasets import DatasetForm, DeleteForm
from training_app.jobs.datasets import start_dataset
from training_app.models import Dataset, DatasetItem
from training_app.operations.dataset_deletion import delete_dataset
from training_app.operations.dataset_downloads import download
from training_app.operations.dataset_files import has_held_out
from training_app.operations.datasets import discard, is_discardable
from training_app.queries import datasets as queries

CLIPPED: Final = 4000
"""Characters of a message or of arguments that a page shows."""
MESSAGES_SHOWN: Final = 40
RUNS_SHOWN: Final = 20
COMPARED: Final = 100
"""Datasets that the page offers to compare with."""
_RULE_WORDS: Final = {
    "passed": "Only episodes that passed",
    "finished": "Only those that ended by themselves",
    "usable_tasks": "Not of rejected, invalid or retired tasks",
    "turns": "Turns at most",
    "tokens": "Tokens at most",
    "errors": "Errors on the way",
    "duplicates": "The same calls on the same task",
    "quote": "Turns say what they found",
}
_FIELDS: Final = {
    "name": "name",
    "filter": "filter",
    "rules.errors": "errors_kept",
    "held_families": "held",
    "mix": "mix",
}
"""Place of a problem → field of the form."""


@dataclass(frozen=True)
class Loss:
    """Rows that a rule dropped."""

    rule: str
    reason: str
    count: int
    alone: int | None = None
    """What the rule would drop by itself; None where that is not asked."""


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def dataset_list(request: HttpRequest) -> HttpResponse:
    """All datasets and the form; a POST freezes one (303), or shows what is wrong (422)."""
    asked = (request.POST if request.method == "POST" else request.GET).get("kind")
    kind = DatasetKind(asked) if asked in DatasetKind.values else DatasetKind.DEMONSTRATIONS
    status = 200
    if request.method == "POST":
        form = DatasetForm(request.POST, request.FILES, kind=kind)
        dataset = _start(request, form)
        if dataset is not None:
            return see_other(request, reverse("dataset", args=[dataset.code]))
        status = 422
    elif "duplicates" in request.GET or "preview" in request.GET:
        form = DatasetForm(request.GET, kind=kind)
        form.fields["name"].required = False
    else:
        form = DatasetForm(kind=kind, initial={"filter": request.GET.get("filter", "")})
    may_freeze = may(request, Act.FREEZE_DATASETS)
    page = queries.dataset_page(request.GET.get("cursor"))
    url = reverse("datasets")
    context: dict[str, Any] = {
        "form": form,
        "kind": kind,
        "tabs": [
            {"label": one.label, "url": f"{url}?kind={one.value}", "current": one == kind}
            for one in DatasetKind
        ],
        "datasets": page.rows,
        "may_freeze": may_freeze,
        "curation": [form[name] for name in ("passed", "finished", "usable_tasks", "quote")]
        if form.has_curation
        else [],
        "newer_url": list_url(url, "", cursor=page.previous_cursor) if page.previous_cursor else "",
        "older_url": list_url(url, "", cursor=page.next_cursor) if page.next_cursor else "",
    }
    if may_freeze and form.is_bound and target(request) in ("", "preview"):
        context |= _preview(form)
    elif may_freeze:  # reading a thousand trajectories is not for every look at the list
        context["preview_url"] = f"{url}?{urlencode(_asked(form))}"
    return render_page(
        request,
        "training/datasets.html",
        {"datasets": "training/_datasets.html", "preview": "training/_dataset_preview.html"},
        context,
        status=status,
    )


def _start(request: HttpRequest, form: DatasetForm) -> Dataset | None:
    """Start what the form asks for; None, with errors in the form, where that cannot be."""
    ensure(principal(request), Act.FREEZE_DATASETS)
    if not form.is_valid():
        return None
    try:
        return start_dataset(
            kind=form.kind,
            name=form.cleaned_data["name"],
            by=principal(request),
            filter_text=form.cleaned_data["filter"],
            rules=form.rules(),
            held_families=form.cleaned_data["held"],
            mixes=form.mixes(),
        )
    except FilterError as error:
        form.add_error("filter", error.detail)
    except Invalid as error:
        for problem in error.problems:
            words = f"{problem.message}. {problem.hint}".strip(". ") + "."
            words = words[:1].upper() + words[1:]
            field = _FIELDS.get(problem.place, problem.place.removeprefix("rules."))
            if problem.place.startswith("mix "):  # a file and a line, as they are written
                field, where = "mix", problem.place.removeprefix("mix ")
                words = f"{where}: {problem.message}. {problem.hint}".strip(". ") + "."
            form.add_error(field if field in form.fields else None, words)
    return None


def _asked(form: DatasetForm) -> dict[str, str]:
    """The fields of a fresh form as a browser would send them."""
    values = {name: form.initial.get(name) for name in form.fields if name in form.initial}
    sent = {name: "on" if value is True else str(value) for name, value in values.items() if value}
    return {"kind": form.kind.value, "preview": "1", **sent}


def _preview(form: DatasetForm) -> dict[str, Any]:
    """What the form would freeze, as far as the rules can tell; or why nobody can say."""
    form.is_valid()
    filter_text = str(form.cleaned_data.get("filter", ""))
    held = form.cleaned_data.get("held") or []
    wrong = [name for name in form.errors if name not in ("name", "mix", "weight", "license")]
    if wrong:
        return {"preview_problem": "Mend the fields that are marked; then the counts come back."}
    try:
        found = queries.preview(form.kind, filter_text, read_rules(form.rules()), held)
    except FilterError as error:
        problem = error.problems[0]
        return {"preview_problem": problem.words}
    except RulesError as error:
        return {"preview_problem": str(error)}
    names = dict.fromkeys([*found.dropped, *found.alone])
    return {
        "preview": found,
        "losses": [
            Loss(name, REASONS[name], found.dropped.get(name, 0), found.alone.get(name, 0))
            for name in names
        ],
        "previewed": queries.PREVIEWED,
        "split_words": (SplitKind.NEW_FAMILIES if held else SplitKind.NEW_INSTANCES).label.lower(),
        "all_held": found.train == 0 and found.held_out > 0,
    }


# One dataset


@never_cache
@require_GET
@require(Act.READ)
def dataset(request: HttpRequest, code: str) -> HttpResponse:
    """Manifest, composition, lint, first rows, exports; `?against=DS-…` shows a difference."""
    return _page(request, queries.get_dataset(code), DeleteForm(auto_id="delete-%s"))


def _page(
    request: HttpRequest, row: Dataset, form: DeleteForm, *, status: int = 200
) -> HttpResponse:
    job = row.job
    runs = list(queries.runs_on(row)[: RUNS_SHOWN + 1])
    token = [row.code, row.frozen_at, row.rows, [run.code for run in runs],
             job and (job.state, job.done, job.note, job.error)]  # fmt: skip
    against = request.GET.get("against", "").strip()
    same = None if against or status != 200 else unchanged(request, token)
    if same is not None:
        return same
    context: dict[str, Any] = {
        "dataset": row,
        "job": job,
        "job_open": job is not None and not job.is_finished and row.frozen_at is None,
        "etag": etag(token),
        "may_cancel": may(request, Act.GENERATE),
        "may_freeze": may(request, Act.FREEZE_DATASETS),
        "may_train": may(request, Act.TRAIN),
        "discardable": is_discardable(row),
        "runs": runs[:RUNS_SHOWN],
        "more_runs": len(runs) > RUNS_SHOWN,
        "delete_form": form,
        "source_url": _source_url(row),
        "rules": [
            (_RULE_WORDS.get(name, name), _setting(row.rules[name]))
            for name in _in_order(row.rules, _RULE_WORDS)
        ],
    }
    if row.frozen_at is not None:
        context |= _frozen(row, against)
    fragments = {
        "dataset-live": "training/_dataset_live.html",
        "difference": "training/_dataset_difference.html",
    }
    response = render_page(request, "training/dataset.html", fragments, context, status=status)
    if not against and status == 200:
        response["ETag"] = etag(token)
    return response


def _in_order(found: Iterable[str], order: Iterable[str]) -> list[str]:
    """Keys in the order we name them in: the database keeps another one."""
    known = list(order)
    return sorted(found, key=lambda key: (known.index(key) if key in known else len(known), key))


def _files(row: Dataset) -> list[str]:
    files = (name for name in row.manifest["files"] if not name.startswith(f"{FOLDER}/"))
    return _in_order(files, (*FILES.values(), HELD_OUT))


def _setting(value: Any) -> str:
    if value is None:
        return "no limit"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _source_url(row: Dataset) -> str:
    page = "episodes" if row.kind == DatasetKind.DEMONSTRATIONS else "tasks"
    return list_url(reverse(page), row.filter)


def _frozen(row: Dataset, against: str) -> dict[str, Any]:
    portions = row.composition.get("portion", {})
    others = Dataset.objects.exclude(pk=row.pk).exclude(frozen_at=None)
    found: dict[str, Any] = {
        "held_out": portions.get(Portion.HELD_OUT, 0),
        "has_held_out": has_held_out(row),
        "losses": [
            Loss(name, REASONS.get(name, ""), row.dropped[name])
            for name in _in_order(row.dropped, REASONS)
        ],
        "lost": sum(row.dropped.values()),
        "findings": row.lint,
        "found": row.dropped.get("E1", 0)
        + row.dropped.get("E2", 0)
        + row.dropped.get("unreplayable", 0)
        + row.dropped.get("not_for_rl", 0),
        "images": row.manifest.get("provenance", {}).get("images"),
        "files": [{"name": name, **row.manifest["files"][name]} for name in _files(row)],
        "composition": [
            (
                group,
                sorted(row.composition[group].items(), key=lambda pair: (-pair[1], pair[0])),
            )
            for group in _in_order(row.composition, GROUPS)
        ],
        "largest": max((n for c in row.composition.values() for n in c.values()), default=1),
        "shown": [_shown(row, one) for one in queries.rows_shown(row, Portion.TRAIN)],
        "others": list(others.only("code", "name", "kind")[:COMPARED]),
        "against": against,
    }
    if against:
        other = queries.find_dataset(against)
        if other is None or other.frozen_at is None:
            found["difference_problem"] = f"There is no frozen dataset {against[:40]}."
        else:
            found |= {"other": other, "difference": queries.difference(row, other)}
    return found


@dataclass(frozen=True)
class CallShown:
    """A call in a row."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    raw: str
    """Where the arguments are no object."""


@dataclass(frozen=True)
class MessageShown:
    """A message in a row, clipped."""

    role: str
    text: str
    left_out: int
    calls: tuple[CallShown, ...]
    is_json: bool


@dataclass(frozen=True)
class Shown:
    """A row as the page shows it."""

    number: int
    item: DatasetItem
    messages: tuple[MessageShown, ...]
    more: int
    tools: tuple[str, ...]
    summary: str


def _shown(row: Dataset, one: queries.RowShown) -> Shown:
    is_prompt = row.kind == DatasetKind.PROMPTS
    told = one.row["prompt"] if is_prompt else one.row["messages"]
    tools = () if is_prompt else _tool_names(one.row.get("tools", "[]"))
    calls = sum(len(message.get("tool_calls") or ()) for message in told)
    said = f"{len(told)} messages, {calls} calls" if not is_prompt else f"{len(told)} messages"
    return Shown(
        number=one.item.position + 1,
        item=one.item,
        messages=tuple(_message(message) for message in told[:MESSAGES_SHOWN]),
        more=max(0, len(told) - MESSAGES_SHOWN),
        tools=tools,
        summary=said,
    )


def _tool_names(written: str) -> tuple[str, ...]:
    return tuple(
        str(tool["function"]["name"])[:100]
        for tool in orjson.loads(written)
        if isinstance(tool, dict)
        and isinstance(tool.get("function"), dict)
        and "name" in tool["function"]
    )


def _message(message: dict[str, Any]) -> MessageShown:
    text = message.get("content") or ""
    return MessageShown(
        role=message["role"],
        text=text[:CLIPPED],
        left_out=max(0, len(text) - CLIPPED),
        calls=tuple(_call(call["function"]) for call in message.get("tool_calls") or ()),
        is_json=message["role"] == "tool",
    )


def _call(function: dict[str, Any]) -> CallShown:
    written = function["arguments"]
    try:
        arguments = orjson.loads(written)
    except orjson.JSONDecodeError:
        arguments = None
    if not isinstance(arguments, dict):
        return CallShown(function["name"], (), written[:CLIPPED])
    pairs = tuple((name, _value(value)) for name, value in arguments.items())
    return CallShown(function["name"], pairs, "")


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text[:CLIPPED]


@require_POST
@require(Act.FREEZE_DATASETS)
def dataset_discard(request: HttpRequest, code: str) -> HttpResponse:
    """Delete one that was never frozen; a frozen one stays."""
    row = queries.get_dataset(code)
    discard(dataset=row, by=principal(request))
    messages.success(request, f"{code} is gone. It was never frozen.")
    return see_other(request, reverse("datasets"))


@require_POST
@require(Act.FREEZE_DATASETS)
def dataset_delete(request: HttpRequest, code: str) -> HttpResponse:
    """Delete a frozen one that no run refers to (303), or show what is wrong (422)."""
    row = queries.get_dataset(code)
    form = DeleteForm(request.POST, auto_id="delete-%s")
    if form.is_valid():
        try:
            delete_dataset(dataset=row, by=principal(request), **form.cleaned_data)
        except Invalid as error:
            for problem in error.problems:
                words = f"{problem.message}. {problem.hint}"
                form.add_error(problem.place, words[:1].upper() + words[1:])
        else:
            messages.success(request, f"{row.code} is deleted; the audit log says why.")
            return see_other(request, reverse("datasets"))
    return _page(request, row, form, status=422)


@require_GET
@require(Act.EXPORT)
def dataset_download(request: HttpRequest, code: str, form: str) -> HttpResponse:
    """The rows to train on, the held-out ones, all as Parquet, or the folder as a zip."""
    found: HttpResponse = download(code, form)  # type: ignore[assignment]  # a streaming response
    return found
