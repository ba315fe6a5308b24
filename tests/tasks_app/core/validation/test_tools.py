"""T1: a broken tool that nothing needs is taken off; no two tools share a name."""

import dataclasses
from typing import Any

from tasks_app.core.editing import apply
from tasks_app.core.services.base import Tool
from tasks_app.core.services.catalog import beside, tools
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.tools import declarations
from tests.factories.examples import SUPPORT, Written, broken


def rigged(name: str, like: str, **changes: Any) -> Tool:
    """Return a tool that is another but for its name and what it declares."""
    tool = tools()[like]
    return dataclasses.replace(tool, facts=dataclasses.replace(tool.facts, name=name, **changes))


def offering(*names: str) -> Any:
    def change(data: Written) -> None:
        data["tools"] += names

    return change


def test_a_broken_tool_that_nothing_needs_is_taken_off() -> None:
    tool = rigged("crm_mumble_customers", "crm_search_customers", description="")
    with beside({tool.facts.name: tool}):
        spec = broken(SUPPORT, offering(tool.facts.name))
        card = prove(spec)
        found = [f for f in card.findings if f.gate == "T1"]
        assert [f.message for f in found] == ["crm_mumble_customers: it has no description"]
        assert found[0].suggestion is not None
        mended = load_spec(apply(spec.written(), found[0].suggestion.patch))
        assert (tool.facts.name in mended.tools, prove(mended).proven) == (False, True)


def test_a_broken_tool_that_is_used_stays_on() -> None:
    tool = rigged("crm_whisper_customer", "crm_get_customer", description="")

    def used(data: Written) -> None:
        data["tools"].append(tool.facts.name)
        step = next(s for s in data["reference"] if s.get("id") == "customer")
        step["tool"] = tool.facts.name

    with beside({tool.facts.name: tool}):
        found = [f for f in prove(broken(SUPPORT, used)).findings if f.gate == "T1"]

    assert [(f.message, f.suggestion) for f in found] == [
        ("crm_whisper_customer: it has no description", None)
    ]


def test_two_tools_of_one_name_are_found() -> None:
    def twice(data: Written) -> None:
        data["tool_aliases"] = {"crm_get_customer": {"tool": "crm_search_customers"}}

    found = [f.message for f in declarations(broken(SUPPORT, twice))]

    assert found == ["two tools are offered under the name crm_get_customer"]
