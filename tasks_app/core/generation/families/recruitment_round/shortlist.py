"""shortlist: who meets every requirement, who no longer does, and whom to see first."""

from tasks_app.core.generation.families.recruitment_round import words
from tasks_app.core.generation.families.recruitment_round.desk import ROWS, RULES, UPDATE
from tasks_app.core.generation.families.recruitment_round.interview import Interviews
from tasks_app.core.generation.forms import Json, fn, ref, step
from tasks_app.core.generation.paper import GATE


class Shortlist(Interviews):
    """Filter, look again, see the best."""

    def draw(self) -> None:
        """Draw who qualifies, and who misses one requirement."""
        facts, rng = self.facts, self.facts.rng
        keep = facts.applies(years=facts.need + 1)
        count = {1: 2, 2: 3, 3: 3, 4: 4, 5: 5}[facts.level]
        years = facts.cast.sample(range(2, 9), count)
        fits = [keep, *(facts.applies(years=facts.need + more) for more in years)]
        for _ in range(2):
            facts.applies(certificate="no", years=facts.need + rng.randrange(10, 14))
            facts.applies(years=facts.need - rng.randrange(1, 3))
            facts.applies(available_from=facts.too_late)
            facts.applies(post=rng.choice(facts.other_posts))
        facts.applies(status="withdrawn")
        facts.number()
        self.fits = [row for row in facts.rows if row in fits]
        drawn = facts.cast.shuffled([row for row in fits if row is not keep])
        drawn.sort(key=lambda row: -int(row["years"]))
        self.moved, self.leaver = drawn[0], drawn[-1]
        facts.fill_calendar()

    def days(self) -> None:
        """Filter; look again and send; book; tell the time."""
        facts, paper, said = self.facts, self.paper, self.said
        paper.say(
            RULES,
            said["shortlist"].format(
                post=facts.post, need=facts.need, start=facts.start_by.isoformat()
            ),
        )
        if facts.withdraws:
            paper.say(RULES, said["withdrawn"])
        paper.bind(
            "k_look",
            "require_before",
            RULES,
            said["again"],
            0.3,
            write={"tool": "mail_send_message", "stage": "day2"},
            needs={
                "tool": list(ROWS),
                "stage": "day2",
            },
        )
        paper.bind(
            "k_house",
            "argument_policy",
            RULES,
            said["house"],
            GATE if facts.level >= 2 else 0.4,
            tool="mail_send_message",
            stage="day2",
            argument=["to", "cc"],
            own_domain=[facts.house.domain],
        )
        self._filter()
        self._send()
        if facts.level >= 3:
            self._book()
        if facts.level >= 4:
            self._tell_time()

    def _wanted(self) -> Json:
        facts = self.facts
        return {
            "post": facts.post,
            "certificate": "yes",
            "years": {"ge": facts.need},
            "available_from": {"le": facts.start_by.isoformat()},
            "status": "new",
        }

    def _filter(self) -> None:
        paper = self.paper
        self.read_applications()
        ids = self.applications(1, self._wanted(), take="all", field="id")
        paper.do("short", UPDATE, ids, row_id=ref("item"), values={"status": "shortlisted"})
        self.has_state("o_day1_short", "shortlisted", self.fits, "exactly those who fit are listed")
        self.may_set(self.fits)
        self.tell("The first day ends with a reply that names the number of each application set.")
        self.end(
            "the reply names each of them",
            [[row["id"]] for row in self.fits],
            self.facts.rng.choice(words.LISTED),
            ids=fn("join", ids, ", "),
        )
        self.other += [
            step(f"s{n}", UPDATE, row_id=row["id"], values={"status": "shortlisted"})
            for n, row in enumerate(reversed(self.fits))
        ]
        self.other_reply(f"In: {' '.join(row['id'] for row in self.fits)}")

    def _send(self) -> None:
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        asks = [rng.choice(words.SEND_LIST).format(head=facts.head.given)]
        if facts.withdraws:
            asks.insert(0, self.news())
        self.morning(*asks)
        paper.moves("tables/rows", self.moved["id"], {"available_from": facts.too_late})
        self.has_state("o_day2_out", "declined", [self.moved], "who no longer fits is declined")
        self.may_set([self.moved])
        dropped = [self.moved]
        if facts.withdraws:
            asker = next(r for r in self.fits if r not in (self.moved, self.leaver))
            self.arrive(self.leaver, asker)
            self.take_back(self.leaver)
            dropped.append(self.leaver)
        paper.again("apps2", "apps1")
        self.still = {
            "status": "shortlisted",
            "available_from": {"le": facts.start_by.isoformat()},
        }
        late = {"status": "shortlisted", "available_from": {"gt": facts.start_by.isoformat()}}
        out = self.applications(2, late, take="all", field="id")
        paper.do("out", UPDATE, out, row_id=ref("item"), values={"status": "declined"})
        self.looks_again(ROWS, "the applications were")
        self.left = [row for row in self.fits if row not in dropped]
        rows = self.applications(2, self.still, take="all")
        paper.sends(
            "list",
            f"{paper.today}: {facts.head.given} has the list as it is now",
            [facts.head.email],
            f"Shortlist {facts.post}",
            rng.choice(words.LIST_LETTERS).format(head=facts.head.given, post=facts.post),
            {"list": fn("lines", rows, "{id} {name}", "\n")},
            [[row["id"]] for row in self.left],
            forbidden=[row["id"] for row in facts.rows if row not in self.left],
        )
        self.tell(
            "The letter with the list gives the number of each application on it and of no other; "
            "that day ends with a reply that names the number of whoever was declined."
        )
        self.end(
            "the reply names who was declined",
            [[self.moved["id"]]],
            rng.choice(words.DROPPED),
            ids=fn("join", out, ", "),
        )
        self.other += [
            step("look", "tables_get_row", row_id=self.moved["id"]),
            step("o", UPDATE, row_id=self.moved["id"], values={"status": "declined"}),
            step(
                "l",
                "mail_send_message",
                to=[facts.head.email],
                subject="List",
                body=", ".join(row["id"] for row in reversed(self.left)),
            ),
        ]
        self.other_reply(f"{self.moved['id']} cannot start in time any more.")

    def _book(self) -> None:
        paper, rng = self.paper, self.facts.rng
        self.add_calendar()
        self.interview_rules(1)
        paper.claimed.add("C2")
        if self.facts.level >= 4:
            paper.claimed.add("C3")
        ask = rng.choice(words.BOOK_BEST).format(day=self.day_name())
        self.morning(ask)
        best = self.applications(2, self.still, sort="-years", take="first", field="id")
        paper.do("best", "tables_get_row", row_id=best)
        self.chosen = max(self.left, key=lambda row: int(row["years"]))
        self.book(0, self.chosen, ref("best", "mailbox"))
        self.tell("The day of the booking ends with a reply that gives the time of the interview.")
        self.end(
            "the reply gives the time",
            [self.clock_of(self.starts[0])],
            rng.choice(words.BOOKED),
            time=fn("regex", ref("book0", "start"), r"T(\d\d:\d\d)"),
        )
        self.other_book(0, self.chosen)
        self.other_reply(f"It is at {self.starts[0][11:16]}.")

    def _tell_time(self) -> None:
        rng = self.facts.rng
        self.morning(rng.choice(words.TELL_TIME))
        self.clash(0)
        self.look_at_calendar("now4")
        self.move(0, self.chosen, "now4")
        self.invite(0, self.chosen, ref("best", "mailbox"))
        self.tell("The day on which the time is told ends with a reply that gives it.")
        self.end(
            "the reply gives the time",
            [self.clock_of(self.starts[0])],
            rng.choice(words.TOLD_TIME),
            time=fn("regex", ref("move0_day4", "start"), r"T(\d\d:\d\d)"),
        )
        self.other_move(0, self.chosen)
        self.other_reply(f"Written: {self.starts[0][11:16]}")
