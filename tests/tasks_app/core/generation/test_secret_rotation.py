"""secret_rotation: order and owner decide, and each subtype's wrong turn loses."""

from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.spec import TaskSpec
from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted, played

FAMILY = "secret_rotation"


def _any_kind(steps: Steps) -> None:
    del steps["links"]["arguments"]["kind"]
    _first_for_all(steps)


def _first_for_all(steps: Steps) -> None:
    for step in steps.values():
        choice = step["arguments"].get("integration_id")
        if isinstance(choice, dict) and "where" in choice:
            choice["take"] = "first"


def _same_characters_elsewhere(steps: Steps) -> None:
    for step in steps.values():
        choice = step["arguments"].get("integration_id")
        if isinstance(choice, dict) and "where" in choice:
            choice["where"]["secret"] = {"regex": choice["where"]["secret"]["regex"][:-1] + "."}


def _what_was_paused_too(steps: Steps) -> None:
    for name in ("paused", "resumed"):
        del steps[name]["each"]["where"]["status"]


def _jobs_that_were_off_too(steps: Steps) -> None:
    del steps["jobs"]["arguments"]["enabled"]


def _owner_of_another_kind(steps: Steps) -> None:
    table = steps["owned"]["arguments"]["owner"]["args"][1]
    first, *_ = table.values()
    for kind in table:
        table[kind] = first if table[kind] != first else "nobody@nowhere.example"


def _first_who_took_over(steps: Steps) -> None:
    steps["owned"]["arguments"]["owner"]["take"] = "last"


def _the_secret_is_told(steps: Steps) -> None:
    text = steps["told"]["arguments"]["text"]
    text["text"] += " It was {secret}."
    text["with"]["secret"] = {
        "from": "cards",
        "where": {"status": "active"},
        "take": "first",
        "field": "secret",
    }


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("expired", 1, _any_kind),
        ("expired", 3, _jobs_that_were_off_too),
        ("expired", 4, _first_who_took_over),
        ("leaked", 1, _same_characters_elsewhere),
        ("leaked", 2, _the_secret_is_told),
        ("leaked", 5, _first_who_took_over),
        ("dependants_first", 1, _what_was_paused_too),
        ("dependants_first", 3, _jobs_that_were_off_too),
        ("owner_unknown", 1, _owner_of_another_kind),
        ("owner_unknown", 4, _first_who_took_over),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


def _reordered(spec: TaskSpec, order: list[str]) -> set[str]:
    """Return the rules that are broken where the rotation comes at another place."""
    written: dict[str, Any] = spec.written()
    named = {step.get("id", "reply"): step for step in written["reference"]}
    first = [step for name, step in named.items() if name not in order and name != "reply"]
    steps = [*first, *(named[name] for name in order), named["reply"]]

    def put(held: Steps) -> None:
        for (_, old), new in zip(list(held.items()), steps, strict=False):
            copied = dict(new)
            old.clear()
            old.update(copied)

    return {c.id for c in played(spec, put).constraints if c.broken}


def test_a_rotation_before_its_jobs_are_off_breaks_a_rule_for_each_of_them() -> None:
    spec = drafted(FAMILY, "leaked", 3)
    jobs = {c.id for c in spec.constraints if c.id.startswith("k_jobs") and c.id[-1].isdigit()}
    assert jobs
    assert jobs <= _reordered(spec, ["rotated", "stopped", "started", "told"])


def test_a_rotation_too_many_and_a_post_cost_everything() -> None:
    spec = drafted(FAMILY, "expired", 4)
    kinds = {c.id: (c.plain["kind"], c.gate) for c in spec.constraints}
    assert kinds["k_once"] == ("at_most", True)
    assert kinds["k_post"] == ("forbid_tool", True)
    assert kinds["k_quiet"] == ("no_disclosure", True)
