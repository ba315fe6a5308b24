"""A payment_change draft while it is written: its parts, and the places that they bind to."""

from typing import Any, Final

from tasks_app.core.functions import WEEKDAYS
from tasks_app.core.generation.families.payment_change.facts import PaymentFacts
from tasks_app.core.generation.families.payment_change.parties import (
    DENIED,
    GENUINE,
    MISSING,
    SECOND,
)
from tasks_app.core.generation.forms import Json, fn, ref

VERDICT: Final = {
    DENIED: "fraud_suspected",
    MISSING: "callback_pending",
    GENUINE: "genuine",
    SECOND: "wrong_entity",
}
"""Subtype → the verdict that the report and the reply give."""
VERDICTS_SPOKEN: Final = "fraud_suspected, callback_pending, genuine or wrong_entity"
IBAN: Final = r"([A-Z]{2}\d{2}(?: \d{4}){4} \d{2})"


class Inquiry(PaymentFacts):
    """One draft being written: the parts of the spec, and what they bind to."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.steps: list[Json] = []
        self.checks: list[tuple[float, Json]] = []
        self.constraints: list[Json] = []
        self.write_set: list[Any] = []
        self.rules: list[str] = []
        self.letter_rules: list[str] = []
        self.contract = ""

    # --- what steps bind to ----------------------------------------------------------------------

    @property
    def call_note(self) -> Json:
        """What is known of the call-back: the colleague's answer, or a note among the mails."""
        return ref("asked", "reply") if self.asks else ref("note", "body")

    @property
    def callback_ref(self) -> Any:
        """The number of the call-back."""
        return fn("regex", self.call_note, r"(CB-\d+)")

    def last_day(self) -> Json:
        """The last due day that the next run takes."""
        return fn(
            "add_days",
            fn("next_weekday", ref("clock", "today"), WEEKDAYS[self.run_day]),
            self.reach,
        )

    def taken(self, field: str) -> Json:
        """A field of every invoice that the next run would take."""
        return ref(
            "open", "invoices", where={"due_on": {"le": self.last_day()}}, take="all", field=field
        )

    @property
    def exposure(self) -> Any:
        """The sum at stake."""
        if self.bulk:
            return fn("sum", self.taken("amount"))
        return ref("named", "invoices", take="only", field="amount")

    def named_refs(self) -> Json:
        """The supplier's numbers of the invoices that are told."""
        if self.bulk:
            return fn("join", self.taken("supplier_ref"), ", ")
        return ref("named", "invoices", take="only", field="supplier_ref")

    # --- what checks ask -------------------------------------------------------------------------

    @property
    def rests_on(self) -> str:
        """The check that what is told rests on: in bulk all invoices have to be held."""
        name: str = self.checks[0][1]["id"]
        return "o_all" if self.bulk else name

    @property
    def named_groups(self) -> list[list[Any]]:
        """The invoices that letter and reply name, each by either of its numbers."""
        chosen = self.held if self.holds else [self.named]
        return [[i["supplier_ref"], i["id"]] for i in chosen]

    @property
    def not_named(self) -> list[str]:
        """Numbers of the other invoices of the supplier and its sister firms."""
        rest = [i for i in self.beside if i["payee_id"] in (self.payee["id"], self.sister["id"])]
        return [name for i in rest for name in (i["supplier_ref"], i["id"])]
