import json

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from django.db.utils import IntegrityError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from studio.web.choices import Role
from studio.web.errors import (
    BadRequest,
    Conflict,
    FilterError,
    Forbidden,
    Invalid,
    NotFound,
    Problem,
    SignInRequired,
    StaleBase,
    StudioError,
    Throttled,
    TooLarge,
    Unavailable,
    problem_document,
)
from studio.web.middleware import (
    ContentSecurityPolicy,
    Errors,
    RequestSize,
    policy,
    server_error,
)
from studio.web.models import Job
from tests.factories.people import person


def _raised(error: Exception, path: str = "/tasks/", **headers: str) -> HttpResponse | None:
    request = RequestFactory().get(path, headers=headers)
    return Errors(lambda _: HttpResponse()).process_exception(request, error)


def test_a_problem_document_has_the_standard_members_and_its_own() -> None:
    error = StaleBase("Version 4 was saved meanwhile.", current=4, author="R. Teal")
    assert problem_document(error, "/api/v1/tasks/T-1") == {
        "type": "urn:coworkenv:problem:stale-base",
        "title": "Somebody saved in the meantime",
        "status": 409,
        "detail": "Version 4 was saved meanwhile.",
        "instance": "/api/v1/tasks/T-1",
        "current": 4,
        "author": "R. Teal",
    }


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem("name", "is taken"), "is taken"),
        (Problem("name", "is taken", "Take another."), "is taken. Take another."),
        (Problem("name", "It is taken.", "Take another."), "It is taken. Take another."),
        (Problem("disk", "0.1 GB are free:", "free some."), "0.1 GB are free: free some."),
    ],
)
def test_a_problem_and_its_remedy_are_told_apart(problem: Problem, words: str) -> None:
    assert problem.words == words


def test_problems_carry_what_is_known_of_their_place() -> None:
    error = Invalid("Two.", [Problem("a", "is missing"), Problem("", "bad", "Mend.", 0, 3, "S1")])
    assert problem_document(error)["problems"] == [
        {"place": "a", "message": "is missing"},
        {"message": "bad", "hint": "Mend.", "start": 0, "end": 3, "code": "S1"},
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadRequest(), 400),
        (Forbidden(), 403),
        (NotFound(), 404),
        (Conflict(), 409),
        (StaleBase(current=2), 409),
        (TooLarge(), 413),
        (Invalid(), 422),
        (FilterError(), 422),
        (Throttled(retry_after=7), 429),
        (Unavailable(), 503),
    ],
)
def test_each_error_is_a_page_and_a_problem_document(error: StudioError, status: int) -> None:
    page = _raised(error)
    assert page is not None
    assert page.status_code == status
    assert "<!doctype html>" in page.content.decode()
    document = _raised(error, "/api/v1/tasks")
    assert document is not None
    assert (document.status_code, document["Content-Type"]) == (status, "application/problem+json")
    assert json.loads(document.content)["title"] == error.title


def test_hostile_words_in_an_error_are_text() -> None:
    page = _raised(Invalid("<script>alert(1)</script>", [Problem("<b>", "<i>")]))
    assert page is not None
    body = page.content.decode()
    assert "<script>alert" not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
    assert "<b>" not in body.replace("<b></b>", "")


def test_who_is_not_signed_in_is_sent_to_sign_in_and_back() -> None:
    answer = _raised(SignInRequired(), "/tasks/?q=a")
    assert answer is not None
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/tasks/%3Fq%3Da")


def test_a_defect_is_left_to_be_a_500() -> None:
    assert _raised(ZeroDivisionError()) is None


@pytest.mark.django_db
def test_a_statement_that_takes_too_long_says_so() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 20")
        with pytest.raises(OperationalError) as caught:
            cursor.execute("SELECT pg_sleep(5)")
    page = _raised(caught.value)
    assert page is not None
    assert page.status_code == 503
    assert "took too long and was stopped" in page.content.decode()


