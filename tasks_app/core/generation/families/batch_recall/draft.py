"""A draft written from its facts, day by day: block, write, count, report."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tasks_app.core.generation.families.batch_recall import words
from tasks_app.core.generation.families.batch_recall.counting import Counting
from tasks_app.core.generation.families.batch_recall.facts import MIXED, ONE, WRONG
from tasks_app.core.generation.families.batch_recall.log import UPDATE, WRITE
from tasks_app.core.generation.families.batch_recall.records import fill
from tasks_app.core.generation.families.batch_recall.rules import LOOKING, RULES, write_rules
from tasks_app.core.generation.forms import Json, filled, fn, match, ref, reply, step
from tasks_app.core.generation.talk import excused, marked, sentence


class Recall(Counting):
    """One draft being written: each part of the spec follows from the facts."""

    def written(self) -> Json:
        """Return the spec."""
        facts, paper = self.facts, self.paper
        fill(facts, paper, self.sheet_id)
        write_rules(facts, paper)
        self._block()
        self._tell_customers()
        if facts.counts:
            self.count()
        if facts.corrects:
            self.report()
        if facts.level >= 5:
            paper.fails_once(facts.rng.choice((UPDATE, WRITE)), RULES, words.RULES["error"])
        paper.alternatives.append(self.other)
        paper.claimed |= {"C1", "C2", "C11"}
        if facts.level >= 2:
            paper.claimed.add("C6")
        return paper.spec(
            slug=("recall", facts.subtype, facts.batch["id"], facts.hit[0]["id"]),
            title=f"Recall of {facts.product}: {_TITLES[facts.subtype]}",
            tags=["operations", "recall"],
            request=self._request(),
            distractors=len(facts.pallets) + len(facts.shipments) - 2 * len(facts.hit),
            parameters={"days": len(paper.days), "pallets": len(facts.out)},
        )

    def _block(self) -> None:
        facts, paper = self.facts, self.paper
        paper.do("post", "mail_search_messages", query=facts.product)
        subject = {"subject": {"regex": "^Complaint"}}
        paper.do(
            "complaint",
            "mail_get_message",
            message_id=ref("post", "messages", where=subject, field="id"),
        )
        paper.do("registers", "tables_list_tables")
        if facts.subtype == WRONG:
            paper.do("batches", "tables_query_rows", table_id=self.table("Batches"))
        paper.do("pallets", "tables_query_rows", table_id=self.table("Pallets"))
        paper.do("ships1", "tables_query_rows", table_id=self.table("Shipments"))
        paper.do("sheets", "sheets_list_sheets")
        self._block_and_log("", self.hit(), facts.hit)
        units = sum(p["units"] for p in facts.hit)
        self.other.append(reply(f"{units} units stand still now."))
        paper.closes(
            f"Day 1: the reply states the {units} units that were blocked",
            [[{"number": units}]],
            facts.rng.choice(words.BLOCKED),
            {"units": fn("sum", self.hit(field="units"))},
        )

    def _block_and_log(self, name: str, pallets: Any, rows: Sequence[Json]) -> None:
        """Block pallets, and give each its line of the log."""
        facts, paper = self.facts, self.paper
        day = paper.number
        blocked = {"status": "blocked"}
        ids = {**pallets, "field": "id"}
        paper.do(f"blocked{name}", UPDATE, ids, row_id=ref("item"), values=blocked)
        line = [
            ref("item", "shipment"),
            ref("item", "id"),
            self.ship(day, "customer"),
            ref("item", "units"),
            "open",
        ]
        paper.do(
            f"logged{name}", "sheets_append_rows", pallets, sheet_id=self.sheet(), values=[line]
        )
        for pallet in rows:
            ship = facts.ship[pallet["id"]] if day == 1 else facts.customer(pallet)
            self.log[pallet["id"]] = [
                pallet["shipment"], pallet["id"], ship["customer"], pallet["units"], "open",
            ]  # fmt: skip
            paper.may(f"tables/rows/{pallet['id']}#status")
        status = [p["id"] for p in rows]
        every = [*facts.hit, *facts.extra] if day > 1 else facts.hit
        standing = [p["id"] for p in every if p is not facts.cleared or day == 1]
        paper.check(
            3,
            match(
                f"o_{paper.today}_blocked",
                f"{paper.today}: exactly the pallets that are called back are blocked",
                "tables/rows",
                {"table_id": facts.pallets_id, "status": "blocked"},
                {"id": {"in": standing}},
                count=len(standing),
                because={"status": RULES},
            ),
        )
        paper.may("sheets/rows/*", {"sheet_id": self.sheet_id}, change="add", max=len(rows))
        paper.may(f"sheets/sheets/{self.sheet_id}#updated_at")
        if day == 1:
            self.log_check()
        self.other += [
            step(f"x{pallet[3:]}", UPDATE, row_id=pallet, values=blocked)
            for pallet in reversed(status)
        ]
        self.other.append(
            step(
                f"y{name}",
                "sheets_append_rows",
                sheet_id=self.sheet_id,
                values=[[*self.log[pallet]] for pallet in status],
            )
        )

    def _tell_customers(self) -> None:
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        asks = [rng.choice(words.WRITE_ASKS)]
        if facts.writes_lab:
            asks.insert(0, rng.choice(words.LAB_NEWS).format(lab=facts.lab.given))
        self.morning(asks)
        for ship, values in facts.reroutes:
            paper.moves("tables/rows", ship["id"], values)
        if facts.writes_lab:
            self._arrive()
        paper.again("ships2", "ships1")
        self._follow()
        out = self.hit()
        if facts.writes_lab:
            paper.do("post2", "mail_search_messages", query="laboratory")
            result = {"subject": {"regex": "^Result"}}
            paper.do(
                "result",
                "mail_get_message",
                message_id=ref("post2", "messages", where=result, field="id"),
            )
            if facts.subtype == MIXED:
                out = self._clear()
            else:
                self._block_and_log("_more", self.hit("result"), facts.extra)
        self.log_check()
        if rng.random() < 0.5:
            paper.looked(
                "day2: the shipments were looked at again before the first letter",
                {"tool": list(LOOKING), "stage": "day2"},
                {"tool": "mail_send_message", "stage": "day2"},
            )
        self._letters("told", out, [p for p in facts.hit if p is not facts.cleared])
        if facts.extra:
            self._letters("told_more", self.hit("result"), facts.extra)
        rerouted = fn("join", fn("column", self._rerouted(), "id"), ", ")
        moved = facts.moved["shipment"]
        self.other.append(reply(f"{moved} goes elsewhere by now."))
        paper.closes(
            "day2: the reply names the shipment that was rerouted",
            [[moved]],
            rng.choice(words.REROUTED),
            {"ids": rerouted},
        )

    def _rerouted(self) -> Any:
        ours = {"id": {"in": self.hit(field="shipment")}}
        now = ref("ships2", "rows", where=ours, take="all")
        return fn(
            "differing", now, fn("rows", ref("ships1", "rows"), ["id", "customer"]), "customer", 1
        )

    def _follow(self) -> None:
        """Let the line of a rerouted shipment name who has it now."""
        facts, paper = self.facts, self.paper
        paper.do("lines2", "sheets_read_range", sheet_id=self.sheet())
        paper.do(
            "followed",
            WRITE,
            self._rerouted(),
            sheet_id=self.sheet(),
            cells=filled("C{n}", n=self.row_of("lines2", ref("item", "id"))),
            values=[[ref("item", "customer")]],
        )
        line = self.log[facts.moved["id"]]
        line[2] = facts.customer(facts.moved)["customer"]
        self.line_check(facts.moved, "moved", "names the customer who has it now")
        paper.may(f"sheets/sheets/{self.sheet_id}#updated_at")
        self.other += [
            step("look", "tables_get_row", row_id=facts.moved["shipment"]),
            self.cells(facts.moved, "C", [line[2]]),
        ]

    def _clear(self) -> Any:
        """Release the pallet that the laboratory clears; return those that are left."""
        facts, paper = self.facts, self.paper
        cleared = facts.cleared
        if cleared is None:
            raise ValueError("no pallet is cleared")
        named = fn("regex", ref("result", "body"), r"(PL-\d+)")
        paper.do("released", UPDATE, row_id=named, values={"status": "released"})
        shipment = ref("pallets", "rows", where={"id": named}, field="shipment")
        paper.do(
            "cleared",
            WRITE,
            sheet_id=self.sheet(),
            cells=filled("D{n}:E{n}", n=self.row_of("lines2", shipment)),
            values=[[0, "released"]],
        )
        self.log[cleared["id"]][3:] = [0, "released"]
        self.line_check(cleared, "cleared", "is released")
        paper.check(
            2,
            match(
                "o_day2_released",
                f"day2: {cleared['id']} is released",
                "tables/rows",
                {"id": cleared["id"]},
                {"status": "released"},
                because={"status": RULES},
            ),
        )
        paper.may(f"tables/rows/{cleared['id']}#status")
        self.other += [
            step("z", UPDATE, row_id=cleared["id"], values={"status": "released"}),
            self.cells(cleared, "D", [0, "released"]),
        ]
        return {**self.hit(), "where": {**self.hit()["where"], "id": {"ne": named}}}

    def _letters(self, name: str, pallets: Any, rows: Sequence[Json]) -> None:
        """One letter to whoever has a pallet now."""
        facts, paper, rng = self.facts, self.paper, self.facts.rng
        paper.do(
            name,
            "mail_send_message",
            pallets,
            to=[self.ship(2, "mailbox")],
            subject=f"Recall of {facts.product}",
            body=filled(
                rng.choice(words.LETTERS).format(product=facts.product),
                pallet=ref("item", "id"),
                units=ref("item", "units"),
            ),
        )
        for pallet in rows:
            to = facts.customer(pallet)["mailbox"]
            paper.check(
                1,
                {
                    "id": f"r_{pallet['id'].lower().replace('-', '')}",
                    "component": "report",
                    "kind": "message_match",
                    "explain": f"{paper.today}: whoever has {pallet['id']} was told",
                    "requires": [paper.anchor],
                    "to": [to],
                    "text": [[pallet["id"]], [{"number": pallet["units"]}]],
                    "min": 1,
                },
            )
            paper.may("mail/outbox/*", {"to": [to], "cc": []}, change="add", max=1)
            self.other.append(
                step(
                    f"w{pallet['id'][3:]}",
                    "mail_send_message",
                    to=[to],
                    subject="Please stop selling",
                    body=f"{pallet['units']} units of {pallet['id']} have to come back.",
                )
            )

    def _arrive(self) -> None:
        """The result of the laboratory, and a note of it that decides nothing."""
        facts, rng = self.facts, self.facts.rng
        if facts.subtype == MIXED:
            cleared = facts.cleared
            body = rng.choice(words.CLEARINGS).format(pallet=cleared["id"] if cleared else "")
        else:
            body = rng.choice(words.FINDINGS).format(batch=facts.second["id"])
        note = rng.choice(words.LAB_NOTES).format(batch=facts.batches[1]["id"])
        evening, number = facts.mornings[0], rng.randrange(1500, 4000)
        for subject, text in rng.sample([("Result", body), ("Samples", note)], 2):
            number += 1
            self.paper.arrives(
                "mail/messages",
                {
                    "id": f"M-{number}",
                    "mailbox": facts.mailbox,
                    "from": facts.lab.email,
                    "to": [facts.mailbox],
                    "subject": f"{subject} from the laboratory",
                    "date": evening.at(evening.day, rng.randrange(17 * 60, 22 * 60)),
                    "body": text,
                    "labels": ["inbox"],
                    "is_read": False,
                },
            )

    def _request(self) -> str:
        facts, rng = self.facts, self.facts.rng
        start = rng.choice(words.STARTS).format(product=facts.product)
        ask = excused(rng, facts.officer.given, rng.choice(words.ASKS))
        return " ".join(
            [sentence(start), sentence(marked(ask)), rng.choice(words.ENDS), facts.lead.given]
        )


_TITLES: Final[Mapping[str, str]] = {
    ONE: "one batch",
    MIXED: "pallets of several batches",
    WRONG: "a lot without its number",
}
