"""Calls, errors and anchors."""

from tasks_app.core.calls import ToolError, anchor_keys, encode_arguments
from tasks_app.core.values import freeze
from tests.factories.evidence import TOOLS, call


def test_an_error_reads_as_the_policy_sees_it() -> None:
    assert ToolError("not_found").encoded() == b'{"error":"not_found","message":"not found"}'
    limited = ToolError("rate_limited", "later", retry_after=5)
    assert limited.encoded() == b'{"error":"rate_limited","message":"later","retry_after":5}'


def test_arguments_that_are_no_object_read_as_empty_and_stay_what_they_were() -> None:
    assert encode_arguments(freeze({"a": [1]})) == b'{"a":[1]}'
    for text in ("{not json", "[1]", "null", ""):
        broken = call(0, "x")
        broken.raw = encode_arguments(text)
        assert broken.arguments == {}
        assert broken.raw == text.encode()


def test_arguments_that_no_tool_takes_are_kept_as_text_and_never_raise() -> None:
    assert encode_arguments({"a": "half \ud83d"}) == b'{"a": "half ?"}'
    assert encode_arguments({"a": 10**30}) == b'{"a": 1000000000000000000000000000000}'


def test_an_anchor_grows_with_new_successful_reads_only() -> None:
    read = {"ticket_id": "TK-1"}
    calls = [
        call(0, "helpdesk_get_ticket", read, outcome={"id": "TK-1"}),
        call(1, "helpdesk_get_ticket", read, outcome={"id": "TK-1"}),
        call(2, "helpdesk_get_ticket", {"ticket_id": "TK-2"}, error="not_found"),
        call(3, "finance_create_refund"),
        call(4, "message_user", {"text": "?"}, outcome={"reply": "x"}),
        call(5, "helpdesk_get_ticket", {"ticket_id": "TK-3"}, outcome={"id": "TK-3"}),
        call(6, "finance_create_refund"),
    ]
    keys = anchor_keys(calls, TOOLS)
    assert keys[0] == 0
    assert keys[1] != keys[0]
    assert keys[1:6] == [keys[1]] * 5
    assert keys[6] != keys[5]
    turned = [calls[5], calls[0], calls[6]]
    assert anchor_keys(turned, TOOLS)[2] == keys[6]
