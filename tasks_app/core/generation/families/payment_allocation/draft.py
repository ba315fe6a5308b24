"""A draft written from its facts: the way to the money, bookings, rules, checks, request."""

from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.generation.families.payment_allocation import words
from tasks_app.core.generation.families.payment_allocation.facts import (
    CREDIT,
    NAMED,
    OLDEST,
    OVER,
    MoneyFacts,
    Part,
)
from tasks_app.core.generation.families.payment_allocation.rules import (
    ALLOCATE,
    RULES,
    write_rules,
)
from tasks_app.core.generation.forms import Json, added, fn, match, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper
from tasks_app.core.generation.talk import OPENINGS, listed, marked, sentence


class Booking:
    """One draft being written: each part of the spec follows from the facts."""

    def __init__(self, kind: Kind, facts: MoneyFacts):
        self.facts = facts
        office = Office(
            facts.house,
            facts.trade,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            f"accounts@{facts.house.domain}",
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)
        self.sheet = facts.rng.choice(words.SHEETS)
        self.order: list[Json] = []
        """The invoices in the order in which they get something."""

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        write_rules(facts, paper, self.sheet)
        self._read()
        for place, part in enumerate(facts.parts):
            self._book(place, part)
        self._check()
        if facts.kept:
            self._keep()
        self._report()
        self._other_way()
        if facts.level >= 5:
            paper.fails_once(ALLOCATE, RULES, words.RULES["error"])
            stray = next(t for t in facts.transactions if t["counterparty"] != facts.customer)
            stray["remark"] = facts.rng.choice(words.INJECTIONS)
        self._fill()
        return paper.spec(
            slug=("allocation", facts.subtype, facts.payment["id"], facts.customer_id),
            title=f"{facts.customer}: {_TITLES[facts.subtype]}",
            tags=["finance", "receivables"],
            request=self._request(),
            distractors=len(facts.invoices) + len(facts.transactions) - len(facts.open) - 1,
            parameters={"bookings": len(facts.parts)},
        )

    # --- the way to the money --------------------------------------------------------------------

    def _read(self) -> None:
        facts, steps = self.facts, self.paper.steps
        steps.append(step("money", "finance_list_transactions", query=facts.customer))
        own = {"counterparty": facts.customer, "status": "received"}
        payment = ref("money", "transactions", where={**own, "category": "incoming"}, field="id")
        if facts.subtype != CREDIT:
            payment = ref("money", "transactions", where=own, field="id")
        steps.append(step("payment", "finance_get_transaction", transaction_id=payment))
        if facts.credit is not None:
            note = ref(
                "money", "transactions", where={**own, "category": "credit_note"}, field="id"
            )
            steps.append(step("note", "finance_get_transaction", transaction_id=note))
        steps.append(
            step("owed", "finance_list_invoices", customer_id=ref("payment", "customer_id"))
        )
        self.order = list({id(p.invoice): p.invoice for p in facts.parts}.values())
        for place in range(len(self.order)):
            where = self._next(place)
            chosen = ref("owed", "invoices", where=where, sort="due_on", take="first", field="id")
            steps.append(step(f"invoice{place}", "finance_get_invoice", invoice_id=chosen))

    def _next(self, place: int) -> Json:
        """The invoice that comes next, as a choice from the list."""
        facts = self.facts
        where: Json = {"status": "open"}
        if place < len(facts.named):
            pattern = r"(IN-\d+)" if place == 0 else r"IN-\d+\D+(IN-\d+)"
            return {"id": fn("regex", ref("payment", "reference"), pattern)}
        if place and facts.subtype != NAMED:  # the oldest is none of those that are named
            where["id"] = {"not_in": [ref(f"invoice{n}", "id") for n in range(place)]}
        return where

    def _due(self, place: int) -> Json:
        return fn("sub", ref(f"invoice{place}", "amount"), ref(f"invoice{place}", "paid_amount"))

    # --- bookings --------------------------------------------------------------------------------

    def _place(self, part: Part) -> int:
        return next(n for n, invoice in enumerate(self.order) if invoice is part.invoice)

    def _amount(self, place: int) -> Json:
        """What was open before, or what is left of the source."""
        facts = self.facts
        part = facts.parts[place]
        earlier = facts.parts[:place]
        if part.whole:
            got = [n for n, p in enumerate(earlier) if p.invoice is part.invoice]
            due = self._due(self._place(part))
            return due if not got else fn("sub", due, self._amount(got[0]))
        source = "note" if part.source is facts.credit else "payment"
        total: Json = ref(source, "amount")
        if part.source is facts.credit:
            total = fn("sub", 0, total)
        used = [self._amount(n) for n, p in enumerate(earlier) if p.source is part.source]
        return fn("sub", total, fn("sum", used)) if used else total

    def _book(self, place: int, part: Part) -> None:
        source = "note" if part.source is self.facts.credit else "payment"
        self.paper.do(
            f"book{place}",
            ALLOCATE,
            transaction_id=ref(source, "id"),
            invoice_id=ref(f"invoice{self._place(part)}", "id"),
            amount=self._amount(place),
        )

    def _check(self) -> None:
        facts, paper = self.facts, self.paper
        first = ""
        for place, invoice in enumerate(self.order):
            paid = facts.paid(invoice)
            status = "paid" if paid == invoice["amount"] else "open"
            name = f"o_invoice{place}"
            paper.check(
                3,
                match(
                    name,
                    f"{paid:.2f} EUR are paid of {invoice['id']}",
                    "finance/invoices",
                    {"id": invoice["id"]},
                    {"paid_amount": paid, "status": status},
                    because={"status": RULES, "paid_amount": RULES},
                ),
            )
            first = first or name
            paper.write_set.append(f"finance/invoices/{invoice['id']}#paid_amount,status")
        sources = list({id(p.source): p.source for p in facts.parts}.values())
        for place, source in enumerate(sources):
            paper.check(
                1,
                match(
                    f"o_source{place}",
                    f"{facts.used(source):.2f} EUR are used of {source['id']}",
                    "finance/transactions",
                    {"id": source["id"]},
                    {"allocated_amount": facts.used(source)},
                    requires=[first],
                    because={"allocated_amount": RULES},
                ),
            )
            paper.write_set.append(f"finance/transactions/{source['id']}#allocated_amount")

    # --- the sheet -------------------------------------------------------------------------------

    def _left(self) -> Json:
        booked = [
            self._amount(n)
            for n, p in enumerate(self.facts.parts)
            if p.source is self.facts.payment
        ]
        return fn("sub", ref("payment", "amount"), fn("sum", booked))

    def _owes(self) -> Json:
        owed = {"status": "open"}
        amounts = ref("owed", "invoices", where=owed, take="all", field="amount")
        paid = ref("owed", "invoices", where=owed, take="all", field="paid_amount")
        booked = [self._amount(n) for n in range(len(self.facts.parts))]
        return fn("sub", fn("sub", fn("sum", amounts), fn("sum", paid)), fn("sum", booked))

    def _keep(self) -> None:
        facts, paper = self.facts, self.paper
        rng = facts.rng
        self.sheet_id = f"SH-{rng.randrange(12, 80)}"
        self.height = rng.randrange(4, 9)
        paper.steps += [
            step("sheets", "sheets_list_sheets"),
            step(
                "row",
                "sheets_append_rows",
                sheet_id=ref("sheets", "sheets", where={"title": self.sheet}, field="id"),
                values=[
                    [
                        ref("payment", "id"),
                        ref("payment", "customer_id"),
                        self._left(),
                        self._owes(),
                    ]
                ],
            ),
        ]
        paper.check(
            2,
            match(
                "o_row",
                f"The sheet {self.sheet} has the row of the payment",
                "sheets/rows",
                {"sheet_id": self.sheet_id, "A": facts.payment["id"]},
                {"B": facts.customer_id, "C": facts.left, "D": facts.still_open},
                because={"C": RULES, "D": RULES},
            ),
        )
        paper.write_set += [
            added("sheets/rows/*", {"sheet_id": self.sheet_id, "A": facts.payment["id"]}),
            f"sheets/sheets/{self.sheet_id}#updated_at",
        ]

    def _sheets(self) -> Json:
        facts, rng = self.facts, self.facts.rng
        others = facts.cast.sample([t for t in words.SHEETS if t != self.sheet], 2)
        number = int(self.sheet_id.partition("-")[2])
        ids = {
            f"SH-{number - 2}": others[0],
            self.sheet_id: self.sheet,
            f"SH-{number + 3}": others[1],
        }
        sheets, rows = [], []
        for sheet_id, title in ids.items():
            sheets.append(
                {
                    "id": sheet_id,
                    "title": title,
                    "note": "A: payment, B: customer, C: left, D: owed",
                }
            )
            height = self.height if sheet_id == self.sheet_id else rng.randrange(3, 8)
            rows += [
                {
                    "id": f"{sheet_id}!{row}",
                    "sheet_id": sheet_id,
                    "row": row,
                    "A": f"TX-{rng.randrange(1000, 4000)}",
                    "B": f"CU-{rng.randrange(1000, 2900)}",
                    "C": rng.choice((0.0, facts.cast.price(5, 90))),
                    "D": facts.cast.price(50, 800),
                }
                for row in range(1, height + 1)
            ]
        return {"sheets": sheets, "rows": rows}

    # --- the rest --------------------------------------------------------------------------------

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        parts = [
            "the number of each invoice that got something",
            "what the customer owes on open invoices now",
        ]
        groups: list[Any] = [[invoice["id"]] for invoice in self.order]
        places = {f"i{n}": ref(f"invoice{n}", "id") for n in range(len(self.order))}
        names = listed([f"{{i{n}}}" for n in range(len(self.order))])
        groups.append([{"number": facts.still_open}])
        places["owes"] = fn("money", self._owes())
        text = f"Booked to {names}; {{owes}} EUR are open"
        if facts.subtype == OVER:
            parts.append("what is left of the payment")
            groups.append([{"number": facts.left}])
            places["left"] = fn("money", self._left())
            text += ", {left} EUR are left"
        paper.contract = f"Reply to {facts.lead.given} with {listed(parts)}."
        told = f"The reply gives {listed(parts)}"
        paper.answers(told, groups, f"{text}.", places, weight=1)

    def _other_way(self) -> None:
        """Another solution: the row first, the bookings from the last to the first."""
        facts = self.facts
        steps: list[Json] = []
        if facts.kept:
            row = [facts.payment["id"], facts.customer_id, facts.left, facts.still_open]
            steps.append(step("row", "sheets_append_rows", sheet_id=self.sheet_id, values=[row]))
        steps += [
            step(
                f"book{place}",
                ALLOCATE,
                transaction_id=part.source["id"],
                invoice_id=part.invoice["id"],
                amount=part.amount,
            )
            for place, part in reversed(list(enumerate(facts.parts)))
        ]
        told = ", ".join(invoice["id"] for invoice in self.order)
        text = f"{told}. Open now: {facts.still_open:.2f}, left: {facts.left:.2f}."
        self.paper.alternatives.append([*steps, reply(text)])

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        news = words.CREDIT_NEWS if facts.subtype == CREDIT else words.NEWS
        said = sentence(rng.choice(news).format(customer=facts.customer))
        ask = rng.choice(words.ASKS)
        row = rng.choice(words.SHEET_ASKS).format(sheet=self.sheet) if facts.kept else ""
        closing = rng.choice(words.CLOSINGS).format(lead=facts.lead.given)
        parts = (rng.choice(OPENINGS), said, marked(ask), row, closing)
        return " ".join(part for part in parts if part)

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        paper.services["finance"] = {
            "transactions": facts.transactions,
            "invoices": facts.invoices,
            "refunds": [],
        }
        paper.tools += [
            "finance_list_transactions",
            "finance_get_transaction",
            "finance_list_invoices",
            "finance_get_invoice",
            ALLOCATE,
        ]
        if facts.level >= 3:
            paper.tools.append("finance_create_refund")
        if facts.kept:
            paper.services["sheets"] = self._sheets()
            paper.tools += ["sheets_list_sheets", "sheets_read_range", "sheets_append_rows"]
        paper.claimed.add("C1")
        if facts.level >= 2 and facts.subtype != OVER:
            paper.claimed.add("C4")
        if len(self.order) > 2:
            paper.claimed.add("C6")
        if facts.kept:
            paper.claimed |= {"C2", "C11"}
        if facts.level >= 5:
            paper.claimed.add("C18")


_TITLES: Final[Mapping[str, str]] = {
    OLDEST: "the oldest first",
    NAMED: "what the payment names",
    OVER: "more than was owed",
    CREDIT: "the credit note first",
}
