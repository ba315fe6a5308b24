"""The API's schema is a promise: it changes on purpose, and the change is seen in a diff."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from studio.management.commands.export_openapi import schema_text

SNAPSHOT = Path(__file__).parents[1] / "openapi.json"


def test_the_schema_is_the_agreed_one() -> None:
    agreed = SNAPSHOT.read_text(encoding="utf-8")
    assert schema_text() == agreed, (
        "The API changed. If that is meant: python manage.py export_openapi tests/openapi.json"
    )


def below(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield every class that is made of one."""
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def test_no_two_schemas_of_the_api_have_one_name() -> None:
    # The description keeps one schema a name: of two, one would stand there for both.
    schema_text()  # every route is read by then
    places = defaultdict(set)
    for each in below(BaseModel):
        if {"api", "schemas"} & set(each.__module__.split(".")):
            places[each.__name__].add(each.__module__)
    assert "GenerationRunOut" in places
    assert {name: held for name, held in places.items() if len(held) > 1} == {}
