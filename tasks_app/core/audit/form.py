"""Defects of form: weights, names, kinds and types (gates S1–S4)."""

import random
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import SpecPlanter, Written


def _unknown_key(data: Written, _rng: random.Random) -> bool:
    data["expected_actions"] = []
    return True


def _unknown_check_key(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, data["checks"])
    if check is None:
        return False
    check["treshold"] = 0.8
    return True


def _number_as_text(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, data["checks"])
    if check is None:
        return False
    check["weight"] = str(check["weight"]).replace(".", ",")
    return True


def _level_as_text(data: Written, _rng: random.Random) -> bool:
    data["difficulty"]["level"] = ("", "easy", "simple", "medium", "hard", "expert")[
        data["difficulty"]["level"]
    ]
    return True


def _misspelt_kind(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, data["checks"])
    if check is None:
        return False
    hyphened = check["kind"].replace("_", "-")
    check["kind"] = hyphened if hyphened != check["kind"] else check["kind"][:-1]
    return True


def _misspelt_constraint(data: Written, rng: random.Random) -> bool:
    rule = spots.one(rng, spots.constraints(data))
    if rule is None:
        return False
    rule["kind"] = rule["kind"] + "s"
    return True


def _no_request(data: Written, _rng: random.Random) -> bool:
    del data["request"]["text"]
    return True


def _prose_reference(data: Written, _rng: random.Random) -> bool:
    data["reference"] = "Find the record, decide by the rules, write the letter, then report."
    return True


def _foreign_format(data: Written, _rng: random.Random) -> bool:
    data["format"] = "task/0.9"
    return True


def _step_without_id(data: Written, rng: random.Random) -> bool:
    step = spots.one(rng, spots.steps(data))
    if step is None:
        return False
    del step["id"]
    return True


def _record_list(data: Written, _rng: random.Random) -> bool:
    service, collection = spots.home(data)
    rows = data["services"][service][collection]
    data["services"][service][collection] = {
        row.get("id", str(n)): row for n, row in enumerate(rows)
    }
    return True


def _clock_without_zone(data: Written, _rng: random.Random) -> bool:
    data["clock"]["start"] = data["clock"]["start"][:19]
    return True


def _weights_off(data: Written, rng: random.Random) -> bool:
    check = rng.choice(data["checks"])
    check["weight"] = round(min(1.0, check["weight"] + 0.15), 6)
    return True


def _weights_short(data: Written, _rng: random.Random) -> bool:
    for check in data["checks"]:
        check["weight"] = round(check["weight"] * 0.9, 6)
    return True


def _weights_in_percent(data: Written, _rng: random.Random) -> bool:
    # Each still at most 1, so only the sum tells.
    for check in data["checks"]:
        check["weight"] = min(1.0, round(check["weight"] * 4, 6))
    return True


def _weights_hair(data: Written, _rng: random.Random) -> bool:
    data["checks"][0]["weight"] = round(data["checks"][0]["weight"] + 0.001, 6)
    return True


def _shares(data: Written, wanted: dict[str, float]) -> bool:
    own = {name: spots.checks(data, component=name) for name in wanted}
    if not all(own.values()) or len({c["component"] for c in data["checks"]}) < 2:
        return False
    rest = [c for c in data["checks"] if c["component"] not in wanted]
    left = 1 - sum(wanted.values())
    for name, checks in own.items():
        total = sum(c["weight"] for c in checks)
        for check in checks:
            check["weight"] = check["weight"] / total * wanted[name]
    total = sum(c["weight"] for c in rest)
    for check in rest:
        check["weight"] = check["weight"] / total * left
    return bool(rest) or left < 1e-9


def _report_heavy(data: Written, _rng: random.Random) -> bool:
    return _shares(data, {"outcome": 0.2, "report": 0.7})


def _outcome_light(data: Written, _rng: random.Random) -> bool:
    return _shares(data, {"outcome": 0.3, "report": 0.58})


def _outcome_all(data: Written, _rng: random.Random) -> bool:
    return _shares(data, {"outcome": 0.9})


def _negative_weight(data: Written, rng: random.Random) -> bool:
    first, second = rng.sample(data["checks"], 2)
    first["weight"] = round(first["weight"] + second["weight"] + 0.1, 6)
    second["weight"] = -0.1
    return True


