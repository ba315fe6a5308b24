"""Every page of the platform, asked for by everybody."""

from collections.abc import Callable

import pytest
from django.test import Client, override_settings

from studio.web import access
from studio.web.choices import Role, Scope
from studio.web.models import ApiToken, AuditEntry, Invitation, Job, User
from tests.studio.web.conftest import MakeUser

AsUser = Callable[[User], Client]
HTMX = {"hx-request": "true"}

PAGES = ["/", "/account/", "/search/", "/api/docs", "/jobs/{job}/", "/admin/"]
POSTS = [
    "/sign-out/",
    "/account/tokens/{token}/revoke/",
    "/jobs/{job}/cancel/",
    "/jobs/{job}/resume/",
]


@pytest.fixture
def owner(make_user: MakeUser) -> User:
    return make_user("olga", Role.EDITOR)


@pytest.fixture
def things(owner: User) -> dict[str, str]:
    """A running job and a token of the owner."""
    job = Job.objects.create(kind="test_count", user=owner, arguments={"total": 1})
    token = access.issue_token(owner, "script", frozenset({Scope.READ})).row
    return {"job": job.code, "token": token.code}


@pytest.mark.parametrize("page", PAGES)
def test_a_stranger_is_sent_to_the_sign_in_page(page: str, things: dict[str, str]) -> None:
    path = page.format(**things)
    answer = Client().get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith(("/sign-in/?next=", "/admin/login/"))


@pytest.mark.parametrize("page", POSTS)
def test_a_stranger_changes_nothing(page: str, things: dict[str, str]) -> None:
    path = page.format(**things)
    assert Client().post(path).status_code == 302
    assert Client().post(path, headers=HTMX).status_code == 401
    assert Job.objects.get().state == "queued"
    assert ApiToken.objects.get().revoked_at is None


@pytest.mark.parametrize("path", ["/nothing/", "/jobs/", "/static/../settings.py", "/healthz/x"])
@pytest.mark.django_db
def test_a_stranger_does_not_learn_which_pages_there_are(path: str) -> None:
    assert Client().get(path).status_code in (302, 404)
    assert Client().get("/jobs/JOB-00000/")["Location"] == "/sign-in/?next=/jobs/JOB-00000/"


@pytest.mark.django_db
def test_the_ways_in_are_open() -> None:
    assert [Client().get(path).status_code for path in ("/sign-in/", "/healthz")] == [200, 200]
    assert Client().get("/welcome/nothing/").status_code == 404


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("page", ["/", "/account/", "/api/docs", "/jobs/{job}/"])
def test_everybody_with_an_account_reads(
    page: str, role: Role, things: dict[str, str], make_user: MakeUser, as_user: AsUser
) -> None:
    answer = as_user(make_user("reader", role)).get(page.format(**things))
    assert answer.status_code == 200
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'; script-src 'self' 'nonce-" in policy
    assert "unsafe" not in policy
    body = answer.content.decode()
    assert "<script>" not in body
    assert "style=" not in body.replace("color-scheme", "")
    assert "onclick" not in body


@pytest.mark.parametrize(
    ("role", "status", "state"),
    [
        (Role.VIEWER, 403, "queued"),
        (Role.REVIEWER, 403, "queued"),
        (Role.EDITOR, 403, "queued"),
        (Role.LEAD, 403, "queued"),
        (Role.ADMIN, 303, "stopped"),
    ],
)
def test_of_others_only_an_administrator_stops_the_job(
    role: Role,
    status: int,
    state: str,
    things: dict[str, str],
    make_user: MakeUser,
    as_user: AsUser,
) -> None:
    client = as_user(make_user("colleague", role))
    answer = client.post(f"/jobs/{things['job']}/cancel/")
    assert (answer.status_code, Job.objects.get().state) == (status, state)


def test_the_owner_stops_resumes_and_sees_a_conflict(
    things: dict[str, str], owner: User, as_user: AsUser
) -> None:
    client = as_user(owner)
    path = f"/jobs/{things['job']}/"
    assert client.post(f"{path}cancel/").status_code == 303
    conflict = client.post(f"{path}cancel/")
    assert conflict.status_code == 409
    assert "is stopped already" in conflict.content.decode()
    fragment = client.post(f"{path}cancel/", headers={**HTMX, "hx-target": "job"})
    assert fragment.status_code == 409
    assert "<html" not in fragment.content.decode()
    assert client.post(f"{path}resume/").status_code == 303
    assert Job.objects.get().state == "queued"


