"""The API of the platform: who gets in, what errors look like, what tokens may."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from studio.management.commands.export_openapi import schema_text
from studio.web import access, audit
from studio.web.acts import scopes_of
from studio.web.choices import Role, Scope
from studio.web.models import ApiToken, AuditEntry, Job, User
from tests.studio.web.conftest import MakeUser

AsUser = Callable[[User], Client]
SNAPSHOT = Path(__file__).parents[2] / "openapi.json"

ROUTES = [
    ("get", "/api/v1/me"),
    ("get", "/api/v1/tokens"),
    ("post", "/api/v1/tokens"),
    ("post", "/api/v1/tokens/TOK-0000/revoke"),
    ("get", "/api/v1/jobs"),
    ("get", "/api/v1/jobs/JOB-00000"),
    ("post", "/api/v1/jobs/JOB-00000/cancel"),
    ("post", "/api/v1/jobs/JOB-00000/resume"),
    ("get", "/api/v1/audit"),
]


class Api:
    """A client with a token."""

    def __init__(self, secret: str) -> None:
        self._client = Client(headers={"authorization": f"Bearer {secret}"})

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and parsed body."""
        arguments: dict[str, Any] = {}
        if body is not None:
            arguments = {"data": json.dumps(body), "content_type": "application/json"}
        answer = getattr(self._client, method)(path, **arguments)
        return answer.status_code, json.loads(answer.content)


def _api(user: User, *scopes: Scope) -> Api:
    return Api(access.issue_token(user, "test", frozenset(scopes or Scope)).secret)


@pytest.fixture
def admin(make_user: MakeUser) -> User:
    return make_user("root", Role.ADMIN)


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_or_with_a_wrong_token_there_is_a_401_problem(method: str, path: str) -> None:
    for headers in ({}, {"authorization": "Bearer cws_wrong"}, {"authorization": "Basic x"}):
        answer = getattr(Client(headers=headers), method)(path)
        assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
        assert answer["WWW-Authenticate"] == "Bearer"
        problem = json.loads(answer.content)
        assert (problem["status"], problem["type"], problem["instance"]) == (
            401,
            "urn:coworkenv:problem:sign-in-required",
            path,
        )


def test_the_schema_is_for_those_who_may_use_the_api(admin: User, as_user: AsUser) -> None:
    path = "/api/v1/openapi.json"
    assert Client().get(path).status_code == 401
    assert as_user(admin).get(path).status_code == 200
    assert _api(admin, Scope.READ).call("get", path)[0] == 200
    assert _api(admin, Scope.RUN).call("get", path)[0] == 403


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("scope", list(Scope))
def test_a_scope_opens_its_own_routes_and_no_others(
    scope: Scope, method: str, path: str, admin: User
) -> None:
    needed = Scope.READ
    if "/jobs/" in path and method == "post":
        needed = Scope.RUN
    if path.endswith("/audit"):
        needed = Scope.ADMIN
    body = {"name": "x", "scopes": ["read"]} if method == "post" else None
    status, problem = _api(admin, scope).call(method, path, body)
    if (method, path) == ("post", "/api/v1/tokens"):
        # No scope at all makes tokens.
        assert status == 403
    else:
        assert (status == 403, problem.get("needed_scope")) == (
            (False, None) if scope == needed else (True, needed.value)
        )


@pytest.mark.parametrize("role", list(Role))
def test_me_says_role_scopes_and_acts(role: Role, make_user: MakeUser) -> None:
    user = make_user(role=role)
    issued = access.issue_token(user, "x", frozenset({Scope.READ}))
    assert Api(issued.secret).call("get", "/api/v1/me") == (
        200,
        {
            "username": "mira",
            "name": "mira",
            "role": role.value,
            "token": issued.row.code,
            "scopes": ["read"],
            "acts": ["export", "read"],
        },
    )


