"""Defects that let cheap policies earn, or that give the answer away (gates N1–N6)."""

import random
from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written
from tasks_app.core.services.catalog import tools


def _only(data: Written, check: Mapping[str, Any]) -> None:
    """Let a check carry most of the outcome: whoever passes it earns."""
    rest = [c for c in data["checks"] if c["component"] == "outcome"]
    share = sum(old["weight"] for old in rest)
    for old in rest:
        old["weight"] = round(old["weight"] * 0.4, 6)
    weight = round(share - sum(old["weight"] for old in rest), 6)
    data["checks"].append({**check, "component": "outcome", "weight": weight})


def _say_more(data: Written, more: str) -> None:
    """Let every right solution end with some words more, so that a check may ask for them."""
    for program in (data["reference"], *data.get("alternatives", [])):
        program[-1] = {"reply": _with(program[-1]["reply"], more)}


def _true_at_first(data: Written, rng: random.Random) -> bool:
    named = str(data["write_set"])
    place = spots.one(
        rng,
        [
            p
            for p in spots.records(data)
            if "status" in p.record and "id" in p.record and p.record["id"] not in named
        ],
    )
    if place is None:
        return False
    spots.add_check(
        data,
        {
            "id": "o_left", "component": "outcome", "weight": 0.2, "kind": "record_match",
            "service": place.service, "collection": place.collection,
            "where": {"id": place.record["id"]}, "expect": {"status": place.record["status"]},
        },
    )  # fmt: skip
    return True


def _nothing_there(data: Written, _rng: random.Random) -> bool:
    service, collection = spots.home(data)
    spots.add_check(
        data,
        {
            "id": "o_none", "component": "outcome", "weight": 0.2, "kind": "record_match",
            "service": service, "collection": collection, "where": {"id": "ZZ-0001"},
            "count": {"eq": 0},
        },
    )  # fmt: skip
    return True


def _free_collateral(data: Written, _rng: random.Random) -> bool:
    check = next(iter(spots.checks(data, "unchanged")), None)
    if check is None:
        return False
    check["requires"] = []
    return True


def _free_absence(data: Written, _rng: random.Random) -> bool:
    spots.add_check(
        data,
        {
            "id": "o_polite", "component": "outcome", "weight": 0.2, "kind": "text_absent",
            "text": ["stupid", "idiot"],
        },
    )  # fmt: skip
    return True


def _not_called(data: Written, rng: random.Random) -> bool:
    unused = [n for n in data["tools"] if n not in {s.get("tool") for s in data["reference"]}]
    tool = spots.one(rng, [n for n in unused if n in tools()])
    if tool is None:
        return False
    spots.add_check(
        data,
        {
            "id": "o_never", "component": "outcome", "weight": 0.2, "kind": "tool_called",
            "tool": tool, "min": 0, "max": 0, "successful": False,
        },
    )  # fmt: skip
    return True


def _called(data: Written, rng: random.Random) -> bool:
    step = spots.one(rng, spots.steps(data, "read"))
    if step is None:
        return False
    _only(data, {"id": "o_called", "kind": "tool_called", "tool": step["tool"]})
    return True


def _attempted(data: Written, rng: random.Random) -> bool:
    step = spots.one(rng, spots.steps(data, "write"))
    if step is None:
        return False
    _only(
        data,
        {"id": "o_tried", "kind": "tool_called", "tool": step["tool"], "successful": False},
    )
    return True


def _any_record(data: Written, rng: random.Random) -> bool:
    """Any record of the collection will do."""
    check = next((c for c in spots.checks(data, "record_match")), None)
    if check is None:
        return False
    place = (check["service"], check["collection"])
    if not data["services"].get(place[0], {}).get(place[1]):
        return False
    _only(
        data,
        {
            "id": "o_some", "kind": "record_match", "service": place[0], "collection": place[1],
            "count": {"ge": 1},
        },
    )  # fmt: skip
    return True


def _echo(data: Written, rng: random.Random) -> bool:
    words = [w.strip(".,:;!?'’") for w in data["request"]["text"].split()]
    own = [w for w in words if w[:1].isupper() and len(w) > 4 and w.isalpha()]
    if not own:
        return False
    word = rng.choice(own)
    _say_more(data, f" ({word})")
    _only(data, {"id": "o_named", "kind": "text_match", "text": [[word]]})
    return True


