"""The filter line of the episode list: chips, and what is wrong with them."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict

from studio.web.errors import FilterError
from studio.web.filters import FilterSet, Query, Term, parse

NO_TERMS: Final = Query(())


@dataclass(frozen=True)
class Chip:
    """One term of the filter."""

    text: str
    key: str | None
    value: str
    negated: bool
    drop_url: str
    wrong: bool


@dataclass(frozen=True)
class Fault:
    """What is wrong, and the nearest right filter."""

    message: str
    suggestion: str
    suggestion_url: str


@dataclass(frozen=True)
class FilterLine:
    """What `shared/_filter.html` draws; `good` is the text of the terms that can be used."""

    action: str
    noun: str
    text: str
    good: str
    terms: tuple[Chip, ...]
    error: Fault | None
    keep: tuple[tuple[str, str], ...]


def filter_text(request: HttpRequest) -> str:
    """The filter of a request: every `q`, joined; chips and text are one query string."""
    return " ".join(part.strip() for part in request.GET.getlist("q") if part.strip())


def filter_line(
    request: HttpRequest, filters: FilterSet, *, noun: str, keep: tuple[str, ...] = ()
) -> FilterLine:
    """Read a request's filter. A wrong term is marked; the good ones are still used."""
    text = filter_text(request)
    kept = tuple((name, request.GET[name]) for name in keep if request.GET.get(name))
    error: Fault | None = None
    try:
        query = parse(text)
    except FilterError as problem:
        # It cannot even be read: the text goes back into the line as it was.
        fault = Fault(problem.detail, "", "")
        chip = Chip(text, None, text, False, _url(request, "", kept), True)
        return FilterLine(request.path, noun, text, "", (chip,), fault, kept)
    good: list[Term] = []
    chips: list[Chip] = []
    for term in query.terms:
        wrong = False
        try:
            filters.compile(term.render())
            good.append(term)
        except FilterError as problem:
            wrong = True
            error = error or _fault(request, query, term, problem, kept)
        shown = term.render()
        chips.append(
            Chip(
                text=shown,
                key=term.key,
                value=",".join(value.text for value in term.values),
                negated=term.negated,
                drop_url=_url(request, query.without(term).render(), kept),
                wrong=wrong,
            )
        )
    usable = Query(tuple(good)).render()
    return FilterLine(request.path, noun, text, usable, tuple(chips), error, kept)


def _fault(
    request: HttpRequest,
    query: Query,
    term: Term,
    problem: FilterError,
    keep: tuple[tuple[str, str], ...],
) -> Fault:
    found = problem.problems[0]
    nearest = found.hint.partition("“")[2].partition("”")[0]
    if not nearest:
        return Fault(f"{found.message} {found.hint}".strip(), "", "")
    text = term.render()
    if found.code == "unknown_key" and term.key is not None:
        better = text.replace(f"{term.key}:", f"{nearest}:", 1)
    else:
        better = f"{'-' if term.negated else ''}{term.key}:{nearest}"
    mended = query.render().replace(text, better, 1)
    return Fault(found.message, better, _url(request, mended, keep))


def _url(request: HttpRequest, text: str, keep: tuple[tuple[str, str], ...]) -> str:
    parameters = QueryDict(mutable=True)
    if text:
        parameters["q"] = text
    for name, value in keep:
        parameters[name] = value
    return f"{request.path}?{parameters.urlencode()}" if parameters else request.path


def list_url(path: str, text: str, **more: str | None) -> str:
    """The address of a list under a filter."""
    pairs = {"q": text, **more}
    query = urlencode({name: value for name, value in pairs.items() if value})
    return f"{path}?{query}" if query else path
