"""Random edits of a written spec, one kind for each part of it."""

import random
from collections.abc import Callable, Mapping
from typing import Any

Written = dict[str, Any]
Edit = Callable[[Written, random.Random], None]


def _request(data: Written, chance: random.Random) -> None:
    text = data["request"]["text"]
    data["request"]["text"] = chance.choice(
        [f"{text} Thank you!", text.replace(".", " -", 1), f"Hello. {text}", text[: len(text) // 2]]
    )


def _policy(data: Written, chance: random.Random) -> None:
    policy = chance.choice(data["workplace"]["policies"])
    policy["text"] = chance.choice([policy["text"] + " Keep it short.", "Be polite."])


def _workplace(data: Written, chance: random.Random) -> None:
    name = chance.choice(["Quill Harbour", "Tern & Daughters"])
    data["workplace"]["organisation"] = name


def _title(data: Written, _chance: random.Random) -> None:
    data["title"] += " (again)"


def _tags(data: Written, _chance: random.Random) -> None:
    data.setdefault("tags", []).append("edited")


def _language(data: Written, _chance: random.Random) -> None:
    data["language"] = "zh"


def _difficulty(data: Written, chance: random.Random) -> None:
    data["difficulty"]["level"] = chance.randint(1, 5)


def _capability(data: Written, chance: random.Random) -> None:
    claims = data.setdefault("capabilities", [])
    if claims and chance.random() < 0.5:
        claims.pop(chance.randrange(len(claims)))
    else:
        claims.append({"id": f"C{chance.randint(1, 20)}"})


def _limits(data: Written, chance: random.Random) -> None:
    data.setdefault("limits", {})["tool_calls"] = chance.choice([2, 12, 200])


def _seed(data: Written, _chance: random.Random) -> None:
    data["seed"] += 1


def _clock(data: Written, chance: random.Random) -> None:
    start = data["clock"]["start"]
    data["clock"]["start"] = f"{start[:8]}{chance.randint(10, 28)}{start[10:]}"


def _rows(data: Written) -> list[list[dict[str, Any]]]:
    return [rows for place in data["services"].values() for rows in place.values() if rows]


def _record(data: Written, chance: random.Random) -> None:
    row = chance.choice(chance.choice(_rows(data)))
    name = chance.choice([key for key in row if key != "id"])
    value = row[name]
    if isinstance(value, int | float) and not isinstance(value, bool):
        row[name] = value + 1
    elif isinstance(value, str) and value:
        row[name] = value[:-1] + ("a" if value[-1] != "a" else "b")
    else:
        row.pop(name)


def _lost_record(data: Written, chance: random.Random) -> None:
    rows = chance.choice(_rows(data))
    rows.pop(chance.randrange(len(rows)))


def _tool(data: Written, chance: random.Random) -> None:
    tools = data["tools"]
    if chance.random() < 0.5:
        tools.pop(chance.randrange(len(tools)))
    else:
        known = ("kb_search", "contacts_search", "mail_list_messages", "nothing_at_all")
        tools.append(chance.choice([name for name in known if name not in tools]))


def _fault(data: Written, chance: random.Random) -> None:
    fault = {"tool": chance.choice(data["tools"]), "calls": [1], "code": "unavailable"}
    data["faults"] = [*data.get("faults", [])[:-1], fault]


def _weight(data: Written, chance: random.Random) -> None:
    check = chance.choice(data["checks"])
    check["weight"] = round(check.get("weight", 0) * chance.choice([0.5, 0.9, 1.5]), 6)


def _lost_check(data: Written, chance: random.Random) -> None:
    data["checks"].pop(chance.randrange(len(data["checks"])))


def _unmet(data: Written, chance: random.Random) -> None:
    chance.choice(data["checks"]).pop("requires", None)


def _expected(data: Written, chance: random.Random) -> None:
    asked = [check for check in data["checks"] if isinstance(check.get("expect"), dict)]
    if asked:
        check = chance.choice(asked)
        check["expect"].pop(chance.choice(list(check["expect"])))


def _constraint(data: Written, chance: random.Random) -> None:
    rules = data.get("constraints")
    if rules:
        rule = chance.choice(rules)
        if chance.random() < 0.5:
            rules.remove(rule)
        else:
            rule["sentence"] = "Nobody said so."


def _write_set(data: Written, chance: random.Random) -> None:
    rules = data["write_set"]
    if rules and chance.random() < 0.5:
        rules.pop(chance.randrange(len(rules)))
    else:
        service = chance.choice(list(data["services"]))
        rules.append(f"{service}/{chance.choice(list(data['services'][service]))}/*")


def _free(data: Written, chance: random.Random) -> None:
    service = chance.choice(list(data["services"]))
    address = f"{service}/{chance.choice(list(data['services'][service]))}/*#status"
    data.setdefault("free", []).append({"address": address, "reason": "Nobody looks."})


def _lost_step(data: Written, chance: random.Random) -> None:
    data["reference"].pop(chance.randrange(len(data["reference"])))


def _reply(data: Written, _chance: random.Random) -> None:
    for step in data["reference"]:
        if isinstance(step.get("reply"), str):
            step["reply"] += " All done."


def _alternative(data: Written, chance: random.Random) -> None:
    steps = list(data["reference"])
    if chance.random() < 0.5:
        steps.pop(chance.randrange(len(steps)))
    data["alternatives"] = [*data.get("alternatives", []), steps]


def _evaluation_only(data: Written, _chance: random.Random) -> None:
    data["evaluation_only"] = True


EDITS: Mapping[str, Edit] = {
    edit.__name__.lstrip("_"): edit
    for edit in (
        _request, _policy, _workplace, _title, _tags, _language, _difficulty, _capability, _limits,
        _seed, _clock, _record, _lost_record, _tool, _fault, _weight, _lost_check, _unmet,
        _expected, _constraint, _write_set, _free, _lost_step, _reply, _alternative,
        _evaluation_only,
    )
}  # fmt: skip
"""Name → an edit in place; some leave a task that no longer proves, or cannot be read."""
