import datetime as dt

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client, RequestFactory, override_settings
from django.utils import timezone

from studio.web import access, audit
from studio.web.acts import PERMISSIONS, Act, acts_of, allowed, scopes_of
from studio.web.auth import Principal
from studio.web.choices import Role, Scope
from studio.web.errors import Invalid, NotFound, Throttled
from studio.web.models import ApiToken, AuditEntry, Invitation, SignInThrottle, User
from tests.studio.web.conftest import MakeUser

ALL = frozenset(Scope)


def _try(name: str, password: str, place: str = "10.0.0.1") -> User:
    request = RequestFactory().post("/sign-in/", REMOTE_ADDR=place)
    return access.sign_in(request, name, password)


def test_each_role_may_what_the_table_of_the_design_says() -> None:
    everybody = {Act.READ, Act.EXPORT}
    reviewer = everybody | {Act.REVIEW, Act.COMMENT, Act.CURATE}
    editor = reviewer | {
        Act.GENERATE, Act.IMPORT, Act.EDIT, Act.ROLL_OUT, Act.TRAIN, Act.EVALUATE,
    }  # fmt: skip
    lead = editor | {
        Act.OVERRULE, Act.SETTLE_DISPUTES, Act.TAKE_OVER_LEASES, Act.FREEZE_DATASETS,
        Act.MANAGE_QUEUES,
    }  # fmt: skip
    assert {role: acts_of(role) for role in Role} == {
        Role.VIEWER: everybody,
        Role.REVIEWER: reviewer,
        Role.EDITOR: editor,
        Role.LEAD: lead,
        Role.ADMIN: frozenset(Act),
    }
    assert set(PERMISSIONS) == set(Act)
    assert not allowed(Role.REVIEWER, Act.EDIT)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("scope", list(Scope))
def test_a_token_never_exceeds_its_owners_role(role: Role, scope: Scope) -> None:
    user = User(username="u", role=role)
    token = ApiToken(user=user, scopes=[scope.value, "of a later release"])
    may = {act for act in Act if Principal(user, token).may(act)}
    assert may == {act for act in acts_of(role) if PERMISSIONS[act].scope == scope}


@pytest.mark.django_db
def test_a_token_shrinks_with_its_owners_role(make_user: MakeUser) -> None:
    user = make_user(role=Role.ADMIN)
    issued = access.issue_token(user, "x", ALL)
    User.objects.filter(pk=user.pk).update(role=Role.VIEWER)
    token = access.find_token(issued.secret)
    assert token is not None
    assert {act for act in Act if Principal(token.user, token).may(act)} == {Act.READ, Act.EXPORT}


@pytest.mark.django_db
def test_a_token_is_kept_as_a_hash_and_found_by_its_secret(make_user: MakeUser) -> None:
    user = make_user()
    row, secret = access.issue_token(user, "script", frozenset({Scope.READ}))
    assert secret not in str(ApiToken.objects.values().get())
    assert row.hint == secret[:8]
    assert access.find_token(secret) == row
    assert access.find_token(secret + "x") is None
    assert access.find_token("cws_\ud800") is None
    assert access.find_token("") is None


