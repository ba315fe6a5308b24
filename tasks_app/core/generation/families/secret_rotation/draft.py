"""A draft written from its facts: find the link, pause, rotate, resume, tell; checks and rules."""

from datetime import date
from typing import Any, Final

from tasks_app.core.generation import talk
from tasks_app.core.generation.days import spellings
from tasks_app.core.generation.families.secret_rotation import words
from tasks_app.core.generation.families.secret_rotation.facts import (
    DEPENDANTS,
    EXPIRED,
    LEAKED,
    ORPHAN,
    RotationFacts,
)
from tasks_app.core.generation.forms import Json, added, filled, fn, match, ref, reply, step
from tasks_app.core.generation.paper import Kind, Office, Paper

RULES: Final = "secrets"
ROTATE: Final = "config_rotate_secret"
LINK: Final = "config_update_integration"
JOB: Final = "scheduler_update_job"
TELL: Final = "config_notify_people"
POST: Final = "chat_create_post"


class Rotation:
    """One draft being written: each part of the spec follows from the facts."""

    def __init__(self, kind: Kind, facts: RotationFacts):
        self.facts = facts
        office = Office(
            facts.house,
            facts.trade,
            facts.lead,
            facts.lead_role,
            facts.own_role,
            f"keys@{facts.house.domain}",
        )
        self.paper = Paper(kind, facts.cast, facts.clock, office)
        self.own = str(facts.right["id"])
        self.target: Any = None
        """Binding to the number of the link."""
        self.due = facts.clock.date(facts.term)

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        paper.document(RULES, "New secrets")
        self._find()
        if facts.taken:
            self._read_channel()
        if facts.jobbed:
            self._list_jobs()
        self._pause()
        paper.do("rotated", ROTATE, integration_id=self.target)
        self._rotation()
        self._resume()
        self._own()
        if facts.noted:
            paper.say(RULES, words.RULES["note"])
            note = filled("New secret on {day}.", day=ref("clock", "today"))
            paper.do("noted", LINK, integration_id=self.target, note=note)
        if facts.told:
            self._tell()
        self._bind()
        self._report()
        self._other_way()
        if facts.level >= 5:
            paper.say(RULES, words.RULES["orders"])
            paper.fails_once(ROTATE, RULES, words.RULES["error"])
            paper.claimed.add("C18")
        self._fill()
        values = {"kind": facts.link.kind, "name": facts.link.name}
        return paper.spec(
            slug=("secrets", facts.subtype, self.own, facts.clock.date()),
            title=talk.capital(words.TITLES[facts.subtype].format(**values)),
            tags=["operations", "security"],
            request=self._request(),
            distractors=len(facts.links) + len(facts.jobs) - 1,
            parameters={"links": len(facts.links), "jobs": len(facts.jobs)},
            calls=60,
        )

    # --- the link --------------------------------------------------------------------------------

    def _find(self) -> None:
        """Find the link whose secret is to be new."""
        facts, paper, said = self.facts, self.paper, words.RULES
        if facts.subtype == EXPIRED:
            paper.say(RULES, said["expired"].format(days=facts.days))
            paper.do("links", "config_list_integrations", kind=facts.link.kind, status="active")
            last = fn("add_days", ref("clock", "today"), facts.days)
            self.target = ref(
                "links", "integrations", where={"expires_on": {"le": last}}, field="id"
            )
            paper.claimed.add("C20")
        elif facts.subtype == LEAKED:
            paper.say(RULES, said["leaked"])
            paper.do("links", "config_search_integrations", query=facts.tail)
            active = ref(
                "links", "integrations", where={"status": "active"}, take="all", field="id"
            )
            paper.do("cards", "config_get_integration", active, integration_id=ref("item"))
            ends = {"secret": {"regex": f"{facts.tail}$"}}
            self.target = ref("cards", where=ends, field="id")
        elif facts.subtype == DEPENDANTS:
            paper.say(RULES, said["dependants"])
            paper.do("links", "config_search_integrations", query=facts.link.name)
            ids = ref("links", "integrations", take="all", field="id")
            paper.do("cards", "config_get_integration", ids, integration_id=ref("item"))
            self.target = ref("links", "integrations", where={"name": facts.link.name}, field="id")
        else:
            desks = [
                said["desk"].format(kind=talk.capital(kind), address=address)
                for kind, address in facts.cast.shuffled(list(facts.desks.items()))
            ]
            paper.say(RULES, said["orphan"], *desks)
            paper.do("links", "config_list_integrations", status="active")
            self.target = ref("links", "integrations", where={"owner": None}, field="id")

    def _rotation(self) -> None:
        facts, paper = self.facts, self.paper
        expect: Json = {"rotated_at": facts.clock.now, "status": "active"}
        fields = ["secret", "rotated_at", "updated_at"]
        if self._new_owner:
            expect["owner"] = facts.owner
            fields.append("owner")
        if facts.noted:
            expect["note"] = {"contains_all": [facts.clock.date()]}
            fields.append("note")
        paper.check(
            3,
            match(
                "o_rotated",
                f"The secret of {self.own} is new",
                "config/integrations",
                {"id": self.own},
                expect,
                because=dict.fromkeys(expect, RULES),
            ),
        )
        paper.write_set.append(f"config/integrations/{self.own}#{','.join(fields)}")

    @property
    def _new_owner(self) -> bool:
        return self.facts.taken or self.facts.subtype == ORPHAN

    # --- who uses it -----------------------------------------------------------------------------

    def _list_jobs(self) -> None:
        self.paper.do("jobs", "scheduler_list_jobs", tag=self.target, enabled=True)

    def _pause(self) -> None:
        facts, paper = self.facts, self.paper
        if facts.subtype == DEPENDANTS:
            where = {"note": {"contains_any": ["signs in through"]}, "status": "active"}
            self.users = ref("cards", where=where, take="all", field="id")
            paper.do("paused", LINK, self.users, integration_id=ref("item"), status="paused")
        if facts.jobbed:
            self.job_ids = ref("jobs", "jobs", take="all", field="id")
            paper.do("stopped", JOB, self.job_ids, job_id=ref("item"), enabled=False)

    def _resume(self) -> None:
        facts, paper, said = self.facts, self.paper, words.RULES
        if facts.subtype == DEPENDANTS:
            paper.do("resumed", LINK, self.users, integration_id=ref("item"), status="active")
            self._around(
                "links", "config/integrations", facts.dependants, said["dependants"],
                (LINK, "integration_id", "status", "paused", "active"), "status,updated_at",
            )  # fmt: skip
        if facts.jobbed:
            paper.do("started", JOB, self.job_ids, job_id=ref("item"), enabled=True)
            paper.say(RULES, said["before"])
            self._around(
                "jobs", "scheduler/jobs", facts.users, said["before"],
                (JOB, "job_id", "enabled", False, True), "enabled,next_run,updated_at",
            )  # fmt: skip
            paper.claimed.add("C3")

    def _around(
        self,
        name: str,
        place: str,
        rows: list[Json],
        sentence: str,
        act: tuple[str, str, str, Any, Any],
        fields: str,
    ) -> None:
        """Ask for an act before the rotation and its contrary after it, on each of some records."""
        paper = self.paper
        tool, argument, key, off, on = act
        for number, row in enumerate(rows):
            paper.bind(
                f"k_{name}{number}", "require_before", RULES, sentence, 0.3,
                write={"tool": ROTATE, "arguments": {"integration_id": self.own}},
                needs={"tool": tool, "arguments": {argument: row["id"], key: off}},
            )  # fmt: skip
            paper.write_set.append(f"{place}/{row['id']}#{fields}")
        after = words.RULES["after"] if tool == JOB else sentence
        paper.bind(
            f"k_{name}_after", "require_before", RULES, after, 0.3,
            write={"tool": tool, "arguments": {key: on}}, needs={"tool": ROTATE},
        )  # fmt: skip
        ids = sorted(str(row["id"]) for row in rows)
        paper.check(
            2,
            match(
                f"o_{name}",
                "What was paused works again",
                place,
                {"id": {"in": ids}},
                {key: on, "updated_at": self.facts.clock.now},
                requires=["o_rotated"],
                count={"eq": len(ids)},
                because={key: RULES, "updated_at": RULES},
            ),
        )
        paper.check(
            1,
            {
                "id": f"p_{name}",
                "component": "process",
                "kind": "call_order",
                "explain": "Paused before the rotation and resumed after it",
                "requires": ["o_rotated"],
                "order": [
                    {"tool": tool, "arguments": {key: off}},
                    {"tool": ROTATE},
                    {"tool": tool, "arguments": {key: on}},
                ],
            },
        )

    # --- who owns it -----------------------------------------------------------------------------

    def _read_channel(self) -> None:
        paper = self.paper
        paper.do("channels", "chat_list_channels")
        home = ref("channels", "channels", where={"name": "links"}, field="id")
        paper.do("posts", "chat_list_posts", channel_id=home)

    def _own(self) -> None:
        facts, paper = self.facts, self.paper
        if facts.taken:
            paper.say(RULES, words.RULES["taken"])
            about = {"text": {"contains_any": [ref("rotated", "name")]}}
            self.owner: Any = ref(
                "posts", "posts", where=about, sort="-date", take="first", field="author"
            )
            paper.claimed |= {"C2", "C14"}
        elif facts.subtype == ORPHAN:
            kind = ref("links", "integrations", where={"owner": None}, field="kind")
            self.owner = fn("lookup", kind, dict(facts.desks))
            paper.claimed.add("C14")
        else:
            self.owner = ref("rotated", "owner")
            return
        paper.do("owned", LINK, integration_id=self.target, owner=self.owner)

    def _tell(self) -> None:
        facts, paper = self.facts, self.paper
        paper.say(RULES, words.RULES["tell"].format(days=facts.term))
        day = fn("add_days", ref("clock", "today"), facts.term)
        paper.do(
            "told",
            TELL,
            integration_id=self.target,
            recipients=[self.owner],
            text=filled(
                "The {name} has a new secret. It has to be new again by {day}.",
                name=ref("rotated", "name"),
                day=day,
            ),
        )
        where = {"integration_id": self.own, "recipients": [facts.owner]}
        paper.check(
            1,
            match(
                "o_told",
                f"{facts.owner} is told",
                "config/notifications",
                {"integration_id": self.own},
                {"recipients": [facts.owner]},
                requires=["o_rotated"],
                count={"eq": 1},
            ),
        )
        paper.told(
            2,
            "r_notice",
            "The notification names the link and the day",
            "config/notifications",
            [[facts.link.name], spellings(date.fromisoformat(self.due))],
            where=where,
        )
        paper.write_set.append(added("config/notifications/*", where))
        paper.claimed.add("C20")

    # --- rules, report, request ------------------------------------------------------------------

    def _bind(self) -> None:
        facts, paper, said = self.facts, self.paper, words.RULES
        paper.bind("k_once", "at_most", RULES, said["once"], "gate", tool=ROTATE, n=1)
        paper.bind(
            "k_others", "argument_policy", RULES, said["others"], 0.4,
            tool=LINK, argument="status", deny=["disabled"],
        )  # fmt: skip
        if facts.told:
            paper.bind(
                "k_quiet", "no_disclosure", RULES, said["quiet"],
                values=[link["secret"] for link in facts.links],
                tools=[TELL, *([POST] * facts.taken)],
            )  # fmt: skip
        if facts.taken:
            paper.bind("k_post", "forbid_tool", RULES, said["post"], tool=[POST])

    def _report(self) -> None:
        facts, paper = self.facts, self.paper
        parts = ["the number of the link whose secret is new"]
        groups: list[Any] = [[self.own]]
        text, places = "{link} has a new secret", {"link": ref("rotated", "id")}
        named = {self.own}
        if facts.subtype == DEPENDANTS:
            parts.append("the numbers of the links that were paused meanwhile")
            groups += [[row["id"]] for row in facts.dependants]
            named |= {row["id"] for row in facts.dependants}
            text += "; {paused} were paused meanwhile"
            places["paused"] = ref("paused", take="all", field="id")
        if self._new_owner or not facts.told:
            parts.append("the address of its owner")
            groups.append([facts.owner])
            text += ", its owner is {owner}"
            places["owner"] = self.owner
        if facts.jobbed:
            parts.append("the numbers of the jobs that were off meanwhile")
            groups += [[job["id"]] for job in facts.users]
            text += "; the jobs {jobs} were off"
            places["jobs"] = ref("stopped", take="all", field="id")
        paper.contract = (
            f"Reply to {facts.lead.given} with {talk.listed(parts)}; name no other links or jobs "
            "by number, and no secret."
        )
        users = {job["id"] for job in facts.users} if facts.jobbed else set()
        wrong = [x["id"] for x in facts.links if x["id"] not in named]
        wrong += [job["id"] for job in facts.jobs if job["id"] not in users]
        paper.answers(
            f"The reply gives {talk.listed(parts)}",
            groups,
            f"{text}.",
            places,
            forbidden=[*wrong, facts.right["secret"]],
        )

    def _other_way(self) -> None:
        """Another solution: numbers written down, the owner entered and told first or last."""
        facts = self.facts
        own = self.own
        steps: list[Json] = []
        around: list[Json] = []
        for number, row in enumerate(facts.dependants):
            steps.append(step(f"p{number}", LINK, integration_id=row["id"], status="paused"))
            around.append(step(f"r{number}", LINK, integration_id=row["id"], status="active"))
        if facts.jobbed:
            for number, job in enumerate(facts.users):
                steps.append(step(f"s{number}", JOB, job_id=job["id"], enabled=False))
                around.append(step(f"t{number}", JOB, job_id=job["id"], enabled=True))
        if self._new_owner:
            steps.append(step("owned", LINK, integration_id=own, owner=facts.owner))
        steps.append(step("rotated", ROTATE, integration_id=own))
        if facts.noted:
            note = f"Rotated {facts.clock.date()}."
            steps.append(step("noted", LINK, integration_id=own, note=note))
        if facts.told:
            text = f"New secret for the {facts.link.name}, good until {self.due}."
            steps.append(
                step("told", TELL, integration_id=own, recipients=[facts.owner], text=text)
            )
        told = [own, *(row["id"] for row in facts.dependants)]
        told += [job["id"] for job in facts.users] if facts.jobbed else []
        end = f"{', '.join(told)}. Owner: {facts.owner}."
        self.paper.alternatives.append([*steps, *around[::-1], reply(end)])

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        matter = rng.choice(words.MATTERS[facts.subtype]).format(
            kind=facts.link.kind,
            name=facts.link.name,
            tail=facts.tail,
            colleague=facts.colleague.given,
        )
        ask = talk.excused(rng, facts.deputy.given, rng.choice(words.ASKS))
        return talk.message(rng, facts.lead.given, (matter, ask))

    def _fill(self) -> None:
        facts, paper = self.facts, self.paper
        paper.services["config"] = {"integrations": facts.links, "notifications": []}
        paper.tools += [
            "config_list_integrations",
            "config_search_integrations",
            "config_get_integration",
            LINK,
            ROTATE,
        ]
        if facts.told:
            paper.tools.append(TELL)
        if facts.jobbed:
            paper.services["scheduler"] = {"jobs": facts.jobs, "runs": []}
            paper.tools += ["scheduler_list_jobs", "scheduler_get_job", JOB, "scheduler_delete_job"]
        if facts.taken:
            paper.services["chat"] = {"channels": facts.channels, "posts": facts.posts}
            paper.tools += ["chat_list_channels", "chat_list_posts", POST]
        paper.claimed.add("C1")
