"""Frozen values, digests, addresses, paths."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.core.values import (
    DEEPEST,
    LARGEST_INTEGER,
    MISSING,
    Change,
    InvalidValueError,
    Items,
    Record,
    address,
    canonical,
    content_hash,
    digest,
    escape_id,
    follow,
    freeze,
    pattern,
    split_path,
    thaw,
    unescape_id,
)

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_freezing_keeps_the_value_and_thawing_gives_plain_json(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert freeze(frozen) is frozen or not isinstance(frozen, Record | Items)
    assert thaw(frozen) == value
    assert canonical(frozen) == canonical(thaw(frozen))


def test_a_frozen_value_cannot_be_changed() -> None:
    record = freeze({"a": [1], "b": {"c": 1}})
    with pytest.raises(TypeError):
        record["a"] = 2
    with pytest.raises(TypeError):
        record["a"].append(2)
    with pytest.raises(TypeError):
        record["b"].update({"c": 2})
    with pytest.raises(TypeError):
        del record["b"]
    assert record == {"a": [1], "b": {"c": 1}}


def test_frozen_values_cross_process_boundaries_and_stay_frozen() -> None:
    record = freeze({"a": [{"b": 1}], "c": {}})
    record.digest = 7
    for made in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):  # noqa: S301 (our own)
        assert made == record
        assert made.digest == 7
        assert [type(made), type(made["a"]), type(made["a"][0])] == [Record, Items, Record]
        with pytest.raises(TypeError):
            made["a"].append(2)
    assert not hasattr(pickle.loads(pickle.dumps(record["c"])), "digest")  # noqa: S301 (our own)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**53 + 1,
        "a\x00b",
        "half \ud83d of a pair",
        {"a\x00b": 1},
        {"a\ud83d": 1},
        {1: "a"},
        {"a": object()},
        {"a": {1, 2}},
        b"a",
        "x" * 1_000_001,
    ],
)
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError):
        freeze(value)


def test_nesting_has_an_end() -> None:
    value: Any = 1
    for _ in range(DEEPEST):
        value = [value]
    assert freeze(value) == value
    with pytest.raises(InvalidValueError, match="nested"):
        freeze([value])


def test_equal_numbers_have_equal_text_and_digest() -> None:
    assert canonical({"b": 1.0, "a": 2}) == b'{"a":2,"b":1}'
    assert content_hash({"a": 1.0}) == content_hash({"a": 1})
    assert digest("a/b/1", {"x": 1, "t": 5}, ("t",)) == digest("a/b/1", {"t": 9, "x": 1}, ("t",))
    assert digest("a/b/1", {"x": 1}) != digest("a/b/2", {"x": 1})


@given(st.text())
def test_ids_survive_an_address(record_id: str) -> None:
    written = escape_id(record_id)
    assert unescape_id(written) == record_id
    assert not set("/.#*,") & set(written)


def test_addresses() -> None:
    assert address("files/files", "q1/report.csv", "text") == "files/files/q1~1report~2csv#text"
    change = Change("h/t", "TK.1", Record({"a": 1, "b": 2}), Record({"b": 3, "c": None}))
    assert (change.kind, change.address) == ("update", "h/t/TK~21")
    assert change.fields() == ("a", "b", "c")
    assert Change("h/t", "1", None, Record({"a": 1})).kind == "add"
    assert Change("h/t", "1", Record({"a": 1}), None).fields() == ("a",)


@pytest.mark.parametrize(
    ("text", "record_id", "expected"),
    [
        ("h/t/TK-1", "TK-1", True),
        ("h/t/TK-1", "TK-17", False),
        ("h/t/TK-1*", "TK-17", True),
        ("h/t/*", "a/b", True),
        ("h/t/*7", "TK-17", True),
        ("h/t/T*-1*", "TK-17", True),
        ("h/t/T~4*", "T*x", True),
        ("h/t/T~4*", "Tax", False),
    ],
)
def test_patterns_match_ids(*, text: str, record_id: str, expected: bool) -> None:
    assert pattern(text).covers_record("h/t", record_id) is expected
    assert not pattern(text).covers_record("h/other", record_id)


def test_patterns_name_top_level_fields() -> None:
    assert pattern("h/t/*#a.b, c").fields == frozenset({"a", "c"})
    assert pattern("h/t/*").fields is None


@pytest.mark.parametrize("text", ["", "a/b", "a/b/c/d", "a//c", "*/b/c", "a/*/c"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|'\*'"):
        pattern(text)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a", 1),
        ("b.c", [1, {"d": 2}]),
        ("b.c[1].d", 2),
        ("b.c.-1.d", 2),
        ("b.c.*.d", [2]),
        ("b.c.5", MISSING),
        ("a.b", MISSING),
        ("x", MISSING),
        ("n", None),
        ("a.*", MISSING),
        ("", {"a": 1, "b": {"c": [1, {"d": 2}]}, "n": None}),
    ],
)
def test_paths(path: str, expected: Any) -> None:
    assert follow({"a": 1, "b": {"c": [1, {"d": 2}]}, "n": None}, path) == expected


def test_stars_flatten_and_missing_is_falsy() -> None:
    orders = [{"lines": [{"sku": "A"}, {"sku": "B"}]}, {"lines": [{"sku": "C"}]}, {}]
    assert follow(orders, "*.lines.*.sku") == ["A", "B", "C"]
    assert split_path("a[0].b") == ("a", "0", "b")
    assert (bool(MISSING), repr(MISSING)) == (False, "MISSING")
