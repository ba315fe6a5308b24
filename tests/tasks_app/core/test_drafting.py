from typing import Any

import pytest

from tasks_app.core.drafting import (
    ABSENT,
    FieldError,
    Kind,
    blank_record,
    find_record,
    fresh_id,
    get,
    listed,
    next_id,
    put,
    typed,
)


@pytest.mark.parametrize("holder", [{}, {"rows": "text"}, {"rows": {"a": 1}}, None, [1, 2]])
def test_what_holds_no_list_has_an_empty_one(holder: Any) -> None:
    assert (listed(holder, "rows"), listed({"rows": [1]}, "rows")) == ([], [1])


def test_values_are_put_made_and_taken_away_by_pointer() -> None:
    document: dict[str, Any] = {"a": {"b": 1}, "list": [{"x": 1}]}
    put(document, "/a/c/d", 2)
    put(document, "/list/0/x", 3)
    put(document, "/a/b", ABSENT)
    put(document, "/none/at/all", ABSENT)
    assert document == {"a": {"c": {"d": 2}}, "list": [{"x": 3}]}
    assert get(document, "/list/0/x") == 3
    assert get(document, "/list/7") is ABSENT
    for path in ("/list/9", "/a/c/d/e"):
        with pytest.raises(FieldError):
            put(document, path, 1)


@pytest.mark.parametrize(
    ("text", "kind", "was", "value"),
    [
        ("3", "number", 1, 3),
        ("3.50", "number", 1, 3.5),
        ("1,200.50", "number", 1, 1200.5),
        ("", "number", 1, None),
        ("", "number", ABSENT, ABSENT),
        ("", "text", None, None),
        ("", "text", "x", ""),
        ("a\r\nb", "text", "x", "a\nb"),
        ("True", "yes_no", False, True),
        ("", "yes_no", True, None),
        ('["a"]', "nested", [], ["a"]),
    ],
)
def test_a_cell_means_what_its_column_holds(text: str, kind: Kind, was: Any, value: Any) -> None:
    assert typed(text, kind, was) == value or typed(text, kind, was) is value


@pytest.mark.parametrize(
    ("text", "kind"),
    [("three", "number"), ("nan", "number"), ("maybe", "yes_no"), ("[", "nested")],
)
def test_a_cell_of_the_wrong_kind_is_an_error(text: str, kind: Kind) -> None:
    with pytest.raises(FieldError):
        typed(text, kind, "x")


def test_new_records_take_the_next_id_and_the_fields_of_the_last() -> None:
    rows = [{"id": "TK-0009", "a": 1}, {"id": "TK-0010", "a": 2, "b": []}]
    assert blank_record(rows, "id", "TK") == {"id": "TK-0011", "a": None, "b": None}
    assert next_id([], "id", "RF") == "RF-0001"
    assert fresh_id([{"id": "check1"}, {"id": "check3"}], "check") == "check4"
    assert find_record(rows, "id", "TK-0010") == 1
    with pytest.raises(FieldError):
        find_record(rows, "id", "TK-1")
