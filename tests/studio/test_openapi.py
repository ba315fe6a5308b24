"""The API's schema is a promise: it changes on purpose, and the change is seen in a diff."""

from pathlib import Path

from studio.management.commands.export_openapi import schema_text

SNAPSHOT = Path(__file__).parents[1] / "openapi.json"


def test_the_schema_is_the_agreed_one() -> None:
    agreed = SNAPSHOT.read_text(encoding="utf-8")
    assert schema_text() == agreed, (
        "The API changed. If that is meant: python manage.py export_openapi tests/openapi.json"
    )
