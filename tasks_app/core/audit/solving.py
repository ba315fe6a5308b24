"""Defects that make a task unsolvable, too tight, or solvable in one way only (gates O1–O5, I1)."""

import copy
import itertools
import random
import re
from collections.abc import Callable
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written
from tasks_app.core.services.catalog import tools


def _dropped_write(data: Written, rng: random.Random) -> bool:
    step = spots.one(rng, spots.steps(data, "write"))
    if step is None:
        return False
    data["reference"].remove(step)
    return True


def _dropped_read(data: Written, rng: random.Random) -> bool:
    named = {v for s in data["reference"] for _, k, v in spots.leaves(s) if k == "from"}
    step = spots.one(rng, [s for s in spots.steps(data, "read") if s["id"] in named])
    if step is None:
        return False
    data["reference"].remove(step)
    return True


def _wrong_value(data: Written, rng: random.Random) -> bool:
    found = spots.one(
        rng, [(c, n, v) for c, n, v in spots.expected(data) if isinstance(v, int | float)]
    )
    if found is None:
        return False
    check, name, value = found
    check["expect"][name] = round(value + rng.choice((0.01, 1, 10, -0.5)), 2)
    return True


def _wrong_text(data: Written, rng: random.Random) -> bool:
    own = [
        (group, index)
        for check in [*spots.checks(data, "answer"), *spots.checks(data, "message_match")]
        for group in check["text"]
        for index, piece in enumerate(group)
        if len(group) == 1 and isinstance(piece, str) and spots.ID.match(piece)
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    group, index = found
    group[index] = spots.altered(group[index])
    return True


def _swapped(data: Written, rng: random.Random) -> bool:
    own = [
        (first, second)
        for first, second in itertools.pairwise(data["reference"])
        if "id" in first
        and any(v == first["id"] and k == "from" for _, k, v in spots.leaves(second))
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    first, second = found
    at = data["reference"].index(first)
    data["reference"][at], data["reference"][at + 1] = second, first
    return True


def _read_nobody(data: Written, rng: random.Random) -> bool:
    own = [
        (step, key)
        for step in spots.steps(data, "read")
        for key, value in step["arguments"].items()
        if isinstance(value, str)
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    step, key = found
    step["arguments"][key] = "Quennerstedt"
    return True


def _lasting_fault(data: Written, rng: random.Random) -> bool:
    step = spots.one(rng, spots.steps(data, "write"))
    if step is None:
        return False
    data["faults"] = [
        {"tool": step["tool"], "calls": list(range(1, 9)), "code": "unavailable", "retry_after": 5}
    ]
    return True


def _hard_fault(data: Written, rng: random.Random) -> bool:
    step = spots.one(rng, spots.steps(data))
    if step is None:
        return False
    data["faults"] = [{"tool": step["tool"], "calls": [1], "code": "forbidden"}]
    return True


def _silent_end(data: Written, _rng: random.Random) -> bool:
    if not spots.checks(data, "answer"):
        return False
    data["reference"] = [{"reply": "Done."} if "reply" in s else s for s in data["reference"]]
    return True


def _no_reference(data: Written, _rng: random.Random) -> bool:
    data["reference"] = []
    return True


def _calls(number: int) -> Callable[[Written, random.Random], bool]:
    def plant(data: Written, _rng: random.Random) -> bool:
        made = sum(act.tool is not None for act in spots.acts(data))
        data.setdefault("limits", {})["tool_calls"] = made + number
        return True

    return plant


def _turns(data: Written, _rng: random.Random) -> bool:
    data.setdefault("limits", {})["turns"] = len(spots.acts(data))
    return True


def _computed_as_literal(data: Written, rng: random.Random) -> bool:
    """What a function derives stands there as a bare number that is said nowhere."""
    known = tools()
    own = []
    for act in spots.acts(data):
        step = next((s for s in data["reference"] if s.get("id") == act.step), None)
        if (
            step is None
            or "each" in step
            or act.tool is None
            or known[act.tool].facts.kind != "write"
        ):
            continue
        own += [
            (step, key, act.arguments[key])
            for key, value in step["arguments"].items()
            if isinstance(value, dict) and isinstance(act.arguments.get(key), int | float)
        ]
    found = spots.one(rng, own)
    if found is None:
        return False
    step, key, value = found
    if _stands(data, value):
        return False
    step["arguments"][key] = value
    return True


def _stands(data: Written, value: Any) -> bool:
    seen = [data["services"], data["request"], data["workplace"], data.get("user"),
            data.get("timeline", [])]  # fmt: skip
    text = repr(seen)
    return f"{value:g}" in text or f"{value:.2f}" in text or f"{value:,.2f}" in text


def _nobody_tells(data: Written, _rng: random.Random) -> bool:
    """The fact that only the colleague knows: the program knows it all the same."""
    user = data.get("user")
    if not user or not user.get("facts"):
        return False
    plain = spots.literalise(data)
    told = [
        value
        for step in plain
        for _, _, value in spots.leaves(step.get("arguments", {}))
        if isinstance(value, str)
        and spots.ID.match(value)
        and any(value in fact["text"] for fact in user["facts"])
    ]
    if not told:
        return False
    for fact in user["facts"]:
        fact["text"] = fact["text"].replace(told[0], "in my book")
    data["reference"] = plain
    return told[0] not in repr([data["services"], data["request"], data["workplace"]])


def _own_value(data: Written, _rng: random.Random) -> bool:
    """A write carries a code that its author made up, and the check wants it."""
    for act in spots.acts(data):
        step = next((s for s in data["reference"] if s.get("id") == act.step), None)
        if step is None or "each" in step or act.tool is None:
            continue
        for check, name, value in spots.expected(data):
            for key, given in act.arguments.items():
                if given == value and isinstance(value, str) and name in ("reference", "callback"):
                    made_up = "QX-4471"
                    step["arguments"][key] = made_up
                    old = check["expect"][name]
                    for other in data["checks"]:
                        for holder, place, leaf in list(spots.leaves(other)):
                            if leaf == old:
                                holder[place] = made_up
                    return True
    return False


def _own_order(data: Written, _rng: random.Random) -> bool:
    """A check wants all reads in the order in which the author made them."""
    reads = [s for s in spots.steps(data, "read") if "each" not in s]
    write = next(iter(spots.steps(data, "write")), None)
    first = spots.anchor(data)
    names = list(dict.fromkeys(s["tool"] for s in reads))
    free = _independent(data, reads)
    if write is None or first is None or len(free) < 2:
        return False
    order = [s["tool"] for s in free]
    if len(set(order)) < 2 or len(names) < 2:
        return False
    spots.add_check(
        data,
        {
            "id": "p_order", "component": "process", "weight": 0.05, "kind": "call_order",
            "requires": [first["id"]],
            "order": [{"tool": name} for name in dict.fromkeys(order)] + [{"tool": write["tool"]}],
        },
    )  # fmt: skip
    return True


def _independent(data: Written, reads: list[Written]) -> list[Written]:
    """Two neighbours among the reads of which neither needs the other, nor any call of its tool."""
    for first, second in itertools.pairwise(reads):
        at = data["reference"].index(first)
        following = data["reference"][at + 1] is second
        if following and first["tool"] not in {second["tool"], *_tools_before(reads, second)}:
            return [first, second]
    return []


def _tools_before(reads: list[Written], step: Written) -> set[str]:
    """The tools of the reads without which a step can't be made: their order is the work's own."""
    needed = {value for _, key, value in spots.leaves(step) if key == "from"}
    found: set[str] = set()
    for read in reads:
        if read["id"] in needed:
            found |= {read["tool"], *_tools_before(reads, read)}
    return found


def _no_extra_read(data: Written, rng: random.Random) -> bool:
    """A check allows a read once and no more."""
    first = spots.anchor(data)
    step = spots.one(rng, [s for s in spots.steps(data, "read") if "each" not in s])
    if step is None or first is None:
        return False
    made = sum(act.tool == step["tool"] for act in spots.acts(data))
    spots.add_check(
        data,
        {
            "id": "p_thrift", "component": "process", "weight": 0.05, "kind": "tool_called",
            "requires": [first["id"]], "tool": step["tool"], "min": 1, "max": made,
        },
    )  # fmt: skip
    return True


def _one_spelling(data: Written, rng: random.Random) -> bool:
    """An amount in a text in the author's own spelling alone."""
    own = [
        (group, index, piece["number"])
        for check in spots.checks(data)
        for group in check.get("text", [])
        for index, piece in enumerate(group)
        if isinstance(piece, dict) and "number" in piece
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    group, index, number = found
    said = "\n".join(
        text
        for act in spots.acts(data)
        for text in (act.reply, *(value for _, _, value in spots.leaves(dict(act.arguments))))
        if isinstance(text, str)
    )
    spellings = (f"{number:.2f}", f"{number:,.2f}", f"{number:g}", f"{number:,g}")
    own_one = next((s for s in spellings if re.search(rf"(?<!\d){re.escape(s)}(?!\d)", said)), None)
    if own_one is None or "." not in own_one:
        return False  # a plain 93 is spelt in one way anyhow
    group[index] = {"regex": own_one.replace(".", "[.]")}
    return True


def _one_wording(data: Written, rng: random.Random) -> bool:
    """A reply has to begin as the author's own does."""
    own = spots.checks(data, "answer")
    check = spots.one(rng, own)
    if check is None:
        return False
    words = spots.reply_read(data, check).split()
    if len(words) < 4:
        return False
    check["text"] = [*check["text"], [{"regex": "^" + " ".join(words[:2]).replace(".", "[.]")}]]
    return True


def _one_route(data: Written, rng: random.Random) -> bool:
    """A check wants the author's own search words."""
    first = spots.anchor(data)
    own = [
        (s, k)
        for s in spots.steps(data, "read")
        for k, v in s["arguments"].items()
        if k == "query" and isinstance(v, str)
    ]
    found = spots.one(rng, own)
    if found is None or first is None:
        return False
    step, key = found
    other = copy.deepcopy(data["reference"])
    words = step["arguments"][key].split()
    if len(words) < 2:
        return False
    next(s for s in other if s.get("id") == step["id"])["arguments"][key] = " ".join(words[1:])
    data["alternatives"] = [*data.get("alternatives", []), other]
    spots.add_check(
        data,
        {
            "id": "p_words", "component": "process", "weight": 0.05, "kind": "tool_called",
            "requires": [first["id"]], "tool": step["tool"],
            "arguments": {key: step["arguments"][key]},
        },
    )  # fmt: skip
    return True


def _broken_alternative(data: Written, _rng: random.Random) -> bool:
    """The other solution that is written down stops half-way."""
    plain = spots.literalise(data)
    writes = [s for s in plain if "tool" in s and tools()[s["tool"]].facts.writes]
    if not writes:
        return False
    plain.remove(writes[-1])
    data["alternatives"] = [*data.get("alternatives", []), plain]
    return True


def _one_letter(data: Written, _rng: random.Random) -> bool:
    """An alternative that tells the customer in two letters, and a limit of one."""
    sends = [s for s in spots.steps(data, "write") if s["tool"] == "mail_send_message"]
    if len(sends) != 1:
        return False
    plain = spots.literalise(data)
    at = next(i for i, s in enumerate(plain) if s.get("tool") == "mail_send_message")
    letter = plain[at]
    first = {**letter, "id": "half", "arguments": {**letter["arguments"], "body": "More follows."}}
    data["alternatives"] = [*data.get("alternatives", []), [*plain[:at], first, *plain[at:]]]
    return True


def _picture(data: Written, media: str, name: str) -> bool:
    acts = spots.acts(data)
    told = [
        str(value)
        for act in acts
        if act.tool is not None and tools()[act.tool].facts.writes
        for value in act.arguments.values()
        if isinstance(value, str | float)
    ]
    if not told:
        return False
    data["tags"] = [*data.get("tags", []), "multimodal"]
    data["request"]["attachments"] = [
        {
            "name": name, "media_type": media, "sha256": "0" * 64, "size": 2048,
            "sidecar": "A form, filled in by hand: " + ", ".join(told[:3]),
        }
    ]  # fmt: skip
    return True


def _picture_of_text(data: Written, _rng: random.Random) -> bool:
    return _picture(data, "image/png", "form.png")


def _pdf_of_text(data: Written, _rng: random.Random) -> bool:
    return _picture(data, "application/pdf", "form.pdf")


def _blank_picture(data: Written, _rng: random.Random) -> bool:
    data["tags"] = [*data.get("tags", []), "multimodal"]
    data["request"]["attachments"] = [
        {"name": "photo.jpg", "media_type": "image/jpeg", "sha256": "0" * 64, "size": 2048}
    ]
    return True


SOLVING: Final = (
    SpecPlanter("O1", "dropped_write", "The reference leaves out a write", _dropped_write,
                also=("R2", "M1")),
    SpecPlanter("O1", "dropped_read", "The reference uses what it never looked up",
                _dropped_read, also=("R2",)),
    SpecPlanter("O1", "wrong_value", "A check expects another number", _wrong_value,
                also=("R2",), repairable=True),
    SpecPlanter("O1", "wrong_text", "A check looks for another id in the text", _wrong_text,
                also=("R2",)),
    SpecPlanter("O1", "swapped", "A step before the one that it needs", _swapped, also=("R2",)),
    SpecPlanter("O1", "read_nobody", "The reference searches for a name that isn't there",
                _read_nobody, also=("R2", "R3")),
    SpecPlanter("O1", "lasting_fault", "A service that is never there again", _lasting_fault),
    SpecPlanter("O1", "hard_fault", "A needed call is forbidden once", _hard_fault),
    SpecPlanter("O1", "silent_end", "The reference reports nothing", _silent_end),
    SpecPlanter("O1", "no_reference", "There is no reference", _no_reference,
                upstream="Claw-Eval: 54 of 162 tasks have a judge and nothing else"),
    SpecPlanter("O2", "no_spare_call", "No call to spare", _calls(0), repairable=True),
    SpecPlanter("O2", "one_spare_call", "One call to spare", _calls(1), repairable=True),
    SpecPlanter("O2", "too_few_calls", "A call less than the reference makes", _calls(-1),
                also=("O1",), repairable=True),
    SpecPlanter("O2", "no_spare_turn", "No turn to spare", _turns, repairable=True),
    SpecPlanter("O3", "computed_as_literal", "A computed number as a bare literal",
                _computed_as_literal),
    SpecPlanter("O3", "nobody_tells", "The colleague no longer tells what is needed",
                _nobody_tells, also=("O1",)),
    SpecPlanter("O3", "own_value", "A code that the author made up", _own_value,
                also=("O1", "R2")),
    SpecPlanter("O4", "own_order", "A check of the author's own order", _own_order,
                repairable=True),
    SpecPlanter("O4", "no_extra_read", "A check that allows no second look", _no_extra_read),
    SpecPlanter("O5", "one_spelling", "An amount in one spelling alone", _one_spelling),
    SpecPlanter("O5", "one_wording", "A reply in the author's own words alone", _one_wording,
                also=("S1",)),
    SpecPlanter("O5", "one_route", "A check of the author's own search words", _one_route,
                also=("O4",)),
    SpecPlanter("O5", "broken_alternative", "An alternative that stops half-way",
                _broken_alternative),
    SpecPlanter("O5", "one_letter", "An alternative with a letter more than is allowed",
                _one_letter),
    SpecPlanter("I1", "picture_of_text", "A picture of what the records say",
                _picture_of_text, repairable=True),
    SpecPlanter("I1", "pdf_of_text", "A document that says what the records say", _pdf_of_text,
                repairable=True),
    SpecPlanter("I1", "blank_picture", "A picture of nothing", _blank_picture),
)  # fmt: skip
"""In the order of the gates."""
