import inspect
import re

import pytest
from pydantic import BaseModel

from tasks_app.core.services import catalog
from tasks_app.core.services.base import Tool, compile_tool
from tasks_app.core.services.catalog import SERVICES, collections, services, tools

TOOLS = sorted(tools().items())


def test_services_have_names_of_their_own() -> None:
    names = [service.name for service in SERVICES]
    assert len(set(names)) == len(names)
    assert dict(services()) == dict(zip(names, SERVICES, strict=True))


@pytest.mark.parametrize("name", sorted(services()))
def test_service_says_what_it_is_for(name: str) -> None:
    service = services()[name]
    assert service.purpose.endswith(".")
    assert service.function
    assert inspect.getdoc(service)


def test_tables_are_made_once() -> None:
    assert tools() is tools()
    assert collections() is collections()
    assert catalog.services() is catalog.services()


@pytest.mark.parametrize(("name", "tool"), TOOLS)
def test_tool_name_is_service_verb_noun(name: str, tool: Tool) -> None:
    exceptions = {"message_user", "contacts_search", "kb_search", "web_search", "web_fetch"}
    assert name == tool.facts.name
    if name not in exceptions:
        assert re.fullmatch(rf"{tool.facts.service}_[a-z]+(_[a-z]+)+", name)


@pytest.mark.parametrize(("name", "tool"), TOOLS)
def test_tool_describes_itself_and_every_argument(name: str, tool: Tool) -> None:
    parameters = tool.facts.parameters
    assert tool.facts.description.endswith(".")
    assert parameters is not None
    assert parameters["additionalProperties"] is False
    for argument, schema in parameters["properties"].items():
        assert schema.get("description", "").endswith("."), argument
        assert not hasattr(BaseModel, argument), argument


@pytest.mark.parametrize(("name", "tool"), TOOLS)
def test_tool_declares_arguments_and_fields_that_exist(name: str, tool: Tool) -> None:
    facts = tool.facts
    known = set((facts.parameters or {})["properties"])
    named = {*facts.text, *facts.recipients}
    if isinstance(facts.inside, str):
        named.add(facts.inside)
    assert named <= known
    for filled in facts.fills:
        place, _, field = filled.partition("#")
        assert place in collections()
        assert field
    if facts.recipients or facts.inside:
        assert facts.text


@pytest.mark.parametrize(("name", "tool"), TOOLS)
def test_argument_names_of_ids_end_in_id(name: str, tool: Tool) -> None:
    verb = name.removeprefix(f"{tool.facts.service}_").partition("_")[0]
    arguments = list((tool.facts.parameters or {})["properties"])
    if verb == "get":
        assert all(argument.endswith("_id") or argument == "sku" for argument in arguments)


def test_every_collection_is_declared_under_its_service() -> None:
    assert {place.partition("/")[0] for place in collections()} <= set(services())
    for place, facts in collections().items():
        assert facts.address == place
        assert facts.prefix, place


def test_compiling_again_gives_the_same_declaration() -> None:
    for tool in tools().values():
        options = tool.function.__dict__["__tool__"]
        assert compile_tool(tool.service, tool.function, options).facts == tool.facts