def test_a_session_reads_and_needs_the_csrf_header_to_write(admin: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    assert client.get("/api/v1/me").status_code == 200
    refused = client.post(
        "/api/v1/tokens", {"name": "x", "scopes": ["read"]}, content_type="application/json"
    )
    assert (refused.status_code, refused["Content-Type"]) == (403, "application/problem+json")
    assert not ApiToken.objects.exists()


def test_a_token_is_made_by_a_session_only_and_listed_without_its_secret(
    admin: User, as_user: AsUser
) -> None:
    client = as_user(admin)
    body = {"name": "ci", "scopes": ["read", "run"], "days": 7}
    made = client.post("/api/v1/tokens", body, content_type="application/json")
    assert made.status_code == 201
    secret = made.json()["secret"]
    api = Api(secret)
    assert api.call("post", "/api/v1/tokens", body)[0] == 403
    status, listed = api.call("get", "/api/v1/tokens")
    assert (status, [item["scopes"] for item in listed["items"]]) == (200, [["read", "run"]])
    assert secret not in json.dumps(listed)
    code = made.json()["code"]
    assert api.call("post", f"/api/v1/tokens/{code}/revoke")[0] == 200
    assert api.call("get", "/api/v1/me")[0] == 401


def test_a_token_of_somebody_else_is_not_there(admin: User, make_user: MakeUser) -> None:
    lead = make_user("lead", Role.LEAD)
    token = access.issue_token(admin, "x", frozenset({Scope.READ})).row
    api = _api(lead, Scope.READ, Scope.RUN, Scope.WRITE, Scope.REVIEW)
    assert api.call("post", f"/api/v1/tokens/{token.code}/revoke")[0] == 404


def test_a_wrong_body_names_each_place(admin: User, as_user: AsUser) -> None:
    answer = as_user(admin).post(
        "/api/v1/tokens", {"name": "", "scopes": ["all"], "days": 0}, "application/json"
    )
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    problem = json.loads(answer.content)
    assert problem["title"] == "Some of this is not valid"
    assert [item["place"] for item in problem["problems"]] == [
        "body.name",
        "body.scopes.0",
        "body.days",
    ]


def test_broken_json_a_missing_route_and_a_wrong_method_are_problems(
    admin: User, as_user: AsUser
) -> None:
    client = as_user(admin)
    broken = client.post("/api/v1/tokens", "{", content_type="application/json")
    missing = client.get("/api/v1/nothing")
    assert (broken.status_code, broken["Content-Type"]) == (400, "application/problem+json")
    assert (missing.status_code, missing["Content-Type"]) == (404, "application/problem+json")
    wrong = client.delete("/api/v1/me")
    assert (wrong.status_code, wrong["Content-Type"], wrong["Allow"]) == (
        405,
        "application/problem+json",
        "GET",
    )


@pytest.mark.parametrize("path", ["/api/v1/me", "/api/v1/tokens", "/", "/healthz"])
def test_head_is_the_answer_to_get_without_its_body(
    path: str, admin: User, as_user: AsUser
) -> None:
    client = as_user(admin)
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head["Content-Type"], head.content) == (
        200,
        whole["Content-Type"],
        b"",
    )


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"name": "x", "scopes": ["read"], "live": 3}, ["body.live"]),
        ([], ["body"]),
        ("read", ["body"]),
        (None, ["body"]),
    ],
)
def test_a_body_with_unknown_members_or_of_another_shape_is_refused(
    body: object, places: list[str], admin: User, as_user: AsUser
) -> None:
    answer = as_user(admin).post("/api/v1/tokens", json.dumps(body), "application/json")
    assert (answer.status_code, [row["place"] for row in answer.json()["problems"]]) == (
        422,
        places,
    )
    assert not ApiToken.objects.exists()


def test_a_member_that_is_not_known_never_means_everything(admin: User) -> None:
    api = _api(admin)
    assert api.call("post", "/api/v1/tasks/prove", {"filter": "state:draft"})[0] == 422
    assert api.call("post", "/api/v1/tasks/prove", [])[0] == 422
    assert not Job.objects.exists()


def test_a_write_without_the_csrf_header_is_told_what_to_send(admin: User) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/api/v1/tokens", {}, "application/json").status_code == 401
    client.force_login(admin)
    answer = client.post("/api/v1/tokens", {}, "application/json")
    assert (answer.status_code, "X-CSRFToken" in answer.json()["detail"]) == (403, True)


def test_a_wrong_token_is_refused_also_where_a_session_would_do(admin: User) -> None:
    client = Client(headers={"authorization": "Bearer cws_wrong"})
    client.force_login(admin)
    answer = client.get("/api/v1/me")
    assert (answer.status_code, answer.json()["detail"]) == (
        401,
        "This token is unknown, revoked or past its end. Make one on the account page.",
    )


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"name":\n x}', "The body is not JSON at line 2, column 2: Expecting value."),
        (b'{"name": "\xff"}', "The body is not UTF-8 text at byte 11."),
        (b'{"a":' * 50_000, "The body is nested too deeply to be read."),
        (b'{"days": ' + b"9" * 5000 + b"}", "The body holds a whole number of too many digits."),
    ],
)
def test_a_body_that_cannot_be_read_says_where(
    body: bytes, detail: str, admin: User, as_user: AsUser
) -> None:
    answer = as_user(admin).post("/api/v1/tokens", body, content_type="application/json")
    assert (answer.status_code, json.loads(answer.content)["detail"]) == (400, detail)


