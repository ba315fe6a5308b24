"""Defects of records, names and dates: what a spec points to, and what its request says
(gates R1–R4).
"""

import random
import re
from collections.abc import Callable
from typing import Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written
from tasks_app.core.services.catalog import services, tools

_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def _dangling(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.links(data))
    if found is None:
        return False
    place, name, _ = found
    head, _, number = place.record[name].partition("-")
    if not number:
        return False
    place.record[name] = f"{head}-{number[::-1]}9"
    return True


def _deleted(data: Written, rng: random.Random) -> bool:
    # Only what the reference doesn't need: else nothing is left that could be mended.
    before = spots.acts(data)
    needed = {value for _, _, value in spots.leaves([act.arguments for act in before])}
    named = str(data["checks"])
    own = [
        target
        for _, _, target in spots.links(data)
        if target.record["id"] not in needed
        and target.record["id"] not in named
        and not _spoken_of(data, target.record)
    ]
    rng.shuffle(own)
    for target in own:
        rows = data["services"][target.service][target.collection]
        at = rows.index(target.record)
        rows.remove(target.record)
        if spots.acts(data) == before:
            return True
        rows.insert(at, target.record)
    return False


def _spoken_of(data: Written, record: Written) -> bool:
    """Whether the request says a value of a record, or a number that stands in one."""
    text = data["request"]["text"]
    values = [value for _, _, value in spots.leaves(record) if isinstance(value, str)]
    numbers = re.findall(r"[\w-]*\d[\w-]{2,}", text)
    return any(
        (len(value) > 3 and value in text) or any(number in value for number in numbers)
        for value in values
    )


def _no_id(data: Written, rng: random.Random) -> bool:
    place = spots.one(rng, [p for p in spots.records(data) if "id" in p.record])
    if place is None:
        return False
    del place.record["id"]
    return True


def _link_of_other_kind(data: Written, rng: random.Random) -> bool:
    # An id that exists, of another collection: it points to something that isn't meant.
    own = spots.links(data)
    found = spots.one(
        rng,
        [
            (place, name, other)
            for place, name, target in own
            for other in spots.records(data)
            if (other.service, other.collection) != (target.service, target.collection)
            and spots.ID.match(str(other.record.get("id", "")))
        ],
    )
    if found is None:
        return False
    place, name, other = found
    place.record[name] = other.record["id"]
    return True


def _lower_case_link(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.links(data))
    if found is None:
        return False
    place, name, _ = found
    place.record[name] = place.record[name].lower()
    return True


def _ghost_tool(name: str, service: str) -> Callable[[Written, random.Random], bool]:
    def plant(data: Written, _rng: random.Random) -> bool:
        if service and service not in data["services"]:
            return False
        data["tools"].append(name)
        return True

    return plant


def _old_argument(data: Written, rng: random.Random) -> bool:
    own = [s for s in spots.steps(data) if s.get("arguments")]
    step = spots.one(rng, own)
    if step is None:
        return False
    name = rng.choice(list(step["arguments"]))
    step["arguments"][f"{name}s" if rng.random() < 0.5 else f"start_{name}"] = step[
        "arguments"
    ].pop(name)
    return True


