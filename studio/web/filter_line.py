"""The filter line of a list page: chips, what is wrong with them, and the nearest right filter.

``filter_line(request, TASKS, noun="tasks")`` reads every ``q`` of the address. A wrong term is
marked and left out; ``good`` is the text of those that can be used, so that the rows of the last
good filter stay. ``templates/shared/_filter.html`` draws it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from studio.web.errors import FilterError, Problem
from studio.web.filters import FilterSet, Query, Term, parse
from studio.web.pagination import Count, capped_count

Pairs = tuple[tuple[str, str], ...]
_NONE: Final = Query(())


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
class FilterLine:
    """What ``shared/_filter.html`` draws; ``good`` is the text of the terms that can be used."""

    action: str
    noun: str
    text: str
    query: Query
    """The good terms."""
    terms: tuple[Chip, ...]
    problems: tuple[Problem, ...]
    fix: str
    """The whole filter with the nearest valid word; empty where none is near."""
    fix_url: str
    keep: Pairs

    @property
    def good(self) -> str:
        """The text of the terms that can be used."""
        return self.query.render()

    def url(self, text: str, **more: str) -> str:
        """The list under another filter, other fields kept."""
        return list_url(self.action, text, **{**dict(self.keep), **more})

    def has(self, key: str, value: str) -> bool:
        """Whether the filter asks for this value already."""
        return any(
            term.key == key and not term.negated and any(v.text == value for v in term.values)
            for term in self.query.terms
        )

    def toggled(self, key: str, value: str) -> str:
        """The address with ``key:value`` added to the filter, or taken out: what a facet links."""
        rest = [term for term in self.query.terms if term.key != key or term.negated]
        old = [
            v.text
            for term in self.query.terms
            if term.key == key and not term.negated
            for v in term.values
        ]
        values = [v for v in old if v != value] if value in old else [*old, value]
        text = Query(tuple(rest)).render()
        if values:
            joined = f"{key}:{','.join(_quoted(v) for v in values)}"
            text = f"{text} {joined}".strip()
        return self.url(text)


@dataclass(frozen=True)
class Drop:
    """A term without which something matches."""

    text: str
    url: str
    count: Count


def filter_text(request: HttpRequest) -> str:
    """The filter of a request: every ``q``, joined."""
    return " ".join(part.strip() for part in request.GET.getlist("q") if part.strip())


def filter_line(
    request: HttpRequest, filters: FilterSet, *, noun: str, keep: Iterable[str] = ()
) -> FilterLine:
    """Read a request's filter. A wrong term is marked; the good ones are still used."""
    text = filter_text(request)
    kept = tuple((name, request.GET[name]) for name in keep if request.GET.get(name))
    path = request.path
    more = dict(kept)
    try:
        query = parse(text)
    except FilterError as error:
        # It cannot even be read: the text goes back into the line as it was.
        chip = Chip(text, None, text, False, list_url(path, "", **more), True)
        return FilterLine(path, noun, text, _NONE, (chip,), error.problems, "", "", kept)
    good: list[Term] = []
    chips: list[Chip] = []
    problems: list[Problem] = []
    mended: list[str] = []
    for term in query.terms:
        found = _problem(filters, term)
        if found is None:
            good.append(term)
        else:
            problems.append(found)
        mended.append(term.render() if found is None else _nearest(term, found))
        chips.append(
            Chip(
                text=term.render(),
                key=term.key,
                value=",".join(value.text for value in term.values),
                negated=term.negated,
                drop_url=list_url(path, query.without(term).render(), **more),
                wrong=found is not None,
            )
        )
    fix = " ".join(mended) if problems and all(mended) else ""
    fix_url = list_url(path, fix, **more) if fix else ""
    usable = Query(tuple(good))
    return FilterLine(path, noun, text, usable, tuple(chips), tuple(problems), fix, fix_url, kept)


def drops(line: FilterLine, filters: FilterSet, rows: "QuerySet[Model]") -> list[Drop]:
    """Which single term to drop and what comes back; the most first, none that brings nothing."""
    found = []
    for term in line.query.terms if len(line.query.terms) > 1 else ():
        rest = line.query.without(term).render()
        count = capped_count(rows.filter(filters.compile(rest)))
        if count.number:
            found.append(Drop(term.render(), line.url(rest), count))
    return sorted(found, key=lambda drop: -drop.count.number)


def list_url(path: str, text: str, **more: str | None) -> str:
    """The address of a list under a filter."""
    pairs = {"q": text, **more}
    query = urlencode({name: value for name, value in pairs.items() if value})
    return f"{path}?{query}" if query else path


def _problem(filters: FilterSet, term: Term) -> Problem | None:
    try:
        filters.compile(term.render())
    except FilterError as error:
        return error.problems[0]
    return None


def _nearest(term: Term, problem: Problem) -> str:
    """The term with the nearest valid word, which the hint names; empty where it names none."""
    _, opened, rest = problem.hint.partition("Did you mean “")
    nearest = rest.partition("”")[0] if opened else ""
    if not nearest:
        return ""
    text = term.render()
    if problem.code == "unknown_key" and term.key is not None:
        return text.replace(f"{term.key}:", f"{nearest}:", 1)
    wrong = next((v.text for v in term.values if f"“{v.text}”" in problem.message), None)
    return text if wrong is None else text.replace(wrong, nearest, 1)


def _quoted(value: str) -> str:
    plain = value.replace("_", "").replace("-", "")
    if plain.isalnum() and value.isascii() and not value.startswith("-"):
        return value
    if value.startswith((">=", "<=")) or ".." in value:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
