"""What a model writes is data, never a crash."""

import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from rollouts_app.core.messages import ToolRequest
from rollouts_app.core.policy import Action
from tests.training_app.engine.marks import ENGINE
from training_app.engine.play import read_action

pytestmark = ENGINE


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Done.", Action("Done.")),
        ("", Action("")),
        (
            'Ivo OR-1.\n<tool_call>\n{"name": "a_b", "arguments": {"x": 1}}\n</tool_call>',
            Action("Ivo OR-1.", (ToolRequest("call_1", "a_b", b'{"x":1}'),)),
        ),
        (
            (
                '<tool_call>{"name": "a", "arguments": {}}</tool_call>'
                '<tool_call>{"name": "b", "arguments": "{}"}</tool_call>'
            ),
            Action("", (ToolRequest("call_1", "a", b"{}"), ToolRequest("call_2", "b", b"{}"))),
        ),
        (
            "<tool_call>\n{broken\n</tool_call>",
            Action("", (ToolRequest("call_1", "", b"{broken"),)),
        ),
        ("<tool_call>\n[1]\n</tool_call>", Action("", (ToolRequest("call_1", "", b"[1]"),))),
        ('<tool_call>\n{"name": "a"', Action('<tool_call>\n{"name": "a"')),
    ],
)
def test_text_is_read_as_calls_or_as_a_reply(text: str, action: Action) -> None:
    assert read_action(text) == action


def test_ids_go_on_from_the_calls_before() -> None:
    action = read_action('<tool_call>{"name": "a", "arguments": {}}</tool_call>', asked=2)
    assert [call.id for call in action.calls] == ["call_3"]