def _needed_argument(data: Written, rng: random.Random) -> bool:
    known = tools()
    own = [
        (step, name)
        for step in spots.steps(data)
        for name in (known[step["tool"]].facts.parameters or {}).get("required", [])
        if name in step["arguments"]
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    step, name = found
    del step["arguments"][name]
    return True


def _tool_not_offered(data: Written, rng: random.Random) -> bool:
    # A rule about a tool that the task doesn't offer.
    for rule in spots.constraints(data, "forbid_tool"):
        tool = rule["tool"]
        if isinstance(tool, str) and tool in data["tools"]:
            data["tools"].remove(tool)
            return True
    if "scheduler_delete_job" in data["tools"]:
        return False
    policy = rng.choice(data["workplace"]["policies"])
    policy["text"] += " Never delete a job of the scheduler."
    data.setdefault("constraints", []).append(
        {
            "id": "k_offered", "kind": "forbid_tool", "severity": "gate",
            "tool": "scheduler_delete_job", "policy": policy["id"],
            "sentence": "Never delete a job of the scheduler.",
        }
    )  # fmt: skip
    return True


def _old_collection(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, spots.checks(data, "record_match"))
    if check is None:
        return False
    check["collection"] = check["collection"].rstrip("s")
    return True


def _sent(data: Written, _rng: random.Random) -> bool:
    check = next(iter(spots.checks(data, "message_match")), None)
    if check is None:
        return False
    check["mailbox"] = "mail/sent"
    return True


def _sent_allowed(data: Written, _rng: random.Random) -> bool:
    for rule in data["write_set"]:
        if isinstance(rule, dict) and rule["address"].startswith("mail/outbox/"):
            rule["address"] = "mail/sent/*"
            return True
    return False


def _ghost_field(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.expected(data))
    if found is None:
        return False
    check, name, value = found
    del check["expect"][name]
    check["expect"][f"{name}_code"] = value
    return True


def _ghost_record(data: Written, rng: random.Random) -> bool:
    check = spots.one(
        rng, [c for c in spots.checks(data, "record_match") if "id" in c.get("where", {})]
    )
    if check is None or not isinstance(check["where"]["id"], str):
        return False
    check["where"]["id"] = f"{check['where']['id']}0"
    return True


def _ghost_value(data: Written, rng: random.Random) -> bool:
    found = spots.one(
        rng,
        [
            (c, n)
            for c, n, v in spots.expected(data)
            if n in ("status", "resolution", "reason", "hold_reason", "severity", "queue")
            and isinstance(v, str)
        ],
    )
    if found is None:
        return False
    check, name = found
    check["expect"][name] = f"{check['expect'][name]}_ok"
    return True


def _ghost_step(data: Written, rng: random.Random) -> bool:
    own = [
        (holder, key)
        for step in data["reference"]
        for holder, key, value in spots.leaves(step)
        if key == "from" and isinstance(value, str) and value not in ("item", "clock")
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    holder, key = found
    holder[key] = f"{holder[key]}_result"
    return True


def _ghost_function(data: Written, rng: random.Random) -> bool:
    own = [h for step in data["reference"] for h, key, _ in spots.leaves(step) if key == "fn"]
    holder = spots.one(rng, own)
    if holder is None:
        return False
    holder["fn"] = f"{holder['fn']}_of"
    return True


def _ghost_policy(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data))
    if rule is None:
        return False
    rule["policy"] = f"{rule['policy']}_rules"
    return True


def _no_fixture(data: Written, rng: random.Random) -> bool:
    known = tools()
    offered = {known[name].facts.service for name in data["tools"] if name in known}
    wanted = [
        name
        for name in data["services"]
        if name in offered and not any(data["services"][name].values())
    ] or [name for name in data["services"] if name in offered]
    own = spots.one(rng, wanted)
    if own is None:
        return False
    del data["services"][own]
    return True


def _tool_without_service(data: Written, rng: random.Random) -> bool:
    other = [n for n in services() if n not in data["services"] and services()[n].tools()]
    own = spots.one(rng, [n for n in other if n != "colleague"])
    if own is None:
        return False
    data["tools"].append(next(iter(services()[own].tools())))
    return True


def _argument_of_rule(data: Written, rng: random.Random) -> bool:
    rule = spots.one(
        rng,
        [
            r
            for r in spots.constraints(data, "argument_policy")
            if isinstance(r.get("argument"), str)
        ],
    )
    if rule is None:
        return False
    rule["argument"] = f"{rule['argument']}_value"
    return True


def _nobody_to_ask(data: Written, _rng: random.Random) -> bool:
    if data.get("user") is not None or "message_user" in data["tools"]:
        return False
    data["tools"].append("message_user")
    return True


def _idle_mutation(data: Written, _rng: random.Random) -> bool:
    if data.get("timeline"):
        return False
    service, collection = spots.home(data)
    start = data["clock"]["start"]
    data["timeline"] = [
        {"id": "main", "at": start},
        {
            "id": "later", "at": f"2031-12-30{start[10:]}", "notification": "Anything new?",
            "mutations": [
                {"service": service, "collection": collection, "op": "update",
                 "where": {"id": "ZZ-0001"}, "values": {"note": "moved"}}
            ],
        },
    ]  # fmt: skip
    data["reference"].append({"reply": "Nothing new."})
    return True


def _impossible_day(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.fields(data, lambda _, v: isinstance(v, str) and _is_day(v)))
    if found is None:
        return False
    place, name = found
    place.record[name] = "2031-02-30" + place.record[name][10:]
    return True


def _is_day(value: str) -> bool:
    return bool(spots.DAY.match(value))


def _word_day(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.fields(data, lambda n, v: isinstance(v, str) and _is_day(v)))
    if found is None:
        return False
    place, name = found
    year, month, day = place.record[name][:10].split("-")
    place.record[name] = f"{day}/{month}/{year}"
    return True


def _updated_before_created(data: Written, rng: random.Random) -> bool:
    own = spots.fields(data, lambda n, v: n == "updated_at" and isinstance(v, str))
    found = spots.one(rng, [(p, n) for p, n in own if p.record.get("created_at")])
    if found is None:
        return False
    place, name = found
    value = place.record["created_at"]
    place.record[name] = f"{int(value[:4]) - 1}{value[4:]}"
    return True


def _from_the_future(data: Written, rng: random.Random) -> bool:
    found = spots.one(
        rng, spots.fields(data, lambda n, v: n == "created_at" and isinstance(v, str))
    )
    if found is None:
        return False
    place, name = found
    later = f"{int(place.record[name][:4]) + 3}{place.record[name][4:]}"
    place.record[name] = later
    if "updated_at" in place.record:
        place.record["updated_at"] = later
    return True


def _no_address(data: Written, rng: random.Random) -> bool:
    found = spots.one(
        rng,
        spots.fields(data, lambda n, v: n in ("email", "from") and isinstance(v, str) and "@" in v),
    )
    if found is None:
        return False
    place, name = found
    place.record[name] = place.record[name].replace("@", " at ")
    return True


def _text_as_list(data: Written, rng: random.Random) -> bool:
    names = ("status", "name", "subject", "currency", "queue")
    found = spots.one(rng, spots.fields(data, lambda n, v: n in names and isinstance(v, str)))
    if found is None:
        return False
    place, name = found
    place.record[name] = [place.record[name]]
    return True


def _lines_as_text(data: Written, rng: random.Random) -> bool:
    lists = spots.fields(data, lambda n, v: n in ("lines", "tags", "to", "attendees") and bool(v))
    found = spots.one(rng, lists)
    if found is None:
        return False
    place, name = found
    place.record[name] = "as above"
    return True


def _money_as_text(data: Written, rng: random.Random) -> bool:
    found = spots.one(
        rng,
        spots.fields(
            data, lambda n, v: n in ("amount", "total", "delivery_charge") and _is_number(v)
        ),
    )
    if found is None:
        return False
    place, name = found
    place.record[name] = f"{place.record[name]:.2f} EUR"
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _days_backwards(data: Written, _rng: random.Random) -> bool:
    if data.get("timeline"):
        return False
    start = data["clock"]["start"]
    data["timeline"] = [
        {"id": "main", "at": start},
        {"id": "later", "at": f"{int(start[:4]) - 1}{start[4:]}", "notification": "Anything new?"},
    ]
    data["reference"].append({"reply": "Nothing new."})
    return True


def _other_zone(data: Written, _rng: random.Random) -> bool:
    """The clock keeps its offset and is said to stand on the other side of the world."""
    east = not data["clock"]["start"].endswith("+09:00")
    data["clock"]["zone"] = "Asia/Tokyo" if east else "America/Lima"
    return True


def _lines_off(data: Written, rng: random.Random) -> bool:
    """One price of a record is not what its sum was reckoned with."""
    own = [
        line
        for place in spots.records(data, "finance")
        if isinstance(place.record.get("amount"), int | float)
        for line in place.record.get("lines") or ()
        if isinstance(line, dict) and line.get("quantity") and line.get("unit_price")
    ]
    line = spots.one(rng, own)
    if line is None:
        return False
    line["unit_price"] = round(line["unit_price"] * 1.25 + 1, 2)
    return True


def _day_of_nothing(data: Written, _rng: random.Random) -> bool:
    data["request"]["text"] += " It is about what came in on 2029-08-17."
    return True


def _other_name(data: Written, rng: random.Random) -> bool:
    text = data["request"]["text"]
    own = _full_names(data)
    name = spots.one(rng, [n for n in own if n in text])
    if name is None:
        return False
    first, _, _ = name.partition(" ")
    data["request"]["text"] = text.replace(name, f"{first} Quennerstedt")
    return True


def _full_names(data: Written) -> list[str]:
    found: dict[str, None] = {}
    for _, _, value in spots.leaves(data["services"]):
        if isinstance(value, str) and len(value) < 60:
            words = value.split()
            if len(words) == 2 and all(w[:1].isupper() and _WORD.fullmatch(w) for w in words):
                found.setdefault(value)
    return list(found)


def _other_id(data: Written, rng: random.Random) -> bool:
    ids = [str(p.record["id"]) for p in spots.records(data) if "id" in p.record]
    own = spots.one(rng, [one for one in ids if spots.ID.match(one)])
    if own is None:
        return False
    head, _, number = own.partition("-")
    data["request"]["text"] += f" It is about {head}-{'9' * len(number)}7."
    return True


def _other_number(data: Written, _rng: random.Random) -> bool:
    data["request"]["text"] += " The number on it is 77400913."
    return True


def _other_address(data: Written, _rng: random.Random) -> bool:
    data["request"]["text"] += " Copy in ottoline.fairbrass@quillmarsh.example."
    return True


_CHINESE: Final = "客户反馈水壶在运输途中破裂,请尽快处理退款并告知结果。"


def _other_language(data: Written, _rng: random.Random) -> bool:
    changed = 0
    for place in spots.records(data):
        for name in ("description", "subject", "body", "title", "note"):
            if isinstance(place.record.get(name), str):
                place.record[name] = _CHINESE
                changed += 1
    return changed > 0


def _request_in_chinese(data: Written, _rng: random.Random) -> bool:
    data["request"]["text"] = _CHINESE
    return True


RECORDS: Final = (
    SpecPlanter("R1", "dangling", "A field names a record that isn't there", _dangling,
                also=("O1",), repairable=True),
    SpecPlanter("R1", "deleted", "A record that others name was deleted", _deleted,
                repairable=True),
    SpecPlanter("R1", "no_id", "A record without an id", _no_id, also=("S1", "S3")),
    SpecPlanter("R1", "other_kind", "A field names a record of another collection",
                _link_of_other_kind),
    SpecPlanter("R1", "lower_case", "An id in lower case", _lower_case_link, repairable=True),
    SpecPlanter("R2", "todo_get_task", "A tool that doesn't exist: todo_get_task",
                _ghost_tool("todo_get_task", ""),
                upstream="Claw-Eval D02: endpoints that do not exist"),
    SpecPlanter("R2", "contacts_under_mail", "A tool that doesn't exist: mail_get_contacts",
                _ghost_tool("mail_get_contacts", "mail"), repairable=True,
                upstream="Claw-Eval D02: contacts under mail"),
    SpecPlanter("R2", "get_feed", "A tool that doesn't exist: helpdesk_get_feed",
                _ghost_tool("helpdesk_get_feed", "helpdesk"), repairable=True,
                upstream="Claw-Eval D02: rss_get_feed"),
    SpecPlanter("R2", "old_argument", "The reference passes an argument under another name",
                _old_argument, repairable=True,
                upstream="Claw-Eval D01: start_date where the service wants date"),
    SpecPlanter("R2", "needed_argument", "The reference leaves out an argument that is needed",
                _needed_argument, also=("O1",),
                upstream="Claw-Eval D09: a required argument that the schema lacks"),
    SpecPlanter("R2", "tool_not_offered", "A rule about a tool that isn't offered",
                _tool_not_offered, also=("K1",), repairable=True,
                upstream="Claw-Eval D06: safety declarations about tools not offered"),
    SpecPlanter("R2", "old_collection", "A check reads a collection that isn't there",
                _old_collection, repairable=True),
    SpecPlanter("R2", "sent", "A check reads mail/sent", _sent, repairable=True,
                upstream="Claw-Eval D05: sent where the service says sent_messages"),
    SpecPlanter("R2", "sent_allowed", "The write set allows mail/sent", _sent_allowed,
                also=("O1", "X1"), repairable=True,
                upstream="Claw-Eval D05: sent where the service says sent_messages"),
    SpecPlanter("R2", "ghost_field", "A check expects a field that nobody has", _ghost_field,
                repairable=True),
    SpecPlanter("R2", "ghost_record", "A check selects a record that isn't there", _ghost_record,
                also=("O1",), repairable=True),
    SpecPlanter("R2", "ghost_value", "A check expects a value that nobody can write",
                _ghost_value, also=("R3", "O1"), repairable=True),
    SpecPlanter("R2", "ghost_step", "A binding to a step that isn't there", _ghost_step,
                repairable=True),
    SpecPlanter("R2", "ghost_function", "A function that isn't there", _ghost_function,
                also=("O1",), repairable=True),
    SpecPlanter("R2", "ghost_policy", "A rule of a policy that isn't there", _ghost_policy,
                repairable=True),
    SpecPlanter("R2", "no_fixture", "A service of offered tools has no records", _no_fixture,
                upstream="Claw-Eval D03: tasks without the fixture variable"),
    SpecPlanter("R2", "tool_without_service", "A tool whose service has no records",
                _tool_without_service, repairable=True,
                upstream="Claw-Eval D03: tasks without the fixture variable"),
    SpecPlanter("R2", "argument_of_rule", "A rule about an argument that the tool hasn't",
                _argument_of_rule, repairable=True),
    SpecPlanter("R2", "nobody_to_ask", "message_user without a colleague", _nobody_to_ask,
                repairable=True),
    SpecPlanter("R2", "idle_mutation", "A change between stages that matches nothing",
                _idle_mutation,
                upstream="ClawMark: what a stage changes is computed, and may not be there"),
    SpecPlanter("R3", "impossible_day", "30 February", _impossible_day, also=("O1",)),
    SpecPlanter("R3", "day_in_words", "A day written 17/03/2031", _word_day, also=("O1",)),
    SpecPlanter("R3", "updated_before_created", "Updated a year before it was created",
                _updated_before_created, repairable=True),
    SpecPlanter("R3", "from_the_future", "Created three years after the clock", _from_the_future,
                also=("O1",)),
    SpecPlanter("R3", "no_address", "A mail address without @", _no_address, also=("O1",)),
    SpecPlanter("R3", "text_as_list", "A text field that holds a list", _text_as_list,
                also=("O1", "T2")),
    SpecPlanter("R3", "list_as_text", "A list field that holds a text", _lines_as_text,
                also=("O1", "T2")),
    SpecPlanter("R3", "money_as_text", "An amount written as 74.00 EUR", _money_as_text,
                also=("R2", "O1")),
    SpecPlanter("R3", "days_backwards", "A second day before the first", _days_backwards),
    SpecPlanter("R3", "other_zone", "The clock's zone has another offset", _other_zone),
    SpecPlanter("R3", "lines_off", "The lines of an invoice do not add up", _lines_off,
                also=("O1",)),
    SpecPlanter("R4", "day_of_nothing", "The request names a day that no record has",
                _day_of_nothing, also=("R3",),
                upstream="Claw-Eval D04: absolute dates that no record matches"),
    SpecPlanter("R4", "other_name", "The request names somebody who isn't there", _other_name),
    SpecPlanter("R4", "other_id", "The request names an id that isn't there", _other_id),
    SpecPlanter("R4", "other_number", "The request names a number that isn't there",
                _other_number),
    SpecPlanter("R4", "other_address", "The request names an address that isn't there",
                _other_address),
    SpecPlanter("R4", "other_language", "An English task with Chinese records", _other_language,
                also=("R3", "O1"),
                upstream="Claw-Eval D03: English tasks that then get Chinese data"),
    SpecPlanter("R4", "request_in_chinese", "An English task with a Chinese request",
                _request_in_chinese, also=("R3",),
                upstream="Claw-Eval D03: English tasks that then get Chinese data"),
)  # fmt: skip
"""In the order of the gates."""
