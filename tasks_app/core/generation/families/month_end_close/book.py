"""What is closed: the register of a subtype, the list that is built from it, and what moves in it.

A list is a sheet whose rows are: number, name, amount, status. A book knows which entries belong on
it, how the reference finds them on any day, and what becomes of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tasks_app.core.generation.families.month_end_close.facts import CloseFacts
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.week import WeekPaper

ACCRUALS: Final = "accruals_and_handover"
INTERCOMPANY: Final = "intercompany"
BANK: Final = "bank_reconciliation"
SHEET_COLUMNS: Final = ("A", "B", "C", "D")


@dataclass
class Entry:
    """A row of the list."""

    id: str
    name: str
    amount: float
    status: str


@dataclass
class Move:
    """A change that nobody tells: where it happens, and what becomes of the entry's row."""

    entry: Entry
    place: str
    record_id: str
    values: Json
    amount: float
    status: str


@dataclass
class Letter:
    """A letter that settles an entry, one that settles nothing, and what the entry becomes."""

    entry: Entry
    sender: str
    subject: str
    body: str
    decoy_subject: str
    decoy_body: str
    query: str
    status: str
    told: Mapping[str, str] = field(default_factory=dict)
    """What the wording of the day's message needs."""


class Book(Protocol):
    """One subtype."""

    entries: Sequence[Entry]
    """What belongs on the list on the first day, in the order of the register."""
    moves: Sequence[Move]
    """What moves: the first overnight, the second later."""
    letter: Letter
    distractors: int
    table: str
    """How people call the register that is right."""
    looking: Sequence[str]
    """Tools that look at it."""

    def rules(self) -> Sequence[str]:
        """Return how the list is built, how a letter settles, how a row follows the register."""

    def read(self, paper: WeekPaper) -> None:
        """Look at everything that the list follows from: on the first day."""

    def lines(self) -> Any:
        """Return the rows of the first day, as they are appended."""

    def each(self) -> Any:
        """Return what is appended one by one; None where all rows are appended at once."""

    def settle(self, paper: WeekPaper) -> Any:
        """Take the letter up in the register, and return the number of its entry."""

    def read_again(self, paper: WeekPaper) -> None:
        """Look at the register anew."""

    def follow(self, paper: WeekPaper, before: int, cells: Json) -> None:
        """Let the rows follow what moved since another day; `cells` finds a row's number."""

    def total(self, day: int) -> Any:
        """Return the total as the register has it on a day."""

    def fill(self, paper: WeekPaper) -> None:
        """Put the records in, and offer the tools."""


def registers(paper: WeekPaper, name: str) -> Any:
    """Return the id of a table by its name, looked up once."""
    if not any(step.get("id") == "registers" for step in paper.steps):
        paper.do("registers", "tables_list_tables")
    return ref("registers", "tables", where={"name": name}, field="id")


def sheet_id(paper: WeekPaper, title: str) -> Any:
    """Return the id of a sheet by its title, looked up once."""
    if not any(step.get("id") == "sheets" for step in paper.steps):
        paper.do("sheets", "sheets_list_sheets")
    return ref("sheets", "sheets", where={"title": title}, field="id")


def row_number(day: int, entry_id: Any) -> Any:
    """Return the number of an entry's row, as the sheet was read on a day."""
    return fn("row_of", ref(f"list{day}", "values"), entry_id)


def prices(facts: CloseFacts, count: int, low: float, high: float) -> list[float]:
    """Return so many different prices."""
    found: list[float] = []
    while len(found) < count:
        price = facts.cast.price(low, high)
        if price not in found:
            found.append(price)
    return found


def table(table_id: str, name: str, description: str, prefix: str, columns: Sequence[Any]) -> Json:
    """Return a register; a column is a name and a type, or a name and the options to choose."""
    return {
        "id": table_id,
        "name": name,
        "description": description,
        "prefix": prefix,
        "columns": [
            {"name": column, "type": kind}
            if isinstance(kind, str)
            else {"name": column, "type": "choice", "options": list(kind)}
            for column, kind in columns
        ],
    }