def test_a_poller_gets_the_fragment_and_304_while_nothing_moves(
    things: dict[str, str], owner: User, as_user: AsUser
) -> None:
    client = as_user(owner)
    path = f"/jobs/{things['job']}/"
    asked = {**HTMX, "hx-target": f"job-{things['job']}"}
    first = client.get(path, headers=asked)
    assert first.status_code == 200
    assert "<html" not in first.content.decode()
    asked["if-none-match"] = first["ETag"]
    assert client.get(path, headers=asked).status_code == 304
    Job.objects.update(done=5)
    assert client.get(path, headers=asked).status_code == 200


def test_a_token_is_shown_once_and_only_its_owner_or_an_administrator_revokes_it(
    owner: User, make_user: MakeUser, as_user: AsUser
) -> None:
    client = as_user(owner)
    made = client.post("/account/", {"name": "ci", "scopes": ["read", "run"], "days": 30})
    assert made.status_code == 201
    token = ApiToken.objects.get()
    assert f">{token.hint}" in made.content.decode()
    assert 'id="token-secret">cws_' in made.content.decode()
    assert "token-secret" not in client.get("/account/").content.decode()
    path = f"/account/tokens/{token.code}/revoke/"
    assert as_user(make_user("lead", Role.LEAD)).post(path).status_code == 404
    assert as_user(make_user("root", Role.ADMIN)).post(path).status_code == 303
    assert client.post(path).status_code == 303
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_a_role_is_not_offered_scopes_beyond_it(make_user: MakeUser, as_user: AsUser) -> None:
    client = as_user(make_user(role=Role.VIEWER))
    answer = client.post("/account/", {"name": "x", "scopes": ["admin"], "days": 1})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_signing_in_leads_back_but_never_to_another_site(make_user: MakeUser) -> None:
    make_user("mira")
    right = {"username": "mira", "password": "mira-mira"}
    for wanted, led in (
        ("/jobs/?q=1", "/jobs/?q=1"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("javascript:alert(1)", "/"),
    ):
        answer = Client().post("/sign-in/", {**right, "next": wanted})
        assert (answer.status_code, answer["Location"]) == (303, led)
    assert Client().post("/sign-in/", {**right, "remember": "on"}).cookies["sessionid"]["max-age"]
    session = Client().post("/sign-in/", right).cookies["sessionid"]
    assert (session["max-age"], bool(session["httponly"]), session["samesite"]) == ("", True, "Lax")


def test_wrong_passwords_are_counted_down_to_a_pause(make_user: MakeUser) -> None:
    make_user("mira")
    client = Client()
    answers = [
        client.post("/sign-in/", {"username": "mira", "password": "wrong"}) for _ in range(6)
    ]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 422, 422, 429]
    assert "4 tries left" in answers[0].content.decode()
    assert "Wait " in answers[5].content.decode()
    assert answers[5]["Retry-After"] == "60"


def test_a_form_without_its_csrf_token_is_refused(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    refused = client.post("/sign-out/")
    assert refused.status_code == 403
    assert "reload the page and send it again" in refused.content.decode()
    assert client.post("/account/", {"name": "x"}).status_code == 403


def test_a_host_that_is_not_ours_is_told_which_variable_names_it(
    owner: User, as_user: AsUser
) -> None:
    refused = as_user(owner).get("/", headers={"host": "evil.example"})
    assert refused.status_code == 400
    assert "Name it in STUDIO_ALLOWED_HOSTS" in refused.content.decode()


def test_signing_out_ends_the_session(owner: User, as_user: AsUser) -> None:
    client = as_user(owner)
    page = client.get("/sign-out/")
    assert (page.status_code, page["Allow"]) == (405, "POST")
    assert "go back and press the button again" in page.content.decode()
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/").status_code == 302


def test_home_gives_the_moving_part_alone(owner: User, as_user: AsUser) -> None:
    client = as_user(owner)
    part = client.get("/", headers={**HTMX, "hx-target": "home-live"})
    assert part.content.decode().lstrip().startswith('<div id="home-live"')
    assert "HX-Target" in part["Vary"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("t-4f7k", "/tasks/T-4F7K/"),
        ("E-12345678", "/episodes/E-12345678/"),
        ("bank change", "/tasks/?q=bank+change"),
        ("", "/tasks/"),
        ("//evil.example", "/tasks/?q=%2F%2Fevil.example"),
    ],
)
def test_a_search_leads_to_a_code_or_to_the_tasks(
    text: str, place: str, owner: User, as_user: AsUser
) -> None:
    assert as_user(owner).get("/search/", {"q": text})["Location"] == place


@override_settings(STUDIO_MAX_BODY_BYTES=1000)
def test_a_body_above_the_limit_is_refused_with_both_numbers(owner: User, as_user: AsUser) -> None:
    client = as_user(owner)
    answer = client.post("/account/", {"name": "x" * 2_000_000})
    assert answer.status_code == 413
    assert "This is 1.9 MB; the limit is 0.0 MB." in answer.content.decode()
    api = client.post("/api/v1/tokens", {"name": "x" * 2000}, content_type="application/json")
    assert (api.status_code, api["Content-Type"]) == (413, "application/problem+json")