@pytest.mark.django_db
def test_a_revoked_expired_or_orphaned_token_is_no_token(make_user: MakeUser) -> None:
    user = make_user()
    revoked = access.issue_token(user, "a", frozenset({Scope.READ}))
    expired = access.issue_token(user, "b", frozenset({Scope.READ}))
    orphaned = access.issue_token(make_user("other"), "c", frozenset({Scope.READ}))
    access.revoke_token(revoked.row, by=user)
    ApiToken.objects.filter(pk=expired.row.pk).update(expires_at=timezone.now())
    User.objects.filter(username="other").update(is_active=False)
    assert [access.find_token(issued.secret) for issued in (revoked, expired, orphaned)] == [
        None,
        None,
        None,
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("role", list(Role))
def test_only_scopes_of_the_role_can_be_asked_for(make_user: MakeUser, role: Role) -> None:
    user = make_user(role=role)
    access.issue_token(user, "fits", scopes_of(role))
    for scope in ALL - scopes_of(role):
        with pytest.raises(Invalid) as caught:
            access.issue_token(user, "too much", frozenset({Scope.READ, scope}))
        assert caught.value.problems[0].message == f"your role does not cover {scope.value}"


@pytest.mark.django_db
def test_a_token_needs_a_name_a_scope_and_a_life(make_user: MakeUser) -> None:
    with pytest.raises(Invalid) as caught:
        access.issue_token(make_user(), " ", frozenset(), life=dt.timedelta(days=999))
    assert [problem.place for problem in caught.value.problems] == ["scopes", "days", "name"]


@pytest.mark.django_db
def test_people_sign_in_by_name_or_by_an_email_that_is_theirs_alone(make_user: MakeUser) -> None:
    mira = make_user("mira")
    assert _try("mira", "mira-mira") == mira
    assert _try("MIRA@example.org", "mira-mira") == mira
    make_user("nora")
    User.objects.filter(username="nora").update(email="mira@example.org")
    with pytest.raises(access.WrongPassword):
        _try("mira@example.org", "mira-mira")


@pytest.mark.django_db
def test_after_five_failures_even_the_right_password_waits_a_minute(make_user: MakeUser) -> None:
    mira = make_user("mira")
    left = []
    for _ in range(5):
        with pytest.raises(access.WrongPassword) as caught:
            _try("mira", "wrong")
        left.append(caught.value.tries_left)
    assert left == [4, 3, 2, 1, 0]
    with pytest.raises(Throttled) as throttled:
        _try("mira", "mira-mira")
    assert 55 <= throttled.value.retry_after <= 61
    # Somebody elsewhere is not locked out by that.
    assert _try("mira", "mira-mira", "10.0.0.2") == mira
    past = timezone.now() - dt.timedelta(seconds=1)
    SignInThrottle.objects.update(blocked_until=past)
    assert _try("mira", "mira-mira") == mira


@pytest.mark.django_db
def test_a_pause_doubles_and_ends_at_a_quarter_of_an_hour() -> None:
    pauses = []
    for _ in range(12):
        SignInThrottle.objects.update(blocked_until=None)
        with pytest.raises(access.WrongPassword):
            _try("nobody", "wrong")
        until = SignInThrottle.objects.order_by("-failures", "pk").first()
        assert until is not None
        if until.blocked_until is not None:
            pauses.append(round((until.blocked_until - timezone.now()).total_seconds() / 60))
    assert pauses == [1, 2, 4, 8, 15, 15, 15, 15]


@pytest.mark.django_db
def test_many_names_from_one_place_are_throttled_too() -> None:
    for number in range(30):
        with pytest.raises(access.WrongPassword):
            _try(f"name{number}", "wrong")
    with pytest.raises(Throttled):
        _try("another", "wrong")


@pytest.mark.parametrize(
    ("proxies", "forwarded", "place"),
    [
        (0, "1.1.1.1", "10.0.0.9"),
        (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
        (2, "6.6.6.6, 1.1.1.1, 2.2.2.2", "1.1.1.1"),
        (2, "1.1.1.1", "10.0.0.9"),
        (1, "", "10.0.0.9"),
    ],
)
def test_the_place_is_what_the_trusted_proxies_saw(
    proxies: int, forwarded: str, place: str
) -> None:
    request = RequestFactory().get(
        "/", REMOTE_ADDR="10.0.0.9", headers={"x-forwarded-for": forwarded}
    )
    with override_settings(STUDIO_TRUSTED_PROXIES=proxies):
        assert access._place(request) == place


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["", "\x00", "a\x00b", "x" * 5000, "' OR ''='", "\ud800"])
def test_hostile_names_are_just_wrong(name: str) -> None:
    with pytest.raises(access.WrongPassword):
        _try(name, "\x00")


@pytest.mark.django_db
def test_the_owners_link_works_once_and_reading_it_uses_nothing_up() -> None:
    assert access.needs_owner()
    link = access.create_owner_link("http://127.0.0.1:8000")
    path = link.removeprefix("http://127.0.0.1:8000")
    assert path.startswith("/welcome/")
    for _ in range(2):
        page = Client().get(path)
        assert (page.status_code, page["Referrer-Policy"]) == (200, "same-origin")
    client = Client()
    answer = client.post(path, {"password": ""})
    assert (answer.status_code, answer["Location"]) == (303, "/")
    assert client.get("/account/").status_code == 200
    assert Client().get(path).status_code == 404
    owner = User.objects.get()
    assert (owner.role, owner.is_superuser, owner.has_usable_password()) == ("admin", True, False)
    # Without a password the owner needs another link, for the same account.
    assert access.needs_owner()
    second = Client().post(access.create_owner_link(), {"password": "thirteen birds"})
    assert second.status_code == 303
    assert not access.needs_owner()
    assert _try("owner", "thirteen birds") == owner


@pytest.mark.django_db
def test_a_new_owners_link_ends_the_former_one_and_a_day_ends_both() -> None:
    first, second = access.create_owner_link(), access.create_owner_link()
    assert Client().get(first).status_code == 404
    assert Client().get(second).status_code == 200
    Invitation.objects.update(expires_at=timezone.now())
    assert Client().get(second).status_code == 404
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_owners_link_never_promotes_somebody_who_has_the_name(make_user: MakeUser) -> None:
    make_user("owner", Role.VIEWER)
    access.create_owner_link()
    assert dict(User.objects.values_list("username", "role")) == {
        "owner": "viewer",
        "owner2": "admin",
    }


@pytest.mark.django_db
def test_an_invitation_makes_an_account_of_its_role(make_user: MakeUser) -> None:
    path = access.invite(by=make_user("lena", Role.ADMIN), role=Role.REVIEWER, email="r@x.org")
    client = Client()
    wrong = client.post(path, {"username": "lena", "password": "thirteen birds"})
    weak = client.post(path, {"username": "rob", "password": "12345"})
    none = client.post(path, {"username": "rob", "password": ""})
    assert [answer.status_code for answer in (wrong, weak, none)] == [422, 422, 422]
    assert client.post(path, {"username": "rob", "password": "thirteen birds"}).status_code == 303
    rob = User.objects.get(username="rob")
    assert (rob.role, rob.email, rob.is_staff) == ("reviewer", "r@x.org", False)
    with pytest.raises(NotFound):
        access.accept_invitation(path.split("/")[2], username="rob2", password="thirteen birds")


@pytest.mark.django_db
def test_audit_entries_can_be_neither_changed_nor_deleted(make_user: MakeUser) -> None:
    user = make_user()
    entry = audit.record(user, "approve", "T-4F7K", {"version": 3})
    with pytest.raises(TypeError, match="append-only"):
        entry.save()
    with pytest.raises(TypeError, match="append-only"):
        entry.delete()
    for statement in ("UPDATE web_auditentry SET act = 'x'", "DELETE FROM web_auditentry"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            connection.cursor().execute(statement)
    user.delete()
    kept = AuditEntry.objects.get(act="approve")
    assert (kept.actor_name, kept.subject, kept.detail) == ("mira", "T-4F7K", {"version": 3})


@pytest.mark.django_db
def test_ways_in_leave_entries_without_secrets(make_user: MakeUser) -> None:
    mira = make_user("mira")
    with pytest.raises(access.WrongPassword):
        _try("mira", "wrong-password-text")
    _try("mira", "mira-mira")
    issued = access.issue_token(mira, "x", frozenset({Scope.READ}))
    access.revoke_token(issued.row, by=mira)
    entries = list(AuditEntry.objects.order_by("pk").values_list("act", "actor_name", "detail"))
    assert [entry[:2] for entry in entries] == [
        ("sign_in_failed", "system"),
        ("sign_in", "mira"),
        ("issue_token", "mira"),
        ("revoke_token", "mira"),
    ]
    assert "wrong-password-text" not in str(entries)
    assert issued.secret not in str(entries)
