"""Defects of constraints: rules that nobody can break, that cost nothing, that contradict the
reference or each other, or that nobody was told (gates K1–K3).
"""

import random
from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written
from tasks_app.core.services.catalog import tools

_SENTENCES: Final = (
    "Keep to this as to every other rule.",
    "This holds for every case of the week.",
    "There are no exceptions from this.",
)


def _add(data: Written, rng: random.Random, rule: Mapping[str, Any]) -> bool:
    """Add a rule and say it in a policy, so that it is disclosed as it should be."""
    policies = data["workplace"].get("policies", [])
    if not policies:
        return False
    policy = rng.choice(policies)
    sentence = rng.choice(_SENTENCES)
    policy["text"] = f"{policy['text']} {sentence}"
    data.setdefault("constraints", []).append(
        {"severity": "gate", **rule, "policy": policy["id"], "sentence": sentence}
    )
    return True


def _unused_write(data: Written) -> list[str]:
    known = tools()
    used = {s.get("tool") for s in data["reference"]}
    return [n for n in data["tools"] if n in known and known[n].facts.writes and n not in used]


def _used_write(data: Written) -> list[str]:
    return list(dict.fromkeys(s["tool"] for s in spots.steps(data, "write")))


def _never_reached(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, [r for r in spots.constraints(data, "argument_policy") if "limit" in r])
    if rule is None:
        return False
    rule["limit"] = {"lt": 1e12}
    return True


def _everybody_allowed(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data, "no_disclosure"))
    if rule is None:
        return False
    rule["values"] = [f"{value} {number} xq" for number, value in enumerate(rule["values"])]
    return True


def _always_true(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data, "only_when"))
    if rule is None:
        return False
    rule["where"] = {"id": {"exists": True}}
    return True


def _most_of_all(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data, "at_most"))
    if rule is None:
        return False
    rule["n"] = 5000
    return True


def _costs_nothing(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data))
    if rule is None:
        return False
    rule["severity"] = {"deduct": 0}
    return True


def _costs_a_hair(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data))
    if rule is None:
        return False
    rule["severity"] = {"deduct": 1e-10}
    return True


def _needs_itself(data: Written, rng: random.Random) -> bool:
    """A rule asks for what the write itself brings."""
    rule = spots.one(rng, spots.constraints(data, "require_before"))
    if rule is None:
        return False
    tool = rule["write"]["tool"]
    rule["needs"] = {"tool": tool if isinstance(tool, str) else tool[0]}
    return True


def _forbids_reading(data: Written, rng: random.Random) -> bool:
    """What may never be called is not there to be called."""
    tool = spots.one(rng, _unused_write(data))
    if tool is None:
        return False
    return _add(
        data,
        rng,
        {"id": "k_odd", "kind": "forbid_tool", "tool": tool, "arguments": {"no_such": "x"}},
    )


def _forbids_reference(data: Written, rng: random.Random) -> bool:
    tool = spots.one(rng, _used_write(data))
    if tool is None:
        return False
    return _add(data, rng, {"id": "k_all", "kind": "forbid_tool", "tool": tool})


def _too_few(data: Written, rng: random.Random) -> bool:
    # A call that a fault answered, and its repetition, are one.
    made = {(a.tool, repr(sorted(a.arguments.items()))) for a in spots.acts(data)}
    counts = [tool for tool, _ in made]
    own = [tool for tool in _used_write(data) if counts.count(tool) > 1]
    tool = spots.one(rng, own)
    if tool is None:
        return False
    return _add(
        data, rng, {"id": "k_few", "kind": "at_most", "tool": tool, "n": counts.count(tool) - 1}
    )


def _after(data: Written, rng: random.Random) -> bool:
    """What comes last in the reference is required before its first write."""
    own = _used_write(data)
    if len(own) < 2:
        return False
    return _add(
        data,
        rng,
        {
            "id": "k_late", "kind": "require_before", "write": {"tool": own[0]},
            "needs": {"tool": own[-1]},
        },
    )  # fmt: skip


def _both_first(data: Written, rng: random.Random) -> bool:
    """Each of two tools wants the other before it."""
    own = _unused_write(data)
    if len(own) < 2:
        return False
    first, second = own[:2]
    return _add(
        data, rng,
        {"id": "k_first", "kind": "require_before", "write": {"tool": first},
         "needs": {"tool": second}},
    ) and _add(
        data, rng,
        {"id": "k_second", "kind": "require_before", "write": {"tool": second},
         "needs": {"tool": first}},
    )  # fmt: skip