def _same_check(data: Written, rng: random.Random) -> bool:
    first, second = rng.sample(range(len(data["checks"])), 2)
    kept, lost = data["checks"][first], data["checks"][second]
    old = lost["id"]
    lost["id"] = kept["id"]
    for check in data["checks"]:
        check["requires"] = [
            kept["id"] if name == old else name for name in check.get("requires", [])
        ]
    return kept["id"] not in (kept["requires"] + lost["requires"])


def _same_constraint(data: Written, _rng: random.Random) -> bool:
    rules = spots.constraints(data)
    if len(rules) < 2:
        return False
    rules[1]["id"] = rules[0]["id"]
    return True


def _tool_twice(data: Written, rng: random.Random) -> bool:
    data["tools"].insert(rng.randrange(len(data["tools"])), rng.choice(data["tools"]))
    return True


def _same_step(data: Written, _rng: random.Random) -> bool:
    own = spots.steps(data)
    if len(own) < 2:
        return False
    own[-1]["id"] = own[0]["id"]
    return True


def _same_policy(data: Written, _rng: random.Random) -> bool:
    policies = data["workplace"].get("policies", [])
    if not policies:
        return False
    policies.append({**policies[0], "title": "The same again", "text": "Nothing else."})
    return True


def _same_record(data: Written, rng: random.Random) -> bool:
    tables = [rows for s in data["services"].values() for rows in s.values() if len(rows) > 1]
    rows = spots.one(rng, tables)
    if rows is None or "id" not in rows[0]:
        return False
    rows[-1]["id"] = rows[0]["id"]
    return True


def _requires_nobody(data: Written, rng: random.Random) -> bool:
    check = rng.choice(data["checks"])
    check["requires"] = [*check.get("requires", []), "o_finished"]
    return True


def _requires_misspelt(data: Written, rng: random.Random) -> bool:
    check = spots.one(rng, [c for c in data["checks"] if c.get("requires")])
    if check is None:
        return False
    check["requires"] = [f"{check['requires'][0]}_", *check["requires"][1:]]
    return True


def _circle(data: Written, _rng: random.Random) -> bool:
    check = next((c for c in spots.checks(data, component="outcome") if c.get("requires")), None)
    first = spots.anchor(data)
    if check is None or first is None or first["id"] not in check["requires"]:
        return False
    first["requires"] = [check["id"]]
    return True


def _requires_itself(data: Written, rng: random.Random) -> bool:
    check = rng.choice(data["checks"])
    check["requires"] = [*check.get("requires", []), check["id"]]
    return True


def _unknown_operator(data: Written, rng: random.Random) -> bool:
    found = spots.one(rng, spots.expected(data))
    if found is None:
        return False
    check, name, value = found
    check["expect"][name] = {"equals": value, "eq": value}
    return True


def _operand(value: Any) -> Any:
    def plant(data: Written, rng: random.Random) -> bool:
        found = spots.one(rng, spots.expected(data))
        if found is None:
            return False
        check, name, _ = found
        check["expect"][name] = value
        return True

    return plant


def _foreign_stage(data: Written, rng: random.Random) -> bool:
    check = rng.choice(data["checks"])
    check["stage"] = "friday"
    return True


def _free_process(data: Written, _rng: random.Random) -> bool:
    own = [c for c in data["checks"] if c["component"] in ("process", "report", "collateral")]
    check = next((c for c in own if c.get("requires")), None)
    if check is None:
        return False
    check["requires"] = []
    return True


def _no_anchor(data: Written, _rng: random.Random) -> bool:
    outcome = spots.checks(data, component="outcome")
    report = spots.checks(data, component="report")
    if not report:
        return False
    for check in outcome:
        check["requires"] = [report[0]["id"]]
    report[0]["requires"] = []
    return True