def _with(reply: Any, more: str) -> Any:
    """A reply with some words more."""
    if isinstance(reply, str):
        return reply + more
    return {**reply, "text": reply["text"] + more}


def _keywords(data: Written, _rng: random.Random) -> bool:
    """The words of the report are an outcome, and pay by themselves."""
    report = next(iter(spots.checks(data, "answer")), None)
    if report is None:
        return False
    # What the run makes up (the number of a refund) nobody can paste.
    text = [group for group in report["text"] if not any("record" in p for p in group)]
    if not text:
        return False
    day = {"stage": report["stage"]} if report.get("stage") else {}
    _only(data, {"id": "o_words", "kind": "answer", "text": text, **day})
    return True


def _long_enough(data: Written, _rng: random.Random) -> bool:
    _say_more(data, " Kind regards." * 3)
    _only(data, {"id": "o_long", "kind": "text_match", "min_length": 30})
    return True


def _says_done(data: Written, _rng: random.Random) -> bool:
    _say_more(data, " Done.")
    _only(data, {"id": "o_done", "kind": "text_match", "text": [["done", "sorry", "help"]]})
    return True


def _first_is_right(data: Written, _rng: random.Random) -> bool:
    """The right record stands first everywhere it is chosen."""
    known = tools()
    written: set[str] = set()
    named: set[str] = set()
    for act in spots.acts(data):
        ids = [v for _, _, v in spots.leaves(dict(act.arguments)) if isinstance(v, str)]
        named.update(filter(spots.ID.match, ids))
        if act.tool is not None and known[act.tool].facts.writes:
            written.update(filter(spots.ID.match, ids))
    moved = False
    for tables in data["services"].values():
        for name, rows in tables.items():
            # What is looked up one by one is still to be chosen from: what is written to, is not.
            chosen = written if any(r.get("id") in written for r in rows) else named
            right = [r for r in rows if r.get("id") in chosen]
            wrong = [r for r in rows if r.get("id") not in chosen]
            if right and wrong:
                tables[name] = right
                moved = True
    return moved


def _one_call(data: Written, _rng: random.Random) -> bool:
    """The request says what to write, and one write is all there is to do."""
    known = tools()
    plain = spots.literalise(data)
    writes = [s for s in plain if "tool" in s and known[s["tool"]].facts.kind == "write"]
    if len(writes) != 1 or data.get("timeline"):
        return False
    step = writes[0]
    told = ", ".join(f"{key} {value}" for key, value in step["arguments"].items())
    data["request"]["text"] += f" That is {step['tool'].replace('_', ' ')}: {told}."
    data["reference"] = [step, plain[-1]]
    data["constraints"] = [
        r for r in data.get("constraints", []) if r["kind"] not in ("require_before", "only_when")
    ]
    for check in [*spots.checks(data, "call_order"), *spots.checks(data, "tool_called")]:
        spots.drop_check(data, check)
    return True


def _no_call(data: Written, _rng: random.Random) -> bool:
    """All there is to do is to say something that the request holds already."""
    words = [w.strip(".,:;!?") for w in data["request"]["text"].split() if len(w) > 5]
    if len(words) < 2 or data.get("timeline"):
        return False
    pieces = list(dict.fromkeys(words))[:2]
    data["reference"] = [{"reply": f"It is about {pieces[0]} and {pieces[1]}."}]
    data["checks"] = [
        {"id": "o_said", "component": "outcome", "weight": 0.6, "kind": "answer",
         "text": [[pieces[0]]]},
        {"id": "r_said", "component": "report", "weight": 0.4, "kind": "answer",
         "text": [[pieces[1]]], "requires": ["o_said"]},
    ]  # fmt: skip
    data["constraints"], data["write_set"] = [], []
    return True


def _chosen(data: Written) -> list[str]:
    """Ids that the writes of the reference name and the request doesn't."""
    known = tools()
    return [
        value
        for act in spots.acts(data)
        if act.tool is not None and known[act.tool].facts.kind == "write"
        for _, _, value in spots.leaves(dict(act.arguments))
        if isinstance(value, str)
        and spots.ID.match(value)
        and value not in data["request"]["text"]
        and any(p.record.get("id") == value for p in spots.records(data))
    ]


