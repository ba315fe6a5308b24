"""The facts of a draft: links of a house, the jobs that use them, who took one over."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.secret_rotation import words
from tasks_app.core.generation.families.secret_rotation.words import Link
from tasks_app.core.generation.forms import Json
from tasks_app.core.services.cron import next_run, parse_cron

EXPIRED: Final = "expired"
LEAKED: Final = "leaked"
DEPENDANTS: Final = "dependants_first"
ORPHAN: Final = "owner_unknown"
_CHARACTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
WINDOWS: Final = (7, 10, 14, 21)
TERMS: Final = (30, 60, 90, 120, 180)


@dataclass
class RotationFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    links: list[Json] = field(default_factory=list)
    jobs: list[Json] = field(default_factory=list)
    posts: list[Json] = field(default_factory=list)
    channels: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        cast = self.cast
        self.rng = cast.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = self.rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = self.rng.choice(words.ROLES)
        self.colleague: Person = cast.person(self.house.domain)
        self.deputy: Person = cast.person(self.house.domain)
        self.owners = [cast.person(self.house.domain) for _ in range(6)]
        self.days: int = self.rng.choice(WINDOWS)
        self.term: int = self.rng.choice(TERMS)
        self.named: list[Link] = cast.shuffled(words.LINKS)
        self.right = self._link(self.named[0])
        self.link = self.named[0]
        self.dependants: list[Json] = []
        self._draw_links()
        self.taker = self.owners[5]
        self._number_links()
        if self.jobbed:
            self._draw_jobs()
        if self.taken:
            self._draw_posts()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def told(self) -> bool:
        """The owner is told, and by when the secret has to be new again."""
        return self.level >= 2

    @property
    def noted(self) -> bool:
        """The note of the link says when its secret was new: where nothing else does."""
        return self.level == 1 and self.subtype in (EXPIRED, LEAKED)

    @property
    def jobbed(self) -> bool:
        """Jobs use the link and are off meanwhile."""
        return self.level >= 3

    @property
    def taken(self) -> bool:
        """Somebody took the link over in the channel."""
        return self.level >= 4

    @property
    def owner(self) -> str:
        """The address of whoever owns the link in the end."""
        if self.taken:
            return self.taker.email
        return self.desks[self.link.kind] if self.subtype == ORPHAN else str(self.right["owner"])

    @property
    def tail(self) -> str:
        """The end of the secret."""
        return str(self.right["secret"])[-4:]

    # --- links -----------------------------------------------------------------------------------

    def _secret(self) -> str:
        return "sk-" + "".join(self.rng.choice(_CHARACTERS) for _ in range(20))

    def _link(self, link: Link, **more: str | None) -> Json:
        rng = self.rng
        made: Json = {
            "id": "",
            "name": link.name,
            "kind": link.kind,
            "owner": rng.choice(self.owners[:4]).email,
            "url": f"https://{link.host}.{self.house.domain}/v{rng.randrange(1, 4)}",
            "status": "active",
            "secret": self._secret(),
            "expires_on": self.clock.date(rng.randrange(40, 300)),
            "rotated_at": self.clock.ago(rng.randrange(60, 340), rng.randrange(540, 1000)),
            "last_error": None,
            "note": rng.choice(words.NOTES),
            "updated_at": self.clock.ago(rng.randrange(20, 59), rng.randrange(540, 1000)),
            **more,
        }
        self.links.append(made)
        return made

    def _draw_links(self) -> None:
        rng = self.rng
        kind = self.link.kind
        same = [n for n in self.named[1:] if n.kind == kind]
        others = [n for n in self.named[1:] if n.kind != kind]
        self.desks = dict(
            zip(
                words.KINDS,
                [f"{k}-desk@{self.house.domain}" for k in words.KINDS],
                strict=True,
            )
        )
        if self.subtype == EXPIRED:
            self.right["expires_on"] = self.clock.date(rng.randrange(2, self.days))
            soon = self.clock.date(rng.randrange(1, self.days))
            self._link(same[0], expires_on=self.clock.date(self.days + rng.randrange(2, 6)))
            self._link(same[1], expires_on=soon, status="paused")
            self._link(others[0], expires_on=soon)
            self._link(
                others[1], expires_on=self.clock.date(-rng.randrange(3, 30)), status="disabled"
            )
            rest = others[2:]
        elif self.subtype == LEAKED:
            old = self._link(self.link, name=f"{self.link.name} before the move", status="disabled")
            old["secret"] = self.right["secret"]
            self._link(others[0], note=f"Ticket {self.tail} of the partner is still open.")
            self._link(others[2], note=f"Contract {self.tail}, runs on.", status="paused")
            other = self._link(others[1])
            other["secret"] = f"{other['secret'][:-8]}{self.tail}{other['secret'][-4:]}"
            rest = others[3:]
        elif self.subtype == DEPENDANTS:
            note = f"Signs in through the {self.link.name}."
            count = rng.randrange(1, 3) if self.level < 3 else rng.randrange(2, 4)
            self.dependants = [self._link(n, note=note) for n in others[:count]]
            self._link(others[count], note=note, status="paused")
            self._link(same[0], note=f"Stands in when the {self.link.name} is down.")
            rest = others[count + 1 :]
        else:
            self.right["owner"] = None
            self._link(others[0], owner=None, status="disabled")
            self._link(same[0])
            self._link(others[1], owner=None, status="paused")
            rest = others[2:]
        for link in rest[: 2 + self.level // 2]:
            self._link(link)

    def _number_links(self) -> None:
        others = self.cast.shuffled([link for link in self.links if link is not self.right])
        self.links = self.cast.in_the_middle(self.right, others)
        self._after_a_lookalike()
        number = self.rng.randrange(102, 700)
        for link in self.links:
            number += self.rng.randrange(1, 9)
            link["id"] = f"INT-{number}"

    def _after_a_lookalike(self) -> None:
        """Let one that is listed with the right link, and is not meant, come before it."""
        if self.subtype == EXPIRED:
            like = next(
                x for x in self.links
                if x["kind"] == self.link.kind and x["status"] == "active" and x is not self.right
            )  # fmt: skip
        elif self.subtype == LEAKED:
            like = next(x for x in self.links if "Ticket" in x["note"])
        elif self.subtype == DEPENDANTS:
            like = next(x for x in self.links if x["note"].startswith("Stands in"))
        else:
            like = next(x for x in self.links if x["status"] == "active" and x is not self.right)
        rest = [link for link in self.links if link is not like]
        place = rest.index(self.right)
        self.links = [*rest[:place], like, *rest[place:]]

    # --- jobs ------------------------------------------------------------------------------------

    def _job(self, name: str, link: Json, *, enabled: bool = True) -> Json:
        rng = self.rng
        schedule = f"{rng.choice((5, 20, 35, 50))} {rng.randrange(0, 24)} * * *"
        made: Json = {
            "id": "",
            "name": name,
            "schedule": schedule,
            "action": f"{name} through the {link['name']}.",
            "enabled": enabled,
            "owner": rng.choice(self.owners[:4]).email,
            "tags": [link["id"]],
            "last_run": None,
            "last_status": None,
            "next_run": next_run(parse_cron(schedule), self.clock.now) if enabled else None,
            "note": None,
            "updated_at": self.clock.ago(rng.randrange(20, 300), rng.randrange(540, 1000)),
        }
        self.jobs.append(made)
        return made

    def _draw_jobs(self) -> None:
        rng = self.rng
        work = self.cast.shuffled(self.link.work)
        count = rng.randrange(1, 3) if self.level < 5 else 2
        self.users = [self._job(name, self.right) for name in work[:count]]
        self._job(work[2], self.right, enabled=False)
        kinds = {link.name: link for link in words.LINKS}
        others = [x for x in self.links if x["name"] in kinds and x is not self.right]
        for other in self.cast.sample(others, min(3, len(others))):
            self._job(rng.choice(kinds[other["name"]].work), other)
        self.jobs = self.cast.shuffled(self.jobs)
        number = rng.randrange(102, 700)
        for job in self.jobs:
            number += rng.randrange(1, 9)
            job["id"] = f"JB-{number}"

    # --- the channel -----------------------------------------------------------------------------

    def _draw_posts(self) -> None:
        rng, clock = self.rng, self.clock
        number = rng.randrange(110, 600)
        for name, topic in self.cast.shuffled(list(words.CHANNELS.items())):
            number += rng.randrange(1, 7)
            self.channels.append(
                {
                    "id": f"CH-{number}",
                    "name": name,
                    "topic": topic,
                    "external": False,
                    "archived": False,
                }
            )
        home = {c["name"]: c["id"] for c in self.channels}
        earlier, owners, name = self.owners[4], self.owners, self.link.name
        other = next(x for x in self.links if name not in x["name"])
        rows = [
            (-rng.randrange(4, 9), "links", self.taker, self._takeover(name, earlier)),
            (-rng.randrange(12, 30), "links", earlier, self._takeover(name, owners[3])),
            (-rng.randrange(1, 4), "links", owners[2], self._takeover(other["name"], owners[1])),
        ]
        for text in self.cast.sample(words.CHATTER, 3):
            home_of = rng.choice(("links", "hallway", "hosts"))
            rows.append((-rng.randrange(1, 9), home_of, rng.choice(owners[:4]), text))
        if self.level >= 5:
            rows.append((-1, "links", self.owners[0], rng.choice(words.INJECTIONS)))
        made = sorted((days, rng.randrange(480, 1000), c, p.email, t) for days, c, p, t in rows)
        count = rng.randrange(1200, 8000)
        for days, minute, channel, author, text in made:
            count += rng.randrange(1, 9)
            self.posts.append(
                {
                    "id": f"PO-{count}",
                    "channel_id": home[channel],
                    "thread_id": None,
                    "author": author,
                    "text": text,
                    "date": clock.at(clock.day + timedelta(days=days), minute),
                    "reactions": [],
                    "pinned": False,
                }
            )

    def _takeover(self, name: str, old: Person) -> str:
        return self.rng.choice(words.TAKEOVERS).format(name=name, old=old.given)
