"""The letters of a draft: what each subtype sets as its wrong turn, and what lies around it."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from tasks_app.core.generation.cast import Person, is_working_day
from tasks_app.core.generation.days import short_day, weekday_of
from tasks_app.core.generation.families.inbox_to_todo import words
from tasks_app.core.generation.families.inbox_to_todo.facts import (
    ANSWERED,
    CANCELLED,
    DATED,
    DELEGATED,
    WEEKDAY,
    InboxFacts,
    Thread,
)
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.talk import capital

GREETINGS: Final = ("Dear all", "Hello", "Good morning", "Dear team", "Hi there", "Good day")
ENDINGS: Final = ("Kind regards", "Best wishes", "Regards", "Thank you", "Yours", "All the best")


class Inbox(InboxFacts):
    """The facts with every letter, sent or received, and the list as it stands."""

    def __post_init__(self) -> None:
        super().__post_init__()
        forms = [self.forms[n % len(self.forms)] for n in range(self.count)]
        for place, form in enumerate(forms):
            self._draw_open(place, form)
        self._draw_settled()
        self._draw_others()
        self._draw_items()
        self._number()

    @property
    def due_threads(self) -> list[Thread]:
        """Those of which an item has to be made."""
        return [thread for thread in self.threads if thread.due is not None]

    # --- one letter ------------------------------------------------------------------------------

    def _letter(
        self,
        thread: Thread,
        texts: Sequence[str],
        days: int,
        *,
        answers: Json | None = None,
        sender: Person | None = None,
        day: str = "",
        first: str = "",
        label: str = "inbox",
    ) -> Json:
        """A letter of the partner, or of a colleague in the same thread."""
        rng = self.rng
        reason = rng.choice(words.REASONS).format(occasion=thread.occasion)
        said = rng.choice(texts).format(
            thing=thread.thing, occasion=thread.occasion, day=day, reason=reason, first=first
        )
        if sender is None:
            name = f"{thread.partner.name}, {self.firm_of(thread.partner).name}"
            said = f"{rng.choice(GREETINGS)}, {said} {rng.choice(ENDINGS)}, {name}"
        else:
            said = f"{capital(said)} {sender.given}"
        letter: Json = {
            "id": "",
            "from": (sender or thread.partner).email,
            "to": [self.mailbox],
            "cc": [],
            "subject": f"Re: {thread.subject}" if answers is not None else thread.subject,
            "date": self.clock.ago(days, self.cast.number(9 * 60, 17 * 60)),
            "body": said,
            "labels": [label],
            "is_read": rng.random() < 0.5,
        }
        if answers is not None:
            letter["in_reply_to"] = answers  # its id, once it has one
        self.letters.append(letter)
        thread.letters.append(letter)
        return letter

    def _asks(self, thread: Thread, texts: Sequence[str] = words.ASKS) -> None:
        """A dated letter; the item follows from it."""
        due, days = self.moment(thread.form)
        thread.due = due
        day = weekday_of(due) if thread.form == WEEKDAY else short_day(due)
        first = thread.letters[0] if thread.letters else None
        thread.deciding = self._letter(thread, texts, days, answers=first, day=day)
        thread.owner = self.owner_of(thread)

    def _ago(self, least: int, most: int) -> int:
        """How many days ago a working day was."""
        return (self.clock.day - self.working_day(-self.rng.randrange(least, most))).days

    def _soon(self, days: int) -> str:
        """A day within a week after a letter was written, as it is called there."""
        day = self.working_day(self.rng.randrange(3, 7) - days)
        form = self.rng.choice(self.forms)
        return weekday_of(day) if form == WEEKDAY else short_day(day)

    # --- what has to be done ---------------------------------------------------------------------

    def _draw_open(self, place: int, form: str) -> None:
        """A matter of which an item is made, by the way of the subtype."""
        thread = self.thread(form)
        if self.subtype == DATED and place % 2 == 0:
            self._letter(thread, words.ASKS, 14, day=self._soon(14))
            self._asks(thread, words.MOVES)
        elif self.subtype == CANCELLED and self.level >= 4 and place == 0:
            first = self._letter(thread, words.ASKS, 14, day=self._soon(14))
            self._letter(thread, words.CANCELS, self._ago(11, 12), answers=first)
            self._asks(thread, words.REVIVALS)
        else:
            self._asks(thread)
        if self.subtype == ANSWERED and place == 0:
            self._sends(thread, words.HOLDINGS)
        if self.subtype == DELEGATED and place % 3 != 1:
            self._is_taken(thread, twice=place == 0 and self.level >= 2)
        if place == (self.level >= 2) or self.count == 1:
            self._adds(thread)

    def _sends(self, thread: Thread, texts: Sequence[str]) -> None:
        """A letter of ours in a thread, after the first of theirs."""
        rng, first = self.rng, thread.letters[0]
        said = rng.choice(texts).format(thing=thread.thing, occasion=thread.occasion)
        author = rng.choice(self.colleagues)
        self.sent.append(
            {
                "id": "",
                "from": self.mailbox,
                "to": [thread.partner.email],
                "cc": [],
                "subject": f"Re: {thread.subject}",
                "date": self._after(first),
                "body": f"Dear {thread.partner.name}, {said} {rng.choice(ENDINGS)}, {author.name}",
                "in_reply_to": first,
            }
        )

    def _after(self, letter: Json) -> str:
        """The morning of the working day after a letter."""
        day = date.fromisoformat(letter["date"][:10]) + timedelta(days=1)
        while not is_working_day(day):
            day += timedelta(days=1)
        return self.clock.ago((self.clock.day - day).days, self.cast.number(8 * 60, 9 * 60))

    def _adds(self, thread: Thread) -> None:
        """The partner writes again, of nothing that matters."""
        letter = self._letter(thread, words.ADDENDA, 0, answers=thread.deciding)
        letter["date"] = self._after(thread.deciding)

    def _is_taken(self, thread: Thread, *, twice: bool) -> None:
        """Colleagues write who takes it; a third one only remarks on it."""
        first, second, third = self.cast.shuffled(self.colleagues)
        letter = thread.letters[0]
        self._inside(thread, words.TAKES, letter, first)
        thread.owner = first.email
        if twice:
            self._inside(thread, words.RETAKES, letter, second, first.given)
            thread.owner = second.email
        self._inside(thread, words.REMARKS, letter, third)

    def _inside(
        self,
        thread: Thread,
        texts: Sequence[str],
        answers: Json,
        sender: Person,
        first: str = "",
    ) -> None:
        letter = self._letter(thread, texts, 0, answers=answers, sender=sender, first=first)
        # Within the last hour, one after another.
        place = len(thread.letters) - 2
        minute = self.clock.minute - 60 + 15 * place + self.rng.randrange(1, 14)
        letter["date"] = self.clock.at(self.clock.day, minute)

    # --- what has not ----------------------------------------------------------------------------

    def _draw_settled(self) -> None:
        """Matters that are over, by the way of the subtype."""
        more = 1 if self.level < 3 else 2
        if self.subtype == ANSWERED:
            for _ in range(more):
                thread = self._over(words.ASKS)
                self._sends(thread, words.ANSWERS)
        elif self.subtype == CANCELLED:
            for place in range(more + (self.level >= 2)):
                thread = self._over(words.ASKS)
                self._letter(thread, words.CANCELS, self._ago(1, 4), answers=thread.letters[0])
                if place < more:
                    self.dropped.append(self._item(thread, "open"))

    def _over(self, texts: Sequence[str], days: int = 0, label: str = "inbox") -> Thread:
        """A dated letter of which no item is made."""
        thread = self.thread()
        days = days or self._ago(6, 9)
        self._letter(thread, texts, days, day=self._soon(days), label=label)
        return thread

    def _draw_others(self) -> None:
        """Letters without a day, promises, news; what is filed, old or on the list."""
        rng = self.rng
        for place in range(1 + self.level // 3):
            thread = self.thread()
            letter = self._letter(thread, words.UNDATED, self._ago(1, 9))
            if self.subtype == DELEGATED and place == 0:
                self._inside(thread, words.TAKES, letter, rng.choice(self.colleagues))
        for _ in range(1 if self.level < 3 else 2):
            self._over(words.PROMISES)
        self._letter(self.thread(), words.NEWS, self._ago(1, 9))
        self._letter(self.thread(), words.UNDATED, 12 if self.clock.day.weekday() > 1 else 13)
        for _ in range(2):
            self._over(words.ASKS, label="archive")
        if self.aged:
            for _ in range(2):
                self._over(words.ASKS, self._ago(self.oldest + 3, self.oldest + 12))
        if self.listed or self.dropped:
            for _ in range(1 if self.level < 4 else 2):
                self.items.append(self._item(self._over(words.ASKS), "open"))
        if self.level >= 5:
            letter = self._letter(self.thread(), words.NEWS, self._ago(1, 5))
            order = rng.choice(words.INJECTIONS).format(address=self.cast.customer().email)
            letter["body"] += f" P.S. {order}"

    # --- the list --------------------------------------------------------------------------------

    def _item(self, thread: Thread, status: str) -> Json:
        letter = thread.letters[0]
        written, moment = date.fromisoformat(letter["date"][:10]), self._after(letter)
        return {
            "id": "",
            "title": thread.subject,
            "description": f"Asked by {thread.partner.email}.",
            "owner": self.owner_of(thread),
            "status": status,
            "priority": self.priority,
            "due_on": self._day_in(letter["body"], written).isoformat(),
            "tags": [],
            "source": letter,  # its id, once it has one
            "created_at": moment,
            "updated_at": moment,
        }

    def _day_in(self, body: str, written: date) -> date:
        """The day that a letter names, counted from the day on which it was written."""
        for days in range(1, 8):
            day = written + timedelta(days=days)
            if f"by {weekday_of(day)}" in body or f"by {short_day(day)}" in body:
                return day
        raise ValueError(f"no day within a week is named in {body!r}")

    def _draw_items(self) -> None:
        """Items of other matters, and the list in the order of its numbers."""
        rng = self.rng
        self.items += self.dropped
        for status in ("done", "open", "in_progress", "open")[: 2 + self.level // 2]:
            thing, occasion = next(self.matters)
            moment = self.clock.ago(rng.randrange(22, 30), self.cast.number(500, 900))
            due = -rng.randrange(13, 20) if status == "done" else rng.randrange(1, 20)
            self.items.append(
                {
                    "id": "",
                    "title": f"{capital(thing)} for {occasion}",
                    "description": f"Asked by {rng.choice(self.partners).email}.",
                    "owner": rng.choice(self.colleagues).email,
                    "status": status,
                    "priority": "normal",
                    "due_on": self.working_day(due).isoformat(),
                    "tags": [],
                    "created_at": moment,
                    "updated_at": moment,
                }
            )
        self.items = self.cast.shuffled(self.items)

    def _number(self) -> None:
        rng = self.rng
        for rows, prefix, low, width in (
            (self.letters, "M", 400, 0),
            (self.sent, "SENT", 100, 0),
            (self.items, "TD", 20, 3),
        ):
            number = rng.randrange(low, 2 * low)
            if rows is not self.items:
                rows.sort(key=lambda row: str(row["date"]))
            for row in rows:
                number += rng.randrange(1, 4)
                row["id"] = f"{prefix}-{number:0{width}d}"
        for row in (*self.letters, *self.sent, *self.items):
            for name in ("in_reply_to", "source"):
                if name in row:
                    row[name] = row[name]["id"]
