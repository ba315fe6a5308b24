"""JSON Patches between written specs."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.editing import PatchError, apply, difference

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


@given(JSON, JSON)
def test_difference_applied_to_the_first_gives_the_second(before: Any, after: Any) -> None:
    # As JSON text, because True == 1 in Python.
    applied = apply(before, difference(before, after))
    assert json.dumps(applied, sort_keys=True) == json.dumps(after, sort_keys=True)


def test_one_record_added_at_the_front_is_one_operation() -> None:
    before = {"tickets": [{"id": "TK-1"}, {"id": "TK-2"}]}
    after = {"tickets": [{"id": "TK-0"}, {"id": "TK-1"}, {"id": "TK-2"}]}
    assert difference(before, after) == [
        {"op": "add", "path": "/tickets/0", "value": {"id": "TK-0"}}
    ]


def test_a_changed_field_of_a_record_is_named_by_its_place() -> None:
    before = {"a/b": [{"id": "TK-1", "status": "open"}]}
    after = {"a/b": [{"id": "TK-1", "status": "closed"}]}
    assert difference(before, after) == [
        {"op": "replace", "path": "/a~1b/0/status", "value": "closed"}
    ]


def test_move_copy_and_test_follow_the_standard() -> None:
    document = {"a": [1, 2, 3], "b": {}}
    patch: list[dict[str, Any]] = [
        {"op": "test", "path": "/a/0", "value": 1},
        {"op": "move", "from": "/a/0", "path": "/a/-"},
        {"op": "copy", "from": "/a", "path": "/b/c"},
    ]
    assert apply(document, patch) == {"a": [2, 3, 1], "b": {"c": [2, 3, 1]}}
    assert document == {"a": [1, 2, 3], "b": {}}


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "replace", "path": "/x", "value": 1}, "operation 0 at /x: there is no 'x'"),
        ({"op": "remove", "path": "/a/7"}, "operation 0 at /a/7: the list ends before position 7"),
        ({"op": "add", "path": "/a/01", "value": 1}, "operation 0 at /a/01: '01' is no position"),
        ({"op": "test", "path": "/a", "value": []}, "operation 0 at /a: holds another value"),
        ({"op": "fold", "path": "/a"}, "operation 0 at /a: unknown operation 'fold'"),
        ({"op": "add", "path": "/a"}, "operation 0 at /a: add needs a value"),
        ({"op": "remove", "path": "a"}, "operation 0 at a: the path is a JSON pointer"),
    ],
)
def test_an_operation_that_does_not_fit_names_its_number_and_place(
    operation: dict[str, Any], message: str
) -> None:
    with pytest.raises(PatchError) as caught:
        apply({"a": [1]}, [operation])
    assert str(caught.value).startswith(message)