def _must_and_may_not(data: Written, rng: random.Random) -> bool:
    """A write needs a call before it that another rule forbids."""
    rule = spots.one(rng, spots.constraints(data, "require_before"))
    if rule is None:
        return False
    # Where any of several will do, all of them are forbidden: one alone would leave the others.
    tool = rule["needs"]["tool"]
    return _add(data, rng, {"id": "k_neither", "kind": "forbid_tool", "tool": tool})


def _nobody_may(data: Written, rng: random.Random) -> bool:
    """Two lists of allowed values that have none in common."""
    rule = spots.one(rng, [r for r in spots.constraints(data, "argument_policy") if r.get("allow")])
    if rule is None or not isinstance(rule["argument"], str):
        return False
    return _add(
        data,
        rng,
        {
            "id": "k_other", "kind": "argument_policy", "tool": rule["tool"],
            "argument": rule["argument"], "allow": ["NONE-OF-THESE"],
        },
    )  # fmt: skip


def _not_said(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data))
    if rule is None:
        return False
    policy = next(p for p in data["workplace"]["policies"] if p["id"] == rule["policy"])
    policy["text"] = policy["text"].replace(rule["sentence"], "").strip() or "As always."
    return True


def _said_otherwise(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data))
    if rule is None:
        return False
    rule["sentence"] = "Whatever happens, be careful with this."
    return True


def _no_citation(data: Written, rng: random.Random) -> bool:
    """An expected field cites a record that isn't there."""
    found = spots.one(rng, spots.expected(data))
    if found is None:
        return False
    check, name, _ = found
    service, collection = spots.home(data)
    check["because"] = {**check.get("because", {}), name: f"{service}/{collection}/ZZ-0001"}
    return True


def _citation_of_nothing(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.expected(data))
    if found is None:
        return False
    check, name, _ = found
    check["because"] = {**check.get("because", {}), name: "Because the author says so, twice."}
    return True


def _cites_no_field(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, spots.checks(data, "record_match"))
    if check is None:
        return False
    policy = data["workplace"]["policies"][0]["id"]
    check["because"] = {**check.get("because", {}), "no_such_field": policy}
    return True


RULES: Final = (
    SpecPlanter("K1", "never_reached", "A limit that nothing reaches", _never_reached,
                repairable=True),
    SpecPlanter("K1", "unsaid_values", "Secrets that stand in no record", _everybody_allowed,
                also=("R2",), repairable=True),
    SpecPlanter("K1", "always_true", "A condition that always holds", _always_true,
                repairable=True),
    SpecPlanter("K1", "most_of_all", "At most five thousand calls", _most_of_all,
                repairable=True),
    SpecPlanter("K1", "costs_nothing", "A rule that costs nothing", _costs_nothing,
                also=("S1",)),
    SpecPlanter("K1", "costs_a_hair", "A rule that costs next to nothing", _costs_a_hair,
                also=("S1",)),
    SpecPlanter("K1", "needs_itself", "A write that must come before itself", _needs_itself,
                also=("O1", "K2")),
    SpecPlanter("K1", "odd_argument", "A rule about an argument that no tool has",
                _forbids_reading, also=("R2",), repairable=True,
                upstream="Claw-Eval: tool_not_called_with a field that the tool hasn't"),
    SpecPlanter("K2", "forbids_reference", "A rule forbids what the reference does",
                _forbids_reference, also=("O1",)),
    SpecPlanter("K2", "too_few", "A rule allows fewer calls than the reference needs", _too_few,
                also=("O1",)),
    SpecPlanter("K2", "after", "A rule wants the last before the first", _after, also=("O1",)),
    SpecPlanter("K2", "both_first", "Two tools, each of which needs the other first",
                _both_first, also=("K1",), repairable=True),
    SpecPlanter("K2", "must_and_may_not", "A call that one rule demands and another forbids",
                _must_and_may_not, also=("O1",), repairable=True),
    SpecPlanter("K2", "nobody_may", "Two lists of allowed values without a common one",
                _nobody_may, also=("O1", "K1"), repairable=True),
    SpecPlanter("K3", "not_said", "A rule that its policy doesn't say", _not_said,
                repairable=True,
                upstream="ClawMark: graded rules that stand in the checker alone"),
    SpecPlanter("K3", "said_otherwise", "A rule whose sentence nobody wrote", _said_otherwise,
                repairable=True),
    SpecPlanter("K3", "no_citation", "A field cites a record that isn't there", _no_citation,
                also=("R2",), repairable=True),
    SpecPlanter("K3", "citation_of_nothing", "A field cites a sentence that nobody wrote",
                _citation_of_nothing, also=("R2",), repairable=True),
    SpecPlanter("K3", "cites_no_field", "A citation for a field that isn't expected",
                _cites_no_field, also=("R2",)),
)  # fmt: skip
"""In the order of the gates."""
