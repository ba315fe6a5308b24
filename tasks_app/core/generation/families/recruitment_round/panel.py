"""interview_panel: an interview for each finalist, moved when the panel is no longer free."""

from typing import Any

from tasks_app.core.generation.families.recruitment_round import words
from tasks_app.core.generation.families.recruitment_round.desk import EVENTS, RULES
from tasks_app.core.generation.families.recruitment_round.interview import Interviews
from tasks_app.core.generation.forms import Json, fn, match, ref, step
from tasks_app.core.generation.talk import listed


class Panel(Interviews):
    """Book, move, and tell the times."""

    frail = "calendar_move_event"

    def draw(self) -> None:
        """Draw finalists, and others who are none."""
        facts = self.facts
        facts.applies(status="finalist", post=facts.other_posts[0])
        facts.applies(status="shortlisted")
        count = {1: 1, 2: 2, 3: 2, 4: 3, 5: 3}[facts.level]
        finalists = [facts.applies(status="finalist") for _ in range(count)]
        facts.applies(status="finalist", post=facts.other_posts[1])
        for status in ("shortlisted", "declined", "new", "withdrawn"):
            facts.applies(status=status)
        facts.number(2)
        self.finalists = [row for row in facts.rows if row in finalists]
        self.leaver = self.finalists[-1]
        self.stays = [row for row in self.finalists if row is not self.leaver]
        if not facts.withdraws:
            self.stays = self.finalists
        facts.fill_calendar()

    def days(self) -> None:
        """Book all; move one; move again and tell the head."""
        facts, paper, said = self.facts, self.paper, self.said
        paper.say(RULES, said["finalists"].format(post=facts.post))
        self.interview_rules(len(self.finalists))
        if facts.withdraws:
            paper.say(RULES, said["withdrawn"], said["cancel"])
        self.add_calendar()
        paper.bind(
            "k_look",
            "require_before",
            RULES,
            said["look"],
            0.3,
            write={"tool": "mail_send_message", "stage": "day2"},
            needs={
                "tool": list(EVENTS),
                "stage": "day2",
            },
        )
        paper.claimed |= {"C2", "C3"}
        self._book_all()
        self._move_one()
        if facts.level >= 3:
            self._move_again()

    def _book_all(self) -> None:
        facts = self.facts
        self.read_applications()
        earlier: list[Any] = []
        for number, row in enumerate(self.finalists):
            where: Json = {"post": facts.post, "status": "finalist"}
            if earlier:
                where["id"] = {"not_in": list(earlier)}
            who = self.applications(1, where, sort="id", take="first", field="id")
            self.paper.do(f"who{number}", "tables_get_row", row_id=who)
            earlier.append(ref(f"who{number}", "id"))
            self.book(number, row, ref(f"who{number}", "mailbox"))
            self.other_book(number, row)
        times = {
            f"t{n}": fn("regex", ref(f"book{n}", "start"), r"T(\d\d:\d\d)")
            for n in range(len(self.finalists))
        }
        self.tell("The first day ends with a reply that gives the time of each interview.")
        shown = listed([f"{{{name}}}" for name in times])
        text = facts.rng.choice(words.ALL_BOOKED).format(times=shown)
        self.end(
            "the reply gives each time",
            [self.clock_of(start) for start in self.starts.values()],
            text,
            **times,
        )
        self.other_reply(" / ".join(start[11:16] for start in self.starts.values()))

    def _move_one(self) -> None:
        facts, rng = self.facts, self.facts.rng
        asks = [rng.choice(words.TELL_CHANGES)]
        if facts.withdraws:
            asks.insert(0, self.news())
        self.morning(*asks)
        number, row = self._latest()
        if facts.withdraws:
            self._leave()
        self.clash(number)
        self.look_at_calendar("now2")
        self.move(number, row, "now2")
        self.looks_again(EVENTS, "the calendar was")
        self.invite(number, row, ref(f"who{number}", "mailbox"))
        self.other.append(step("look", "calendar_search_events", query=row["mailbox"]))
        self.other_move(number, row)
        self.tell(
            "A day on which an interview was moved ends with a reply that gives its new time; the "
            "letter to the candidate gives day and time."
        )
        self._new_time(number)

    def _latest(self) -> tuple[int, Json]:
        """The last interview of the day among those who stay: no other is in its way."""
        stays = [n for n, row in enumerate(self.finalists) if row in self.stays]
        number = max(stays, key=lambda n: self.starts[n])
        return number, self.finalists[number]

    def _new_time(self, number: int) -> None:
        today = self.paper.today
        self.end(
            "the reply gives the new time",
            [self.clock_of(self.starts[number])],
            self.facts.rng.choice(words.MOVED),
            time=fn("regex", ref(f"move{number}_{today}", "start"), r"T(\d\d:\d\d)"),
        )
        self.other_reply(f"New: {self.starts[number][11:16]}")

    def _leave(self) -> None:
        """Take whoever withdrew out of the table and out of the calendar."""
        paper = self.paper
        number = self.finalists.index(self.leaver)
        event = self.booked.pop(number)
        self.arrive(self.leaver, self.stays[0])
        paper.check(
            2,
            match(
                "o_day2_cancelled",
                "day2: the interview of whoever withdrew is cancelled",
                "calendar/events",
                {"attendees": {"contains_any": [self.leaver["mailbox"]]}},
                {"status": "cancelled", "start": event["start"]},
                because={"status": RULES},
            ),
        )
        self.take_back(self.leaver)
        theirs = ref("theirs", "events", field="id")
        paper.do("theirs", "calendar_search_events", query=ref("letter", "from"))
        paper.do("off", "calendar_cancel_event", event_id=theirs)
        paper.may(
            "calendar/events/*#status,updated_at",
            {"attendees": {"contains_any": [self.leaver["mailbox"]]}},
            max=1,
        )
        self.other.append(step("c", "calendar_cancel_event", event_id=ref(f"b{number}", "id")))

    def _move_again(self) -> None:
        rng = self.facts.rng
        self.morning(rng.choice(words.CHECK_AGAIN))
        number, row = self._latest()
        self.clash(number)
        self.look_at_calendar("now3")
        self.move(number, row, "now3")
        self.invite(number, row, ref(f"who{number}", "mailbox"))
        self.other_move(number, row)
        self._new_time(number)