def test_jobs_are_paged_filtered_and_moved(admin: User) -> None:
    jobs = [Job.objects.create(kind=f"k{number % 2}", user=admin) for number in range(5)]
    api = _api(admin)
    status, page = api.call("get", "/api/v1/jobs?size=2")
    codes = [item["code"] for item in page["items"]]
    while page["next_cursor"] is not None:
        status, page = api.call("get", f"/api/v1/jobs?size=2&cursor={page['next_cursor']}")
        codes += [item["code"] for item in page["items"]]
    assert (status, codes) == (200, [job.code for job in reversed(jobs)])
    _, odd = api.call("get", "/api/v1/jobs?kind=k1&size=1")
    assert api.call("get", f"/api/v1/jobs?size=1&cursor={odd['next_cursor']}")[0] == 400
    path = f"/api/v1/jobs/{jobs[0].code}"
    assert api.call("post", f"{path}/cancel")[1]["state"] == "stopped"
    status, problem = api.call("post", f"{path}/cancel")
    assert (status, problem["type"]) == (409, "urn:coworkenv:problem:conflict")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR, Role.LEAD])
def test_a_colleague_reads_a_job_but_does_not_stop_it(
    role: Role, admin: User, make_user: MakeUser
) -> None:
    job = Job.objects.create(kind="x", user=admin)
    colleague = make_user("colleague", role)
    secret = access.issue_token(colleague, "x", scopes_of(role)).secret
    assert Api(secret).call("get", f"/api/v1/jobs/{job.code}")[0] == 200
    assert Api(secret).call("post", f"/api/v1/jobs/{job.code}/cancel")[0] == 403
    job.refresh_from_db()
    assert job.state == "queued"


def test_the_audit_log_is_for_administrators(admin: User, make_user: MakeUser) -> None:
    audit.record(admin, "approve", "T-4F7K", {"version": 1})
    AuditEntry.objects.filter(act="approve").first()
    status, page = _api(admin).call("get", "/api/v1/audit?act=approve")
    assert (status, [item["subject"] for item in page["items"]]) == (200, ["T-4F7K"])
    lead = make_user("lead", Role.LEAD)
    secret = access.issue_token(lead, "x", scopes_of(Role.LEAD)).secret
    assert Api(secret).call("get", "/api/v1/audit")[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/jobs?kind=%00",
        "/api/v1/jobs?subject=%ED%A0%80",
        "/api/v1/jobs?cursor=%00",
        "/api/v1/jobs?size=0",
        "/api/v1/jobs?size=99999999999999999999",
        "/api/v1/jobs?state=nothing",
        "/api/v1/jobs/%00",
        "/api/v1/jobs/JOB-%F0%9F%92%A9",
        "/api/v1/audit?act=%00&subject=%F0",
    ],
)
def test_hostile_parameters_are_never_a_500(path: str, admin: User) -> None:
    assert _api(admin).call("get", path)[0] in (200, 400, 404, 422)


def test_the_schema_is_the_one_that_was_agreed(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    call_command("export_openapi", str(file))
    assert file.read_text(encoding="utf-8") == schema_text()
    assert json.loads(file.read_text(encoding="utf-8"))["info"]["title"] == "CoworkEnv Studio"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "place", "said"),
    [
        ("/api/v1/jobs?kinds=x", "query.kinds", "Known are cursor, kind, size, state, subject."),
        ("/api/v1/me?q=x", "query.q", "This route takes none."),
        ("/api/v1/jobs/JOB-00000?cursor=1", "query.cursor", "This route takes none."),
        ("/api/v1/tasks/export?filter=x", "query.filter", "Known are "),
    ],
)
def test_a_query_that_a_route_does_not_know_is_refused_with_what_it_knows(
    admin: User, path: str, place: str, said: str
) -> None:
    status, answer = _api(admin).call("get", path)
    problem = answer["problems"][0]
    assert (status, problem["place"]) == (422, place)
    assert problem["message"] == "is not known here"
    assert problem["hint"].startswith(said)


@pytest.mark.django_db
def test_a_query_that_a_route_knows_is_read(admin: User) -> None:
    status, answer = _api(admin).call("get", "/api/v1/jobs?state=queued&size=2")
    assert (status, answer["items"]) == (200, [])
