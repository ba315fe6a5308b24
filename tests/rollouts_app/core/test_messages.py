"""What the policy is told."""

import orjson
import pytest

from rollouts_app.core.messages import Message, ToolRequest, opening
from tasks_app.core.briefing import system_prompt, tool_schemas
from tasks_app.core.world.world import Seed
from tests.factories.specs import small_spec
from tests.rollouts_app.specs import changed, example


def test_prompt_of_the_small_task_is_exactly_what_a_colleague_would_know() -> None:
    assert system_prompt(small_spec()) == (
        "You are the support assistant at Lantern Yard.\n\n"
        "It is 2031-03-20T09:10:00+01:00 (Europe/Berlin). The clock stands still while you work."
        "\n\n"
        "Do the work with the tools; what they return is the only truth about the records. "
        "A reply without tool calls ends the work, so write it when all is done.\n\n"
        "# Who asks\n\nAda Winter, head of support\n\n"
        "# Rules\n\n## Desk rules\n\nTickets are never deleted."
    )


@pytest.mark.parametrize("name", ["support_resolution", "payment_change_investigation"])
def test_what_may_name_the_answer_is_never_shown(name: str) -> None:
    marked = changed(
        example(name),
        title="XTITLEX",
        slug="xslugx",
        subtype="xsubtypex",
        tags=["xtagx"],
        capabilities=[{"id": "C7", "witness": "XWITNESSX"}],
        provenance={"family": "XPROVENANCEX"},
    )
    shown = orjson.dumps([message.as_chat() for message in opening(marked)]).decode()
    shown += orjson.dumps(tool_schemas(marked, Seed.of(marked).ground.tools)).decode()
    hidden = ["XTITLEX", "xslugx", "xsubtypex", "xtagx", "C7", "XWITNESSX", "XPROVENANCEX"]
    assert [word for word in hidden if word in shown] == []


def test_rules_request_people_and_contract_are_shown() -> None:
    spec = example("support_resolution")
    prompt, request = (message.content for message in opening(spec))
    assert request == spec.request.text
    assert all(policy.text in prompt for policy in spec.workplace.policies)
    assert spec.workplace.output_contract in prompt
    assert "Maren Tolvik, support lead <maren.tolvik@kestrelmoor.example>" in prompt


def test_attachments_are_named_but_their_sidecars_are_hidden() -> None:
    attached = {"name": "scan.png", "media_type": "image/png", "sidecar": "total 74.00"}
    spec = small_spec(request={"text": "See the scan.", "attachments": [attached]})
    text = opening(spec)[1].content
    assert text == "See the scan.\n\nAttached:\n- scan.png (image/png)"


def test_several_sittings_are_announced() -> None:
    stages = [
        {"id": "day1", "at": "2031-03-20T09:10:00+01:00"},
        {"id": "day2", "at": "2031-03-21T09:10:00+01:00", "notification": "Good morning."},
    ]
    assert "A reply without tool calls ends the present one" in system_prompt(
        small_spec(timeline=stages)
    )


def test_tools_are_offered_in_the_order_of_the_spec_with_their_schema() -> None:
    spec = small_spec()
    schemas = tool_schemas(spec, Seed.of(spec).ground.tools)
    assert [schema["function"]["name"] for schema in schemas] == list(spec.tools)
    close = schemas[1]["function"]
    assert close["description"]
    assert "ticket_id" in close["parameters"]["properties"]


def test_an_imported_task_keeps_its_own_tool_names_and_schemas() -> None:
    alias = {
        "tool": "helpdesk_close_ticket",
        "arguments": {"ticket_id": {"arg": "id"}},
        "description": "Their words.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
    }
    spec = small_spec(tool_aliases={"close": alias})
    schemas = tool_schemas(spec, Seed.of(spec).ground.tools)
    assert [schema["function"]["name"] for schema in schemas] == [
        "helpdesk_search_tickets",
        "close",
    ]
    assert schemas[1]["function"] == {
        "name": "close",
        "description": "Their words.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
    }


def test_an_imported_task_without_tools_of_ours_offers_its_own() -> None:
    alias = {"tool": "helpdesk_close_ticket", "arguments": {"ticket_id": {"arg": "id"}}}
    spec = small_spec(tools=[], tool_aliases={"close": alias})
    schemas = tool_schemas(spec, Seed.of(spec).ground.tools)
    assert [schema["function"]["name"] for schema in schemas] == ["close"]
    assert "ticket_id" in schemas[0]["function"]["parameters"]["properties"]


def test_messages_take_the_form_of_an_openai_compatible_server() -> None:
    request = ToolRequest("call_1", "kb_search", b'{"query": "x"}')
    assert [
        Message("assistant", "", (request,)).as_chat(),
        Message("tool", "[]", call_id="call_1").as_chat(),
        Message("assistant", "Done.").as_chat(),
    ] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "kb_search", "arguments": '{"query": "x"}'},
                }
            ],
        },
        {"role": "tool", "content": "[]", "tool_call_id": "call_1"},
        {"role": "assistant", "content": "Done."},
    ]
