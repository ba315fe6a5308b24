"""offer: the best who expects no more than the post pays; both may change until the letter goes."""

from typing import Any, Final

from tasks_app.core.generation.families.recruitment_round import words
from tasks_app.core.generation.families.recruitment_round.desk import ROWS, RULES, UPDATE, Desk
from tasks_app.core.generation.forms import Json, fn, match, ref, step

PAY: Final = "Pay"
OFFERS: Final = "Offers"


class Offer(Desk):
    """Draw an offer up, send it as things stand, close the round."""

    def draw(self) -> None:
        """Draw scores and expectations around what the post pays."""
        facts, rng = self.facts, self.facts.rng
        self.pay = rng.randrange(3200, 4800, 50)
        self.new_pay = self.pay + rng.randrange(60, 240, 10)
        below, over = self.pay - 400, self.new_pay + 20

        def fits() -> int:
            return int(rng.randrange(below, self.pay + 1, 10))

        scores = sorted(facts.cast.sample(range(60, 96), 8), reverse=True)
        self.dear = [
            facts.applies(status="interviewed", score=scores[n], expects=over + 70 * n)
            for n in range(2)
        ]
        self.flips = facts.level >= 3 and rng.random() < 0.5
        """Whether the new pay brings somebody better into reach."""
        if self.flips:
            self.reached = facts.applies(
                status="interviewed",
                score=scores[2],
                expects=rng.randrange(self.pay + 10, self.new_pay + 1, 10),
            )
        count = {1: 2, 2: 3, 3: 3, 4: 4, 5: 4}[facts.level]
        self.good = [
            facts.applies(status="interviewed", score=score, expects=fits())
            for score in scores[3 : 3 + count]
        ]
        for status in ("shortlisted", "declined", "new"):
            facts.applies(status=status, score=97 - rng.randrange(2), expects=fits())
        for post in facts.other_posts:
            facts.applies(status="interviewed", post=post, score=98, expects=fits())
        facts.applies(status="withdrawn", score=99, expects=fits())
        facts.number()
        first = self.good[0]
        left = self.good[1:] if facts.withdraws else self.good
        self.first = first
        self.final = self.reached if self.flips else left[0]
        number = int(facts.table_id[3:])
        self.pay_id, self.offers_id = f"TB-{number + 3}", f"TB-{number + 5}"

    def days(self) -> None:
        """Draw up; send; close."""
        facts, paper, said = self.facts, self.paper, self.said
        paper.say(RULES, said["offer"].format(post=facts.post))
        if facts.withdraws:
            paper.say(RULES, said["withdrawn"])
        paper.say(RULES, said["as_of"])
        paper.bind(
            "k_one", "at_most", RULES, said["one"], 0.3, tool="tables_insert_row", per=None, n=1
        )
        paper.bind(
            "k_look",
            "require_before",
            RULES,
            said["pay_again"],
            0.3,
            write={"tool": "mail_send_message", "stage": "day2"},
            needs={
                "tool": list(ROWS),
                "stage": "day2",
            },
        )
        self._fill_pay()
        self._draw_up()
        self._send()
        if facts.level >= 3:
            self._close()

    def secrets(self) -> list[Json]:
        """What others expect: none of it may be read out of the letter of an offer."""
        facts = self.facts
        return [
            row
            for row in facts.rows
            if row["post"] == facts.post and row["expects"] not in (self.pay, self.new_pay)
        ]

    def _table(self, name: str) -> Any:
        return ref("registers", "tables", where={"name": name}, field="id")

    def _pay(self, day: int) -> Any:
        return ref(f"pay{day}", "rows", where={"post": self.facts.post}, field="pay")

    def _best(self, day: int, **select: Any) -> Any:
        where = {
            "post": self.facts.post,
            "status": "interviewed",
            "expects": {"le": self._pay(day)},
        }
        return self.applications(day, where, sort="-score", take="first", **select)

    @property
    def _row(self) -> Json:
        return {"table_id": self.offers_id, "post": self.facts.post}

    def _offer_check(self, name: str, row: Json, pay: int, status: str, what: str) -> None:
        self.paper.check(
            3,
            match(
                name,
                f"{self.paper.today}: {what}",
                "tables/rows",
                {"table_id": self.offers_id, "post": self.facts.post},
                {"application": row["id"], "pay": pay, "status": status},
                because={"application": RULES, "pay": RULES, "status": RULES},
            ),
        )

    def _draw_up(self) -> None:
        facts, paper = self.facts, self.paper
        self.read_applications()
        paper.do("pay1", "tables_query_rows", table_id=self._table(PAY))
        paper.do(
            "offer",
            "tables_insert_row",
            table_id=self._table(OFFERS),
            values={
                "post": facts.post,
                "application": self._best(1, field="id"),
                "pay": self._pay(1),
                "status": "draft",
            },
        )
        self._offer_check("o_day1_offer", self.first, self.pay, "draft", "the offer is drawn up")
        paper.may("tables/rows/*", self._row, change="add", max=1)
        self.tell(
            "The first day ends with a reply that gives the number of the application chosen."
        )
        self.end(
            "the reply gives the number",
            [[self.first["id"]]],
            facts.rng.choice(words.DRAWN_UP),
            number=ref("offer", "application"),
        )
        values = {
            "status": "draft",
            "pay": self.pay,
            "application": self.first["id"],
            "post": facts.post,
        }
        self.other.append(step("o", "tables_insert_row", table_id=self.offers_id, values=values))
        self.other_reply(f"{self.first['id']} it is.")

    def _send(self) -> None:
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        asks = [rng.choice(words.SEND_OFFER)]
        if facts.withdraws:
            asks.insert(0, self.news())
        self.morning(*asks)
        paper.moves("tables/rows", self.pay_row, {"pay": self.new_pay})
        self._offer_check(
            "o_day2_offer", self.final, self.new_pay, "sent", "the offer is as the tables are now"
        )
        if facts.withdraws:
            asker = next(row for row in self.good if row is not self.first)
            self.arrive(self.first, asker)
            self.take_back(self.first)
            paper.again("apps2", "apps1")
        paper.again("pay2", "pay1")
        day = 2 if facts.withdraws else 1
        chosen = self._chosen(day)
        paper.do("who", "tables_get_row", row_id=chosen)
        paper.do(
            "sent",
            UPDATE,
            row_id=ref("offer", "id"),
            values={"application": ref("who", "id"), "pay": self._pay(2), "status": "sent"},
        )
        paper.may("tables/rows/*#application,pay,status", self._row, max=1)
        self.looks_again(ROWS, "the pay was")
        paper.sends(
            "letter_out",
            f"{paper.today}: {self.final['name']} has the offer",
            [self.final["mailbox"]],
            f"Our offer, {facts.post}",
            rng.choice(words.OFFER_LETTERS).format(post=facts.post),
            {"pay": self._pay(2), "name": ref("who", "name")},
            [[{"number": self.new_pay}], [facts.post]],
        )
        letter = next(s for s in paper.steps if s.get("id") == "letter_out")
        letter["arguments"]["to"] = [ref("who", "mailbox")]
        self.tell(
            "The letter of the offer names the post and the pay; that day ends with a reply that "
            "gives the number of the application and the pay sent."
        )
        self.end(
            "the reply gives number and pay",
            [[self.final["id"]], [{"number": self.new_pay}]],
            rng.choice(words.OFFER_SENT),
            number=ref("who", "id"),
            pay=self._pay(2),
        )
        values = {"status": "sent", "pay": self.new_pay, "application": self.final["id"]}
        self.other += [
            step("look", "tables_get_row", row_id=self.pay_row),
            step("u", UPDATE, row_id=ref("o", "id"), values=values),
            step(
                "l",
                "mail_send_message",
                to=[self.final["mailbox"]],
                subject="An offer",
                body=f"We offer {self.new_pay:,} EUR a month as {facts.post}.",
            ),
        ]
        self.other_reply(f"{self.new_pay}.00 EUR for {self.final['id']}")

    def _chosen(self, day: int) -> Any:
        where = {
            "post": self.facts.post,
            "status": "interviewed",
            "expects": {"le": self._pay(2)},
        }
        return self.applications(day, where, sort="-score", take="first", field="id")

    def _close(self) -> None:
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        others = [
            row
            for row in facts.rows
            if row["post"] == facts.post
            and row["status"] == "interviewed"
            and row not in (self.first, self.final)
        ]
        quitter = rng.choice(others[1:])
        declined = [row for row in others if row is not quitter]
        old = [row for row in facts.rows if row["status"] == "declined"]
        if not facts.withdraws or self.first is self.final:
            raise ValueError("whoever withdrew is no longer in the round")
        self.morning(rng.choice(words.CLOSE_ROUND).format(name=self.final["name"].split()[0]))
        paper.moves("tables/rows", quitter["id"], {"status": "withdrawn"})
        paper.bind(
            "k_gone",
            "only_when",
            RULES,
            self.said["gone"],
            0.3,
            tool=UPDATE,
            arguments={"values.status": {"in": ["declined"]}},
            record={"service": "tables", "collection": "rows", "id_argument": "row_id"},
            where={"status": "interviewed"},
        )
        self.has_state("o_day3_hired", "hired", [self.final], "who accepted is hired", 2)
        paper.again("apps3", "apps1")
        paper.do("hired", UPDATE, row_id=ref("who", "id"), values={"status": "hired"})
        where = {
            "post": facts.post,
            "status": "interviewed",
            "id": {"ne": ref("who", "id")},
        }
        rest = self.applications(3, where, take="all", field="id")
        paper.do("refused", UPDATE, rest, row_id=ref("item"), values={"status": "declined"})
        self.has_state("o_day3_declined", "declined", [*old, *declined], "the others are declined")
        self.may_set([self.final, *declined])
        self.tell(
            "The last day ends with a reply that names the number of each application declined."
        )
        self.end(
            "the reply names who was declined",
            [[row["id"]] for row in declined],
            rng.choice(words.ROUND_CLOSED),
            ids=fn("join", rest, ", "),
        )
        self.other += [
            *(
                step(f"d{n}", UPDATE, row_id=row["id"], values={"status": "declined"})
                for n, row in enumerate(reversed(declined))
            ),
            step("h", UPDATE, row_id=self.final["id"], values={"status": "hired"}),
        ]
        self.other_reply(f"Declined: {' '.join(row['id'] for row in declined)}")
        paper.claimed.add("C6")

    def _fill_pay(self) -> None:
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        posts = facts.cast.shuffled([facts.post, *facts.other_posts])
        number = rng.randrange(11, 40)
        rows = []
        for post in posts:
            number += rng.randrange(1, 5)
            pay = self.pay if post == facts.post else rng.randrange(2900, 5200, 50)
            rows.append({"id": f"PY-{number}", "table_id": self.pay_id, "post": post, "pay": pay})
        self.pay_row = next(str(row["id"]) for row in rows if row["post"] == facts.post)
        tables = paper.services["tables"]
        columns = [{"name": "post", "type": "text"}, {"name": "pay", "type": "number"}]
        offer_columns = [
            {"name": "post", "type": "text"},
            {"name": "application", "type": "text"},
            {"name": "pay", "type": "number"},
            {"name": "status", "type": "choice", "options": ["draft", "sent", "accepted"]},
        ]
        tables["tables"] += [
            {
                "id": self.pay_id,
                "name": PAY,
                "description": "What a post pays a month, in EUR",
                "prefix": "PY",
                "columns": columns,
            },
            {
                "id": self.offers_id,
                "name": OFFERS,
                "description": "Offers of this round",
                "prefix": "OF",
                "columns": offer_columns,
            },
        ]
        old = {
            "id": f"OF-{rng.randrange(11, 60)}",
            "table_id": self.offers_id,
            "post": facts.other_posts[0],
            "application": f"AP-{rng.randrange(20, 90)}",
            "pay": rng.randrange(2900, 5200, 50),
            "status": "accepted",
        }
        tables["rows"] += [*rows, old]
        paper.tools.append("tables_insert_row")