FORM: Final = (
    SpecPlanter("S1", "unknown_key", "A key that no reader knows", _unknown_key, repairable=True),
    SpecPlanter(
        "S1", "unknown_check_key", "A misspelt option of a check", _unknown_check_key,
        repairable=True,
    ),
    SpecPlanter(
        "S1", "number_as_text", "A weight written 0,25", _number_as_text, repairable=True
    ),
    SpecPlanter("S1", "level_as_text", "A level in words", _level_as_text),
    SpecPlanter(
        "S1", "misspelt_check_kind", "A check of a misspelt kind", _misspelt_kind, repairable=True
    ),
    SpecPlanter(
        "S1", "misspelt_constraint_kind", "A constraint of a misspelt kind", _misspelt_constraint,
        repairable=True,
    ),
    SpecPlanter("S1", "no_request", "A task without a request", _no_request),
    SpecPlanter(
        "S1", "prose_reference", "The reference solution is prose", _prose_reference,
        upstream="Claw-Eval: 161 of 162 reference solutions are prose",
    ),
    SpecPlanter("S1", "foreign_format", "A format that we don't read", _foreign_format),
    SpecPlanter("S1", "step_without_id", "A step of the reference has no id", _step_without_id),
    SpecPlanter("S1", "records_by_id", "Records as an object and not as a list", _record_list),
    SpecPlanter("S1", "clock_without_zone", "A clock without an offset", _clock_without_zone),
    SpecPlanter(
        "S2", "weights_over", "The weights sum to more than 1", _weights_off, also=("S1",),
        repairable=True, upstream="Claw-Eval D10: weights that do not sum to 1",
    ),
    SpecPlanter(
        "S2", "weights_short", "The weights sum to 0.9", _weights_short, repairable=True,
        upstream="Claw-Eval D10: weights that do not sum to 1",
    ),
    SpecPlanter(
        "S2", "weights_in_points", "Weights as points and not as shares", _weights_in_percent,
        repairable=True, upstream="ClawMark: weights from 0.5 to 3.0, total 2,451",
    ),
    SpecPlanter(
        "S2", "weights_off_by_a_hair", "The weights sum to 1.001", _weights_hair, repairable=True
    ),
    SpecPlanter("S2", "report_heavy", "A report that is worth 0.7", _report_heavy, repairable=True),
    SpecPlanter("S2", "outcome_light", "An outcome that is worth 0.3", _outcome_light,
                repairable=True),
    SpecPlanter("S2", "outcome_all", "An outcome that is worth 0.9", _outcome_all, repairable=True),
    SpecPlanter("S2", "negative_weight", "A weight below 0", _negative_weight, also=("S1",)),
    SpecPlanter("S3", "same_check", "Two checks of one id", _same_check, repairable=True),
    SpecPlanter(
        "S3", "same_constraint", "Two constraints of one id", _same_constraint, repairable=True
    ),
    SpecPlanter("S3", "tool_twice", "A tool that is listed twice", _tool_twice, repairable=True),
    SpecPlanter("S3", "same_step", "Two steps of one id", _same_step),
    SpecPlanter("S3", "same_policy", "Two policies of one id", _same_policy),
    SpecPlanter(
        "S3", "same_record", "Two records of one id in a collection", _same_record, also=("R1",)
    ),
    SpecPlanter(
        "S4", "requires_nobody", "A check requires one that isn't there", _requires_nobody,
        repairable=True,
    ),
    SpecPlanter(
        "S4", "requires_misspelt", "A check requires a misspelt one", _requires_misspelt,
        repairable=True,
    ),
    SpecPlanter("S4", "circle", "Two checks require each other", _circle),
    SpecPlanter("S4", "requires_itself", "A check requires itself", _requires_itself),
    SpecPlanter(
        "S4", "unknown_operator", "An operator that we haven't", _unknown_operator, also=("S1",)
    ),
    SpecPlanter(
        "S4", "between_one", "An interval with one end", _operand({"between": [1]}), also=("S1",)
    ),
    SpecPlanter(
        "S4", "in_text", "A list operator with a text", _operand({"in": "a, b"}), also=("S1",)
    ),
    SpecPlanter(
        "S4", "broken_regex", "A regular expression that is none", _operand({"regex": "(EUR"}),
        also=("S1",),
    ),
    SpecPlanter(
        "S4", "foreign_stage", "A check at the end of a stage that isn't there", _foreign_stage,
        also=("R2",),
    ),
    SpecPlanter(
        "S4", "pays_alone", "A report or process check that requires no outcome", _free_process,
        repairable=True,
    ),
    SpecPlanter("S4", "no_anchor", "Every outcome hangs on the report", _no_anchor),
)  # fmt: skip
"""In the order of the gates."""
