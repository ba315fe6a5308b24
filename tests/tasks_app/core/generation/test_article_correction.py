"""article_correction: closed cases that count decide, and each subtype's wrong turn loses."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted, played

FAMILY = "article_correction"


def _choices(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the choices among the cases inside a binding."""
    if isinstance(value, dict):
        if value.get("from") == "cases":
            yield value
        for item in value.values():
            yield from _choices(item)
    elif isinstance(value, list):
        for item in value:
            yield from _choices(item)


def _withdrawn_ones_too(steps: Steps) -> None:
    for choice in _choices(steps["changed"]["arguments"]):
        choice["where"].pop("resolution", None)


def _open_ones_too(steps: Steps) -> None:
    del steps["closed"]["arguments"]["status"]


def _older_ones_too(steps: Steps) -> None:
    del steps["closed"]["arguments"]["since"]


def _the_louder_colleague(steps: Steps) -> None:
    decided = steps["changed"]["arguments"]["new_text"]["with"]["value"]["args"]
    decided[3] = decided[2]


def _the_other_article(steps: Steps) -> None:
    for name in ("article_id", "replacement_article_id", "old_text", "new_text"):
        bound = steps["changed"]["arguments"].get(name)
        if isinstance(bound, dict):
            decided = bound.get("with", {}).get("value", bound)
            decided["args"][1] = 0


def _the_draft(steps: Steps) -> None:
    steps["guide"]["arguments"]["article_id"]["where"]["status"] = "draft"


def _the_whole_text_anew(steps: Steps) -> None:
    changed = steps["changed"]
    value = changed["arguments"]["new_text"]
    changed["tool"] = "kb_update_article"
    changed["arguments"] = {"article_id": changed["arguments"]["article_id"], "body": value}


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("contradiction", 1, _the_other_article),
        ("contradiction", 3, _withdrawn_ones_too),
        ("contradiction", 4, _the_whole_text_anew),
        ("outdated_step", 1, _older_ones_too),
        ("outdated_step", 4, _withdrawn_ones_too),
        ("number_changed", 1, _the_louder_colleague),
        ("number_changed", 1, _open_ones_too),
        ("number_changed", 2, _the_draft),
        ("number_changed", 5, _withdrawn_ones_too),
        ("two_into_one", 1, _the_other_article),
        ("two_into_one", 4, _withdrawn_ones_too),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


@pytest.mark.parametrize("subtype", ["contradiction", "outdated_step", "number_changed"])
def test_of_the_text_nothing_but_the_value_is_another(subtype: str) -> None:
    spec = drafted(FAMILY, subtype, 3)
    check = spec.checks[0].plain
    articles = {a["id"]: a["body"] for a in spec.written()["services"]["kb"]["articles"]}
    before, after = articles[check["where"]["id"]], check["expect"]["body"]
    changed = [
        (old, new)
        for old, new in zip(before.split(". "), after.split(". "), strict=True)
        if old != new
    ]
    assert len(changed) == 1


def test_a_new_article_costs_everything() -> None:
    spec = drafted(FAMILY, "two_into_one", 5)

    def new_article(steps: Steps) -> None:
        steps["found"]["tool"] = "kb_create_article"
        steps["found"]["arguments"] = {"title": "Another", "body": "Text."}

    grade = played(spec, new_article)
    assert (grade.total, [c.id for c in grade.constraints if c.broken]) == (0.0, ["k_new"])