def _id_in_request(data: Written, rng: random.Random) -> bool:
    value = spots.one(rng, _chosen(data))
    if value is None:
        return False
    data["request"]["text"] += f" It is {value}."
    return True


def _id_in_policy(data: Written, rng: random.Random) -> bool:
    value = spots.one(rng, _chosen(data))
    if value is None:
        return False
    policy = rng.choice(data["workplace"]["policies"])
    policy["text"] += f" The present case is {value}."
    return True


def _id_in_contract(data: Written, rng: random.Random) -> bool:
    value = spots.one(rng, _chosen(data))
    if value is None:
        return False
    data["workplace"]["output_contract"] += f" The right record is {value}."
    return True


def _totals(data: Written) -> list[float]:
    """Numbers that the reference computes and that stand nowhere."""
    known = tools()
    seen = {v for _, _, v in spots.leaves(data["services"]) if isinstance(v, int | float)}
    return [
        value
        for act in spots.acts(data)
        if act.tool is not None and known[act.tool].facts.kind == "write"
        for _, _, value in spots.leaves(dict(act.arguments))
        if isinstance(value, float) and value not in seen
    ]


def _total_in_note(data: Written, rng: random.Random) -> bool:
    value = spots.one(rng, _totals(data))
    place = spots.one(rng, [p for p in spots.records(data) if "id" in p.record])
    if value is None or place is None:
        return False
    name = next((n for n in ("note", "description", "body") if n in place.record), None)
    if name is None:
        return False
    place.record[name] = f"{place.record[name]} It comes to {value:.2f}."
    return True


def _total_in_request(data: Written, rng: random.Random) -> bool:
    value = spots.one(rng, _totals(data))
    if value is None:
        return False
    data["request"]["text"] += f" It should be {value:.2f}."
    return True


def _answer_in_attachment(data: Written, rng: random.Random) -> bool:
    value = spots.one(rng, _chosen(data))
    if value is None:
        return False
    data["request"]["attachments"] = [
        {"name": f"about-{value}.txt", "media_type": "text/plain", "sha256": "0" * 64, "size": 10}
    ]
    return True


def _file_beside(data: Written, rng: random.Random) -> bool:
    """The service's data lie in the coworker's files, where no tool of the service is needed."""
    value = spots.one(rng, _chosen(data))
    if value is None or "files" in data["services"]:
        return False
    place = next(p for p in spots.records(data) if p.record.get("id") == value)
    data["services"]["files"] = {
        "files": [
            {"id": f"{place.collection}/{value}.json", "path": f"{place.collection}/{value}.json",
             "text": str(place.record)}
        ]
    }  # fmt: skip
    data["tools"] += ["files_list_files", "files_read_file"]
    return True


def _alone(data: Written, _rng: random.Random) -> bool:
    """Nobody else is there to be taken for the right record."""
    chosen = set(_chosen(data))
    links = {r.record[n] for r, n, _ in spots.links(data) if r.record.get("id") in chosen}
    changed = False
    for tables in data["services"].values():
        for name, rows in tables.items():
            kept = [r for r in rows if r.get("id") in chosen or r.get("id") in links]
            if kept and len(rows) > len(kept):
                tables[name] = kept
                changed = True
    return changed


def _idle_criterion(data: Written, rng: random.Random) -> bool:
    """A criterion of the choice that rules nobody out."""
    own = [
        holder
        for step in data["reference"]
        for holder in _selections(step)
        if isinstance(holder.get("where"), dict) and len(holder["where"]) >= 1
    ]
    holder = spots.one(rng, own)
    if holder is None:
        return False
    holder["where"]["id"] = {"exists": True}
    return True


def _selections(value: Any) -> list[Written]:
    if isinstance(value, dict):
        below = [found for item in value.values() for found in _selections(item)]
        return [value, *below] if "from" in value else below
    if isinstance(value, list):
        return [found for item in value for found in _selections(item)]
    return []


