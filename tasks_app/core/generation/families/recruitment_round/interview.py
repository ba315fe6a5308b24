"""Interviews in the calendar: booked in the earliest slot, moved when a panel is no longer free."""

from typing import Any

from tasks_app.core.generation.families.recruitment_round import words
from tasks_app.core.generation.families.recruitment_round.desk import RULES, Desk, clock_of
from tasks_app.core.generation.forms import Json, fn, ref, step
from tasks_app.core.instants import add_minutes


class Interviews(Desk):
    """What a draft with interviews does in the calendar."""

    def interview_rules(self, count: int) -> None:
        """Say how interviews are held, and bind what is counted."""
        facts, paper, said = self.facts, self.paper, self.said
        self.starts: dict[int, str] = {}
        self.sudden: list[Json] = []
        """Events that came up without a word."""
        self.booked: dict[int, Json] = {}
        """Interview → its event as it stands now."""
        paper.say(
            RULES,
            said["interview"].format(
                minutes=facts.minutes, head=facts.head.name, second=facts.second.name
            ),
        )
        paper.bind(
            "k_once",
            "at_most",
            RULES,
            said["once"],
            0.3,
            tool="calendar_create_event",
            per=None,
            n=count,
        )
        paper.say(RULES, said["move"])

    @staticmethod
    def clock_of(moment: str) -> list[str]:
        """How a text may write the time of a moment."""
        return clock_of(moment)

    def _calendar(self) -> list[Json]:
        return [*self.facts.events, *self.sudden, *self.booked.values()]

    def book(self, number: int, row: Json, mailbox: Any) -> None:
        """Book an interview in the earliest slot."""
        facts, paper = self.facts, self.paper
        self.look_at_calendar(f"busy{number}")
        begins = self.free(f"busy{number}")
        paper.do(
            f"book{number}",
            "calendar_create_event",
            title=f"Interview {facts.post}",
            start=begins,
            end=fn("add_minutes", begins, facts.minutes),
            attendees=[*facts.panel, mailbox],
        )
        self._stands(number, row, facts.slot(self._calendar()))
        self._check(number, row, "booked in the earliest slot")
        paper.may(
            "calendar/events/*",
            {"attendees": {"contains_any": [row["mailbox"]]}},
            change="add",
            max=1,
        )

    def _stands(self, number: int, row: Json, start: str) -> None:
        facts = self.facts
        self.starts[number] = start
        end = add_minutes(start, facts.minutes)
        attendees = [*facts.panel, row["mailbox"]]
        self.booked[number] = {"start": start, "end": end, "attendees": attendees}

    def _check(self, number: int, row: Json, what: str) -> None:
        facts, today = self.facts, self.paper.today
        event = self.booked[number]
        self.paper.check(
            3,
            {
                "id": f"o_{today}_interview{number}",
                "component": "outcome",
                "kind": "event_match",
                "explain": f"{today}: the interview of {row['name']} is {what}",
                "requires": [],
                "attendees": [*facts.panel, row["mailbox"]],
                "window": [event["start"], event["end"]],
                "minutes": facts.minutes,
                "because": {"window": RULES, "attendees": RULES},
            },
        )

    def clash(self, number: int) -> None:
        """Let somebody of the panel be busy over an interview, without a word."""
        facts, start = self.facts, self.starts[number]
        who, title = facts.rng.choice((facts.head, facts.second)), facts.rng.choice(words.SUDDEN)
        begins = int(start[11:13]) * 60 + int(start[14:16])
        event = facts.busy(who, begins, 15, title)
        facts.events.pop()
        event["id"] = f"EV-{700 + 11 * len(self.sudden)}"
        self.paper.arrives("calendar/events", event, silent=True)
        self.sudden.append(event)

    def move(self, number: int, row: Json, looked: str) -> None:
        """Move an interview to the slot that is the earliest now."""
        facts, paper = self.facts, self.paper
        event = ref(f"book{number}", "id")
        paper.do(
            f"move{number}_{paper.today}",
            "calendar_move_event",
            event_id=event,
            start=self.free(looked, event),
        )
        rest = [e for n, e in self.booked.items() if n != number]
        start = facts.slot([*facts.events, *self.sudden, *rest])
        self._stands(number, row, start)
        self._check(number, row, "moved to where the panel is free")
        self.may_move(row)

    def may_move(self, row: Json) -> None:
        """Allow an interview to be moved today."""
        self.paper.may(
            "calendar/events/*#start,end,updated_at",
            {"attendees": {"contains_any": [row["mailbox"]]}},
            max=1,
        )

    def invite(self, number: int, row: Json, mailbox: Any) -> None:
        """Write a candidate when the interview is."""
        facts, paper = self.facts, self.paper
        moved = ref(f"move{number}_{paper.today}", "start")
        day, time = self.day_spellings(), clock_of(self.starts[number])
        paper.sends(
            f"time{paper.number}",
            f"{paper.today}: {row['name']} has the day and the time",
            [row["mailbox"]],
            f"Your interview, {facts.post}",
            facts.rng.choice(words.TIME_LETTERS),
            {"day": fn("date", moved), "time": fn("regex", moved, r"T(\d\d:\d\d)")},
            [day, time],
        )
        letter = next(s for s in paper.steps if s.get("id") == f"time{paper.number}")
        letter["arguments"]["to"] = [mailbox]

    # --- another solution ------------------------------------------------------------------------

    def other_book(self, number: int, row: Json) -> None:
        """Book with the moments written down."""
        facts, event = self.facts, self.booked[number]
        self.other.append(
            step(
                f"b{number}",
                "calendar_create_event",
                title=f"Talk with {row['name']}",
                start=event["start"],
                end=event["end"],
                attendees=[row["mailbox"], *reversed(facts.panel)],
            )
        )

    def other_move(self, number: int, row: Json) -> None:
        """Move with the moments written down, and write in other words."""
        paper, event = self.paper, self.booked[number]
        start = event["start"]
        self.other += [
            step(
                f"m{number}_{paper.today}",
                "calendar_move_event",
                event_id=ref(f"b{number}", "id"),
                start=start,
                end=event["end"],
            ),
            step(
                f"w{number}_{paper.today}",
                "mail_send_message",
                to=[row["mailbox"]],
                subject="Interview",
                body=f"We see you at {start[11:16]} on {self.day_name()}.",
            ),
        ]
