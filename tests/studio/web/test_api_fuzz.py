"""Whatever a client sends, the API answers by its schema and never with a defect."""

import json
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, given, settings
from schemathesis.core import NOT_SET

from studio.api import api
from studio.web import access
from studio.web.choices import Role, Scope
from studio.web.models import Job
from tests.studio.web.conftest import MakeUser

SCHEMA = schemathesis.openapi.from_dict(api.get_openapi_schema())
OPERATIONS = [
    (path, method)
    for path, methods in api.get_openapi_schema()["paths"].items()
    for method in methods
]


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_no_request_ends_in_a_defect(path: str, method: str, make_user: MakeUser) -> None:
    root = make_user("root", Role.ADMIN)
    Job.objects.create(kind="test_count", user=root, code="JOB-00000")
    secret = access.issue_token(root, "fuzz", frozenset(Scope)).secret
    # A defect raises here rather than become a 500, so that the test shows it.
    client = Client(headers={"authorization": f"Bearer {secret}"})

    @settings(
        max_examples=8,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=SCHEMA[path][method].as_strategy())
    def send(case: "schemathesis.Case[Any]") -> None:
        place = path
        for name, value in case.path_parameters.items():
            place = place.replace(f"{{{name}}}", quote(_text(value), safe=""))
        query = "&".join(
            f"{quote(_text(name))}={quote(_text(value))}" for name, value in case.query.items()
        )
        body = b"" if case.body is NOT_SET else json.dumps(case.body, default=str)
        answer = client.generic(
            method.upper(), f"{place}?{query}", body, content_type="application/json"
        )
        if answer.status_code >= 400 and answer.status_code != 405:
            assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.status_code < 500

    send()


def _text(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode("utf-8")
