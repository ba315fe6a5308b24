"""What every draft of a round needs: the paper, the table of applications, letters, slots."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks_app.core.generation.days import long_day, spellings
from tasks_app.core.generation.families.recruitment_round import words
from tasks_app.core.generation.families.recruitment_round.facts import CLOSES, OPENS, RoundFacts
from tasks_app.core.generation.forms import Json, fn, match, ref, reply, step
from tasks_app.core.generation.paper import GATE, Kind, Office
from tasks_app.core.generation.talk import excused, sentence
from tasks_app.core.generation.week import WeekPaper

RULES: Final = "hiring"
ROWS: Final = ("tables_query_rows", "tables_search_rows", "tables_get_row")
EVENTS: Final = (
    "calendar_list_events",
    "calendar_free_busy",
    "calendar_search_events",
    "calendar_get_event",
)
TABLE: Final = "Applications"
UPDATE: Final = "tables_update_row"
COLUMNS: Final[Sequence[tuple[str, Any]]] = (
    ("name", "text"),
    ("mailbox", "text"),
    ("post", "text"),
    ("certificate", ("yes", "no")),
    ("years", "integer"),
    ("available_from", "date"),
    ("expects", "number"),
    ("score", "integer"),
    ("status", words.STATES),
)


class Desk:
    """One draft being written; a subtype says what happens on which day."""

    def __init__(self, kind: Kind, facts: RoundFacts):
        self.facts = facts
        office = Office(
            facts.house, facts.trade, facts.lead, facts.lead_role, facts.own_role, facts.mailbox
        )
        self.paper = WeekPaper(kind, facts.cast, facts.clock, office)
        self.said: Mapping[str, str] = words.RULES
        self.told: list[str] = []
        """What the days are to end with."""
        self.other: list[Json] = []
        """Another solution."""

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        paper.document(RULES, "Hiring")
        self.draw()
        self._fill()
        self.days()
        if facts.guards:
            self._guard()
        if facts.level >= 5:
            paper.fails_once(self.frail, RULES, self.said["error"])
        paper.contract = " ".join(self.told)
        if self.other:
            paper.alternatives.append(self.other)
        return paper.spec(
            slug=("round", facts.subtype, facts.post, facts.rows[1]["id"]),
            title=f"{facts.post.capitalize()}: {words.TITLES[facts.subtype]}",
            tags=["people", "hiring"],
            request=self._request(),
            distractors=len(facts.rows) + len(facts.events) - 1,
            parameters={"days": len(paper.days), "applications": len(facts.rows)},
        )

    frail: str = UPDATE
    """The tool that fails once at the highest difficulty."""

    def draw(self) -> None:
        """Draw who applied, and what moves."""
        raise NotImplementedError

    def days(self) -> None:
        """Write rules, steps and checks, day by day."""
        raise NotImplementedError

    # --- reading ---------------------------------------------------------------------------------

    def read_applications(self) -> None:
        """Look at the applications on the first day."""
        self.paper.do("registers", "tables_list_tables")
        table = ref("registers", "tables", where={"name": TABLE}, field="id")
        self.paper.do("apps1", "tables_query_rows", table_id=table)

    def applications(self, day: int, where: Mapping[str, Any], **select: Any) -> Any:
        """Choose from the applications as they were read on a day."""
        return ref(f"apps{day}", "rows", where=dict(where), **select)

    def look_at_calendar(self, name: str) -> None:
        """Look at the window of interviews."""
        facts = self.facts
        self.paper.do(name, "calendar_list_events", start=facts.at(OPENS), end=facts.at(CLOSES))

    def free(self, looked: str, besides: Any = None) -> Any:
        """The earliest slot of the window, as the calendar was looked at; besides one event."""
        facts = self.facts
        events = ref(looked, "events")
        if besides is not None:
            events = ref(looked, "events", where={"id": {"ne": besides}}, take="all")
        window = (facts.at(OPENS), facts.at(CLOSES))
        return fn("free_slot", events, facts.panel, *window, facts.minutes)

    # --- states ----------------------------------------------------------------------------------

    def has_state(
        self, name: str, status: str, rows: Sequence[Json], explain: str, weight: float = 3
    ) -> None:
        """Check that exactly these applications have a status today, and allow it."""
        facts, paper = self.facts, self.paper
        ids = [row["id"] for row in rows]
        paper.check(
            weight,
            match(
                name,
                f"{paper.today}: {explain}",
                "tables/rows",
                {"table_id": facts.table_id, "status": status},
                {"id": {"in": ids}, "post": facts.post},
                count=len(ids),
                because={"status": RULES},
            ),
        )

    def may_set(self, rows: Sequence[Json]) -> None:
        """Allow the status of applications to be set today."""
        for row in rows:
            self.paper.may(f"tables/rows/{row['id']}#status")

    # --- letters ---------------------------------------------------------------------------------

    def arrive(self, leaver: Json, asker: Json) -> None:
        """Two letters: one withdraws, the other only asks."""
        facts, rng = self.facts, self.facts.rng
        evening = facts.mornings[0]
        number = rng.randrange(1500, 4000)
        for subject, body, row in rng.sample(
            [
                ("I withdraw", rng.choice(words.WITHDRAWALS), leaver),
                ("A question", rng.choice(words.QUESTIONS), asker),
            ],
            2,
        ):
            number += 1
            self.paper.arrives(
                "mail/messages",
                {
                    "id": f"M-{number}",
                    "mailbox": facts.mailbox,
                    "from": row["mailbox"],
                    "to": [facts.mailbox],
                    "subject": subject,
                    "date": evening.at(evening.day, rng.randrange(17 * 60, 22 * 60)),
                    "body": body.format(post=facts.post, name=row["name"]),
                    "labels": ["inbox"],
                    "is_read": False,
                },
            )

    def take_back(self, leaver: Json) -> None:
        """Find the letter and set the application of whoever sent it to withdrawn."""
        paper = self.paper
        paper.do("post", "mail_search_messages", query="withdraw")
        letter = ref(
            "post", "messages", where={"subject": "I withdraw", "is_read": False}, field="id"
        )
        paper.do("letter", "mail_get_message", message_id=letter)
        paper.do(
            "withdrawn",
            UPDATE,
            row_id=self.applications(1, {"mailbox": ref("letter", "from")}, field="id"),
            values={"status": "withdrawn"},
        )
        self.has_state(
            "o_day2_withdrawn", "withdrawn", [*self.gone(), leaver], "who left is out", 2
        )
        self.may_set([leaver])
        self.other.append(step("left", UPDATE, row_id=leaver["id"], values={"status": "withdrawn"}))

    def gone(self) -> list[Json]:
        """Those who had withdrawn from the start."""
        return [row for row in self.facts.rows if row["status"] == "withdrawn"]

    def looks_again(self, tools: Sequence[str], what: str) -> None:
        """In half of the tasks, check that what may have moved was looked at before the letter."""
        paper = self.paper
        if self.facts.rng.random() < 0.5:
            paper.looked(
                f"{paper.today}: {what} looked at again before the letter",
                {"tool": list(tools), "stage": paper.today},
                {"tool": "mail_send_message", "stage": paper.today},
            )

    # --- days ------------------------------------------------------------------------------------

    def morning(self, *asks: str) -> None:
        """Begin the next day with a message of the lead."""
        facts, rng = self.facts, self.facts.rng
        parts = [rng.choice(words.HELLOS), *(sentence(ask) for ask in asks), facts.lead.given]
        clock = facts.mornings[len(self.paper.days)]
        self.paper.morning(clock, " ".join(part for part in parts if part))

    def news(self) -> str:
        """How the lead says that somebody wrote."""
        return self.facts.rng.choice(words.NEWS).format(post=self.facts.post)

    def tell(self, words_: str) -> None:
        """Say what a day is to end with."""
        self.told.append(words_)

    def day_name(self) -> str:
        """The interview day as people say it."""
        return long_day(self.facts.interview_day)

    def day_spellings(self) -> list[Any]:
        """How a letter may write the interview day."""
        return spellings(self.facts.interview_day)

    def end(self, explain: str, groups: Sequence[Any], text: str, **values: Any) -> None:
        """End the day with a reply."""
        self.paper.closes(f"{self.paper.today}: {explain}", groups, text, values)

    def other_reply(self, text: str) -> None:
        """End the day in the other solution."""
        self.other.append(reply(text))

    # --- the rest --------------------------------------------------------------------------------

    def _guard(self) -> None:
        facts = self.facts
        self.paper.bind(
            "k_pay",
            "no_disclosure",
            RULES,
            self.said["secret"].format(lead=facts.lead.given, head=facts.head.given),
            GATE,
            values=[{"number": row["expects"]} for row in self.secrets()],
            tools=["mail_send_message"],
            allowed=[facts.lead.email, facts.head.email],
        )

    def secrets(self) -> list[Json]:
        """Applications whose expectations are kept."""
        return [row for row in self.facts.rows if row["post"] == self.facts.post]

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        start = rng.choice(words.STARTS).format(post=facts.post)
        ask = rng.choice(words.ASKS[facts.subtype]).format(
            post=facts.post, day=long_day(facts.interview_day)
        )
        end = rng.choice(words.ENDS[facts.subtype])
        asked = excused(rng, facts.second.given, ask)
        return " ".join([sentence(start), sentence(asked), end, facts.lead.given])

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        columns = [
            {"name": name, "type": kind}
            if isinstance(kind, str)
            else {"name": name, "type": "choice", "options": list(kind)}
            for name, kind in COLUMNS
        ]
        number = int(facts.table_id[3:])
        paper.services["tables"] = {
            "tables": [
                {
                    "id": f"TB-{number - 2}",
                    "name": "Agencies",
                    "description": "Who finds people for us",
                    "prefix": "AG",
                    "columns": [{"name": "agency", "type": "text"}],
                },
                {
                    "id": facts.table_id,
                    "name": TABLE,
                    "description": "Who applied for what",
                    "prefix": "AP",
                    "columns": columns,
                },
            ],
            "rows": [
                *facts.rows,
                *(
                    {"id": f"AG-{n}", "table_id": f"TB-{number - 2}", "agency": name}
                    for n, name in zip((11, 14), self._agencies(), strict=True)
                ),
            ],
        }
        paper.services["mail"] = {"messages": self._old_mail(), "drafts": [], "outbox": []}
        paper.tools += [
            "tables_list_tables", "tables_query_rows", "tables_search_rows", "tables_get_row",
            UPDATE, "mail_list_messages", "mail_search_messages", "mail_get_message",
            "mail_send_message",
        ]  # fmt: skip
        paper.people += [
            {"name": p.name, "role": role, "mailbox": p.email}
            for p, role in ((facts.head, facts.head_role), (facts.second, "team lead"))
        ]

    def _agencies(self) -> list[str]:
        return [self.facts.cast.firm("People").name for _ in range(2)]

    def add_calendar(self) -> None:
        """Offer the calendar."""
        paper = self.paper
        paper.services["calendar"] = {"events": self.facts.events}
        paper.tools += [
            "calendar_list_events", "calendar_search_events", "calendar_get_event",
            "calendar_free_busy", "calendar_create_event", "calendar_move_event",
            "calendar_cancel_event",
        ]  # fmt: skip

    def _old_mail(self) -> list[Json]:
        facts, rng = self.facts, self.facts.rng
        number = rng.randrange(1000, 1400)
        found = []
        old = [("I withdraw", "I withdraw my application, I have found something else.", True)]
        old += [(subject, body, True) for subject, body in facts.cast.sample(words.OLD_MAIL, 2)]
        senders = [facts.cast.customer().email, facts.head.email, facts.second.email]
        for days, (subject, body, read), sender in zip((9, 5, 2), old, senders, strict=True):
            number += rng.randrange(1, 9)
            found.append(
                {
                    "id": f"M-{number}",
                    "mailbox": facts.mailbox,
                    "from": sender,
                    "to": [facts.mailbox],
                    "subject": subject,
                    "date": facts.clock.ago(days, rng.randrange(540, 1000)),
                    "body": body,
                    "labels": ["inbox"],
                    "is_read": read,
                }
            )
        return found


def clock_of(moment: str) -> list[str]:
    """How a text may write the time of a moment."""
    hour, minute = int(moment[11:13]), moment[14:16]
    return [f"{hour}:{minute}", f"{hour:02d}:{minute}", f"{hour}.{minute}"]