def _idle_read(data: Written, rng: random.Random) -> bool:
    """The reference looks up what nothing needs."""
    known = tools()
    used = {s.get("tool") for s in data["reference"]}
    own = [
        name
        for name in data["tools"]
        if name in known
        and name not in used
        and known[name].facts.kind == "read"
        and not (known[name].facts.parameters or {}).get("required")
    ]
    name = spots.one(rng, own)
    if name is None:
        return False
    data["reference"].insert(0, {"id": "idle", "tool": name, "arguments": {}})
    found = spots.run(data)
    return found is not None and not found.problems


SHORTCUTS: Final = (
    SpecPlanter("N1", "true_at_first", "An outcome that holds before anybody acts",
                _true_at_first, also=("S4",), repairable=True,
                upstream="Claw-Eval: checks that hold of the fixtures"),
    SpecPlanter("N1", "nothing_there", "An outcome that wants nothing to be there",
                _nothing_there, also=("R2",), repairable=True),
    SpecPlanter("N1", "free_collateral", "Collateral that pays by itself", _free_collateral,
                also=("S4",), repairable=True),
    SpecPlanter("N1", "free_absence", "Words that nobody said", _free_absence, repairable=True,
                upstream="Claw-Eval: safety that an idle policy is paid for"),
    SpecPlanter("N1", "not_called", "A tool that nobody called", _not_called, repairable=True,
                upstream="Claw-Eval: tool_not_called in 103 declarations"),
    SpecPlanter("N2", "called", "A tool was called, whatever came of it", _called,
                upstream="Claw-Eval: tool_called is 110 of the checks"),
    SpecPlanter("N2", "attempted", "A write was tried, and failing counts", _attempted,
                also=("R2",), upstream="Claw-Eval: a call counts although it failed"),
    SpecPlanter("N2", "any_record", "Any record of the collection", _any_record, also=("N1",),
                repairable=True),
    SpecPlanter("N2", "echo", "A word of the request is the answer", _echo, repairable=True,
                upstream="Claw-Eval: keywords_present of words of the prompt"),
    SpecPlanter("N2", "keywords", "The words of the report pay without the work", _keywords,
                repairable=True, upstream="Claw-Eval: keywords_present is 218 of the checks"),
    SpecPlanter("N2", "long_enough", "A long reply", _long_enough, repairable=True,
                upstream="Claw-Eval: min_length is 27 of the checks"),
    SpecPlanter("N2", "says_done", "A reply that says it is done", _says_done, repairable=True,
                upstream="Claw-Eval: keywords_present of `done`"),
    SpecPlanter("N2", "first_is_right", "The right record is the first, or the only one",
                _first_is_right, also=("N5", "R1", "R4", "K1", "V3", "O1")),
    SpecPlanter("N3", "one_call", "One call that the request spells out", _one_call,
                also=("N4", "N2")),
    SpecPlanter("N3", "no_call", "Nothing to look up and nothing to do", _no_call,
                also=("N2", "V3")),
    SpecPlanter("N4", "id_in_request", "The request names the record to choose",
                _id_in_request, repairable=True),
    SpecPlanter("N4", "id_in_policy", "A rule names the record to choose", _id_in_policy,
                repairable=True),
    SpecPlanter("N4", "id_in_contract", "The output contract names the record to choose",
                _id_in_contract, repairable=True),
    SpecPlanter("N4", "total_in_note", "A record's note gives the computed sum",
                _total_in_note, also=("O3",), repairable=True),
    SpecPlanter("N4", "total_in_request", "The request gives the computed sum",
                _total_in_request, also=("R4",)),
    SpecPlanter("N4", "answer_in_attachment", "A file's name gives the record away",
                _answer_in_attachment, also=("R2",)),
    SpecPlanter("N4", "file_beside", "The record lies in a file beside the service",
                _file_beside, also=("R2",),
                upstream="Claw-Eval D07: service data copied into the agent's files"),
    SpecPlanter("N5", "alone", "Nobody can be taken for the right record", _alone,
                also=("R1", "R4", "O1", "O3", "N2", "K1", "V3")),
    SpecPlanter("N5", "idle_criterion", "A criterion that rules nobody out", _idle_criterion,
                also=("O1",)),
    SpecPlanter("N6", "idle_read", "The reference looks up what nothing needs", _idle_read),
)  # fmt: skip
"""In the order of the gates."""
