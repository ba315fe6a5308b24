"""A draft written from its facts: letters read, items made, the list put right, checks, request."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks_app.core.generation import days
from tasks_app.core.generation.families.inbox_to_todo import words
from tasks_app.core.generation.families.inbox_to_todo.facts import (
    ANSWERED,
    CANCELLED,
    DATED,
    DAY,
    DELEGATED,
    WEEKDAY,
    Thread,
)
from tasks_app.core.generation.families.inbox_to_todo.letters import Inbox
from tasks_app.core.generation.families.inbox_to_todo.rules import CREATE, RULES, write_rules
from tasks_app.core.generation.forms import Json, added, fn, match, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper
from tasks_app.core.generation.talk import excused, listed, message
from tasks_app.core.instants import MONTHS, WEEKDAYS

FORMS: Final[Mapping[str, str]] = {
    WEEKDAY: "|".join(WEEKDAYS),
    DAY: rf"\d+ (?:{'|'.join(MONTHS)})",
}
"""How a letter names a day → an expression for it."""
MOVE: Final = "mail_move_message"


class Sorting:
    """One draft being written: each part of the spec follows from the facts."""

    def __init__(self, kind: Kind, facts: Inbox):
        self.facts = facts
        office = Office(
            facts.house,
            facts.trade.kind,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            facts.mailbox,
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)
        self.made: list[str] = []
        """Steps that make items."""

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        write_rules(facts, paper)
        self._read()
        self._make()
        self._drop()
        self._check()
        self._report()
        self._other_way()
        if facts.level >= 5:
            paper.fails_once(CREATE, RULES, words.RULES["error"])
        self._fill()
        return paper.spec(
            slug=("inbox", facts.subtype, facts.house.name, facts.letters[0]["id"]),
            title=f"{facts.house.name}: {_TITLES[facts.subtype]}",
            tags=["mail", "office"],
            request=self._request(),
            distractors=len(facts.letters) + len(facts.items) - len(facts.due_threads),
            parameters={"items": len(facts.due_threads), "letters": len(facts.letters)},
            calls=60 if facts.level < 4 else 100,
        )

    # --- reading ---------------------------------------------------------------------------------

    def _read(self) -> None:
        facts, paper = self.facts, self.paper
        since: Json = {}
        if facts.aged:
            since = {"since": fn("add_days", ref("clock", "today"), -facts.oldest)}
        paper.do("inbox", "mail_list_messages", label="inbox", **since)
        each = ref("inbox", "messages", take="all", field="id")
        paper.do("letters", "mail_get_message", each, message_id=ref("item"))
        if facts.subtype == ANSWERED:
            paper.do("outbox", "mail_list_outbox")
            each = ref("outbox", "messages", take="all", field="id")
            paper.do("sent", "mail_get_message", each, message_id=ref("item"))
        if facts.listed or facts.dropped:
            paper.do("list", "todo_list_items")

    @property
    def _day(self) -> str:
        """Finds the day that a letter names."""
        return rf"\bby ({'|'.join(FORMS[form] for form in self.facts.forms)})"

    def _answered(self, source: str, pieces: Sequence[str], **more: Any) -> Json:
        """The letters that letters of a certain wording answer."""
        where: Json = {"body": {"contains_any": list(pieces)}, **more}
        return ref(source, where=where, take="all", field="in_reply_to")

    def _open(self, *, taken: bool) -> Json:
        """Which letters an item is made of, as a choice."""
        facts = self.facts
        where: Json = {"body": {"regex": self._day, "contains_any": list(words.ASKING)}}
        over: Json | None = None
        if facts.subtype == DATED:
            over = self._answered("letters", words.ASKING, in_reply_to={"exists": True})
        elif facts.subtype == ANSWERED:
            over = self._answered("sent", words.ANSWERING)
        elif facts.subtype == CANCELLED:
            over = self._answered("letters", words.CANCELLING)
        elif len(self._groups()) > 1:
            over = self._answered("letters", words.TAKING)
        if over is not None:
            where["id"] = {"in" if taken else "not_in": over}
        if facts.listed and not taken:
            where["subject"] = {"not_in": ref("list", "items", take="all", field="title")}
        return where

    # --- items -----------------------------------------------------------------------------------

    def _groups(self) -> list[bool]:
        """Whether somebody took it: a step each."""
        facts = self.facts
        taken = [
            facts.subtype == DELEGATED and thread.owner != facts.lead.email
            for thread in facts.due_threads
        ]
        return list(dict.fromkeys(taken))

    def _make(self) -> None:
        facts, paper = self.facts, self.paper
        for place, taken in enumerate(self._groups()):
            where = self._open(taken=taken)
            each = ref("letters", where=where, take="all")
            more: Json = {}
            if facts.described:
                more["description"] = ref("item", "from")
            paper.do(
                f"made{place}",
                CREATE,
                each,
                title=fn("regex", ref("item", "subject"), r"^(?:Re: )?(.+)$"),
                owner=self._owner(taken=taken),
                priority=facts.priority,
                due_on=self._due(),
                **more,
            )
            self.made.append(f"made{place}")
            if facts.filed:
                paper.do(
                    f"moved{place}",
                    MOVE,
                    ref("letters", where=where, take="all", field="id"),
                    message_id=ref("item"),
                    label=facts.label,
                )

    def _due(self) -> Json:
        tomorrow = fn("add_days", fn("date", ref("item", "date")), 1)
        return fn("named_day", fn("regex", ref("item", "body"), self._day), tomorrow)

    def _owner(self, *, taken: bool) -> Any:
        facts = self.facts
        if taken:
            own = {
                "in_reply_to": ref("item", "id"),
                "body": {"contains_any": list(words.TAKING)},
            }
            return ref("letters", where=own, sort="date", take="last", field="from")
        if facts.by_firm:
            return fn("lookup", fn("regex", ref("item", "from"), "@(.+)$"), facts.keepers)
        return facts.lead.email

    def _drop(self) -> None:
        if not self.facts.dropped:
            return
        gone = self._answered("letters", words.CANCELLING)
        titles = ref("letters", where={"id": {"in": gone}}, take="all", field="subject")
        each = ref("list", "items", where={"title": {"in": titles}}, take="all", field="id")
        self.paper.do("dropped", "todo_update_item", each, item_id=ref("item"), status="dropped")

    # --- checks ----------------------------------------------------------------------------------

    def _check(self) -> None:
        facts, paper = self.facts, self.paper
        for place, item in enumerate(facts.dropped):
            paper.check(
                2,
                match(
                    f"o_dropped{place}",
                    f"{item['title']}: the item is dropped",
                    "todo/items",
                    {"id": item["id"]},
                    {"status": "dropped"},
                    because={"status": RULES},
                ),
            )
            paper.write_set.append(f"todo/items/{item['id']}#status,updated_at")
        for place, thread in enumerate(facts.due_threads):
            self._check_item(place, thread)
        titles = [thread.subject for thread in facts.due_threads]
        if titles:
            where = {"title": {"in": titles}, "status": "open"}
            paper.write_set.append(added("todo/items/*", where, len(titles)))
            if not facts.described:
                paper.free.append(
                    {
                        "address": "todo/items/*#description",
                        "reason": "what else is said of an item is up to the coworker",
                    }
                )
        if facts.level >= 2:
            paper.looked(
                "The letters were read before anything was put on the list",
                {"tool": "mail_get_message"},
                {"tool": [CREATE, "todo_update_item"]},
            )

    def _check_item(self, place: int, thread: Thread) -> None:
        facts, paper = self.facts, self.paper
        if thread.due is None:
            raise ValueError(f"{thread.subject} is no item")
        where, due = {"title": thread.subject}, thread.due.isoformat()
        expect: Json = {"priority": facts.priority}
        if facts.described:
            expect["description"] = {"contains_any": [thread.partner.email]}
        for name, explain, values in (
            (
                "o_item",
                f"{thread.subject} is due on {due}",
                {"due_on": due},
            ),
            ("o_owner", f"It belongs to {thread.owner}", {"owner": thread.owner}),
            ("o_rest", "It is as the rules want it", expect),
        ):
            anchor = [] if name == "o_item" else [f"o_item{place}"]
            paper.check(
                1 if name == "o_rest" else 2,
                match(
                    f"{name}{place}",
                    explain,
                    "todo/items",
                    where,
                    values,
                    requires=anchor,
                    because={"title": RULES, **dict.fromkeys(values, RULES)},
                ),
            )
        if facts.filed:
            letter = thread.deciding["id"]
            paper.check(
                1,
                match(
                    f"o_filed{place}",
                    f"{letter} lies under {facts.label}",
                    "mail/messages",
                    {"id": letter},
                    {"labels": {"eq": [facts.label]}},
                    requires=[f"o_item{place}"],
                    because={"labels": RULES},
                ),
            )
            paper.write_set.append(f"mail/messages/{letter}#labels")

    # --- the rest --------------------------------------------------------------------------------

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        parts, groups, texts = [], [], []
        places: dict[str, Any] = {}
        if self.made:
            parts.append("the title and the day of each new item")
            for thread in facts.due_threads:
                if thread.due is not None:
                    groups += [[thread.subject], days.spellings(thread.due)]
            for name in self.made:
                places[name] = fn("lines", ref(name), "{title} by {due_on}", "; ")
                texts.append(f"{{{name}}}")
        if facts.dropped:
            parts.append("the title of each item that was dropped")
            groups += [[item["title"]] for item in facts.dropped]
            places["gone"] = fn("lines", ref("dropped"), "{title}", "; ")
            texts.append("dropped: {gone}")
        paper.contract = f"Reply to {facts.lead.given} with {listed(parts)}."
        told = f"The reply gives {listed(parts)}"
        paper.answers(told, groups, f"On the list: {'; '.join(texts)}.", places)

    def _other_way(self) -> None:
        """Another solution: backwards, the ids and days written down."""
        facts = self.facts
        steps = [
            step("seen", "mail_get_message", message_id=facts.letters[-1]["id"]),
            *(
                step(f"gone{n}", "todo_update_item", item_id=item["id"], status="dropped")
                for n, item in enumerate(facts.dropped)
            ),
        ]
        told = [f"dropped {item['title']}" for item in facts.dropped]
        for place, thread in reversed(list(enumerate(facts.due_threads))):
            if thread.due is None:
                continue
            if facts.filed:
                letter = thread.deciding["id"]
                steps.append(step(f"file{place}", MOVE, message_id=letter, label=facts.label))
            steps.append(
                step(
                    f"item{place}",
                    CREATE,
                    title=thread.subject,
                    description=f"{thread.partner.email} ({thread.partner.name})",
                    owner=thread.owner,
                    priority=facts.priority,
                    due_on=thread.due.isoformat(),
                )
            )
            told.append(f"{days.long_day(thread.due)}: {thread.subject}")
        self.paper.alternatives.append([*steps, reply("\n".join(told))])

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        asked = excused(rng, rng.choice(facts.colleagues).given, rng.choice(words.GO))
        parts = [asked, rng.choice(words.MORE[facts.subtype])]
        if rng.random() < 0.4:
            parts.reverse()
        return message(rng, facts.lead.given, parts, words.REPORTS)

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        for person, post in zip(facts.colleagues, facts.posts, strict=True):
            paper.people.append({"name": person.name, "role": post, "mailbox": person.email})
        paper.services["mail"] = {
            "messages": facts.letters,
            "drafts": [],
            "outbox": facts.sent,
        }
        paper.services["todo"] = {"items": facts.items}
        paper.tools += ["mail_list_messages", "mail_search_messages", "mail_get_message"]
        if facts.subtype == ANSWERED:
            paper.tools.append("mail_list_outbox")
        paper.tools.append("mail_reply_message")
        if facts.level >= 3:
            paper.tools.append("mail_send_message")
        if facts.filed or facts.level >= 3:
            paper.tools.append(MOVE)
        paper.tools += ["todo_list_items", CREATE]
        if facts.dropped or facts.level >= 2:
            paper.tools += ["todo_update_item", "todo_delete_item"]
        paper.claimed.add("C1")
        if facts.filed and facts.count >= 3:
            paper.claimed.add("C6")
        if facts.count:
            paper.claimed.add("C11")
        if facts.aged:
            paper.claimed.add("C20")
        if facts.level >= 5:
            paper.claimed.add("C18")


_TITLES: Final[Mapping[str, str]] = {
    DATED: "the last day that was named",
    ANSWERED: "what has been delivered",
    CANCELLED: "what was taken back",
    DELEGATED: "who took it",
}