@pytest.mark.parametrize("path", ["/jobs/JOB-99999/", "/jobs/x/", "/nowhere/"])
def test_what_is_not_there_is_a_page_with_a_way_on(path: str, owner: User, as_user: AsUser) -> None:
    answer = as_user(owner).get(path)
    assert answer.status_code == 404
    assert 'href="/"' in answer.content.decode()


def test_the_admin_site_has_no_way_in_of_its_own(
    owner: User, make_user: MakeUser, as_user: AsUser
) -> None:
    stranger = Client().get("/admin/login/?next=/admin/web/user/")
    assert stranger["Location"] == "/sign-in/?next=/admin/web/user/"
    assert Client().post("/admin/login/", {"username": "x"}).status_code == 302
    editor = as_user(owner)
    assert editor.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
    assert editor.get("/admin/login/?next=/admin/").status_code == 403
    root = as_user(make_user("root", Role.ADMIN))
    assert root.get("/admin/login/?next=/admin/")["Location"] == "/admin/"


def test_an_administrator_sees_every_list_and_changes_nothing_but_people(
    things: dict[str, str], owner: User, make_user: MakeUser, as_user: AsUser
) -> None:
    root = as_user(make_user("root", Role.ADMIN))
    names = [
        "apitoken", "auditentry", "blob", "bulkaction", "draft", "invitation", "job",
        "savedview", "signinthrottle", "user", "worker",
    ]  # fmt: skip
    for name in names:
        assert root.get(f"/admin/web/{name}/").status_code == 200
        assert root.get(f"/admin/web/{name}/add/").status_code == 403
    digest = ApiToken.objects.get().digest
    token = root.get(f"/admin/web/apitoken/{ApiToken.objects.get().pk}/change/")
    assert token.status_code == 200
    assert digest not in token.content.decode()
    changed = root.post(
        f"/admin/web/user/{owner.pk}/change/",
        {"first_name": "", "last_name": "", "email": "", "role": "lead", "is_active": "on"},
    )
    assert changed.status_code == 302
    owner.refresh_from_db()
    assert owner.role == "lead"
    entry = AuditEntry.objects.get(act="change_user")
    assert (entry.actor_name, entry.subject, entry.detail["role"]) == ("root", "olga", "lead")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR, Role.LEAD])
def test_only_an_administrator_invites(role: Role, make_user: MakeUser, as_user: AsUser) -> None:
    client = as_user(make_user("colleague", role))
    assert client.post("/account/invite/", {"role": "admin"}).status_code == 403
    assert "Invite a colleague" not in client.get("/account/").content.decode()
    assert not Invitation.objects.exists()


def test_an_invitation_is_shown_once_as_a_link(make_user: MakeUser, as_user: AsUser) -> None:
    client = as_user(make_user("root", Role.ADMIN))
    assert "Invite a colleague" in client.get("/account/").content.decode()
    assert client.post("/account/invite/", {"role": "king"}).status_code == 422
    made = client.post("/account/invite/", {"role": "reviewer", "email": "r@example.org"})
    assert made.status_code == 201
    link = made.content.decode().split('id="invitation-link">')[1].split("<")[0]
    assert link.startswith("http://testserver/welcome/")
    assert Client().get(link.removeprefix("http://testserver")).status_code == 200


def test_a_password_is_changed_with_the_present_one_and_ends_other_sessions(
    owner: User, as_user: AsUser
) -> None:
    client, elsewhere = as_user(owner), as_user(owner)
    path = "/account/password/"
    assert client.get(path).status_code == 200
    wrong = client.post(path, {"present": "wrong", "new": "thirteen birds"})
    weak = client.post(path, {"present": "olga-olga", "new": "12345"})
    assert (wrong.status_code, weak.status_code) == (422, 422)
    right = {"present": "olga-olga", "new": "thirteen birds"}
    assert client.post(path, right)["Location"] == "/account/"
    assert client.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302
    assert AuditEntry.objects.filter(act="change_password", actor_name="olga").count() == 1


def test_who_came_in_by_a_link_alone_chooses_a_password(owner: User, as_user: AsUser) -> None:
    owner.set_unusable_password()
    owner.save()
    client = as_user(owner)
    assert "Present password" not in client.get("/account/password/").content.decode()
    answer = client.post("/account/password/", {"new": "thirteen birds"})
    assert answer.status_code == 303
    owner.refresh_from_db()
    assert owner.check_password("thirteen birds")
