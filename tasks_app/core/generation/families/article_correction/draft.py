"""A draft written from its facts: count what cases say, change one passage, or end one article."""

from typing import Any, Final

from tasks_app.core.generation import talk
from tasks_app.core.generation.families.article_correction import words
from tasks_app.core.generation.families.article_correction.facts import (
    ANSWERS,
    GUIDE,
    MERGE,
    OUTDATED,
    CorrectionFacts,
)
from tasks_app.core.generation.forms import Json, filled, fn, match, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper

RULES: Final = "articles"
REPLACE: Final = "kb_replace_passage"
UPDATE: Final = "kb_update_article"
ARCHIVE: Final = "kb_archive_article"
CASE: Final = "helpdesk_get_ticket"
CLOSE: Final = "helpdesk_close_ticket"


class Correction:
    """One draft being written: each part of the spec follows from the facts."""

    def __init__(self, kind: Kind, facts: CorrectionFacts):
        self.facts = facts
        office = Office(
            facts.house,
            facts.trade,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            f"articles@{facts.house.domain}",
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)
        self.bad = str(facts.bad["id"])

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        paper.document(RULES, "Corrections")
        self._rules()
        if facts.styled:
            found = ref("books", "articles", where={"status": "published"}, field="id")
            paper.do("books", "kb_search", query="Corrections of articles")
            paper.do("book", "kb_get_article", article_id=found)
        self._read()
        if facts.subtype == MERGE:
            self._archive()
        else:
            self._replace()
        if facts.ticketed:
            self._close()
        self._bind()
        self._report()
        self._other_way()
        if facts.level >= 5:
            paper.say(RULES, words.RULES["orders"])
            frail = ARCHIVE if facts.subtype == MERGE else REPLACE
            paper.fails_once(frail, RULES, words.RULES["error"])
            paper.claimed.add("C18")
        self._fill()
        return paper.spec(
            slug=("articles", facts.subtype, self.bad, facts.clock.date()),
            title=words.TITLES[facts.subtype].format(title=facts.topic.title),
            tags=["knowledge", "support"],
            request=self._request(),
            distractors=len(facts.articles) + len(facts.tickets) - facts.said - 1,
            parameters={"enough": facts.enough, "cases": len(facts.tickets)},
            calls=80,
        )

    # --- rules -----------------------------------------------------------------------------------

    def _rules(self) -> None:
        facts, paper, said = self.facts, self.paper, words.RULES
        if facts.styled:
            paper.say(RULES, said["in_article"])
        else:
            paper.say(RULES, said["majority"].format(n=facts.enough))
        if facts.sifted:
            paper.say(RULES, said["resolved"])
        if facts.subtype == OUTDATED:
            paper.say(RULES, said["since"].format(day=facts.changed.isoformat()))
        if facts.subtype == MERGE:
            paper.say(RULES, said["merge"])
            return
        if facts.paired:
            paper.say(RULES, said["pair"])
        paper.say(RULES, said["minimal"])

    def _bind(self) -> None:
        facts, paper, said = self.facts, self.paper, words.RULES
        writes = [REPLACE, UPDATE, ARCHIVE]
        paper.bind(
            "k_published", "only_when", RULES, said["published"],
            "gate" if facts.level >= 2 else 0.4, tool=writes,
            record={"service": "kb", "collection": "articles", "id_argument": "article_id"},
            where={"status": "published"},
        )  # fmt: skip
        paper.bind("k_new", "forbid_tool", RULES, said["new"], tool=["kb_create_article"])
        if facts.subtype != MERGE:
            paper.bind("k_stays", "forbid_tool", RULES, said["stays"], 0.5, tool=[ARCHIVE])
        if facts.sifted:
            paper.bind(
                "k_cases", "require_before", RULES, said["cases"], 0.3,
                write={"tool": writes}, needs={"tool": [CASE, "helpdesk_list_comments"]},
            )  # fmt: skip
        if facts.styled:
            paper.bind(
                "k_read", "require_before", RULES, said["read"], 0.3,
                write={"tool": writes}, needs={"tool": "kb_get_article"},
            )  # fmt: skip

    # --- what the cases say ----------------------------------------------------------------------

    def _read(self) -> None:
        """The articles on the matter, and every closed case."""
        facts, paper = self.facts, self.paper
        paper.do("found", "kb_search", query=facts.topic.title)
        kinds = (GUIDE, ANSWERS) if facts.paired else (GUIDE,)
        for kind in kinds:
            where = {"status": "published", **({"category": kind} if facts.paired else {})}
            chosen = ref("found", "articles", where=where, field="id")
            paper.do(kind, "kb_get_article", article_id=chosen)
        if facts.subtype == OUTDATED:
            day = facts.changed.isoformat()
            paper.do("closed", "helpdesk_list_tickets", status="closed", since=day)
        else:
            paper.do("closed", "helpdesk_search_tickets", query=facts.topic.word, status="closed")
        ids = ref("closed", "tickets", take="all", field="id")
        paper.do("cases", CASE, ids, ticket_id=ref("item"))

    def _count(self, value: Any) -> Json:
        """How many cases that count say a value."""
        facts = self.facts
        where: Json = {"comments.0.body": {"contains_any": [value]}}
        if facts.sifted:
            where["resolution"] = "resolved"
        return fn("count", ref("cases", where=where, take="all", field="id"))

    def _value_in(self, kind: str) -> Json:
        return fn("regex", ref(kind, "body"), rf"{self.facts.topic.passage} ([^.]+)\.")

    def _decided(self, value: Any, then: Any, otherwise: Any) -> Json:
        """One of two, by whether enough cases say a value."""
        return fn("pick_at_least", self._count(value), self.facts.enough, then, otherwise)

    def _settle(self) -> tuple[Any, Any, Any, Any]:
        """Return bindings: the article that is wrong, its value, the value that holds, the other
        article.
        """
        facts = self.facts
        if not facts.paired:
            holds = self._decided(facts.wrong, facts.wrong, facts.right)
            return ref(GUIDE, "id"), self._value_in(GUIDE), holds, None
        kinds = (GUIDE, ANSWERS) if facts.bad is facts.guide else (ANSWERS, GUIDE)
        first, second = kinds
        tested = self._value_in(first)
        return (
            self._decided(tested, ref(second, "id"), ref(first, "id")),
            self._decided(tested, self._value_in(second), tested),
            self._decided(tested, tested, self._value_in(second)),
            self._decided(tested, ref(first, "id"), ref(second, "id")),
        )

    # --- what is changed -------------------------------------------------------------------------

    def _replace(self) -> None:
        facts, paper = self.facts, self.paper
        article, old, self.holds, _ = self._settle()
        passage = f"{facts.topic.passage} {{value}}."
        paper.do(
            "changed",
            REPLACE,
            article_id=article,
            old_text=filled(passage, value=old),
            new_text=filled(passage, value=self.holds),
        )
        self._expect({"body": facts.body(facts.right), "status": "published"}, "body,updated_at")

    def _archive(self) -> None:
        facts, paper = self.facts, self.paper
        article, _, self.holds, other = self._settle()
        paper.do("changed", ARCHIVE, article_id=article, replacement_article_id=other)
        good = str((facts.good or {})["id"])
        self._expect({"status": "archived", "replaced_by": good}, "status,replaced_by,updated_at")

    def _expect(self, expect: Json, fields: str) -> None:
        self.paper.check(
            3,
            match(
                "o_article",
                f"{self.bad} is corrected, and no more of it than has to be",
                "kb/articles",
                {"id": self.bad},
                expect,
                because=dict.fromkeys(expect, RULES),
            ),
        )
        self.paper.write_set.append(f"kb/articles/{self.bad}#{fields}")

    def _close(self) -> None:
        facts, paper = self.facts, self.paper
        paper.say(RULES, words.RULES["close"])
        paper.do("asked", "helpdesk_search_tickets", query=facts.topic.title, queue="articles")
        asked = ref("asked", "tickets", field="id", take="only")
        paper.do(
            "done", CLOSE, ticket_id=asked, resolution="resolved", reference=ref("changed", "id")
        )
        own = facts.request["id"]
        expect = {"status": "closed", "resolution": "resolved", "reference": self.bad}
        paper.check(
            2,
            match(
                "o_ticket",
                f"{own} is closed with {self.bad}",
                "helpdesk/tickets",
                {"id": own},
                expect,
                requires=["o_article"],
                because=dict.fromkeys(expect, RULES),
            ),
        )
        paper.write_set.append(f"helpdesk/tickets/{own}#status,resolution,reference,updated_at")

    # --- report, request -------------------------------------------------------------------------

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        parts = [
            "the number of the article that you changed",
            "the value that holds",
            "how many of the cases that count say so",
        ]
        paper.contract = (
            f"Reply to {facts.lead.given} with {talk.listed(parts)}; give the number of no other "
            f"article{' but its replacement' if facts.subtype == MERGE else ''}."
        )
        free = {self.bad, (facts.good or facts.bad)["id"]}
        paper.answers(
            f"The reply gives {talk.listed(parts)}",
            [[self.bad], [facts.right], [{"number": facts.said}]],
            "{article} is corrected: {value} holds, {count} cases say so.",
            {
                "article": ref("changed", "id"),
                "value": self.holds,
                "count": self._count(self.holds),
            },
            forbidden=[a["id"] for a in facts.articles if a["id"] not in free],
        )

    def _other_way(self) -> None:
        """Another solution: the whole text written anew, numbers written down."""
        facts = self.facts
        steps: list[Json] = []
        if facts.styled:
            steps += [s for s in self.paper.steps if s.get("id") in ("books", "book")]
        said = next(c["ticket_id"] for c in facts.comments)
        steps.append(step("case", CASE, ticket_id=said))
        if facts.subtype == MERGE:
            good = (facts.good or {})["id"]
            steps.append(step("changed", ARCHIVE, article_id=self.bad, replacement_article_id=good))
        else:
            body = facts.body(facts.right)
            steps.append(step("changed", UPDATE, article_id=self.bad, body=body))
        if facts.ticketed:
            own = facts.request["id"]
            steps.append(
                step("done", CLOSE, ticket_id=own, resolution="resolved", reference=self.bad)
            )
        told = f"{self.bad}; right is {facts.right}, going by {facts.said} cases."
        self.paper.alternatives.append([*steps, reply(told)])

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        x, y = facts.cast.shuffled([facts.right, facts.wrong])
        said = rng.choice(words.PAIRS if facts.paired else words.CLAIMS).format(
            title=facts.topic.title,
            one=facts.one.given,
            two=facts.two.given,
            old=facts.old,
            x=x,
            y=y,
        )
        ask = talk.excused(rng, facts.deputy.given, rng.choice(words.ASKS))
        return talk.message(rng, facts.lead.given, (said, ask))

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        paper.services["kb"] = {"articles": facts.articles}
        paper.services["helpdesk"] = {"tickets": facts.tickets, "comments": facts.comments}
        paper.tools += [
            "kb_search",
            "kb_list_articles",
            "kb_get_article",
            REPLACE,
            UPDATE,
            ARCHIVE,
            "kb_create_article",
            "helpdesk_search_tickets",
            "helpdesk_list_tickets",
            CASE,
            "helpdesk_list_comments",
        ]
        if facts.ticketed:
            paper.tools.append(CLOSE)
            paper.claimed.add("C2")
        paper.claimed.add("C1")
