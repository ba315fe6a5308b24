"""A draft written from its facts: the message, its checks, the request, and the whole spec."""

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from tasks_app.core.generation.days import short_day, spellings
from tasks_app.core.generation.families.reach_the_right_person import words
from tasks_app.core.generation.families.reach_the_right_person.facts import (
    DEPUTY,
    NAMESAKE,
    ROLE,
    SHIFT,
)
from tasks_app.core.generation.families.reach_the_right_person.records import ReachFacts
from tasks_app.core.generation.families.reach_the_right_person.rules import (
    LOOKING,
    MESSAGE,
    PASSING,
    write_rules,
)
from tasks_app.core.generation.families.reach_the_right_person.way import Way
from tasks_app.core.generation.forms import Json, added, filled, fn, match, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper
from tasks_app.core.generation.talk import capital, listed, marked, sentence


class Errand:
    """One draft being written: each part of the spec follows from the facts."""

    def __init__(self, kind: Kind, facts: ReachFacts):
        self.facts = facts
        office = Office(
            facts.firm,
            facts.house.kind,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            f"desk@{facts.firm.domain}",
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)
        self.way = Way(facts, self.paper.steps)

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        write_rules(facts, paper)
        if facts.posted:
            self.way.read_channel()
        self.way.find()
        self._tell()
        self._report()
        if facts.level >= 5:
            read = {s["tool"] for s in paper.steps if s.get("tool") in _FRAIL and "each" not in s}
            paper.fails_once(facts.rng.choice(sorted(read)), PASSING, words.RULES["error"])
        self._other_way()
        self._fill()
        if (author := facts.author) is not None:
            card = {"name": author.name, "role": "colleague on site", "mailbox": author.email}
            paper.people.append(card)
        return paper.spec(
            slug=("reach", facts.subtype, facts.site, str(facts.number), facts.target["id"]),
            title=capital(
                f"{facts.topic.thing} {facts.number} in {facts.site}: {_TITLES[facts.subtype]}"
            ),
            tags=["people", "hand_over"],
            request=self._request(),
            distractors=len(facts.people) + len(facts.events) + len(facts.posts) - 1,
            parameters={"steps": len(facts.chain) - 1, "absences": len(facts.events) and 1},
        )

    # --- what is written -------------------------------------------------------------------------

    def _tell(self) -> None:
        facts, paper = self.facts, self.paper
        text = facts.rng.choice(words.MESSAGES).replace("{thing}", facts.topic.thing)
        text = text.replace("{fault}", facts.fault).replace("{lead}", facts.lead.name)
        text = sentence(text.replace("{extension}", str(facts.extension)))
        paper.do(
            "told", MESSAGE, person_id=self.way.who, text=filled(text, number=self.way.number())
        )
        target = facts.target["id"]
        paper.check(
            1,
            match(
                "o_reached",
                f"{facts.target['name']} was told",
                "contacts/messages",
                {"person_id": target},
                {"person_id": target},
            ),
        )
        paper.told(
            2,
            "r_message",
            "The message names the number, who asks and the extension",
            "contacts/messages",
            [
                [{"number": facts.number}],
                [facts.lead.given, facts.lead.family],
                [str(facts.extension)],
            ],
            where={"person_id": target},
        )
        paper.write_set.append(added("contacts/messages/*", {"person_id": target}))
        if facts.dated:
            paper.looked(
                "The calendar was looked at before anybody was told",
                {"tool": list(LOOKING)},
                {"tool": MESSAGE},
            )

    def _other_way(self) -> None:
        """Another solution: other reads, another wording, the ids written down."""
        facts = self.facts
        steps = [s for s in self.paper.steps if s.get("tool", "").startswith("chat_")]
        steps.append(step("those", "contacts_search", query=facts.topic.role))
        if facts.dated:
            steps.append(
                step(
                    "busy",
                    "calendar_free_busy",
                    attendees=[person["email"] for person in facts.chain],
                    start=ref("clock", "now"),
                    end=fn("add_minutes", ref("clock", "now"), 60),
                )
            )
        text = f"{facts.lead.name} ({facts.extension}) on {facts.topic.thing} {{number}}."
        steps.append(
            step(
                "told",
                MESSAGE,
                person_id=facts.target["id"],
                text=filled(text, number=self.way.number()),
            )
        )
        answer = f"Written to {facts.target['email']}."
        if self.away_until is not None:
            answer += f" Away until {short_day(self.away_until)}."
        self.paper.alternatives.append([*steps, reply(answer)])

    @property
    def away_until(self) -> date | None:
        """The day that the reply has to give, where it has to give one."""
        if self.way.back is None or not self.facts.posted:
            return None
        return date.fromisoformat(self.facts.absences[0]["end"][:10])

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        parts = ["the address of whom you wrote to"]
        groups: list[Any] = [[facts.target["email"]]]
        text, places = "It went to {address}", {"address": ref("told", "to")}
        if self.away_until is not None:
            parts.append("the last day on which the one who should have had it is away")
            groups.append(spellings(self.away_until))
            text += "; the absence lasts until {back}"
            places["back"] = fn("date", self.way.back)
        wrong = {p["email"] for p in (*facts.chain, *facts.namesakes)} - {facts.target["email"]}
        paper.contract = f"Reply to {facts.lead.given} with {listed(parts)}; give no other address."
        paper.answers(
            f"The reply gives {listed(parts)}", groups, f"{text}.", places, forbidden=sorted(wrong)
        )

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        known = facts.known
        whom = rng.choice(words.KNOWN[facts.subtype]).format(
            topic=facts.topic.name,
            role=facts.topic.role,
            site=facts.site,
            known=known.name if known is not None else "",
            known_given=known.given if known is not None else "",
        )
        thing = facts.topic.thing
        a_thing = f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"
        said = rng.choice(words.POSTED if facts.author is not None else words.MATTERS).format(
            thing=thing,
            a_thing=a_thing,
            A_thing=a_thing.capitalize(),
            number=facts.number,
            site=facts.site,
            fault=facts.fault,
            author=facts.author.name if facts.author is not None else "",
        )
        ask = rng.choice(words.ASKS)
        body = [sentence(said), marked(ask.format(whom=whom))]
        if rng.random() < 0.3:
            body = body[::-1]
        back = rng.choice(words.CALLBACKS).format(extension=facts.extension)
        closing = rng.choice(words.CLOSINGS).format(lead=facts.lead.given)
        return " ".join(part for part in (rng.choice(words.OPENINGS), *body, back, closing) if part)

    # --- the rest --------------------------------------------------------------------------------

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        paper.services["contacts"] = {"people": facts.people, "messages": []}
        paper.tools += ["contacts_search", "contacts_list_people", "contacts_get_person", MESSAGE]
        if facts.dated:
            paper.services["calendar"] = {"events": facts.events}
            paper.tools += [*LOOKING, "calendar_get_event", "calendar_create_event"]
        if facts.posted:
            paper.services["chat"] = {"channels": facts.channels, "posts": facts.posts}
            paper.tools += ["chat_list_channels", "chat_list_posts", "chat_create_post"]
        paper.claimed |= {"C1", "C14"}
        if facts.dated:
            paper.claimed.add("C20")
        if facts.covered:
            paper.claimed |= {"C2", "C17"}
        if facts.level >= 5:
            paper.claimed.add("C18")


_FRAIL: Final = frozenset(
    {"calendar_list_events", "calendar_get_event", "chat_list_posts", "contacts_get_person"}
)
"""Tools that may fail once."""
_TITLES: Final[Mapping[str, str]] = {
    DEPUTY: "who stands in",
    ROLE: "the role and not the name",
    NAMESAKE: "one of several of that name",
    SHIFT: "who is on shift",
}
