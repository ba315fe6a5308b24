"""Checks that let wrong work pass, and write sets that let damage pass (gates M1, M2, X1)."""

import random
from collections.abc import Callable
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.harm import loses, may_end_otherwise, other_number_passes
from tasks_app.core.audit.planter import SpecPlanter, Written
from tasks_app.core.services.catalog import tools


def _numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _forget(data: Written, rng: random.Random, fits: Callable[[str, Any], bool]) -> bool:
    """Expect one field less, wherever it is expected."""
    # A check that would expect nothing any more is another defect.
    own = [
        (c, n)
        for c, n, v in spots.expected(data)
        if fits(n, v) and len(c["expect"]) > 1 and may_end_otherwise(data, c, n)
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    check, name = found
    place = (check["service"], check["collection"])
    for other in spots.checks(data, "record_match"):
        if (other["service"], other["collection"]) == place and name in other.get("expect", {}):
            if name in other.get("where", {}):
                return False
            del other["expect"][name]
            other.get("because", {}).pop(name, None)
    return True


def _no_amount(data: Written, rng: random.Random) -> bool:
    return _forget(data, rng, lambda _, value: _numeric(value))


def _no_reason(data: Written, rng: random.Random) -> bool:
    return _forget(data, rng, lambda name, _: name in ("reason", "hold_reason", "resolution"))


def _no_status(data: Written, rng: random.Random) -> bool:
    return _forget(data, rng, lambda name, _: name in ("status", "queue", "severity"))


def _no_reference(data: Written, rng: random.Random) -> bool:
    return _forget(data, rng, lambda name, _: name in ("reference", "callback", "assignee"))


def _above_nothing(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, [(c, n) for c, n, v in spots.expected(data) if _numeric(v) and v > 0])
    if found is None:
        return False
    check, name = found
    check["expect"][name] = {"gt": 0}
    return True


def _about(data: Written, rng: random.Random) -> bool:
    own = [(c, n, v) for c, n, v in spots.expected(data) if isinstance(v, float)]
    found = spots.one(rng, own)
    if found is None:
        return False
    check, name, value = found
    check["expect"][name] = {"between": [round(value * 0.8, 2), round(value * 1.2, 2)]}
    return True


def _anything_written(data: Written, rng: random.Random) -> bool:
    own = [
        (c, n)
        for c, n, v in spots.expected(data)
        if isinstance(v, str) and may_end_otherwise(data, c, n)
    ]
    found = spots.one(rng, own)
    if found is None:
        return False
    check, name = found
    check["expect"][name] = {"nonempty": True}
    return True


def _at_least_one(data: Written, rng: random.Random) -> bool:
    own = [c for c in spots.checks(data, "record_match") if "count" in c]
    if not own:
        return False
    for check in own:
        check["count"] = {"ge": 1}
    for rule in data["write_set"]:
        if isinstance(rule, dict):
            rule.pop("max", None)
    data["constraints"] = [r for r in spots.constraints(data) if r["kind"] != "at_most"]
    return other_number_passes(data)


def _any_recipient(data: Written, rng: random.Random) -> bool:
    # Other mailboxes than mail name who is written to in `where`, and the write set does too.
    own = [check for check in spots.checks(data, "message_match") if check.get("to")]
    if not own:
        return False
    for check in own:
        check["to"] = []
    for rule in data["write_set"]:
        if isinstance(rule, dict) and rule["address"].startswith("mail/outbox/"):
            rule.pop("where", None)
    data["constraints"] = [
        r for r in spots.constraints(data) if r.get("tool") != "mail_send_message"
    ]
    return True


def _any_letter(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, spots.checks(data, "message_match"))
    if check is None:
        return False
    check["text"] = []
    return True


def _no_outcome_left(data: Written, rng: random.Random) -> bool:
    """All outcome checks but the anchor are gone."""
    own = [c for c in spots.checks(data, component="outcome") if c.get("requires")]
    if not own:
        return False
    for check in own:
        spots.drop_check(data, check)
    return True


def _dropped(component: str, kind: str = "") -> Callable[[Written, random.Random], bool]:
    def plant(data: Written, rng: random.Random) -> bool:
        check = spots.one(rng, [c for c in spots.checks(data, kind) if c["component"] == component])
        if check is None or check is spots.anchor(data):
            return False
        if check["kind"] == "record_match" and check.get("expect") and not loses(data, check):
            return False  # something else holds all of it
        spots.drop_check(data, check)
        return True

    return plant


def _no_report_check(data: Written, _rng: random.Random) -> bool:
    """Nothing that is said is checked: where one of two checks is left, it is still looked at."""
    own = [c for c in spots.checks(data, component="report") if c is not spots.anchor(data)]
    for check in own:
        spots.drop_check(data, check)
    return bool(own)


def _reply_unheard(data: Written, _rng: random.Random) -> bool:
    """The letter is checked; what is said to whoever asked, as the contract wants it, is not."""
    letters = spots.checks(data, "message_match")
    own = [c for c in spots.checks(data) if c["kind"] in ("answer", "number_close") or _hears(c)]
    said = "reply" in data["workplace"]["output_contract"].casefold()
    if not letters or not own or not said or spots.anchor(data) in own:
        return False
    for check in own:
        spots.drop_check(data, check)
    return True


def _hears(check: Written) -> bool:
    """Whether a check of a text reads the reply, and no file."""
    return check["kind"] in ("text_match", "text_absent") and not check.get("path")


def _one_of_many(data: Written, rng: random.Random) -> bool:
    """One of several that have to be written is enough."""
    for check in spots.checks(data, "record_match"):
        for name, value in check.get("expect", {}).items():
            if isinstance(value, dict) and len(value.get("in", [])) > 1 and name == "id":
                check["count"] = {"ge": 1}
                return other_number_passes(data)
    return False


def _allowed_everywhere(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, [r for r in data["write_set"] if isinstance(r, str) and "#" in r])
    if rule is None:
        return False
    data["write_set"].remove(rule)
    service, collection, _ = rule.split("/", 2)
    data["write_set"].append(f"{service}/{collection}/*")
    return True


def _allowed_all(data: Written, _rng: random.Random) -> bool:
    data["write_set"] = [
        f"{service}/{name}/*" for service, tables in data["services"].items() for name in tables
    ]
    return True


def _one_allowed_too_many(data: Written, rng: random.Random) -> bool:
    place = spots.one(
        rng,
        [
            p
            for p in spots.records(data)
            if "status" in p.record
            and "id" in p.record
            and p.record["id"] not in str(data["write_set"])
        ],
    )
    if place is None:
        return False
    data["write_set"].append(f"{place.service}/{place.collection}/{place.record['id']}")
    return True


def _not_allowed(data: Written, rng: random.Random) -> bool:
    own = spots.one(rng, data["write_set"])
    if own is None:
        return False
    data["write_set"].remove(own)
    return True


def _field_not_allowed(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, [r for r in data["write_set"] if isinstance(r, str) and "," in r])
    if rule is None:
        return False
    head, _, names = rule.partition("#")
    kept = names.split(",")[1:]
    data["write_set"][data["write_set"].index(rule)] = f"{head}#{','.join(kept)}"
    return True


def _no_write_set(data: Written, _rng: random.Random) -> bool:
    data["write_set"] = []
    return True


def _watched_by_nobody(data: Written, rng: random.Random) -> bool:
    own = spots.checks(data, "unchanged")
    if not own:
        return False
    for check in own:
        check.pop("outside", None)
        service, collection = spots.home(data)
        named = str(data["write_set"])
        record = next(
            (
                r
                for r in data["services"][service][collection]
                if "id" in r and r["id"] not in named
            ),
            None,
        )
        if record is None or not tools():
            return False
        check["address"] = f"{service}/{collection}/{record['id']}"
    return True


LOOSE: Final = (
    SpecPlanter("M1", "no_amount", "No check expects the amount", _no_amount,
                also=("M2",), repairable=True),
    SpecPlanter("M1", "no_reason", "No check expects the reason", _no_reason,
                also=("M2",), repairable=True),
    SpecPlanter("M1", "no_status", "No check expects the status", _no_status,
                also=("M2", "N1", "N2"), repairable=True),
    SpecPlanter("M1", "no_reference", "No check expects whom or what it refers to",
                _no_reference, also=("M2",), repairable=True),
    SpecPlanter("M1", "above_nothing", "Any amount above 0", _above_nothing, also=("M2",),
                repairable=True, upstream="ClawMark: a value exists, whatever it is"),
    SpecPlanter("M1", "about", "An amount within a fifth", _about, also=("M2",),
                repairable=True, upstream="Claw-Eval: a judge accepts about the amount"),
    SpecPlanter("M1", "at_least_one", "At least one instead of exactly one", _at_least_one,
                also=("K1", "V3"), repairable=True),
    SpecPlanter("M1", "any_recipient", "A letter to anybody", _any_recipient,
                also=("M2", "V3"), repairable=True),
    SpecPlanter("M1", "any_letter", "A letter that says anything", _any_letter, also=("M2",)),
    SpecPlanter("M1", "anchor_alone", "Only the first step of the work is checked",
                _no_outcome_left, also=("M2", "S2"), repairable=True),
    SpecPlanter("M1", "one_of_many", "One of several is enough", _one_of_many, also=("M2",),
                repairable=True),
    SpecPlanter("M1", "no_report_check", "Nobody checks the report", _no_report_check,
                also=("S2", "V3"), repairable=True,
                upstream="ClawMark: a crashed stage drops its checkers"),
    SpecPlanter("M1", "reply_unheard", "The letter is checked, the reply is not", _reply_unheard,
                also=("S2", "V3")),
    SpecPlanter("M2", "anything_written", "Any text in a field that decides", _anything_written,
                also=("M1", "N1", "N2"), repairable=True),
    SpecPlanter("M2", "outcome_dropped", "A check of the outcome is gone", _dropped("outcome"),
                also=("M1", "S4", "S2"), repairable=True,
                upstream="ClawMark: a crashed stage drops its checkers"),
    SpecPlanter("X1", "no_collateral_check", "Nobody watches the rest", _dropped("collateral"),
                also=("M1",), repairable=True,
                upstream="Claw-Eval: no check looks at what else changed"),
    SpecPlanter("X1", "watched_by_nobody", "Only one record is watched", _watched_by_nobody,
                also=("M1",), repairable=True),
    SpecPlanter("X1", "not_allowed", "The write set lacks what has to be done", _not_allowed,
                also=("O1",), repairable=True),
    SpecPlanter("X1", "field_not_allowed", "The write set lacks a field", _field_not_allowed,
                also=("O1",), repairable=True),
    SpecPlanter("X1", "no_write_set", "The write set is empty", _no_write_set, also=("O1",),
                repairable=True),
    SpecPlanter("X1", "allowed_all", "The write set allows everything", _allowed_all,
                also=("M1", "V3"), repairable=True),
    SpecPlanter("X1", "allowed_everywhere", "The write set allows a whole collection",
                _allowed_everywhere, also=("M1",), repairable=True),
    SpecPlanter("X1", "one_too_many", "The write set allows a record that isn't meant",
                _one_allowed_too_many, also=("M1",), repairable=True),
)  # fmt: skip
"""In the order of the gates."""
