"""By what a task is told beside its records."""

from typing import Any

import pytest

from tasks_app.core.inputs import INPUTS, inputs_of
from tests.factories.specs import small_spec


def stage(**mutation: Any) -> dict[str, Any]:
    change = {"service": "files", "collection": "files", "op": "add", **mutation}
    return {"id": "later", "at": "2031-03-21T09:00:00+01:00", "mutations": [change]}


FIRST = {"id": "first", "at": "2031-03-20T09:10:00+01:00"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["records"]),
        ({"user": {"name": "Ida"}}, ["dialogue"]),
        (
            {
                "request": {
                    "text": "Look.",
                    "attachments": [
                        {"name": "a.png", "media_type": "image/png"},
                        {"name": "a.pdf", "media_type": "application/pdf"},
                        {"name": "a.md", "media_type": "text/markdown"},
                        {"name": "a.bin", "media_type": "application/octet-stream"},
                    ],
                }
            },
            ["text", "image", "pdf"],
        ),
        (
            {"services": {"files": {"files": [{"id": "a.csv", "media_type": "text/csv"}]}}},
            ["spreadsheet"],
        ),
        (
            {
                "timeline": [
                    FIRST,
                    stage(values={"id": "b.json", "media_type": "application/json"}),
                ]
            },
            ["text"],
        ),
        ({"timeline": [FIRST, stage(silent=True, values={"id": "b"})]}, ["silent_change"]),
    ],
    ids=["none", "colleague", "attachments", "files", "arriving", "silent"],
)
def test_inputs_are_read_from_the_spec(changes: dict[str, Any], expected: list[str]) -> None:
    found = inputs_of(small_spec(**changes))
    assert found == expected
    assert set(found) <= set(INPUTS)
