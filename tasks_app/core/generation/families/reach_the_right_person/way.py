"""The way to the person: the steps of the reference, from the request to an id."""

from typing import Any, Final

from tasks_app.core.generation.families.reach_the_right_person import words
from tasks_app.core.generation.families.reach_the_right_person.facts import (
    DEPUTY,
    NAMESAKE,
    SHIFT,
)
from tasks_app.core.generation.families.reach_the_right_person.records import ReachFacts
from tasks_app.core.generation.forms import Json, fn, ref, step

SWAPPED: Final = r"([A-Z]\w+ [A-Z]\w+) takes my shift"


class Way:
    """Finds who has to be told, and the number that they have to be told."""

    def __init__(self, facts: ReachFacts, steps: list[Json]):
        self.facts = facts
        self.steps = steps
        self.who: Any = None
        """Binding to the id of the one who is to be told."""
        self.back: Any = None
        """Binding to the last moment of the first absence."""

    def read_channel(self) -> None:
        """The number of the thing: in the latest post of one author in the channel of the site."""
        facts = self.facts
        self.steps += [
            step("channels", "chat_list_channels"),
            step(
                "posts",
                "chat_list_posts",
                channel_id=ref(
                    "channels",
                    "channels",
                    where={"topic": {"contains_any": [facts.site]}},
                    field="id",
                ),
            ),
        ]

    def number(self) -> Any:
        facts = self.facts
        if facts.author is None:
            return facts.number
        own = {"author": facts.author.email}
        latest = ref("posts", "posts", where=own, sort="-date", take="first", field="text")
        return fn("regex", latest, rf"{facts.topic.thing} (\d+)")

    def find(self) -> None:
        facts = self.facts
        if facts.subtype == SHIFT:
            self._find_on_shift()
        elif not facts.dated:
            self._find_in_directory()
        elif facts.covered:
            self._find_cover()
        else:
            self._find_present()

    def _now(self) -> Json:
        return step(
            "now",
            "calendar_list_events",
            start=ref("clock", "now"),
            end=fn("add_minutes", ref("clock", "now"), 1),
        )

    def _find_in_directory(self) -> None:
        facts, steps = self.facts, self.steps
        if facts.subtype == NAMESAKE:
            steps.append(step("people", "contacts_search", query=facts.holder["name"]))
            self.who = ref("people", "people", where={"team": facts.topic.team}, field="id")
            return
        steps.append(step("people", "contacts_list_people", site=facts.site))
        held = ref("people", "people", where={"role": facts.topic.role}, field="id")
        if facts.subtype == DEPUTY:
            steps.append(step("holder", "contacts_get_person", person_id=held))
            self.who = ref("holder", "deputy_id")
        else:
            self.who = held

    def _find_present(self) -> None:
        """The first one of holder, deputy and so on who is not away."""
        facts, steps = self.facts, self.steps
        if facts.subtype == NAMESAKE:
            steps.append(step("people", "contacts_search", query=facts.holder["name"]))
            chosen = {"team": facts.topic.team}
        else:
            steps.append(step("people", "contacts_list_people", site=facts.site))
            chosen = {"role": facts.topic.role}
        steps += [
            step(
                "team",
                "contacts_list_people",
                team=ref("people", "people", where=chosen, field="team"),
                site=ref("people", "people", where=chosen, field="site"),
            ),
            step(
                "cards",
                "contacts_get_person",
                each=ref("team", "people", take="all", field="id"),
                person_id=ref("item"),
            ),
            self._now(),
        ]
        line: list[Any] = [ref("people", "people", where=chosen, field="id")]
        for _ in facts.chain[1:]:
            line.append(ref("cards", where={"id": line[-1]}, field="deputy_id"))
        present = {"id": {"in": line}, "email": {"not_in": self._away("attendees.0")}}
        self.who = ref("cards", where=present, field="id")
        first = ref("cards", where={"id": line[0]}, field="email")
        self.back = ref(
            "now",
            "events",
            where={"title": {"in": list(words.AWAY)}, "attendees.0": first},
            field="end",
        )

    def _away(self, field: str) -> Json:
        return ref(
            "now", "events", where={"title": {"in": list(words.AWAY)}}, take="all", field=field
        )

    def _find_cover(self) -> None:
        """Who is named in the entry of the absence, and in that one's own."""
        facts, steps = self.facts, self.steps
        steps += [
            step("people", "contacts_list_people", site=facts.site),
            step(
                "person0",
                "contacts_get_person",
                person_id=ref("people", "people", where={"role": facts.topic.role}, field="id"),
            ),
            self._now(),
        ]
        for number in range(len(facts.absences)):
            entry = {
                "title": {"in": list(words.AWAY)},
                "attendees.0": ref(f"person{number}", "email"),
            }
            steps += [
                step(
                    f"entry{number}",
                    "calendar_get_event",
                    event_id=ref("now", "events", where=entry, field="id"),
                ),
                step(
                    f"person{number + 1}",
                    "contacts_get_person",
                    person_id=ref(f"entry{number}", "deputy_id"),
                ),
            ]
        self.who = ref(f"entry{len(facts.absences) - 1}", "deputy_id")
        self.back = ref("entry0", "end")

    def _find_on_shift(self) -> None:
        facts, steps = self.facts, self.steps
        if not facts.dated:
            steps += [
                step("crew", "contacts_list_people", role=facts.topic.role, site=facts.site),
                step(
                    "cards",
                    "contacts_get_person",
                    each=ref("crew", "people", take="all", field="id"),
                    person_id=ref("item"),
                ),
            ]
            self.who = ref("cards", where={"shift": facts.shift}, field="id")
            return
        on_shift = {"location": facts.site, "title": {"contains_all": ["shift", facts.topic.role]}}
        duty = ref("now", "events", where=on_shift, field="id")
        steps += [self._now(), step("duty", "calendar_get_event", event_id=duty)]
        planned = ref("duty", "attendees.0")
        if facts.posted:
            swap = {
                "author": planned,
                "text": {"contains_all": [facts.day_name(0), "takes my shift"]},
            }
            query: Any = fn("regex", ref("posts", "posts", where=swap, field="text"), SWAPPED)
        else:
            query = planned
        steps.append(step("found", "contacts_search", query=query))
        self.who = ref("found", "people", field="id", take="only")
