from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

ARTICLES: list[dict[str, Any]] = [
    {
        "id": "KB-001",
        "title": "Returns",
        "category": "service",
        "body": "Within 14 days. The label lies in the parcel. 14 labels are printed.",
        "status": "published",
        "owner": "Maren",
    },
    {"id": "KB-002", "title": "Refunds", "category": "service", "body": "Within 5 days."},
    {"id": "KB-003", "title": "Old returns", "body": "Within 30 days.", "status": "archived"},
]
POLICIES: list[dict[str, Any]] = [
    {"id": "PL-01", "title": "Export", "text": "Only with consent.", "valid_from": "2031-01-01"}
]


@pytest.fixture
def office() -> Office:
    return Office({"kb": {"articles": ARTICLES, "policies": POLICIES}})


def test_search_shows_titles_without_texts(office: Office) -> None:
    assert office.call("kb_search", query="within DAYS returns") == {
        "articles": [
            {"id": "KB-001", "title": "Returns", "category": "service", "status": "published"},
            {"id": "KB-003", "title": "Old returns", "status": "archived"},
        ],
        "total": 2,
    }
    assert office.call("kb_list_articles", category="service")["total"] == 2


def test_articles_and_policies_are_read(office: Office) -> None:
    assert office.call("kb_get_article", article_id="KB-001") == ARTICLES[0]
    assert office.call("kb_list_policies", query="consent") == {
        "policies": [{"id": "PL-01", "title": "Export", "valid_from": "2031-01-01"}],
        "total": 1,
    }
    assert office.call("kb_get_policy", policy_id="PL-01") == POLICIES[0]
    assert office.refusal("kb_get_policy", policy_id="KB-001") == "not_found"


def test_replace_passage_leaves_all_else(office: Office) -> None:
    office.call(
        "kb_replace_passage",
        article_id="KB-001",
        old_text="Within 14 days",
        new_text="Within 30 days",
    )
    assert office.changed() == ["kb/articles/KB-001#body,updated_at"]
    assert office.record("kb/articles", "KB-001") == {
        **ARTICLES[0],
        "body": "Within 30 days. The label lies in the parcel. 14 labels are printed.",
        "updated_at": NOW,
    }


@pytest.mark.parametrize("old_text", ["14", "15", "within 14"])
def test_replace_passage_wants_exactly_one_occurrence(office: Office, old_text: str) -> None:
    refused = office.refusal(
        "kb_replace_passage", article_id="KB-001", old_text=old_text, new_text="x"
    )
    assert refused == "invalid_value"


def test_update_replaces_what_is_given(office: Office) -> None:
    office.call("kb_update_article", article_id="KB-002", title="Refund times")
    assert office.changed() == ["kb/articles/KB-002#title,updated_at"]
    assert office.refusal("kb_update_article", article_id="KB-002") == "invalid_value"
    assert office.refusal("kb_update_article", article_id="KB-002", body=" ") == "invalid_value"
    assert office.refusal("kb_update_article", article_id="KB-003", body="x") == "conflict"


def test_create_publishes(office: Office) -> None:
    made = office.call("kb_create_article", title="Parcels", body="Look inside.")
    assert made == {
        "id": "KB-004",
        "title": "Parcels",
        "category": None,
        "body": "Look inside.",
        "status": "published",
        "updated_at": NOW,
    }


def test_archive_ends_an_article(office: Office) -> None:
    archive = "kb_archive_article"
    same = office.refusal(archive, article_id="KB-002", replacement_article_id="KB-002")
    assert same == "invalid_value"
    gone = office.refusal(archive, article_id="KB-002", replacement_article_id="KB-009")
    assert gone == "not_found"
    office.call(archive, article_id="KB-002", replacement_article_id="KB-001")
    assert office.changed() == ["kb/articles/KB-002#replaced_by,status,updated_at"]
    assert office.refusal(archive, article_id="KB-002") == "conflict"
