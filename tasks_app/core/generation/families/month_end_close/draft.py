"""A draft written from its facts, day by day: build the list, correct it, hand over, correct it."""

from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.generation.families.month_end_close import words
from tasks_app.core.generation.families.month_end_close.book import (
    ACCRUALS,
    BANK,
    INTERCOMPANY,
    Entry,
    Move,
    row_number,
    sheet_id,
)
from tasks_app.core.generation.families.month_end_close.desk import WRITE, Desk
from tasks_app.core.generation.families.month_end_close.handover import hand_over
from tasks_app.core.generation.families.month_end_close.rules import RULES, write_rules
from tasks_app.core.generation.forms import Json, filled, fn, match, ref, reply, step
from tasks_app.core.generation.talk import excused, sentence


class Close(Desk):
    """One draft being written: each part of the spec follows from the facts."""

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        self.fill()
        write_rules(self)
        self._build()
        self._correct(self.book.moves[0], words.MORNINGS)
        if facts.hands_over:
            hand_over(self)
        if facts.level >= 5:
            self._correct(self.book.moves[1], words.LAST_MORNINGS)
            paper.fails_once(WRITE, RULES, words.RULES["error"])
        paper.alternatives.append(self.other)
        return paper.spec(
            slug=("close", facts.subtype, facts.period, self.book.entries[0].id),
            title=f"{facts.month} close: {_TITLES[facts.subtype]}, {len(paper.days)} days",
            tags=["finance", "month_end"],
            request=self._request(),
            distractors=self.book.distractors + (len(facts.items) if facts.hands_over else 0),
            parameters={"days": len(paper.days), "rows": len(self.book.entries)},
        )

    # --- day 1 -----------------------------------------------------------------------------------

    def _build(self) -> None:
        paper, book = self.paper, self.book
        book.read(paper)
        target = sheet_id(paper, self.sheet)
        paper.do("rows", "sheets_append_rows", book.each(), sheet_id=target, values=book.lines())
        self.state = {e.id: (e.amount, e.status) for e in book.entries}
        rows: list[Json] = [self._row(entry) for entry in book.entries]
        paper.check(
            3,
            {
                "id": "o_day1_rows",
                "component": "outcome",
                "kind": "table_rows",
                "explain": f"Day 1: {len(rows)} rows with the figures of that day, and no others",
                "requires": [],
                "sheet": self.sheet_id,
                "key": "number",
                "exact": True,
                "rows": [*self.confidential(), *rows],
                "because": {"amount": RULES, "status": RULES},
            },
        )
        paper.may("sheets/rows/*", {"sheet_id": self.sheet_id}, change="add", max=len(rows))
        paper.may(f"sheets/sheets/{self.sheet_id}#updated_at")
        paper.closes(
            f"Day 1: the reply states the total of {self.total():,.2f} EUR",
            [[{"number": self.total()}]],
            self.facts.rng.choice(words.FIRST_REPLIES),
            {"total": fn("money", book.total(1))},
        )
        lines = [[e.id, e.name, e.amount, e.status] for e in reversed(book.entries)]
        self.other += [
            step("all_rows", "sheets_append_rows", sheet_id=self.sheet_id, values=lines),
            reply(f"The list stands; it comes to {self.total():.2f}."),
        ]

    def _row(self, entry: Entry) -> Json:
        amount, status = self.state[entry.id]
        return {"number": entry.id, "name": entry.name, "amount": amount, "status": status}

    # --- days on which something moved -----------------------------------------------------------

    def _correct(self, move: Move, mornings: Mapping[str, Any]) -> None:
        facts, paper, book = self.facts, self.paper, self.book
        before = 1 if paper.number < 3 else 2
        settles = facts.settles and paper.number == 1
        paper.morning(facts.mornings[paper.number], self._said(mornings, settles=settles))
        day = paper.number
        paper.moves(move.place, move.record_id, move.values)
        entered: Any = None
        if settles:
            self._letters()
            self._find_letter()
        self.state[move.entry.id] = (move.amount, move.status)
        self._row_check("moved", move.entry, "follows what moved overnight")
        if settles:
            entered = book.settle(paper)
            self.state[book.letter.entry.id] = (0.0, book.letter.status)
        book.read_again(paper)
        cells = {"sheet": sheet_id(paper, self.sheet)}
        paper.do(f"list{day}", "sheets_read_range", sheet_id=cells["sheet"])
        book.follow(paper, before, cells)
        if settles:
            paper.do(
                "settled",
                WRITE,
                sheet_id=cells["sheet"],
                cells=filled("C{n}:D{n}", n=row_number(day, entered)),
                values=[[0.0, book.letter.status]],
            )
            self._row_check("settled", book.letter.entry, f"is {book.letter.status}")
        paper.may(f"sheets/sheets/{self.sheet_id}#updated_at")
        if day == 2 and facts.rng.random() < 0.5:
            paper.looked(
                f"{paper.today}: the {book.table} was looked at again before the figure went out",
                {"tool": list(book.looking), "stage": paper.today},
                {"tool": "mail_send_message", "stage": paper.today},
            )
        self._send(move)
        self._other_day(move, settles=settles)

    def _said(self, mornings: Mapping[str, Any], *, settles: bool) -> str:
        facts, rng = self.facts, self.facts.rng
        parts = [rng.choice(words.HELLOS)]
        if settles:
            told = self.book.letter.told
            parts.append(sentence(rng.choice(words.ARRIVALS[facts.subtype]).format(**told)))
        reader = facts.reader.given if len(self.paper.days) < 3 else facts.deputy.given
        ask = rng.choice(mornings["asks"]).format(reader=reader, sheet=self.sheet)
        parts += [sentence(ask), rng.choice(mornings["ends"]), facts.lead.given]
        return " ".join(part for part in parts if part)

    def _letters(self) -> None:
        facts, paper, letter, rng = self.facts, self.paper, self.book.letter, self.facts.rng
        evening = facts.mornings[0]
        number = rng.randrange(1500, 4000)
        drawn = [
            (letter.subject, letter.body, rng.randrange(18 * 60, 21 * 60)),
            (letter.decoy_subject, letter.decoy_body, rng.randrange(17 * 60, 23 * 60)),
        ]
        for subject, body, minute in rng.sample(drawn, 2):
            number += 1
            paper.arrives(
                "mail/messages",
                {
                    "id": f"M-{number}",
                    "mailbox": facts.mailbox,
                    "from": letter.sender,
                    "to": [facts.mailbox],
                    "subject": subject,
                    "date": evening.at(evening.day, minute),
                    "body": body,
                    "labels": ["inbox"],
                    "is_read": False,
                },
            )

    def _find_letter(self) -> None:
        letter, paper = self.book.letter, self.paper
        paper.do("post", "mail_search_messages", query=letter.query)
        subject = {"regex": f"^{letter.subject.split(' ', 1)[0]}"}
        paper.do(
            "letter",
            "mail_get_message",
            message_id=ref("post", "messages", where={"subject": subject}, field="id"),
        )

    def _row_check(self, name: str, entry: Entry, what: str) -> None:
        amount, status = self.state[entry.id]
        day = self.paper.today
        self.paper.check(
            3,
            match(
                f"o_{day}_{name}",
                f"{day}: the row of {entry.id} {what}",
                "sheets/rows",
                {"sheet_id": self.sheet_id, "A": entry.id},
                {"B": entry.name, "C": amount, "D": status},
                because={"C": RULES, "D": RULES},
            ),
        )
        self.paper.may("sheets/rows/*#C,D", {"sheet_id": self.sheet_id, "A": entry.id}, max=1)

    def _send(self, move: Move) -> None:
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        day, total = paper.number, self.total()
        who = facts.reader if day == 2 else facts.deputy
        paper.sends(
            f"figures{day}",
            f"{paper.today}: {who.given} has the total of {total:,.2f} EUR",
            [who.email],
            f"{self.sheet}, {facts.month}",
            rng.choice(words.FIGURES).format(who=who.given, sheet=self.sheet, month=facts.month),
            {"total": fn("money", self.book.total(day))},
            [[{"number": total}]],
        )
        moved = fn("join", fn("column", self._moved(day), "id"), ", ")
        paper.closes(
            f"{paper.today}: the reply states the total and the number that moved",
            [[{"number": total}], [move.entry.id]],
            rng.choice(words.LATER_REPLIES),
            {"total": fn("money", self.book.total(day)), "moved": moved},
            requires=f"r_figures{day}",
        )

    def _moved(self, day: int) -> Any:
        """The entries that the step before has written anew."""
        return next(s["each"] for s in self.paper.steps if s.get("id") == f"line{day}")

    # --- another solution ------------------------------------------------------------------------

    def _other_day(self, move: Move, *, settles: bool) -> None:
        """The rows are written cell by cell, the letter comes after another look."""
        facts, book, day = self.facts, self.book, self.paper.number
        top = len(self.confidential()) + 2
        place = {e.id: top + n for n, e in enumerate(reversed(book.entries))}
        touched = [move.entry, *([book.letter.entry] if settles else [])]
        for entry in touched:
            amount, status = self.state[entry.id]
            self.other.append(
                step(
                    f"cells{day}_{place[entry.id]}",
                    WRITE,
                    sheet_id=self.sheet_id,
                    cells=f"C{place[entry.id]}",
                    values=[[amount, status]],
                )
            )
        if settles:
            own = {"post", "letter", "entered", "bank1", "registers", "due1"}
            self.other += [
                s for s in self.paper.steps if s.get("id") in own and s not in self.other
            ]
        looks = [s for s in self.paper.steps if s.get("tool") in book.looking]
        look = next(s for s in looks if s["id"].endswith(str(day)))
        if not any(s.get("id") == "registers" for s in self.other):
            self.other += [s for s in self.paper.steps if s.get("id") == "registers"]
        who = facts.reader if day == 2 else facts.deputy
        total = self.total()
        self.other += [
            look,
            step(
                f"mail{day}",
                "mail_send_message",
                to=[who.email],
                subject="Figures",
                body=f"The total stands at {total:,.2f} EUR now.",
            ),
            reply(f"{move.entry.id} has moved; {total:,.2f} is the new total."),
        ]

    # --- the rest --------------------------------------------------------------------------------

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        start = rng.choice(words.STARTS).format(month=facts.month)
        ask = rng.choice(words.BUILDS[facts.subtype]).format(sheet=self.sheet, month=facts.month)
        ask = excused(rng, facts.reader.given, ask)
        end = rng.choice(words.EVENINGS)
        return " ".join([sentence(start), sentence(ask), end, facts.lead.given])


_TITLES: Final[Mapping[str, str]] = {
    ACCRUALS: "accruals",
    INTERCOMPANY: "balances with sister firms",
    BANK: "bank and cash book",
}
