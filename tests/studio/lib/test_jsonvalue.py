import pytest

from studio.lib.jsonvalue import JsonValue, Leaf, depth, leaves, unstorable, written_value


def _nested(levels: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), (None, 0), ([], 1), ({"a": [1, {"b": 2}]}, 3), (_nested(9), 9)]
)
def test_depth_counts_levels(value: JsonValue, levels: int) -> None:
    assert depth(value) == levels


def test_depth_stops_counting_beyond_its_limit() -> None:
    assert depth(_nested(100_000), limit=10) == 11


def test_leaves_carry_their_paths_in_order() -> None:
    assert list(leaves({"b": [1, {"c": None}], "a": "x"})) == [
        Leaf("b[0]", 1),
        Leaf("b[1].c", None),
        Leaf("a", "x"),
    ]


def test_leaves_of_hostile_nesting_are_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        list(leaves(_nested(100_000)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("true", True),
        ('"4"', "4"),
        ('["a"]', ["a"]),
        ("first", "first"),
        ("", ""),
        ("{", "{"),
        ("[" * 100_000, "[" * 100_000),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_written_value_is_json_where_it_can_be_read_as_that_and_else_text(
    text: str, value: JsonValue
) -> None:
    assert written_value(text) == value


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"a": [1, "b", {"c": -(2**63)}], "d": 2**64 - 1, "e": True}, None),
        ("\x00", ("/", "holds NUL")),
        ({"a": [1, {"b": "x\x00"}]}, ("/a/1/b", "holds NUL")),
        ({"a": {"b\x00": 1}}, ("/a", "a name of it holds NUL")),
        ({"a": "\ud800"}, ("/a", "holds half of a surrogate pair")),
        ({"a": [2**64]}, ("/a/0", "is a whole number of more than 64 bits")),
        (_nested(64), None),
        (_nested(100_000), ("/0" * 65, "is nested too deeply")),
    ],
)
def test_what_no_database_keeps_is_named_with_its_place(
    value: JsonValue, found: tuple[str, str] | None
) -> None:
    assert unstorable(value) == found
