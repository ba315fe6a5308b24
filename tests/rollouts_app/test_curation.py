"""Keeping and dropping all episodes of a filter, from the list and over the API."""

import orjson
import pytest
from django.test import Client

from rollouts_app.enums import Curation
from rollouts_app.models import Episode
from studio.web.choices import Role
from studio.web.models import AuditEntry
from tasks_app.models import Task
from tests.factories.pages import ClientOf
from tests.rollouts_app.conftest import rolled_out


@pytest.fixture
def decided(support_task: Task) -> Episode:
    """Two episodes of the reference, the first dropped by hand, and one that did nothing."""
    first = rolled_out(n=2).episodes.order_by("pk")[0]
    rolled_out("null")
    Episode.objects.filter(pk=first.pk).update(curation=Curation.DROPPED)
    return first


def curations() -> list[str]:
    """What stands in the rows, by id."""
    return list(Episode.objects.order_by("pk").values_list("curation", flat=True))


def send(client: Client, **fields: str) -> int:
    """Send the form of the list."""
    return client.post("/episodes/curation/", fields).status_code


def test_keeping_a_filter_leaves_what_was_decided_and_can_be_taken_back(
    decided: Episode, client_of: ClientOf
) -> None:
    client = client_of(Role.REVIEWER)
    answer = client.post("/episodes/curation/", {"q": "policy:reference", "curation": "kept"})
    assert (answer.status_code, answer["Location"]) == (303, "/episodes/?q=policy%3Areference")
    assert curations() == ["dropped", "kept", "open"]
    assert "1 kept. What was decided before stays." in client.get("/episodes/").content.decode()
    entry = AuditEntry.objects.get(act="curate_all")
    assert entry.detail == {"filter": "policy:reference", "curation": "kept", "episodes": 1}
    assert send(client, q="", curation="open") == 303
    assert curations() == ["open", "open", "open"]


def test_the_list_offers_it_under_a_filter_to_those_who_may(
    decided: Episode, client_of: ClientOf
) -> None:
    reviewer, viewer = client_of(Role.REVIEWER), client_of(Role.VIEWER)
    offered = 'action="/episodes/curation/"'
    assert offered in reviewer.get("/episodes/?q=policy:null").content.decode()
    assert offered not in reviewer.get("/episodes/").content.decode()
    assert offered not in viewer.get("/episodes/?q=policy:null").content.decode()
    assert send(viewer, q="policy:null", curation="dropped") == 403
    assert curations() == ["dropped", "open", "open"]


@pytest.mark.parametrize(
    "fields", [{"q": "", "curation": "best"}, {"q": "a:b", "curation": "kept"}]
)
def test_a_wrong_verdict_or_filter_changes_nothing(
    decided: Episode, client_of: ClientOf, fields: dict[str, str]
) -> None:
    assert send(client_of(Role.REVIEWER), **fields) == 422
    assert curations() == ["dropped", "open", "open"]


def test_the_api_says_how_many_changed(decided: Episode, client_of: ClientOf) -> None:
    body = orjson.dumps({"q": "passed:no", "curation": "dropped"})
    path, kind = "/api/v1/episodes/curation", "application/json"
    assert client_of(Role.VIEWER).post(path, body, content_type=kind).status_code == 403
    answer = client_of(Role.REVIEWER).post(path, body, content_type=kind)
    assert (answer.status_code, answer.json()) == (200, {"changed": 1})
    assert curations() == ["dropped", "open", "dropped"]
