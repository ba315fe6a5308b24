"""ticket_triage: the table decides, and each subtype's wrong turn loses."""

from collections.abc import Callable

import pytest

from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted, played

FAMILY = "ticket_triage"


def _looser_limit(steps: Steps) -> None:
    steps["raised"]["each"]["where"]["created_at"] = steps["marked"]["each"]["where"]["created_at"]


def _other_cities_too(steps: Steps) -> None:
    arguments = steps["handed"]["arguments"]
    counted = arguments["severity"]["args"][0]["args"][0]
    for choice in (steps["handed"]["each"], counted, arguments["reference"]):
        del choice["where"]["customer_id"]


def _accounts_before_security(steps: Steps) -> None:
    del steps["moved"]["each"]["where"]["category"]


def _kept_pairs_too(steps: Steps) -> None:
    del steps["merged"]["each"]["where"]["customer_id"]["not_in"]


def _article_of_last_year(steps: Steps) -> None:
    steps["article"]["arguments"]["article_id"]["where"]["status"] = "archived"


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("sla_breach", 2, _looser_limit),
        ("sla_breach", 4, _article_of_last_year),
        ("outage_cluster", 3, _other_cities_too),
        ("outage_cluster", 4, _article_of_last_year),
        ("named_accounts", 2, _accounts_before_security),
        ("named_accounts", 5, _article_of_last_year),
        ("merge_duplicates", 3, _kept_pairs_too),
        ("merge_duplicates", 5, _article_of_last_year),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


def test_how_many_reports_there_are_decides_whether_it_is_an_outage() -> None:
    severities = {
        next(
            c for c in drafted(FAMILY, "outage_cluster", 2, seed).checks if c.id == "o_rest"
        ).plain["expect"]["severity"]
        for seed in range(8)
    }
    assert severities == {"urgent", "high"}


def test_a_merge_of_a_customer_who_is_never_merged_costs_everything() -> None:
    spec = drafted(FAMILY, "merge_duplicates", 3)
    grade = played(spec, _kept_pairs_too)
    assert (grade.total, [c.id for c in grade.constraints if c.broken]) == (0.0, ["k_kept"])
