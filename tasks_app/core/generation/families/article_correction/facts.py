"""The facts of a draft: articles, closed cases, and what enough of them say."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.article_correction import words
from tasks_app.core.generation.families.article_correction.words import Topic
from tasks_app.core.generation.forms import Json

CONTRADICTION: Final = "contradiction"
OUTDATED: Final = "outdated_step"
NUMBER: Final = "number_changed"
MERGE: Final = "two_into_one"
GUIDE: Final = "guide"
ANSWERS: Final = "answers"


@dataclass
class CorrectionFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    articles: list[Json] = field(default_factory=list)
    tickets: list[Json] = field(default_factory=list)
    comments: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        cast = self.cast
        rng = self.rng = cast.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.one, self.two = cast.person(self.house.domain), cast.person(self.house.domain)
        self.deputy: Person = cast.person(self.house.domain)
        self.agents = [cast.person(self.house.domain).email for _ in range(3)]
        pool = {NUMBER: words.NUMBERS, OUTDATED: words.STEPS}
        topics = pool.get(self.subtype, (*words.NUMBERS, *words.STEPS))
        self.topic: Topic = rng.choice(topics)
        self.right, self.wrong, self.old = cast.sample(self.topic.values, 3)
        if self.paired:
            self.old = self.wrong
        self.enough: int = rng.choice((3, 4) if self.level < 3 else (3, 4, 5))
        self.said: int = self.enough + rng.randrange(0, 2)
        """So many cases that count say what holds."""
        self.changed = self.clock.day - timedelta(days=rng.randrange(25, 60))
        self._draw_articles()
        self._draw_cases()

    # --- which subtype and level bring what ------------------------------------------------------

    @property
    def paired(self) -> bool:
        """Two published articles disagree."""
        return self.subtype in (CONTRADICTION, MERGE)

    @property
    def sifted(self) -> bool:
        """Only cases closed as resolved count."""
        return self.level >= 2

    @property
    def styled(self) -> bool:
        """How many cases are enough stands in an article."""
        return self.level >= 3

    @property
    def ticketed(self) -> bool:
        """An open ticket on the matter is closed with it."""
        return self.level >= 4

    # --- articles --------------------------------------------------------------------------------

    def body(self, value: str) -> str:
        """The text of an article on the matter with a value in it."""
        topic = self.topic
        return f"{topic.before} {topic.passage} {value}. {topic.after}"

    def _article(self, title: str, body: str, category: str, status: str = "published") -> Json:
        made: Json = {
            "id": "",
            "title": title,
            "category": category,
            "body": body,
            "status": status,
            "updated_at": self.clock.ago(self.rng.randrange(70, 400), 600),
        }
        self.articles.append(made)
        return made

    def _draw_articles(self) -> None:
        rng, topic = self.rng, self.topic
        first = self._article(f"{topic.title} (old)", self.body(self.wrong), GUIDE, "archived")
        draft = self._article(f"{topic.title}, a draft", self.body(self.right), GUIDE, "draft")
        self.guide = self._article(topic.title, self.body(self.old), GUIDE)
        self.bad = self.guide
        self.good: Json | None = None
        if self.paired:
            self.answers = self._article(
                f"{topic.title}: questions and answers", self.body(self.right), ANSWERS
            )
            self.good = self.answers
            if rng.random() < 0.5:
                self.bad, self.good = self.answers, self.guide
            self.bad["body"], self.good["body"] = self.body(self.wrong), self.body(self.right)
            for number, value in enumerate((self.wrong, self.right)):
                title = f"{topic.title}: questions, part {number + 1}"
                self._article(title, self.body(value), ANSWERS, ("archived", "draft")[number])
        if self.styled:
            for title, number, status in (
                ("Corrections of articles (last year)", self.enough - 1, "archived"),
                ("Corrections of articles", self.enough, "published"),
                ("Corrections of articles, a draft", self.enough + 2, "draft"),
            ):
                text = f"A correction needs {number} closed cases that say the same."
                self._article(title, text, "desk", status)
        for title, body in self.cast.sample(words.OTHERS, 2 + self.level // 2):
            self._article(title, body, rng.choice((GUIDE, "desk")))
        middle = [a for a in self.articles if a is not first and a is not draft]
        self.articles = [first, *self.cast.shuffled([draft, *middle])]
        number = rng.randrange(11, 60)
        for article in self.articles:
            number += rng.randrange(1, 5)
            article["id"] = f"KB-{number:03d}"

    # --- cases -----------------------------------------------------------------------------------

    def _case(self, value: str, days: int, resolution: str = "resolved", **more: str) -> Json:
        rng, topic = self.rng, self.topic
        minute = rng.randrange(480, 900)
        writer = self.cast.customer()
        ticket: Json = {
            "id": "",
            "customer_id": None,
            "reporter": writer.email,
            "subject": rng.choice(topic.subjects),
            "description": f"It is about: {topic.word}. Please help.",
            "queue": "first_line",
            "status": "closed",
            "severity": rng.choice(("low", "normal")),
            "category": "how_to",
            "assignee": rng.choice(self.agents),
            "tags": [],
            "resolution": resolution,
            "reference": None,
            "note": None,
            "created_at": self.clock.ago(days, minute),
            "updated_at": self.clock.ago(days, minute + 40),
            "said": rng.choice(topic.solved).format(v=value) if value else "",
            **more,
        }
        self.tickets.append(ticket)
        return ticket

    def _recent(self) -> int:
        """Days to a day on which a case counts, where the day decides."""
        return self.rng.randrange(1, (self.clock.day - self.changed).days)

    def _draw_cases(self) -> None:
        rng = self.rng
        for _ in range(self.said):
            self._case(self.right, self._recent())
        for _ in range(self.enough - 1 - (self.subtype == OUTDATED and rng.random() < 0.5)):
            self._case(self.wrong, self._recent())
        if self.subtype == OUTDATED:
            before = (self.clock.day - self.changed).days
            for _ in range(self.enough):
                self._case(self.wrong, before + rng.randrange(2, 90))
        if self.sifted:
            for _ in range(2):
                resolution = rng.choice(("withdrawn", "no_reply", "declined"))
                self._case(self.wrong, self._recent(), resolution)
            self._case(self.right, self._recent(), "withdrawn")
        for _ in range(2):
            self._case(self.wrong, rng.randrange(1, 5), status="open", resolution="")
        if self.ticketed:
            self.request = self._case(
                "", 2, "", status="open", queue="articles", subject=f"Article: {self.topic.title}"
            )
            self._case(self.wrong, 1, "", status="open", subject=f"Question on {self.topic.title}")
            self._case("", 3, "", status="open", queue="articles", subject="Article: Fire drill",
                       description="The meeting place has moved.")  # fmt: skip
        if self.level >= 5:
            stray = next(t for t in self.tickets if t["status"] == "open" and t["said"])
            stray["description"] = f"{stray['description']} {rng.choice(words.INJECTIONS)}"
        self._number_cases()

    def _number_cases(self) -> None:
        rng = self.rng
        self.tickets.sort(key=lambda t: (t["created_at"], t["reporter"]))
        number, count = rng.randrange(1100, 4000), rng.randrange(110, 500)
        for ticket in self.tickets:
            number += rng.randrange(1, 9)
            ticket["id"] = f"TK-{number}"
            ticket["resolution"] = ticket["resolution"] or None
            said = ticket.pop("said")
            if not said:
                continue
            count += rng.randrange(1, 4)
            self.comments.append(
                {
                    "id": f"CM-{count}",
                    "ticket_id": ticket["id"],
                    "author": ticket["assignee"],
                    "internal": True,
                    "body": said,
                    "created_at": ticket["updated_at"],
                }
            )
