"""The sheets of a draft: the forecast that counts, others that do not, terms of suppliers."""

from typing import Final

from tasks_app.core.generation.families.stock_replenishment.facts import WEEKS
from tasks_app.core.generation.families.stock_replenishment.records import StockFacts
from tasks_app.core.generation.forms import Json

FORECAST: Final = "Forecast {range}"
TERMS: Final = "Supplier terms"
ARTICLES: Final = "The articles begin in A2, the line above has the calendar weeks"
COLUMNS: Final = "A: article, B: supplier, C: pieces in a pack"


def sheets_of(facts: StockFacts) -> Json:
    """Return the collections of the service `sheets`."""
    rng, cast = facts.rng, facts.cast
    right = FORECAST.format(range=facts.range)
    titles = [f"{right}, last year", right, f"{right} (draft of the spring)"]
    own = [item.weeks for item in facts.items]
    tables = [
        (title, _forecast(facts, weeks))
        for title, weeks in zip(
            titles, (facts.other_weeks[0], own, facts.other_weeks[1]), strict=True
        )
    ]
    tables = cast.shuffled(tables)
    if facts.terms:
        tables.insert(rng.randrange(1, 3), (TERMS, _terms(facts)))
    number = rng.randrange(11, 70)
    sheets: list[Json] = []
    rows: list[Json] = []
    for title, lines in tables:
        number += rng.randrange(1, 6)
        sheet_id = f"SH-{number}"
        sheets.append(
            {
                "id": sheet_id,
                "title": title,
                "owner": facts.lead.email,
                "note": COLUMNS if title == TERMS else ARTICLES,
                "updated_at": facts.clock.ago(rng.randrange(1, 30), rng.randrange(480, 1000)),
            }
        )
        for place, line in enumerate(lines, start=1):
            cells = {chr(ord("A") + column): value for column, value in enumerate(line)}
            rows.append({"id": f"{sheet_id}!{place}", "sheet_id": sheet_id, "row": place, **cells})
    return {"sheets": sheets, "rows": rows}


def _forecast(facts: StockFacts, figures: list[list[int]]) -> list[list[str | int]]:
    head: list[str | int] = ["Article", "Calendar week"]
    head += [facts.week(place) for place in range(WEEKS)]
    lines: list[list[str | int]] = [
        [item.sku, item.name, *weeks] for item, weeks in zip(facts.items, figures, strict=True)
    ]
    return [head, lines[0], *facts.cast.shuffled(lines[1:])]


def _terms(facts: StockFacts) -> list[list[str | int]]:
    return [[i.sku, i.supplier, i.pack] for i in facts.cast.shuffled(facts.items)]
