"""The page of endpoints: who sees and changes what, and what a failed probe says."""

import re

import pytest
from django.test import Client

from studio.web.choices import Role
from studio.web.models import Job
from tasks_app.models import ModelEndpoint
from tasks_app.operations.endpoints import create_endpoint, record_probe
from tests.tasks_app.views.conftest import client_of

pytestmark = pytest.mark.django_db
FORM = {
    "name": "lab",
    "base_url": "https://api.example.com/v1",
    "model": "tiny",
    "api_key_env": "LAB_API_KEY",
    "roles": ["teacher"],
    "temperature": "0.7",
}


@pytest.fixture
def admin(db: None) -> Client:
    """An administrator's browser."""
    return client_of(Role.ADMIN)


@pytest.fixture
def lab(db: None) -> ModelEndpoint:
    """An endpoint that was never probed."""
    return create_endpoint(
        by=None, name="lab", base_url="https://api.example.com/v1", model="tiny <b>"
    )


def test_without_endpoints_the_page_says_that_the_reference_is_always_there(
    viewer: Client,
) -> None:
    page = viewer.get("/endpoints/").content.decode()
    assert "The built-in reference teacher is always there" in page
    assert 'aria-current="page"' in page
    assert '<form class="stack"' not in page


def test_an_administrator_adds_one_and_finds_it_in_the_list(admin: Client) -> None:
    answer = admin.post("/endpoints/", FORM)
    assert (answer.status_code, answer["Location"]) == (303, "/endpoints/")
    row = ModelEndpoint.objects.get()
    assert (row.roles, row.sampling) == (["teacher"], {"temperature": 0.7})
    page = admin.get("/endpoints/").content.decode()
    assert "not probed" in page
    assert "/rollouts/?policy=endpoint:lab" in page


def test_a_key_in_place_of_its_name_comes_back_at_its_field(admin: Client) -> None:
    answer = admin.post("/endpoints/", {**FORM, "api_key_env": "sk-123", "base_url": "ftp://x"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count('aria-invalid="true"') == 2
    assert "Write its name, never the key itself" in page
    assert not ModelEndpoint.objects.exists()


def test_an_endpoint_is_changed_and_keeps_its_name(admin: Client, lab: ModelEndpoint) -> None:
    change = {**FORM, "name": "other", "model": "larger", "roles": ["teacher", "judge"]}
    assert admin.post("/endpoints/lab/", change).status_code == 303
    lab.refresh_from_db()
    assert (lab.name, lab.model, lab.roles) == ("lab", "larger", ["teacher", "judge"])
    wrong = admin.post("/endpoints/lab/", {**FORM, "roles": []})
    assert wrong.status_code == 422


def test_a_probe_is_a_job_that_the_list_follows(admin: Client, lab: ModelEndpoint) -> None:
    assert admin.post("/endpoints/lab/probe/").status_code == 303
    assert admin.post("/endpoints/lab/probe/").status_code == 303
    assert list(Job.objects.values_list("kind", "queue")) == [("probe_endpoint", "chat")]
    page = admin.get("/endpoints/").content.decode()
    assert 'data-poll="2"' in page
    headers = {"HX-Request": "true", "HX-Target": "endpoints"}
    first = admin.get("/endpoints/", headers=headers)
    assert first.content.decode().lstrip().startswith('<section class="panel" id="endpoints"')
    again = {**headers, "If-None-Match": first["ETag"]}
    assert admin.get("/endpoints/", headers=again).status_code == 304


def test_the_words_of_a_failed_probe_and_of_a_server_are_shown_and_escaped(
    viewer: Client, lab: ModelEndpoint
) -> None:
    record_probe(by=None, endpoint=lab, found=None, words="no <script> today")
    for path in ("/endpoints/", "/endpoints/lab/"):
        page = viewer.get(path).content.decode()
        assert "no &lt;script&gt; today" in page
        assert "tiny &lt;b&gt;" in page


def test_an_endpoint_is_withdrawn(admin: Client, lab: ModelEndpoint) -> None:
    assert admin.post("/endpoints/lab/active/", {"active": "no"}).status_code == 303
    lab.refresh_from_db()
    assert lab.active is False
    page = admin.get("/endpoints/").content.decode()
    assert "not offered" in page
    assert "policy=endpoint:lab" not in page


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR, Role.LEAD])
def test_only_an_administrator_changes_endpoints(role: Role, lab: ModelEndpoint) -> None:
    client = client_of(role)
    for path in ("/endpoints/", "/endpoints/lab/"):
        page = client.get(path).content.decode()
        assert not re.search(r'<form[^>]*action="/endpoints/', page)
    acts = ("/endpoints/", "/endpoints/lab/", "/endpoints/lab/probe/", "/endpoints/lab/active/")
    assert [client.post(path, FORM).status_code for path in acts] == [403, 403, 403, 403]
    assert ModelEndpoint.objects.get().model == "tiny <b>"


def test_an_unknown_endpoint_is_404(admin: Client) -> None:
    assert admin.get("/endpoints/nobody/").status_code == 404
    assert admin.post("/endpoints/nobody/probe/").status_code == 404