@pytest.mark.django_db
def test_a_row_that_refers_to_what_is_gone_is_a_conflict_and_any_other_breach_a_defect() -> None:
    with connection.cursor() as cursor:  # as a commit does it
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    with pytest.raises(IntegrityError) as gone, transaction.atomic():
        Job.objects.create(kind="x", queue="light", user_id=2**31 - 1)
    page = _raised(gone.value)
    assert page is not None
    assert page.status_code == 409
    assert "was deleted meanwhile" in page.content.decode()
    document = _raised(gone.value, "/api/v1/tasks")
    assert document is not None
    assert (document.status_code, document["Content-Type"]) == (409, "application/problem+json")
    Job.objects.create(kind="x", queue="light", code="JOB-0000")
    with pytest.raises(IntegrityError) as twice, transaction.atomic():
        Job.objects.create(kind="x", queue="light", code="JOB-0000")
    assert _raised(twice.value) is None


def test_an_error_page_of_an_absent_database_asks_it_nothing() -> None:
    # No database is allowed in this test: a query would fail it.
    page = _raised(OperationalError("connection refused"))
    assert page is not None
    assert page.status_code == 503
    assert "does not answer" in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_is_a_page_and_a_problem_not_a_defect() -> None:
    client = Client(headers={"authorization": "Bearer cws_x"})
    client.cookies["sessionid"] = "a" * 32
    name = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = "not_there"
    try:
        answers = [client.get(path) for path in ("/", "/nothing/", "/healthz", "/api/v1/me")]
    finally:
        connection.close()
        connection.settings_dict["NAME"] = name
    assert [answer.status_code for answer in answers] == [503, 503, 503, 503]
    assert "The database does not answer" in answers[0].content.decode()
    assert answers[3]["Content-Type"] == "application/problem+json"


def test_the_policy_allows_our_files_and_one_nonce() -> None:
    assert policy("abc") == (
        "default-src 'self'; script-src 'self' 'nonce-abc'; "
        "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; "
        "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    )


def test_each_request_has_a_nonce_of_its_own() -> None:
    seen: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(getattr(request, "csp_nonce", ""))
        return HttpResponse()

    answers = [ContentSecurityPolicy(view)(RequestFactory().get("/")) for _ in range(2)]
    assert len(set(seen)) == 2
    for nonce, answer in zip(seen, answers, strict=True):
        assert f"'nonce-{nonce}'" in answer.headers["Content-Security-Policy"]


def test_a_forbidden_act_names_the_role_it_needs() -> None:
    assert problem_document(Forbidden("x", needed_role="lead"))["needed_role"] == "lead"


def test_a_body_above_the_limit_is_read_to_its_end_and_refused(settings: LazySettings) -> None:
    settings.STUDIO_MAX_BODY_BYTES = 1000
    request = RequestFactory().post("/api/v1/tasks", b"x" * 5000, content_type="text/plain")
    answer = RequestSize(lambda _: HttpResponse())(request)
    assert isinstance(answer, HttpResponse)
    assert (answer.status_code, json.loads(answer.content)["title"]) == (413, TooLarge.title)
    assert request.read() == b""


@pytest.mark.django_db
def test_a_form_without_boundary_is_a_problem_document_to_a_client() -> None:
    client = Client()
    client.force_login(person("ada", Role.ADMIN))
    answer = client.post("/api/v1/tasks/import", b"x", content_type="multipart/form-data")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert "boundary" in json.loads(answer.content)["detail"]


def test_a_defect_is_a_problem_document_to_a_client_and_a_page_to_a_reader() -> None:
    client = server_error(RequestFactory().get("/api/v1/tasks"))
    reader = server_error(RequestFactory().get("/tasks/"))
    assert (client.status_code, client["Content-Type"]) == (500, "application/problem+json")
    assert json.loads(client.content)["detail"].startswith("This is a defect of the studio")
    assert (reader.status_code, reader.content[:9]) == (500, b"<!doctype")
