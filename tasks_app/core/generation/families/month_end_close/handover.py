"""The day of the handover: items change owner, a file says which, a letter says where it is."""

from datetime import date
from typing import Any

from tasks_app.core.generation.days import short_day, spellings
from tasks_app.core.generation.families.month_end_close import words
from tasks_app.core.generation.families.month_end_close.book import registers
from tasks_app.core.generation.families.month_end_close.desk import CHECKLIST, Desk
from tasks_app.core.generation.families.month_end_close.rules import HANDOVER
from tasks_app.core.generation.forms import filled, fn, match, ref, reply, step


def hand_over(desk: Desk) -> None:
    """Write the day on which open items change owner."""
    facts, paper, rng = desk.facts, desk.paper, desk.facts.rng
    ask = rng.choice(words.HANDOVERS).format(deputy=facts.deputy.given, month=facts.month)
    text = [rng.choice(words.HELLOS), ask]
    if facts.files:
        text.append(rng.choice(words.FILE_ASKS).format(deputy=facts.deputy.given))
    paper.morning(facts.mornings[2], " ".join([*text, facts.lead.given]))
    paper.do("open", "tables_query_rows", table_id=registers(paper, CHECKLIST))
    mine, new = facts.lead.given.lower(), facts.deputy.given.lower()
    where = {"period": facts.period, "status": "open", "owner": mine}
    items = ref("open", "rows", where=where, take="all")
    ids = ref("open", "rows", where=where, take="all", field="id")
    paper.do("owner", "tables_update_row", ids, row_id=ref("item"), values={"owner": new})
    handed = [item["id"] for item in facts.handed]
    paper.check(
        3,
        match(
            "o_day3_owner",
            f"day3: exactly the open items of {facts.lead.given} are {facts.deputy.given}'s",
            "tables/rows",
            {"table_id": desk.checklist_id, "owner": new},
            {"id": {"in": handed}, "status": "open", "period": facts.period},
            count=len(handed),
            because={"owner": HANDOVER, "status": HANDOVER},
        ),
    )
    for item in handed:
        paper.may(f"tables/rows/{item}#owner")
    desk.other += [
        step(f"owner_{n}", "tables_update_row", row_id=item, values={"owner": new})
        for n, item in enumerate(reversed(handed))
    ]
    if facts.files:
        _file(desk, items)
    names = fn("join", fn("column", items, "id"), ", ")
    paper.closes(
        "day3: the reply names each item that was handed over",
        [[item] for item in handed],
        rng.choice(words.HANDOVER_REPLIES).format(deputy=facts.deputy.given),
        {"items": names},
    )
    desk.other.append(reply(f"Done: {' '.join(reversed(handed))}."))


def _file(desk: Desk, items: Any) -> None:
    facts, paper, rng = desk.facts, desk.paper, desk.facts.rng
    total = desk.total()
    lines = fn("lines", items, "- {id} {item}, due {due_on}", "\n")
    paper.do(
        "file",
        "files_write_file",
        path=desk.path,
        text=filled(
            f"# Handover {facts.month} 2031\n{desk.sheet}: {{total}} EUR\n{{lines}}",
            total=fn("money", desk.book.total(2)),
            lines=lines,
        ),
    )
    told: list[Any] = [[{"number": total}]]
    for item in facts.handed:
        told += [[item["id"]], spellings(date.fromisoformat(item["due_on"]))]
    paper.check(
        2,
        {
            "id": "r_file",
            "component": "report",
            "kind": "text_match",
            "explain": "day3: the file has the total and each item with its date",
            "requires": [paper.anchor],
            "path": desk.path,
            "text": told,
            "forbidden": [i["id"] for i in facts.items if i not in facts.handed],
        },
    )
    paper.may("files/files/*", {"id": desk.path}, change="add", max=1)
    paper.sends(
        "handover",
        f"day3: {facts.deputy.given} was told where the file is",
        [facts.deputy.email],
        f"Handover {facts.month}",
        rng.choice(words.POINTERS).format(deputy=facts.deputy.given),
        {"path": ref("file", "id")},
        [[desk.path]],
        weight=1,
        requires="r_file",
    )
    dates = ", ".join(
        f"{i['id']} ({short_day(date.fromisoformat(i['due_on']))})" for i in facts.handed
    )
    desk.other += [
        step(
            "paper",
            "files_write_file",
            path=desk.path,
            text=f"Open: {dates}. Total {total:.2f}.",
        ),
        step(
            "note",
            "mail_send_message",
            to=[facts.deputy.email],
            subject="For you",
            body=f"All of it stands in {desk.path}, regards.",
        ),
    ]
